/* The parts of reading volumes that need no file system: ranges as one stream, which file bytes
 * belong to, signatures, and children that crash. Whole images are for tests/cli/volumes_*. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "evidence/extent_image.h"
#include "evidence/file_map.h"
#include "evidence/signatures.h"
#include "memory_image.h"
#include "tier.h"

#define SIZE 4096

static uint8_t bytes[SIZE];

static struct memory_image evidence = MEMORY_IMAGE(bytes, SIZE);

static void fill(void)
{
	evidence.bad_from = 1050;
	evidence.bad_to = 1100;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
}

/* ---- a part of an image -------------------------------------------------------------------- */

Test(volumes, extent_image_is_its_ranges_in_order, .init = fill)
{
	struct ranges ranges = { 0 };
	struct image *image;
	uint8_t read[400];
	size_t count;
	struct range *runs;

	ranges_add(&ranges, 100, 50);
	ranges_add(&ranges, 2000, 1);
	ranges_add(&ranges, 3000, 96);
	image = extent_image_open(&evidence.image, NULL, &ranges);
	cr_assert_eq(image_info(image)->size, 147);
	cr_assert_eq(extent_image_evidence(image), &evidence.image);
	cr_assert_eq(image_read_at(image, 0, read, 147), 0);
	cr_assert_arr_eq(read, bytes + 100, 50);
	cr_assert_eq(read[50], bytes[2000]);
	cr_assert_arr_eq(read + 51, bytes + 3000, 96);
	cr_assert_eq(image_read_at(image, 49, read, 3), 0);
	cr_assert_eq(read[0], bytes[149]);
	cr_assert_eq(read[1], bytes[2000]);
	cr_assert_eq(read[2], bytes[3000]);
	cr_assert_eq(image_read_at(image, 147, read, 1), -EINVAL);
	runs = extent_image_runs(image, 40, 20, &count);
	cr_assert_eq(count, 3);
	cr_assert_eq(runs[0].offset, 140);
	cr_assert_eq(runs[0].length, 10);
	cr_assert_eq(runs[1].offset, 2000);
	cr_assert_eq(runs[1].length, 1);
	cr_assert_eq(runs[2].offset, 3000);
	cr_assert_eq(runs[2].length, 9);
	free(runs);
	runs = extent_image_runs(image, 60, 5, &count);
	cr_assert_eq(count, 1);
	cr_assert_eq(runs[0].offset, 3009);
	cr_assert_eq(runs[0].length, 5);
	free(runs);
	image_close(image);
	ranges_free(&ranges);
}

Test(volumes, extent_image_offsets_go_both_ways, .init = fill)
{
	static const uint64_t places[][2] = { { 0, 0 }, { 100, 0 }, { 101, 1 }, { 149, 49 },
		{ 150, 50 }, { 1999, 50 }, { 2000, 50 }, { 2001, 51 }, { 3000, 51 }, { 3095, 146 },
		{ 3096, 147 }, { 9999, 147 } };
	struct ranges ranges = { 0 };
	struct image *image;

	ranges_add(&ranges, 100, 50);
	ranges_add(&ranges, 2000, 1);
	ranges_add(&ranges, 3000, 96);
	image = extent_image_open(&evidence.image, NULL, &ranges);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		cr_assert_eq(extent_image_from_evidence(image, places[i][0]), places[i][1],
			"place %lu", (unsigned long)places[i][0]);
	for (uint64_t offset = 0; offset < 147; offset++)
		cr_assert_eq(
			extent_image_from_evidence(image, extent_image_to_evidence(image, offset)),
			offset);
	image_close(image);
	ranges_free(&ranges);
	cr_assert_eq(extent_image_to_evidence(&evidence.image, 77), 77);
	cr_assert_eq(extent_image_from_evidence(&evidence.image, 77), 77);
	cr_assert_eq(extent_image_from_evidence(&evidence.image, SIZE + 1), SIZE);
	cr_assert_eq(extent_image_evidence(&evidence.image), &evidence.image);
}

