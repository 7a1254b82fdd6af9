/* The reader against an image that fails on demand, and against real files, with every method. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "evidence/backend.h"
#include "evidence/reader.h"
#include "temp.h"
#include "tier.h"

#define MIB (1u << 20)
#define SECTOR 512u

static void quiet(void)
{
	log_set_level(LOG_ERROR);
}

/* Warnings go to a file in memory, from which `heard` reads them. */
static void hear_warnings(void)
{
	int file = memfd_create("warnings", MFD_CLOEXEC);

	dup2(file, STDERR_FILENO);
	close(file);
	log_set_level(LOG_WARN);
}

static void heard(char *text, size_t len)
{
	ssize_t count;

	fflush(stderr);
	count = pread(STDERR_FILENO, text, len - 1, 0);
	cr_assert_geq(count, 0);
	text[count] = '\0';
}

TestSuite(reader, .init = quiet);

/* ---- an image in memory, broken here and there --------------------------------------------- */

struct fake {
	struct image image;
	uint8_t *bytes;   /* as they are */
	uint8_t *visible; /* with zeros where they can't be read */
	struct ranges broken;
	int fd, bad_fd; /* good: a file with the bytes; bad: all reads fail. -1: no extents */
	char *path;
	uint64_t read_len; /* sum of the successful reads; approximate with several threads */
};

static int fake_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	struct fake *fake = (struct fake *)image;

	cr_assert_leq(offset + len, image->info.size);
	if (ranges_overlap(&fake->broken, offset, len))
		return -EIO;
	memcpy(buffer, fake->bytes + offset, len);
	__atomic_add_fetch(&fake->read_len, len, __ATOMIC_RELAXED);
	return 0;
}

/* Broken ranges are in a file that can't be read, the others in one that can. */
static int fake_extent(struct image *image, uint64_t offset, bool direct, int *fd,
	uint64_t *fd_offset, uint64_t *len)
{
	struct fake *fake = (struct fake *)image;
	uint64_t end = image->info.size;
	bool broken = false;

	if (direct || fake->fd < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < fake->broken.count; i++) {
		const struct range *range = &fake->broken.items[i];

		if (offset >= range->offset && offset < range->offset + range->length) {
			broken = true;
			end = range->offset + range->length;
		} else if (range->offset > offset && range->offset < end) {
			end = range->offset;
		}
	}
	*fd = broken ? fake->bad_fd : fake->fd;
	*fd_offset = offset;
	*len = end - offset;
	return 0;
}

static void fake_close(struct image *image)
{
	(void)image;
}

static const struct image_backend fake_backend = {
	.name = "fake",
	.read_at = fake_read_at,
	.close = fake_close,
};
static const struct image_backend fake_file_backend = {
	.name = "fake with files",
	.read_at = fake_read_at,
	.extent = fake_extent,
	.close = fake_close,
};

static void fill(uint8_t *bytes, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)((seed >> 56) | 1); /* never zero */
	}
}

static void fake_init(struct fake *fake, size_t size, bool files)
{
	*fake = (struct fake){ .fd = -1, .bad_fd = -1, .path = strdup("fake.raw") };
	fake->image.backend = files ? &fake_file_backend : &fake_backend;
	fake->image.read_unit = SECTOR;
	fake->image.info = (struct image_info){ .format = "fake",
		.size = size,
		.sector_size = SECTOR,
		.paths = &fake->path,
		.path_count = 1 };
	fake->bytes = malloc(size);
	fake->visible = malloc(size);
	fill(fake->bytes, size, size);
	memcpy(fake->visible, fake->bytes, size);
	if (files) {
		fake->fd = memfd_create("good", MFD_CLOEXEC);
		fake->bad_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		cr_assert_eq(write(fake->fd, fake->bytes, size), (ssize_t)size);
	}
}

static void fake_break(struct fake *fake, uint64_t offset, uint64_t len)
{
	ranges_add(&fake->broken, offset, len);
	memset(fake->visible + offset, 0, len);
}

