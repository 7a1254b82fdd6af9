/* What reads around unreadable ranges ends when the run is interrupted, and uses nothing of what it read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/log.h"
#include "carve/copy.h"
#include "carve/view.h"
#include "content_map/content_map.h"
#include "evidence/backend.h"
#include "evidence/reader.h"
#include "output/output_dir.h"
#include "report/record.h"
#include "temp.h"
#include "tier.h"

#define LEN (4u << 20)
#define BAD (1u << 20)   /* from here on the image can't be read */
#define UNDER_WAY_MAX 64 /* reads that other threads may have begun before the interruption */

static _Atomic unsigned failed;
static unsigned interrupt_after; /* after this many failed reads */

static int read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	(void)image;
	if (offset + len > BAD) {
		failed++;
		return -EIO;
	}
	memset(buffer, 'x', len);
	return 0;
}

static bool interrupted(void)
{
	return failed >= interrupt_after;
}

static char path[] = "fake";
static char *paths[] = { path };
static const struct image_backend backend = { .name = "fake", .read_at = read_at };
static struct image image;

static void set_up(void)
{
	log_set_level(LOG_ERROR);
	image = (struct image){ .backend = &backend,
		.info = { .format = "raw",
			.size = LEN,
			.sector_size = 512,
			.paths = paths,
			.path_count = 1 },
		.read_unit = 512 };
	failed = 0;
	interrupt_after = 10;
	image_set_interrupted(&image, interrupted);
}

static void expect_cut(void)
{
	cr_expect(image_was_cut(&image));
	cr_expect_geq(failed, interrupt_after);
	cr_expect_lt(failed, interrupt_after + UNDER_WAY_MAX, "%u reads failed", failed);
}

TestSuite(cut_reads, .init = set_up, .timeout = TEST_HANGS);

Test(cut_reads, reading_around)
{
	uint8_t *buffer = malloc(LEN);
	struct ranges bad = { 0 };

	memset(buffer, 'y', LEN);
	/* The whole, the first 64 KiB, and 8 sectors. */
	cr_expect_eq(image_read_noting(&image, BAD, buffer, LEN - BAD, &bad), 8 * 512);
	cr_expect_eq(ranges_bytes(&bad), 8 * 512, "the others were not tried");
	cr_expect_eq(failed, 10);
	for (size_t i = 0; i < LEN - BAD; i++)
		cr_assert_eq(buffer[i], 0);
	expect_cut();
	ranges_free(&bad);
	free(buffer);
}

Test(cut_reads, a_cut_that_was_forgotten_cuts_no_more)
{
	uint8_t *buffer = malloc(LEN);

	image_read_around(&image, BAD, buffer, LEN - BAD);
	expect_cut();
	image_forget_cut(&image);
	cr_expect_not(image_was_cut(&image));
	interrupt_after = UINT32_MAX;
	cr_expect_eq(image_read_around(&image, BAD, buffer, LEN - BAD), LEN - BAD);
	cr_expect_not(image_was_cut(&image), "it was read to the end");
	free(buffer);
}

Test(cut_reads, what_never_is_interrupted_is_read_to_the_end)
{
	uint8_t *buffer = malloc(LEN);

	interrupt_after = UINT32_MAX;
	cr_expect_eq(image_read_around(&image, 0, buffer, LEN), LEN - BAD);
	cr_expect_not(image_was_cut(&image));
	free(buffer);
}

Test(cut_reads, the_reader_hands_out_no_slot_of_it)
{
	const struct reader_options options = { .slot_len = 1u << 18,
		.slots = 4,
		.overlap = 10,
		.method = READER_THREADS,
		.cache_len = LEN };
	struct error error = { 0 };
	struct reader *reader;
	struct reader_slot *slot;
	uint8_t byte;
	int status;

	/* At once: with some bad reads before it, the last good slot may come with its tail unreadable. */
	interrupt_after = 1;
	cr_assert_eq(reader_open(&reader, &image, &options, &error), 0);
	while ((status = reader_next(reader, &slot)) == 1) {
		cr_assert_leq(slot->offset + slot->len + slot->tail_len, BAD);
		for (size_t i = 0; i < slot->len; i++)
			cr_assert_eq(slot->data[i], 'x');
		reader_release(reader, slot);
	}
	cr_expect_eq(status, -ECANCELED);
	cr_expect(reader_ready(reader));
	cr_expect_eq(reader_next(reader, &slot), -ECANCELED);
	cr_expect_eq(reader_copy(reader, BAD, &byte, 1), 0);
	cr_expect_eq(reader_unreadable(reader)->count, 0);
	expect_cut();
	reader_close(reader);
}

Test(cut_reads, a_view_stops)
{
	struct view *view = view_new();

	interrupt_after = 3;
	view_point(view, &image, BAD, LEN - BAD);
	cr_expect_null(view_peek(view, 0, 65536));
	cr_expect(view_stopped(view));
	view_point(view, &image, BAD, LEN - BAD);
	cr_expect_null(view_peek(view, 0, 1), "it keeps none of the bytes");
	cr_expect(view_stopped(view));
	expect_cut();
	view_free(view);
}

Test(cut_reads, a_copy_is_cancelled)
{
	struct range run = { BAD, LEN - BAD };
	struct file_record record = {
		.path = strdup("file"), .runs = &run, .run_count = 1, .length = LEN - BAD
	};
	atomic_bool cancel = false;
	struct error error = { 0 };
	struct output_dir *folder;
	struct copier copier;

	temp_make();
	cr_assert_eq(output_dir_open(&folder, temp_at("out"), &error), 0);
	copier_init(&copier, 0, NULL);
	cr_expect_eq(copy_file(&copier, &image, folder, &record, &cancel, &error), -ECANCELED);
	cr_expect_neq(access(temp_at("out/file"), F_OK), 0, "a file of zeros");
	expect_cut();
	copier_free(&copier);
	output_dir_close(folder);
	free(record.path);
	temp_remove();
}

static bool never(void)
{
	return false;
}

/* What a content map has saved, in a file. */
static int save_map(struct content_map *map)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct codec_writer *writer;

	cr_assert_geq(fd, 0);
	writer = codec_writer_new(fd);
	content_map_save(map, writer);
	cr_assert_eq(codec_writer_close(writer), 0);
	return fd;
}

Test(cut_reads, a_content_map_does_not_take_it_for_zeros)
{
	const struct content_map_options options = { .image = &image };
	struct content_map *map = content_map_new(&options);
	struct codec_reader *reader;
	int fd = save_map(map);

	cr_assert_eq(codec_reader_open(&reader, fd), 0);
	content_map_load(map, LEN, never, reader);
	cr_assert(codec_ok(reader));
	codec_reader_close(reader);
	close(fd);
	fd = save_map(map);
	cr_assert_eq(codec_reader_open(&reader, fd), 0);
	cr_expect_eq(codec_get(reader, LEN), 0, "it begins there when the run is resumed");
	codec_reader_close(reader);
	close(fd);
	expect_cut();
	content_map_free(map);
}
