/* Holes of sparse images: not read, and scanned at most once, except for what is found in zeros. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "evidence/image.h"
#include "evidence/reader.h"
#include "run/run.h"
#include "temp.h"
#include "tier.h"

#define BLOCK 4096u
#define KIB 1024u
#define MIB (1024u * KIB)

static void set_up(void)
{
	log_set_level(LOG_ERROR);
	temp_make();
}

TestSuite(holes, .init = set_up, .fini = temp_remove);

/* ---- sparse files -------------------------------------------------------------------------- */

static void write_at(const char *name, const uint8_t *bytes, size_t len, uint64_t offset)
{
	int fd = open(temp_at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	cr_assert_eq(pwrite(fd, bytes, len, (off_t)offset), (ssize_t)len);
	close(fd);
}

static void set_size(const char *name, uint64_t size)
{
	int fd = open(temp_at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	cr_assert_eq(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

/* Bytes that are not zero. */
static void write_data(const char *name, uint64_t offset, size_t len)
{
	uint8_t *bytes = malloc(len);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(1 + (offset + i) % 255);
	write_at(name, bytes, len, offset);
	free(bytes);
}

static struct image *open_image(const char *name)
{
	struct error error = { 0 };
	struct image *image;

	cr_assert_eq(image_open(&image, temp_at(name), &error), 0, "%s", error.text);
	return image;
}

/* Skips the test where the file system reports no holes. */
static void need_holes(void)
{
	int fd;
	bool has;

	set_size("probe", MIB);
	fd = open(temp_at("probe"), O_RDONLY | O_CLOEXEC);
	has = lseek(fd, 0, SEEK_DATA) < 0 && errno == ENXIO;
	close(fd);
	if (!has)
		cr_skip("no holes on this file system");
}

static void check_hole(struct image *image, uint64_t offset, bool hole, uint64_t len)
{
	uint64_t known_len;

	cr_expect_eq(image_hole(image, offset, &known_len), hole, "at %zu", (size_t)offset);
	cr_expect_eq(known_len, len, "at %zu: %zu bytes", (size_t)offset, (size_t)known_len);
}

/* ---- image_hole ---------------------------------------------------------------------------- */

Test(holes, told_where_they_are)
{
	struct image *image;

	need_holes();
	set_size("image", 10 * MIB + 77);
	write_data("image", 4 * MIB, BLOCK);
	image = open_image("image");
	check_hole(image, 0, true, 4 * MIB);
	check_hole(image, 5, true, 4 * MIB - 5);
	check_hole(image, 4 * MIB, false, BLOCK);
	check_hole(image, 4 * MIB + BLOCK, true, 6 * MIB - BLOCK + 77);
	check_hole(image, 10 * MIB + 76, true, 1);
	image_close(image);
}

Test(holes, end_with_their_part)
{
	struct image *image;

	need_holes();
	set_size("image.001", MIB);
	set_size("image.002", MIB);
	write_data("image.002", MIB - BLOCK, BLOCK);
	image = open_image("image.001");
	check_hole(image, 0, true, MIB);
	check_hole(image, MIB, true, MIB - BLOCK);
	check_hole(image, 2 * MIB - BLOCK, false, BLOCK);
	image_close(image);
}

Test(holes, a_lost_end_is_none)
{
	struct image *image;

	need_holes();
	set_size("image", 4 * MIB);
	image = open_image("image");
	check_hole(image, MIB, true, 3 * MIB);
	set_size("image", 2 * MIB);
	check_hole(image, MIB, true, MIB);
	cr_expect_not(image_hole(image, 2 * MIB, &(uint64_t){ 0 }));
	cr_expect_not(image_hole(image, 3 * MIB, &(uint64_t){ 0 }));
	image_close(image);
}

/* A rescue may leave holes for what it could not read. */
Test(holes, what_a_map_calls_unread_is_none)
{
	static const char map[] =
		"0x0 +\n0x0 0x100000 +\n0x100000 0x200000 -\n0x300000 0x100000 +\n";
	struct error error = { 0 };
	struct image *image;

	need_holes();
	set_size("image", 4 * MIB);
	temp_write("map", map, sizeof(map) - 1);
	image = open_image("image");
	cr_assert_eq(image_use_ddrescue_map(image, temp_at("map"), &error), 0, "%s", error.text);
	check_hole(image, 0, true, MIB);
	check_hole(image, MIB, false, 2 * MIB);
	check_hole(image, 3 * MIB, true, MIB);
	image_close(image);
}

/* ---- the reader ---------------------------------------------------------------------------- */

static const struct reader_options ways[] = {
	{ .method = READER_THREADS, .cache = READER_BUFFERED },
	{ .method = READER_THREADS, .cache = READER_DIRECT },
	{ .method = READER_URING, .cache = READER_BUFFERED },
	{ .method = READER_URING, .cache = READER_DIRECT },
};

static bool all_zero(const uint8_t *bytes, size_t len)
{
	return !len || (!*bytes && !memcmp(bytes, bytes + 1, len - 1));
}

/* Holds some slots back, so that entries are reused in another order. Returns how many slots were
 * holes. */
static unsigned read_all(
	struct image *image, const struct reader_options *options, const uint8_t *expected)
{
	struct error error = { 0 };
	struct reader *reader;
	struct reader_slot *slot, *held[4];
	unsigned held_count = 0, holes = 0;
	uint64_t at = 0;

	cr_assert_eq(reader_open(&reader, image, options, &error), 0, "%s", error.text);
	while (reader_next(reader, &slot) == 1) {
		cr_assert_eq(slot->offset, at);
		cr_assert_arr_eq(slot->data, expected + at, slot->len + slot->tail_len, "%s at %zu",
			reader_method_name(reader), (size_t)at);
		if (slot->hole)
			cr_assert(all_zero(slot->data, slot->len + slot->tail_len));
		holes += slot->hole;
		at += slot->len;
		held[held_count++] = slot;
		if (held_count == 3) {
			unsigned i = (unsigned)rand() % held_count;

			reader_release(reader, held[i]);
			held[i] = held[--held_count];
		}
	}
	cr_assert_eq(at, image_info(image)->size);
	cr_assert_eq(reader_unreadable(reader)->count, 0);
	reader_close(reader);
	return holes;
}

/* Slots of 1 MiB, data in the third and at the end of the sixth. With an overlap, the slots after
 * these get their first bytes from them, so they count as read. */
Test(holes, slots_in_them_are_marked)
{
	uint8_t *expected = calloc(1, 10 * MIB);
	struct image *image;

	need_holes();
	set_size("image", 10 * MIB);
	write_data("image", 2 * MIB + 5 * BLOCK, 100);
	write_data("image", 6 * MIB - BLOCK, BLOCK);
	image = open_image("image");
	cr_assert_eq(image_read_at(image, 0, expected, 10 * MIB), 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct reader_options options = ways[i];

		options.slot_len = MIB;
		cr_expect_eq(read_all(image, &options, expected), 8);
		options.overlap = 100;
		cr_expect_eq(read_all(image, &options, expected), 6);
	}
	image_close(image);
	free(expected);
}

static void random_image(uint64_t size)
{
	unlink(temp_at("image"));
	set_size("image", size);
	for (unsigned i = (unsigned)rand() % 6; i > 0; i--) {
		uint64_t at = (uint64_t)rand() % size, len = 1 + (uint64_t)rand() % (300 * KIB);

		write_data("image", at, len < size - at ? len : size - at);
	}
}

Test(holes, read_as_zeros_in_every_way)
{
	unsigned seed = (unsigned)test_seed();

	need_holes();
	srand(seed);
	for (unsigned round = 0; round < test_tier(12, 40, 400); round++) {
		uint64_t size = 1 + (uint64_t)rand() % (6 * MIB);
		struct reader_options options = ways[round % 4];
		uint8_t *expected = malloc(size);
		struct image *image;

		random_image(size);
		image = open_image("image");
		cr_assert_eq(image_read_at(image, 0, expected, size), 0);
		options.slots = 4 + round % 3;
		options.slot_len = 1 + (size_t)rand() % (rand() % 2 ? 9000 : MIB);
		options.overlap = (size_t)rand() % 5000;
		if (options.slot_len < 2000 && size > MIB)
			options.slot_len += 2000;
		read_all(image, &options, expected);
		image_close(image);
		free(expected);
	}
	printf("seed %u\n", seed);
}

/* What existed when the image was opened and does not any more is not read as zeros. */
Test(holes, a_lost_end_is_unreadable)
{
	struct reader_options options = { .slot_len = MIB, .overlap = 10 };
	struct error error = { 0 };
	struct image *image;
	struct reader *reader;
	struct reader_slot *slot;

	need_holes();
	set_size("image", 8 * MIB);
	image = open_image("image");
	set_size("image", 5 * MIB);
	cr_assert_eq(reader_open(&reader, image, &options, &error), 0, "%s", error.text);
	while (reader_next(reader, &slot) == 1) {
		cr_expect(all_zero(slot->data, slot->len + slot->tail_len));
		cr_expect_eq(slot->hole, slot->offset + slot->len + slot->tail_len <= 5 * MIB);
		reader_release(reader, slot);
	}
	cr_assert_eq(reader_unreadable(reader)->count, 1);
	cr_expect_eq(reader_unreadable(reader)->items[0].offset, 5 * MIB);
	cr_expect_eq(reader_unreadable(reader)->items[0].length, 3 * MIB);
	reader_close(reader);
	image_close(image);
}

/* ---- whole runs ---------------------------------------------------------------------------- */

/* The report's lines of files and counts, without what differs from run to run. */
static char *carve(const char *rules_text, const char *image, const char *out, size_t chunk_size)
{
	struct run_options options = { .chunk_size = chunk_size,
		.dry_run = true,
		.align = 64,
		.progress = { .quiet = true },
		.threads = 2 };
	struct error error = { 0 };
	struct rules *rules;
	char report[64], *text, *files, *times, *result;

	temp_write("rules", rules_text, strlen(rules_text));
	cr_assert_eq(rules_load(&rules, temp_at("rules"), RULES_AUTO, NULL, &error), 0, "%s",
		error.text);
	options.rules = rules;
	cr_assert_eq(run_carve(&options, temp_at(image), temp_at(out), NULL), 0);
	rules_free(rules);
	snprintf(report, sizeof(report), "%s/report.jsonl", out);
	text = temp_read(report, NULL);
	files = strchr(text, '\n') + 1;
	times = strstr(files, "\"seconds\"");
	cr_assert_not_null(times);
	*times = '\0';
	result = strdup(files);
	free(text);
	return result;
}

/* The same bytes with and without holes. */
static void write_twins(void)
{
	uint64_t size = 256 * KIB + 100;
	uint8_t *bytes = malloc(size);
	struct image *image;

	set_size("sparse", size);
	write_at("sparse", (const uint8_t *)"MARK........END", 15, 128);
	write_at("sparse", (const uint8_t *)"MARK", 4, 100 * KIB);
	write_at("sparse", (const uint8_t *)"END", 3, 200 * KIB + 7);
	image = open_image("sparse");
	cr_assert_eq(image_read_at(image, 0, bytes, size), 0);
	image_close(image);
	temp_write("dense", bytes, size);
	free(bytes);
}

Test(holes, runs_find_the_same_in_them)
{
	static const char *const rules[] = {
		/* Nothing is in the holes; all of them is found; also what ends in one or begins
		 * there. */
		"types = ( { name = \"mark\"; header = \"'MARK'\"; footer = \"'END'\"; max_size = "
		"\"1M\"; } );",
		"types = ( { name = \"zeros\"; header = \"0000000000\"; max_size = 50; },\n"
		"  { name = \"mark\"; header = \"'MARK'\"; footer = \"'END'\"; max_size = \"1M\"; "
		"} );",
		"types = ( { name = \"in\"; header = \"/MARK[^!-~]{3}/\"; max_size = 50; },\n"
		"  { name = \"out\"; header = \"/[^!-~]{60}..../\"; footer = \"'END'\"; max_size = "
		"300; } );",
	};
	static const size_t sizes[] = { 0, 4096, 8192, 10000, 100000 };

	write_twins();
	for (size_t r = 0; r < sizeof(rules) / sizeof(*rules); r++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i += test_tier(4, 2, 1)) {
			char dense[16], sparse[16];
			char *expected, *found;

			snprintf(dense, sizeof(dense), "d%zu.%zu", r, i);
			snprintf(sparse, sizeof(sparse), "s%zu.%zu", r, i);
			expected = carve(rules[r], "dense", dense, sizes[i]);
			found = carve(rules[r], "sparse", sparse, sizes[i]);
			cr_expect_str_eq(found, expected, "rules %zu, chunks of %zu", r, sizes[i]);
			cr_expect_not_null(strstr(found, "\"record\":\"file\""));
			free(expected);
			free(found);
		}
}