static void fake_free(struct fake *fake)
{
	ranges_free(&fake->broken);
	free(fake->bytes);
	free(fake->visible);
	free(fake->path);
	if (fake->fd >= 0) {
		close(fake->fd);
		close(fake->bad_fd);
	}
}

/* ---- reading it all, and comparing --------------------------------------------------------- */

struct expect {
	const uint8_t *bytes; /* of the whole image */
	uint64_t size;
	const struct ranges *bad; /* NULL: none */
};

static void check_slot(const struct reader_slot *slot, const struct expect *expect, uint64_t at,
	uint64_t finish, const struct reader_options *options)
{
	size_t slot_len =
		options->slot_len > options->overlap ? options->slot_len : options->overlap + 1;
	uint64_t rest = expect->size - slot->offset - slot->len;

	cr_assert_eq(slot->offset, at);
	cr_assert_eq(slot->len, finish - at < slot_len ? finish - at : slot_len);
	cr_assert_eq(slot->tail_len, rest < options->overlap ? rest : options->overlap);
	cr_assert_lt(slot->index, options->slots ? options->slots : 4);
	cr_assert_arr_eq(slot->data, expect->bytes + slot->offset, slot->len + slot->tail_len,
		"slot at %zu, %zu + %zu bytes", (size_t)slot->offset, slot->len, slot->tail_len);
}

static void check_unreadable(const struct ranges *ranges, const struct ranges *bad)
{
	cr_assert_eq(ranges->count, bad ? bad->count : 0, "%zu ranges", ranges->count);
	for (size_t i = 0; i < ranges->count; i++) {
		cr_assert_eq(ranges->items[i].offset, bad->items[i].offset);
		cr_assert_eq(ranges->items[i].length, bad->items[i].length);
	}
}

/* Holds `hold` slots before it releases one of them at random. */
static void read_all(struct image *image, const struct reader_options *options,
	const struct expect *expect, unsigned hold)
{
	struct error error = { 0 };
	struct reader *reader;
	struct reader_slot *slot, *held[64];
	unsigned held_count = 0;
	uint64_t at = options->offset, finish = expect->size;
	int rc;

	if (options->length && options->length < finish - at)
		finish = at + options->length;
	cr_assert_eq(reader_open(&reader, image, options, &error), 0, "%s", error.text);
	while ((rc = reader_next(reader, &slot)) == 1) {
		check_slot(slot, expect, at, finish, options);
		at += slot->len;
		held[held_count++] = slot;
		if (held_count > hold) {
			unsigned i = (unsigned)rand() % held_count;

			reader_release(reader, held[i]);
			held[i] = held[--held_count];
		}
	}
	cr_assert_eq(rc, 0);
	cr_assert_eq(at, finish);
	cr_assert(reader_ready(reader));
	cr_assert_eq(reader_next(reader, &slot), 0);
	check_unreadable(reader_unreadable(reader), expect->bad);
	reader_close(reader);
}