Test(volumes, extent_image_has_small_ranges_in_front, .init = fill)
{
	static const uint64_t places[][2] = { { 10, 0 }, { 19, 9 }, { 2500, 10 }, { 2509, 19 },
		{ 100, 20 }, { 149, 69 }, { 3000, 70 }, { 3095, 165 } };
	static const uint64_t elsewhere[] = { 0, 9, 20, 99, 150, 2499, 2510, 2999, 3096 };
	struct ranges small = { 0 }, ranges = { 0 };
	struct image *image;
	uint8_t read[30];
	uint64_t offset, len;

	ranges_add(&small, 10, 10);
	ranges_add(&small, 2500, 10);
	ranges_add(&ranges, 100, 50);
	ranges_add(&ranges, 3000, 96);
	image = extent_image_open(&evidence.image, &small, &ranges);
	ranges_free(&small);
	ranges_free(&ranges);
	cr_assert_eq(image_info(image)->size, 166);
	cr_assert_eq(extent_image_main(image), 20);
	cr_assert_eq(image_read_at(image, 5, read, 20), 0);
	cr_assert_arr_eq(read, bytes + 15, 5);
	cr_assert_arr_eq(read + 5, bytes + 2500, 10);
	cr_assert_arr_eq(read + 15, bytes + 100, 5);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		cr_assert(extent_image_find(image, places[i][0], &offset, &len));
		cr_assert_eq(offset, places[i][1]);
		cr_assert_eq(extent_image_to_evidence(image, offset), places[i][0]);
	}
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
		cr_assert_not(extent_image_find(image, elsewhere[i], &offset, &len));
	cr_assert_eq(extent_image_from_evidence(image, 0), 20);
	cr_assert_eq(extent_image_from_evidence(image, 2505), 70);
	cr_assert_eq(extent_image_from_evidence(image, 5000), 166);
	cr_assert_eq(extent_image_main(&evidence.image), 0);
	image_close(image);
}

/* Bytes 1050 to 1099 of the evidence can't be read. */
Test(volumes, extent_image_loses_no_more_than_sectors, .init = fill)
{
	struct ranges ranges = { 0 };
	struct image *image;
	uint8_t read[SIZE];

	ranges_add(&ranges, 500, 512);
	ranges_add(&ranges, 1020, 2048);
	image = extent_image_open(&evidence.image, NULL, &ranges);
	cr_assert_eq(image_read_around(image, 0, read, 2560), 512);
	cr_assert_arr_eq(read, bytes + 500, 512);
	for (size_t i = 512; i < 1024; i++)
		cr_assert_eq(read[i], 0);
	cr_assert_arr_eq(read + 1024, bytes + 1020 + 512, 1536);
	image_close(image);
	ranges_free(&ranges);
}

/* ---- the file map -------------------------------------------------------------------------- */

static void add_file(struct file_map *files, const char *name, unsigned flags, uint64_t valid)
{
	const struct walk_file file = { .size = valid, .valid = valid, .flags = flags };

	cr_assert(file_map_file(files, &file, name, strlen(name)));
}

static void add_run(struct file_map *files, uint64_t offset, uint64_t length, uint64_t at)
{
	const struct walk_run run = { offset, length, at };

	cr_assert(file_map_runs(files, &run, 1));
}

static void add_owned(
	struct file_map *files, const char *name, bool deleted, uint64_t offset, uint64_t length)
{
	add_file(files, name, deleted ? FS_DELETED : 0, length);
	add_run(files, offset, length, 0);
}

/* The file that has the byte, "" for none. */
static const char *owner(struct file_map *files, uint64_t offset)
{
	struct fs_file file;

	return file_map_find(files, offset, &file) ? file_map_path(files, file.index) : "";
}

