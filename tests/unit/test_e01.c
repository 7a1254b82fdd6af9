/* E01 sets as ewfacquire makes them, of all kinds, read by us and by libewf, in many threads. */
#include "e01_made.h"

#include <errno.h>
#include <libewf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "evidence/chunk_cache.h"
#include "evidence/e01_names.h"
#include "evidence/reader.h"
#include "tier.h"

#define MIB (1u << 20)

TestSuite(e01, .init = e01_begin, .fini = temp_remove, .timeout = TEST_HANGS);

/* ---- the same as libewf -------------------------------------------------------------------- */

static void same_as_libewf(const char *path, const uint8_t *bytes, size_t len)
{
	libewf_handle_t *handle = NULL;
	uint8_t *buffer = malloc(len);
	char **names = NULL;
	int count = 0;
	size64_t size = 0;

	cr_assert_eq(
		libewf_glob(path, strlen(path), LIBEWF_FORMAT_UNKNOWN, &names, &count, NULL), 1);
	cr_assert_eq(libewf_handle_initialize(&handle, NULL), 1);
	cr_assert_eq(libewf_handle_open(handle, names, count, LIBEWF_OPEN_READ, NULL), 1);
	cr_assert_eq(libewf_handle_get_media_size(handle, &size, NULL), 1);
	cr_assert_eq(size, len);
	cr_assert_eq(libewf_handle_read_buffer(handle, buffer, len, NULL), (ssize_t)len);
	cr_assert_arr_eq(buffer, bytes, len, "libewf: %s", path);
	libewf_handle_close(handle, NULL);
	libewf_handle_free(&handle, NULL);
	libewf_glob_free(names, count, NULL);
	free(buffer);
}

static void same_in_pieces(struct image *image, const uint8_t *bytes, size_t len, size_t piece_len)
{
	uint8_t *buffer = malloc(piece_len);

	for (size_t at = 0; at < len; at += piece_len) {
		size_t want = len - at < piece_len ? len - at : piece_len;

		cr_assert_eq(image_read_at(image, at, buffer, want), 0, "at %zu", at);
		cr_assert_arr_eq(buffer, bytes + at, want, "at %zu", at);
	}
	free(buffer);
}

static void same_by_reader(struct image *image, const uint8_t *bytes, size_t len)
{
	struct reader_options options = { .slot_len = 777777, .overlap = 100 };
	struct reader *reader;
	struct reader_slot *slot;
	size_t at = 0;

	cr_assert_eq(reader_open(&reader, image, &options, NULL), 0);
	while (reader_next(reader, &slot) == 1) {
		cr_assert_eq(slot->offset, at);
		cr_assert_arr_eq(slot->data, bytes + at, slot->len + slot->tail_len);
		at += slot->len;
		reader_release(reader, slot);
	}
	cr_assert_eq(at, len);
	cr_assert_eq(reader_unreadable(reader)->count, 0);
	reader_close(reader);
}

static char raw_md5[33]; /* of the file `raw`, by md5sum */

/* The acquisition with these options reads as what was acquired. */
static void same_with(const char *options, const uint8_t *bytes, size_t len)
{
	static unsigned number;
	char name[32];
	struct image *image;
	const char *path;

	snprintf(name, sizeof(name), "set%u", number++);
	path = e01_acquire("raw", name, options);
	image = opened(path);
	cr_assert_null(image_info(image)->damage, "%s: %s", options, image_info(image)->damage);
	cr_assert_eq(image_info(image)->size, len);
	cr_assert_str_eq(image_info(image)->stored_md5, raw_md5, "%s", options);
	cr_assert_geq(image_info(image)->value_count, 3);
	same_in_pieces(image, bytes, len, len);
	same_in_pieces(image, bytes, len, 1000001);
	same_in_pieces(image, bytes, len, 70000);
	same_by_reader(image, bytes, len);
	image_close(image);
	same_as_libewf(path, bytes, len);
}

static uint8_t *write_raw(size_t len, uint64_t seed)
{
	uint8_t *bytes = malloc(len);
	FILE *sum;

	e01_fill(bytes, len, seed);
	temp_write("raw", bytes, len);
	setenv("TMPRAW", temp_at("raw"), 1);
	sum = popen("md5sum \"$TMPRAW\"", "r");
	cr_assert_eq(fread(raw_md5, 1, 32, sum), 32);
	pclose(sum);
	return bytes;
}