static const struct reader_options ways[] = {
	{ .method = READER_THREADS, .cache = READER_BUFFERED },
	{ .method = READER_THREADS, .cache = READER_DIRECT },
	{ .method = READER_URING, .cache = READER_BUFFERED },
	{ .method = READER_URING, .cache = READER_DIRECT },
	{ .method = READER_AUTO, .cache = READER_CACHE_AUTO },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void read_fake(struct fake *fake, struct reader_options options, unsigned hold)
{
	struct expect expect = { fake->visible, fake->image.info.size, &fake->broken };

	if (options.method == READER_URING && fake->fd < 0)
		return;
	read_all(&fake->image, &options, &expect, hold);
}

/* With every method; the seed is printed. */
static void read_every_way(struct fake *fake, struct reader_options options)
{
	for (size_t i = 0; i < WAYS; i++) {
		options.method = ways[i].method;
		options.cache = ways[i].cache;
		read_fake(fake, options, 0);
		read_fake(fake, options, options.slots ? options.slots - 1 : 3);
	}
}

/* ---- slots and overlaps -------------------------------------------------------------------- */

Test(reader, overlaps_are_right_for_every_slot_size)
{
	static const size_t overlaps[] = { 0, 1, 7, 100 };

	for (int files = 0; files < 2; files++) {
		struct fake fake;

		fake_init(&fake, 9000, files);
		for (size_t i = 0; i < 4; i++)
			for (size_t slot_len = overlaps[i] + 1; slot_len < 9300;
				slot_len += 1 + slot_len * 2 / 3)
				read_every_way(&fake, (struct reader_options){ .slot_len = slot_len,
							      .overlap = overlaps[i],
							      .slots = 2 + (unsigned)i });
		fake_free(&fake);
	}
}

Test(reader, slots_at_page_boundaries)
{
	struct fake fake;

	fake_init(&fake, 3 * 4096 + 1, true);
	for (size_t slot_len = 4090; slot_len < 4102; slot_len++)
		for (size_t overlap = 4085; overlap < slot_len && overlap < 4100; overlap += 3)
			read_every_way(&fake, (struct reader_options){
						      .slot_len = slot_len, .overlap = overlap });
	fake_free(&fake);
}

Test(reader, image_shorter_than_overlap)
{
	for (size_t size = 1; size < 40; size += 6) {
		struct fake fake;

		fake_init(&fake, size, true);
		read_every_way(&fake, (struct reader_options){ .slot_len = 5, .overlap = 30 });
		read_every_way(&fake, (struct reader_options){ .slot_len = 100, .overlap = 1000 });
		fake_free(&fake);
	}
}

Test(reader, ranges_of_the_image)
{
	static const uint64_t offsets[] = { 0, 1, 511, 4096, 5000, 19999 };
	static const uint64_t lengths[] = { 0, 1, 77, 4096, 15000, UINT64_MAX };
	struct fake fake;

	fake_init(&fake, 20000, true);
	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < 6; j++)
			read_every_way(&fake, (struct reader_options){ .slot_len = 1000,
						      .overlap = 50,
						      .offset = offsets[i],
						      .length = lengths[j] });
	fake_free(&fake);
}

/* One range after another, sometimes with gaps between them, and with slots of the previous ones
 * held. */
static void read_ranges(struct fake *fake, struct reader_options options)
{
	struct expect expect = { fake->visible, fake->image.info.size, &fake->broken };
	uint64_t at = 0, finish = options.length = 5000;
	struct reader_slot *slot, *held[3] = { NULL };
	struct error error = { 0 };
	struct reader *reader;
	unsigned turn = 0;

	cr_assert_eq(reader_open(&reader, &fake->image, &options, &error), 0, "%s", error.text);
	for (;;) {
		while (reader_next(reader, &slot) == 1) {
			struct reader_slot **place = &held[turn++ % 3];

			check_slot(slot, &expect, at, finish, &options);
			at += slot->len;
			if (*place) { /* nothing has written to it meanwhile */
				cr_assert_arr_eq((*place)->data, expect.bytes + (*place)->offset,
					(*place)->len + (*place)->tail_len);
				reader_release(reader, *place);
			}
			*place = slot;
		}
		cr_assert_eq(at, finish);
		at += rand() % 3 ? 0 : (uint64_t)rand() % 2000;
		if (at >= expect.size)
			break;
		options.length = 1 + (uint64_t)rand() % 20000;
		finish = expect.size - at < options.length ? expect.size : at + options.length;
		cr_assert_eq(reader_continue(reader, at, options.length, &error), 0);
	}
	cr_assert_neq(reader_continue(reader, expect.size, 1, &error), 0);
	reader_close(reader);
}

Test(reader, one_range_after_another)
{
	unsigned seed = (unsigned)test_seed();

	printf("seed %u\n", seed);
	srand(seed);
	for (int files = 0; files < 2; files++) {
		struct fake fake;

		fake_init(&fake, 200000, files);
		fake_break(&fake, 90112, 3 * SECTOR);
		for (size_t i = 0; i < WAYS; i++) {
			if (ways[i].method == READER_URING && !files)
				continue;
			read_ranges(&fake, (struct reader_options){ .slot_len = 1500,
						   .overlap = 50,
						   .slots = 4,
						   .method = ways[i].method,
						   .cache = ways[i].cache });
		}
		fake_free(&fake);
	}
}