Test(volumes, file_map_prefer_files_that_are_there)
{
	struct file_map *files = file_map_new();
	const struct walk_file file = { .size = 1 };

	cr_assert_not(file_map_file(files, &file, "x", 1)); /* in no folder */
	cr_assert(file_map_folder(files, "", 0));
	add_owned(files, "gone", true, 100, 100);
	add_owned(files, "here", false, 150, 100);
	cr_assert(file_map_folder(files, "a/b/", 4));
	add_owned(files, "link", false, 150, 100);
	file_map_set_rollback(files);
	cr_assert(file_map_folder(files, "half/", 5));
	add_owned(files, "way", false, 90, 500);
	add_owned(files, "way", true, 90, 500);
	file_map_roll_back(files);
	add_owned(files, "over", false, 240, 20);
	add_run(files, 900, 10, 20);
	add_run(files, 700, 0, 30);
	add_run(files, 700, 10, 25); /* out of order */
	add_run(files, 800, 10, 40);
	file_map_finish(files);
	cr_assert_str_eq(owner(files, 99), "");
	cr_assert_str_eq(owner(files, 100), "gone");
	cr_assert_str_eq(owner(files, 149), "gone");
	cr_assert_str_eq(owner(files, 150), "here");
	cr_assert_str_eq(owner(files, 199), "here");
	cr_assert_str_eq(owner(files, 249), "here");
	cr_assert_str_eq(owner(files, 250), "a/b/over");
	cr_assert_str_eq(owner(files, 260), "");
	cr_assert_str_eq(owner(files, 700), "");
	cr_assert_str_eq(owner(files, 805), "a/b/over");
	cr_assert_str_eq(owner(files, 909), "a/b/over");
	cr_assert_str_eq(owner(files, 910), "");
	file_map_free(files);
	file_map_free(NULL);
}

Test(volumes, file_map_a_deleted_file_that_starts_there_is_preferred)
{
	struct file_map *files = file_map_new();

	cr_assert(file_map_folder(files, "", 0));
	add_owned(files, "older", true, 1000, 8000);
	add_owned(files, "newer", true, 4000, 500);
	file_map_finish(files);
	cr_assert_str_eq(owner(files, 3999), "older");
	cr_assert_str_eq(owner(files, 4000), "newer");
	cr_assert_str_eq(owner(files, 4001), "older");
	file_map_free(files);
}

Test(volumes, file_map_extents_end_with_the_file_and_at_holes)
{
	struct file_map *files = file_map_new();
	struct fs_file file;
	struct range *extents;
	size_t count;

	cr_assert(file_map_folder(files, "", 0));
	add_file(files, "pieces", 0, 250);
	add_run(files, 5000, 100, 0);
	add_run(files, 3000, 100, 100);
	add_run(files, 8000, 100, 200);
	add_file(files, "sparse", 0, 900);
	add_run(files, 9000, 100, 0);
	add_run(files, 9500, 100, 300);
	add_file(files, "packed", FS_COMPRESSED, 900);
	add_run(files, 9900, 100, 0);
	file_map_finish(files);
	cr_assert(file_map_find(files, 5040, &file));
	cr_assert_eq(file.offset, 40);
	extents = file_map_extents(files, &file, &count);
	cr_assert_eq(count, 3);
	cr_assert_eq(extents[0].offset, 5040);
	cr_assert_eq(extents[0].length, 60);
	cr_assert_eq(extents[1].offset, 3000);
	cr_assert_eq(extents[1].length, 100);
	cr_assert_eq(extents[2].offset, 8000);
	cr_assert_eq(extents[2].length, 50);
	free(extents);
	cr_assert(file_map_find(files, 8070, &file)); /* its slack */
	cr_assert_eq(file.offset, 270);
	cr_assert_null(file_map_extents(files, &file, &count));
	cr_assert(file_map_find(files, 9010, &file));
	extents = file_map_extents(files, &file, &count);
	cr_assert_eq(count, 1);
	cr_assert_eq(extents[0].length, 90);
	free(extents);
	cr_assert(file_map_find(files, 9910, &file));
	cr_assert_not(file.has_offset);
	cr_assert_null(file_map_extents(files, &file, &count));
	file_map_free(files);
}