Test(e01, every_format)
{
	static const char *const formats[] = { "ewf", "smart", "ftk", "encase2", "encase3",
		"encase4", "encase5", "encase6", "encase7", "encase7-v2", "linen5", "linen6",
		"linen7", "ewfx" };
	size_t len = test_tier(MIB + MIB / 4, MIB + MIB / 4, 3 * MIB) + 5 * 512;
	uint8_t *bytes = write_raw(len, 1);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		char options[64];

		snprintf(options, sizeof(options), "-f %s -c fast -S 1MiB", formats[i]);
		same_with(options, bytes, len);
	}
	free(bytes);
}

Test(e01, every_compression_and_chunk_size)
{
	static const char *const levels[] = { "none", "empty-block", "fast", "best" };
	static const unsigned sectors[] = { 16, 64, 256, 4096 };
	size_t len = test_tier(MIB, 2 * MIB, 2 * MIB) + 512;
	uint8_t *bytes = write_raw(len, 2);

	for (size_t i = 0; i < 16; i++) {
		char options[64];

		snprintf(options, sizeof(options), "-c %s -b %u -S %s", levels[i / 4],
			sectors[i % 4], i % 3 ? "1MiB" : "1GiB");
		same_with(options, bytes, len);
	}
	free(bytes);
	bytes = write_raw(2 * MIB, 6);
	same_with("-c fast -d sha1 -P 4096", bytes, 2 * MIB);
	free(bytes);
}

Test(e01, chunks_larger_than_pieces)
{
	size_t len = 17 * MIB + 3 * 512;
	uint8_t *bytes = write_raw(len, 3);

	same_with("-c fast -b 32768", bytes, len);
	same_with("-c none -b 8192 -S 4MiB", bytes, len);
	free(bytes);
}

Test(e01, images_smaller_than_a_chunk)
{
	uint8_t *bytes = write_raw(512, 4);

	same_with("-c none", bytes, 512);
	same_with("-c best", bytes, 512);
	same_with("-f ftk -c fast -b 32768", bytes, 512);
	free(bytes);
}

/* ---- threads ------------------------------------------------------------------------------- */

struct readers {
	struct image *image;
	const uint8_t *bytes;
	size_t len;
	atomic_uint seed, wrong;
};

static void *read_here_and_there(void *arg)
{
	struct readers *readers = arg;
	unsigned seed = atomic_fetch_add(&readers->seed, 1);
	uint8_t *buffer = malloc(MIB);

	for (int i = 0; i < 400; i++) {
		size_t most = i % 8 ? 20000 : MIB, at = (size_t)rand_r(&seed) % readers->len;
		size_t len = 1 + (size_t)rand_r(&seed) % most;

		if (len > readers->len - at)
			len = readers->len - at;
		if (image_read_at(readers->image, at, buffer, len) ||
			memcmp(buffer, readers->bytes + at, len))
			atomic_fetch_add(&readers->wrong, 1);
	}
	free(buffer);
	return NULL;
}

Test(e01, many_threads_read_at_once)
{
	struct readers readers = { .len = 6 * MIB, .seed = (unsigned)test_seed() };
	pthread_t threads[8];
	uint8_t *bytes = write_raw(readers.len, 5);

	printf("seed %u\n", atomic_load(&readers.seed));
	readers.bytes = bytes;
	readers.image = opened(e01_acquire("raw", "set", "-c fast -S 2MiB"));
	for (size_t i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, read_here_and_there, &readers), 0);
	for (size_t i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(readers.wrong, 0);
	image_close(readers.image);
	free(bytes);
}

/* ---- the cache ----------------------------------------------------------------------------- */

#define CHUNK 1000

struct loads {
	struct chunk_cache *cache;
	atomic_uint count, wrong;
	bool fail;
};

static int load(void *arg, uint64_t number, uint8_t *to)
{
	struct loads *loads = arg;

	atomic_fetch_add(&loads->count, 1);
	memset(to, (int)number, CHUNK);
	return loads->fail ? -EIO : 0;
}

static void expect(struct loads *loads, uint64_t number, size_t from, size_t len)
{
	uint8_t buffer[CHUNK];

	if (chunk_cache_read(loads->cache, number, from, buffer, len, load, loads))
		atomic_fetch_add(&loads->wrong, 1);
	for (size_t i = 0; i < len; i++)
		if (buffer[i] != (uint8_t)number)
			atomic_fetch_add(&loads->wrong, 1);
}

static void *ask(void *arg)
{
	for (unsigned i = 0; i < 20000; i++)
		expect(arg, i * 7 % 64, i % 900, 100);
	return NULL;
}