Test(reader, large_slots_of_many_pieces)
{
	struct fake fake;

	fake_init(&fake, 23 * MIB + 4321, true);
	read_every_way(&fake, (struct reader_options){ .slot_len = 5 * MIB + 1, .overlap = 70000 });
	fake_free(&fake);
}

Test(reader, each_byte_is_read_once)
{
	struct fake fake;
	struct expect expect;
	struct reader_options options = { .slot_len = 10007, .overlap = 5000 };

	fake_init(&fake, 5 * MIB + 11, false);
	expect = (struct expect){ fake.visible, fake.image.info.size, NULL };
	read_all(&fake.image, &options, &expect, 3);
	cr_assert_eq(fake.read_len, fake.image.info.size);
	fake_free(&fake);
}

Test(reader, small_chunks_with_a_large_granule)
{
	struct fake fake;

	fake_init(&fake, 300000, false);
	fake.image.read_unit = 63 * SECTOR; /* an E01's chunk may be any multiple of a sector */
	fake_break(&fake, 2 * 63 * SECTOR, 63 * SECTOR);
	read_every_way(&fake, (struct reader_options){ .slot_len = 333, .overlap = 332 });
	read_every_way(&fake, (struct reader_options){ .slot_len = 100000, .overlap = 1 });
	fake_free(&fake);
}

/* ---- what can't be read -------------------------------------------------------------------- */

static void read_broken(uint64_t offset, uint64_t len)
{
	for (int files = 0; files < 2; files++) {
		struct fake fake;

		fake_init(&fake, 3 * MIB + 700, files);
		if (offset + len > fake.image.info.size)
			len = fake.image.info.size - offset;
		fake_break(&fake, offset, len);
		read_every_way(&fake, (struct reader_options){ .slot_len = MIB, .overlap = 600 });
		read_every_way(&fake, (struct reader_options){ .slot_len = 40000, .overlap = 20 });
		fake_free(&fake);
	}
}

Test(reader, unreadable_start)
{
	read_broken(0, SECTOR);
}

Test(reader, unreadable_middle)
{
	read_broken(1000 * SECTOR, 3 * SECTOR);
}

Test(reader, unreadable_end)
{
	read_broken(3 * MIB + SECTOR, SECTOR);
}

Test(reader, unreadable_across_slots)
{
	read_broken(MIB - 5 * SECTOR, 2 * MIB - 100 * SECTOR);
}

Test(reader, unreadable_in_the_overlap)
{
	read_broken(MIB, SECTOR);
}

Test(reader, all_unreadable)
{
	read_broken(0, UINT32_MAX);
}

Test(reader, many_unreadable_places)
{
	unsigned seed = (unsigned)test_seed();

	srand(seed);
	printf("seed %u\n", seed);
	for (int round = 0; round < 4; round++) {
		struct fake fake;

		fake_init(&fake, 2 * MIB + (unsigned)rand() % 10000, round & 1);
		for (int i = 0; i < 50; i++) {
			uint64_t sector = (unsigned)rand() % (fake.image.info.size / SECTOR - 8);

			fake_break(&fake, sector * SECTOR, (1 + (unsigned)rand() % 8) * SECTOR);
		}
		read_every_way(&fake,
			(struct reader_options){ .slot_len = 1 + (unsigned)rand() % (MIB / 2),
				.overlap = (unsigned)rand() % 5000,
				.slots = 2 + (unsigned)rand() % 6 });
		fake_free(&fake);
	}
}