Test(volumes, file_map_slack_is_what_follows_the_ends_of_files)
{
	struct file_map *files = file_map_new();
	struct ranges slack = { 0 };

	cr_assert(file_map_folder(files, "", 0));
	add_file(files, "short", 0, 4);
	add_run(files, 1000, 500, 0);
	add_file(files, "link", 0, 4);
	add_run(files, 1000, 500, 0);
	add_file(files, "unwritten", 0, 150);
	add_run(files, 2000, 100, 0);
	add_run(files, 4000, 100, 100);
	add_run(files, 3000, 100, 200);
	add_file(files, "gone", FS_DELETED, 4);
	add_run(files, 5000, 500, 0);
	add_file(files, "record", FS_RESIDENT, 4);
	add_run(files, 6000, 100, WALK_RECORD);
	add_run(files, 6050, 4, 0);
	file_map_finish(files);
	file_map_slack(files, &slack);
	cr_assert_eq(slack.count, 3);
	cr_assert_eq(slack.items[0].offset, 1004);
	cr_assert_eq(slack.items[0].length, 496);
	cr_assert_eq(slack.items[1].offset, 3000);
	cr_assert_eq(slack.items[1].length, 100);
	cr_assert_eq(slack.items[2].offset, 4050);
	cr_assert_eq(slack.items[2].length, 50);
	ranges_free(&slack);
	cr_assert_str_eq(owner(files, 6049), "record");
	cr_assert_str_eq(owner(files, 6052), "record");
	file_map_free(files);
}

Test(volumes, file_map_partly_in_are_files_of_which_the_ranges_lack_some)
{
	static const struct range changed[] = { { 1000, 100 }, { 1200, 100 }, { 3000, 100 } };
	static const uint64_t expected[] = { 1090, 1190, 900, 1050, 1250, 3000, 5000 };
	struct file_map *files = file_map_new();
	struct ranges ranges = { 0 };
	struct range *runs;
	size_t count;

	for (size_t i = 0; i < sizeof(changed) / sizeof(*changed); i++)
		ranges_add(&ranges, changed[i].offset, changed[i].length);
	cr_assert(file_map_folder(files, "", 0));
	add_file(files, "in one", 0, 100);
	add_run(files, 1000, 100, 0);
	add_file(files, "in two", 0, 30);
	add_run(files, 1000, 10, 0);
	add_run(files, 3080, 20, 10);
	add_file(files, "between", 0, 100);
	add_run(files, 1100, 100, 0);
	add_file(files, "before and after", 0, 200);
	add_run(files, 900, 100, 0);
	add_run(files, 5000, 100, 100);
	add_file(files, "its beginning", 0, 20);
	add_run(files, 1090, 20, 0);
	add_file(files, "nothing of one run", 0, 20);
	add_run(files, 1090, 10, 0);
	add_run(files, 6000, 0, 10);
	add_file(files, "its end", 0, 20);
	add_run(files, 1190, 20, 0);
	add_file(files, "around two", 0, 600);
	add_run(files, 900, 600, 0);
	add_file(files, "from one into the other", 0, 200);
	add_run(files, 1050, 200, 0);
	add_file(files, "one run of two", 0, 60);
	add_run(files, 1250, 10, 0);
	add_run(files, 3000, 10, 10);
	add_run(files, 5000, 10, 20);
	file_map_finish(files);
	runs = file_map_partly_in(files, &ranges, 0, &count);
	cr_assert_eq(count, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < count; i++)
		cr_expect_eq(runs[i].offset, expected[i], "%zu", i);
	free(runs);
	ranges_free(&ranges);
	file_map_free(files);
}

/* Each file has all of the ranges; it must not take hours to count them for each. */
Test(volumes, file_map_partly_in_looks_at_one_range_of_each_run)
{
	const uint64_t many = 1 << 19;
	struct file_map *files = file_map_new();
	struct ranges ranges = { 0 };
	size_t count;

	cr_assert(file_map_folder(files, "", 0));
	for (uint64_t i = 0; i < many; i++) {
		ranges_add(&ranges, 2 * i, 1);
		add_file(files, "", 0, 2 * many);
		add_run(files, 0, 2 * many, 0);
	}
	free(file_map_partly_in(files, &ranges, 0, &count));
	cr_expect_eq(count, many);
	ranges_free(&ranges);
	file_map_free(files);
}

/* ---- signatures ---------------------------------------------------------------------------- */

