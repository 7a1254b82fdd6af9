/* The parts of reading volumes that need no file system: ranges as one stream, which file bytes
 * belong to, signatures, and children that crash. Whole images are for tests/cli/volumes_*. */
#include <criterion/criterion.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/backend.h"
#include "base/sandbox.h"
#include "evidence/extent_image.h"
#include "evidence/file_map.h"
#include "evidence/signatures.h"

#define SIZE 4096

static uint8_t bytes[SIZE];

static int read_bytes(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	(void)image;
	if (offset < 1100 && offset + len > 1050)
		return -EIO;
	memcpy(buffer, bytes + offset, len);
	return 0;
}

static const struct image_backend memory_backend = { .name = "memory", .read_at = read_bytes };
static struct image evidence = { .backend = &memory_backend,
	.info = { .format = "memory", .size = SIZE, .sector_size = 512 },
	.read_unit = 512 };

static void fill(void)
{
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
	image = extent_image_open(&evidence, &ranges);
	cr_assert_eq(image_info(image)->size, 147);
	cr_assert_eq(extent_image_evidence(image), &evidence);
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
	image = extent_image_open(&evidence, &ranges);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		cr_assert_eq(extent_image_from_evidence(image, places[i][0]), places[i][1],
			"place %lu", (unsigned long)places[i][0]);
	for (uint64_t offset = 0; offset < 147; offset++)
		cr_assert_eq(
			extent_image_from_evidence(image, extent_image_to_evidence(image, offset)),
			offset);
	image_close(image);
	ranges_free(&ranges);
	cr_assert_eq(extent_image_to_evidence(&evidence, 77), 77);
	cr_assert_eq(extent_image_from_evidence(&evidence, 77), 77);
	cr_assert_eq(extent_image_from_evidence(&evidence, SIZE + 1), SIZE);
	cr_assert_eq(extent_image_evidence(&evidence), &evidence);
}

/* Bytes 1050 to 1099 of the evidence can't be read. */
Test(volumes, extent_image_loses_no_more_than_sectors, .init = fill)
{
	struct ranges ranges = { 0 };
	struct image *image;
	uint8_t read[SIZE];

	ranges_add(&ranges, 500, 512);
	ranges_add(&ranges, 1020, 2048);
	image = extent_image_open(&evidence, &ranges);
	cr_assert_eq(image_read_around(image, 0, read, 2560), 512);
	cr_assert_arr_eq(read, bytes + 500, 512);
	for (size_t i = 512; i < 1024; i++)
		cr_assert_eq(read[i], 0);
	cr_assert_arr_eq(read + 1024, bytes + 1020 + 512, 1536);
	image_close(image);
	ranges_free(&ranges);
}

/* ---- the file map -------------------------------------------------------------------------- */

static void add_owned(
	struct file_map *files, const char *name, bool deleted, uint64_t offset, uint64_t length)
{
	struct range run = { offset, length };

	cr_assert(file_map_file(files, name, strlen(name), deleted));
	cr_assert(file_map_runs(files, &run, 1));
}

Test(volumes, file_map_prefer_files_that_are_there)
{
	struct file_map *files = file_map_new();
	const struct range more[] = { { 900, 10 }, { 700, 0 }, { 800, 10 } };

	cr_assert_not(file_map_file(files, "x", 1, false)); /* in no folder */
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
	cr_assert(file_map_runs(files, more, 3));
	file_map_finish(files);
	cr_assert_null(file_map_find(files, 99));
	cr_assert_str_eq(file_map_find(files, 100), "gone");
	cr_assert_str_eq(file_map_find(files, 149), "gone");
	cr_assert_str_eq(file_map_find(files, 150), "here");
	cr_assert_str_eq(file_map_find(files, 199), "here");
	cr_assert_str_eq(file_map_find(files, 249), "here");
	cr_assert_str_eq(file_map_find(files, 250), "a/b/over");
	cr_assert_null(file_map_find(files, 260));
	cr_assert_null(file_map_find(files, 700));
	cr_assert_str_eq(file_map_find(files, 805), "a/b/over");
	cr_assert_str_eq(file_map_find(files, 909), "a/b/over");
	cr_assert_null(file_map_find(files, 910));
	file_map_free(files);
	file_map_free(NULL);
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
	ends_as(spin, 1, true, "processor time");
	ends_as(sleep_long, 10, false, "killed");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	ends_as(eat, 10, true, "code 7");
#else
	(void)eat;
#endif
}