/* A failed range that starts inside of a sector covers only the bytes that were requested. */
Test(reader, unreadable_range_is_cut_to_what_was_asked_for)
{
	struct fake fake;
	struct ranges bad = { 0 };
	struct reader_options options = { .slot_len = 100,
		.overlap = 10,
		.offset = 1000,
		.length = 500,
		.method = READER_THREADS };
	struct expect expect;

	fake_init(&fake, 10000, false);
	fake_break(&fake, 512, 512);
	ranges_add(&bad, 1000, 24);
	expect = (struct expect){ fake.visible, fake.image.info.size, &bad };
	read_all(&fake.image, &options, &expect, 1);
	ranges_free(&bad);
	fake_free(&fake);
}

Test(reader, a_range_is_logged_once, .init = hear_warnings)
{
	struct fake fake;
	struct reader_options options = {
		.slot_len = 65536, .overlap = 100, .method = READER_THREADS
	};
	struct expect expect;
	char text[8192];

	fake_init(&fake, MIB, false);
	fake_break(&fake, 60 * SECTOR, 600 * SECTOR); /* over several slots */
	fake_break(&fake, 1000 * SECTOR, SECTOR);
	expect = (struct expect){ fake.visible, fake.image.info.size, &fake.broken };
	read_all(&fake.image, &options, &expect, 0);
	fake_free(&fake);
	heard(text, sizeof(text));
	cr_assert_str_eq(text,
		"burin: warning: can't read 307200 bytes at offset 30720 of fake.raw: "
		"zeros are used instead\n"
		"burin: warning: can't read 512 bytes at offset 512000 of fake.raw: "
		"zeros are used instead\n");
}

Test(reader, floods_are_cut_in_the_log, .init = hear_warnings)
{
	struct fake fake;
	struct reader_options options = { .slot_len = MIB, .method = READER_THREADS };
	struct expect expect;
	char text[8192];
	size_t lines = 0;

	fake_init(&fake, MIB, false);
	for (unsigned i = 0; i < 1000; i += 2)
		fake_break(&fake, i * SECTOR, SECTOR);
	expect = (struct expect){ fake.visible, fake.image.info.size, &fake.broken };
	read_all(&fake.image, &options, &expect, 0);
	fake_free(&fake);
	heard(text, sizeof(text));
	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	cr_assert_eq(lines, 21, "%zu lines", lines);
}

/* ---- the contract of the calls ------------------------------------------------------------- */

Test(reader, next_says_again_when_the_caller_has_all_slots)
{
	struct fake fake;
	struct reader_options options = { .slot_len = 1000, .overlap = 10, .slots = 3 };
	struct reader *reader;
	struct reader_slot *slots[3], *more;

	fake_init(&fake, 10000, false);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(reader_next(reader, &slots[i]), 1);
	cr_assert(reader_ready(reader));
	cr_assert_eq(reader_next(reader, &more), -EAGAIN);
	reader_release(reader, slots[1]);
	cr_assert_eq(reader_next(reader, &more), 1);
	cr_assert_eq(more->offset, 3000);
	cr_assert_eq(more->index, slots[1]->index);
	reader_close(reader); /* with slots held */
	fake_free(&fake);
}

Test(reader, a_slot_is_free_after_the_last_of_its_holds)
{
	struct fake fake;
	struct reader_options options = { .slot_len = 1000, .overlap = 10, .slots = 2 };
	struct reader *reader;
	struct reader_slot *slots[2], *more;

	fake_init(&fake, 10000, false);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(reader_next(reader, &slots[i]), 1);
	reader_hold(reader, slots[0]);
	reader_hold(reader, slots[0]);
	for (int i = 0; i < 2; i++) {
		reader_release(reader, slots[0]);
		cr_assert_eq(reader_next(reader, &more), -EAGAIN);
	}
	reader_release(reader, slots[0]);
	cr_assert_eq(reader_next(reader, &more), 1);
	cr_assert_eq(more->offset, 2000);
	reader_close(reader);
	fake_free(&fake);
}