Test(e01, cache_loads_a_chunk_once)
{
	struct loads loads = { .cache = chunk_cache_new(CHUNK, 100 * CHUNK) };
	uint8_t buffer[CHUNK];

	for (int i = 0; i < 10; i++)
		expect(&loads, 5, 0, CHUNK);
	cr_assert_eq(loads.count, 1);
	cr_assert(chunk_cache_get(loads.cache, 5, buffer));
	cr_assert_not(chunk_cache_get(loads.cache, 6, buffer));
	memset(buffer, 6, CHUNK);
	chunk_cache_put(loads.cache, 6, buffer);
	expect(&loads, 6, 999, 1);
	cr_assert_eq(loads.count, 1);
	loads.fail = true;
	cr_assert_eq(chunk_cache_read(loads.cache, 7, 0, buffer, 1, load, &loads), -EIO);
	loads.fail = false;
	expect(&loads, 7, 0, 1);
	cr_assert_eq(loads.count, 3);
	cr_assert_eq(loads.wrong, 0);
	chunk_cache_free(loads.cache);
	chunk_cache_free(NULL);
}

/* A cache with room for eight, which most threads find occupied, and one for all. */
Test(e01, cache_in_many_threads)
{
	for (size_t room = 1; room <= 640; room += 639) {
		struct loads loads = { .cache = chunk_cache_new(CHUNK, room * CHUNK) };
		pthread_t threads[12];

		for (size_t i = 0; i < 12; i++)
			cr_assert_eq(pthread_create(&threads[i], NULL, ask, &loads), 0);
		for (size_t i = 0; i < 12; i++)
			pthread_join(threads[i], NULL);
		cr_assert_eq(loads.wrong, 0);
		if (room > 1)
			cr_assert_lt(loads.count, 1000); /* 64, but for sets that are full */
		chunk_cache_free(loads.cache);
	}
}

/* ---- names --------------------------------------------------------------------------------- */

static size_t count_names(const char *first, size_t count)
{
	char **paths;
	size_t found;

	e01_find_names(temp_at(first), &paths, &found);
	cr_assert_str_eq(paths[0], temp_at(first));
	for (size_t i = 0; i < found; i++) {
		if (i == 99 && count > 99)
			cr_assert_eq(
				strcasecmp(strrchr(paths[i], '.'), *first == 's' ? ".saa" : ".eaa"),
				0);
		free(paths[i]);
	}
	free(paths);
	return found;
}

static void touch_set(const char *base, char letter, size_t count)
{
	char z = letter >= 'a' ? 'z' : 'Z', a = letter >= 'a' ? 'a' : 'A', name[64];

	for (size_t i = 1; i <= count; i++) {
		size_t k = i - 100;

		if (i < 100)
			snprintf(name, sizeof(name), "%s.%c%02zu", base, letter, i);
		else
			snprintf(name, sizeof(name), "%s.%c%c%c", base, (char)(letter + k / 676),
				(char)(a + k / 26 % 26), (char)(a + k % 26));
		cr_assert_leq(name[strlen(base) + 1], z);
		temp_write(name, "", 0);
	}
}

Test(e01, names_of_many_segments)
{
	touch_set("x", 'E', 900);
	cr_assert_eq(count_names("x.E01", 900), 900);
	touch_set("y", 'e', 101);
	cr_assert_eq(count_names("y.e01", 101), 101);
	touch_set("s", 's', 120);
	cr_assert_eq(count_names("s.s01", 120), 120);
	touch_set("one.two", 'E', 2);
	cr_assert_eq(count_names("one.two.E01", 2), 2);
	temp_write("alone", "", 0);
	cr_assert_eq(count_names("alone", 1), 1);
	temp_write("none.E01", "", 0);
	temp_write("none.E03", "", 0); /* after a gap, and not a segment */
	cr_assert_eq(count_names("none.E01", 1), 1);
}

/* The sanitizer sees a look beyond a name's end. */
Test(e01, short_extensions_are_not_a_set_s)
{
	static const char *const names[] = { "image.", "image.1", "image.E0", "image", "E", ".E" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = strdup(names[i]), **paths;
		size_t count;

		cr_expect_null(e01_first_name(path), "%s", path);
		e01_find_names(path, &paths, &count);
		cr_assert_eq(count, 1);
		cr_expect_str_eq(paths[0], path);
		free(paths[0]);
		free(paths);
		free(path);
	}
}