Test(volumes, signatures)
{
	static uint8_t head[SIGNATURES_LEN];
	bool encrypted;

	cr_assert_null(signatures_find(head, sizeof(head), &encrypted));
	cr_assert_null(signatures_find(head, 0, &encrypted));
	memcpy(head, "LUKS\xba\xbe", 6);
	cr_assert_str_eq(signatures_find(head, sizeof(head), &encrypted), "LUKS");
	cr_assert(encrypted);
	cr_assert_null(signatures_find(head, 5, &encrypted));
	memset(head, 0, 6);
	memcpy(head + 3, "-FVE-FS-", 8);
	cr_assert_str_eq(signatures_find(head, 512, &encrypted), "BitLocker");
	cr_assert(encrypted);
	memset(head, 0, 16);
	memcpy(head + 65600, "_BHRfS_M", 8);
	cr_assert_str_eq(signatures_find(head, sizeof(head), &encrypted), "Btrfs");
	cr_assert_not(encrypted);
	cr_assert_null(signatures_find(head, 65604, &encrypted));
	memset(head + 65600, 0, 8);
	memcpy(head + 88, "CS", 2); /* two letters alone are nothing */
	cr_assert_null(signatures_find(head, sizeof(head), &encrypted));
	memcpy(head + 8, "\x01\x00\x10\x00", 4);
	cr_assert_str_eq(
		signatures_find(head, sizeof(head), &encrypted), "CoreStorage (FileVault 2)");
}

Test(volumes, random_bytes_look_random_and_others_do_not)
{
	static uint8_t head[65536];
	uint64_t state = 88172645463325252u;

	cr_assert_not(signatures_look_random(head, sizeof(head)));
	for (size_t i = 0; i < sizeof(head); i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		head[i] = (uint8_t)(state >> 24);
	}
	cr_assert(signatures_look_random(head, sizeof(head)));
	cr_assert_not(signatures_look_random(head, 1000));
	for (size_t i = 0; i < sizeof(head); i += 16)
		head[i] = 0;
	cr_assert_not(signatures_look_random(head, sizeof(head)));
	for (size_t i = 0; i < sizeof(head); i++) /* too even */
		head[i] = (uint8_t)i;
	cr_assert_not(signatures_look_random(head, sizeof(head)));
}

/* ---- work that goes wrong ------------------------------------------------------------------ */

static int echo(int fd, void *arg)
{
	char text[6];

	(void)arg;
	return sandbox_receive(fd, text, 6) && sandbox_send(fd, text, 6) ? 0 : 9;
}

static int crash(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	raise(SIGSEGV);
	return 0;
}

static int spin(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	for (volatile unsigned i = 0;; i++)
		;
	return 0;
}

static int sleep_long(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	sleep(1000);
	return 0;
}

static int eat(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	for (size_t i = 0; i < 4096; i++) {
		char *room = malloc(1 << 20);

		if (!room)
			return 7;
		memset(room, 1, 1 << 20);
	}
	return 0;
}

static void ends_as(int (*job)(int, void *), unsigned cpu, bool wait, const char *how)
{
	const struct sandbox_limits limits = { .cpu_seconds = cpu, .memory = 64 << 20 };
	struct sandbox_child *child;
	char byte, *said;

	cr_assert_eq(sandbox_start(&child, job, NULL, &limits), 0);
	if (wait)
		cr_assert_not(sandbox_receive(sandbox_socket(child), &byte, 1));
	said = sandbox_end(child);
	cr_assert_not_null(said);
	cr_assert(strstr(said, how), "%s", said);
	free(said);
}

Test(volumes, a_sandboxed_child_answers)
{
	const struct sandbox_limits limits = { .cpu_seconds = 10, .memory = 64 << 20 };
	struct sandbox_child *child;
	char text[6];

	cr_assert_eq(sandbox_start(&child, echo, NULL, &limits), 0);
	cr_assert(sandbox_send(sandbox_socket(child), "hello", 6));
	cr_assert(sandbox_receive(sandbox_socket(child), text, 6));
	cr_assert_str_eq(text, "hello");
	cr_assert_null(sandbox_end(child));
}

Test(volumes, a_sandboxed_child_that_fails_is_reported)
{
	ends_as(crash, 10, true, "crashed (SIGSEGV)");
	if (test_tier(0, 1, 1)) /* it takes the second that it is given */
		ends_as(spin, 1, true, "processor time");
	ends_as(sleep_long, 10, false, "killed");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	ends_as(eat, 10, true, "code 7");
#else
	(void)eat;
#endif
}