Test(reader, ring_is_page_aligned_and_holds_all_slots)
{
	struct fake fake;
	struct reader_options options = { .slot_len = 100000, .overlap = 999, .slots = 5 };
	struct reader *reader;
	struct reader_slot *slot;
	void *memory;
	size_t len, slot_len;
	unsigned slots;

	fake_init(&fake, MIB, true);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	reader_ring(reader, &memory, &len, &slot_len, &slots);
	cr_assert_eq((uintptr_t)memory % 4096, 0);
	cr_assert_eq(slots, 5);
	cr_assert_eq(slot_len, 100999);
	cr_assert_geq(len, slots * slot_len);
	while (reader_next(reader, &slot) == 1) {
		cr_assert_geq(slot->data, (uint8_t *)memory);
		cr_assert_leq(slot->data + slot->len + slot->tail_len, (uint8_t *)memory + len);
		reader_release(reader, slot);
	}
	reader_close(reader);
	fake_free(&fake);
}

Test(reader, defaults_shrink_to_the_image)
{
	struct fake fake;
	struct reader_options options = { .overlap = 40 };
	struct reader *reader;
	void *memory;
	size_t len, slot_len;
	unsigned slots;

	fake_init(&fake, 5000, false);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
	reader_ring(reader, &memory, &len, &slot_len, &slots);
	cr_assert_eq(slot_len, 5040);
	cr_assert_eq(slots, 4);
	cr_assert_str_eq(reader_method_name(reader), "threads, buffered");
	reader_close(reader);
	fake_free(&fake);
}

Test(reader, range_behind_the_end_is_an_error)
{
	struct fake fake;
	struct reader_options options = { .offset = 5000 };
	struct reader *reader;
	struct error error = { 0 };

	fake_init(&fake, 5000, false);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, &error), -EINVAL);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_str_eq(
		error.text, "the range starts at byte 5000, but fake.raw has only 5000 bytes");
	fake_free(&fake);
}

Test(reader, too_much_memory_is_an_error)
{
	struct fake fake;
	struct reader_options options = { .overlap = SIZE_MAX / 2 };
	struct reader *reader;
	struct error error = { 0 };

	fake_init(&fake, 5000, false);
	cr_assert_eq(reader_open(&reader, &fake.image, &options, &error), -ENOMEM);
	cr_assert_eq(error.code, EXIT_IO);
	options.overlap = (size_t)1 << 50;
	cr_assert_eq(reader_open(&reader, &fake.image, &options, &error), -ENOMEM);
	fake_free(&fake);
}

Test(reader, close_in_the_middle, .timeout = TEST_HANGS)
{
	struct fake fake;

	fake_init(&fake, 40 * MIB, true);
	fake_break(&fake, 20 * MIB, MIB);
	for (size_t i = 0; i < WAYS; i++)
		for (int taken = 0; taken < 4; taken++) {
			struct reader_options options = ways[i];
			struct reader *reader;
			struct reader_slot *slot;

			options.slot_len = 8 * MIB;
			cr_assert_eq(reader_open(&reader, &fake.image, &options, NULL), 0);
			for (int j = 0; j < taken; j++)
				cr_assert_eq(reader_next(reader, &slot), 1);
			reader_close(reader);
		}
	reader_close(NULL);
	fake_free(&fake);
}

/* ---- real files ---------------------------------------------------------------------------- */

/* Returns the file's path. */
static const char *write_file(const char *name, const void *bytes, size_t len)
{
	temp_write(name, bytes, len);
	return temp_at(name);
}

static void read_file_every_way(const char *path, const uint8_t *bytes, size_t len,
	const struct ranges *bad, off_t shrink_to)
{
	static const struct reader_options shapes[] = {
		{ .slot_len = 3 * MIB, .overlap = 100 },
		{ .slot_len = 999999, .overlap = 4097, .offset = 12345, .length = 7000000 },
		{ .slot_len = 0, .overlap = 1 },
	};

	for (size_t i = 0; i < WAYS * 3; i++) {
		struct reader_options options = shapes[i / WAYS];
		struct expect expect = { bytes, len, bad };
		struct error error = { 0 };
		struct image *image;

		if (shrink_to && options.offset)
			continue;
		cr_assert_eq(image_open(&image, path, &error), 0, "%s", error.text);
		if (shrink_to)
			cr_assert_eq(truncate(path, shrink_to), 0);
		options.method = ways[i % WAYS].method;
		options.cache = ways[i % WAYS].cache;
		if (options.offset + options.length > len)
			options.length = 0;
		if (!options.slot_len)
			options.slot_len = len;
		read_all(image, &options, &expect, 1);
		image_close(image);
		if (shrink_to)
			cr_assert_eq(truncate(path, (off_t)len), 0);
	}
}

Test(reader, direct_and_buffered_give_the_same_bytes)
{
	size_t len = 9 * MIB + 1234;
	uint8_t *bytes = malloc(len);

	fill(bytes, len, 5);
	temp_make();
	read_file_every_way(write_file("image.raw", bytes, len), bytes, len, NULL, 0);
	temp_remove();
	free(bytes);
}

/* Parts of odd lengths: what is aligned in the image is not in the second file, but is in the
 * third. */
Test(reader, parts_of_odd_lengths)
{
	size_t len = 9 * MIB + 1234, cuts[] = { 0, 3 * MIB + 100, 6 * MIB, 6 * MIB + 1, 0 };
	uint8_t *bytes = malloc(len);
	char name[32];

	cuts[4] = len;
	fill(bytes, len, 6);
	temp_make();
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "image.%03d", i + 1);
		temp_write(name, bytes + cuts[i], cuts[i + 1] - cuts[i]);
	}
	read_file_every_way(temp_at("image.001"), bytes, len, NULL, 0);
	temp_remove();
	free(bytes);
}

Test(reader, a_file_that_shrinks_is_read_up_to_its_last_whole_sector)
{
	size_t len = 9 * MIB + 1234, cut = 5 * MIB + 700;
	uint8_t *bytes = malloc(len);
	struct ranges bad = { 0 };
	const char *path;

	fill(bytes, len, 7);
	temp_make();
	path = write_file("image.raw", bytes, len);
	ranges_add(&bad, cut / SECTOR * SECTOR, len - cut / SECTOR * SECTOR);
	memset(bytes + bad.items[0].offset, 0, bad.items[0].length);
	read_file_every_way(path, bytes, len, &bad, (off_t)cut);
	ranges_free(&bad);
	temp_remove();
	free(bytes);
}

Test(reader, names_say_how_it_is_read)
{
	size_t len = 2 * MIB;
	uint8_t *bytes = malloc(len);
	struct image *image;

	fill(bytes, len, 8);
	temp_make();
	cr_assert_eq(image_open(&image, write_file("image.raw", bytes, len), NULL), 0);
	for (size_t i = 0; i < WAYS; i++) {
		struct reader *reader;

		cr_assert_eq(reader_open(&reader, image, &ways[i], NULL), 0);
		if (ways[i].cache == READER_BUFFERED)
			cr_assert_not_null(strstr(reader_method_name(reader), ", buffered"));
		if (ways[i].method == READER_THREADS)
			cr_assert_eq(strncmp(reader_method_name(reader), "threads, ", 9), 0);
		if (ways[i].method == READER_AUTO)
			cr_assert_str_eq(reader_method_name(reader), "threads, buffered");
		reader_close(reader);
	}
	image_close(image);
	temp_remove();
	free(bytes);
}

/* As in a container that forbids io_uring. */
static void forbid_io_uring(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(reader, threads_stand_in_for_io_uring)
{
	size_t len = 3 * MIB + 5;
	uint8_t *bytes = malloc(len);
	struct reader_options options = { .method = READER_URING };
	struct reader *reader;
	struct image *image;
	const char *path;

	fill(bytes, len, 9);
	temp_make();
	path = write_file("image.raw", bytes, len);
	forbid_io_uring();
	cr_assert_eq(image_open(&image, path, NULL), 0);
	cr_assert_eq(reader_open(&reader, image, &options, NULL), 0);
	cr_assert_eq(strncmp(reader_method_name(reader), "threads, ", 9), 0);
	reader_close(reader);
	image_close(image);
	read_file_every_way(path, bytes, len, NULL, 0);
	temp_remove();
	free(bytes);
}
