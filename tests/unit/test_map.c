/* ddrescue maps: what counts as unread, what is not a map, and images that are read with one. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/image.h"
#include "evidence/ddrescue_map.h"
#include "evidence/reader.h"
#include "temp.h"

#define HEAD \
	"# Mapfile. Created by GNU ddrescue version 1.27\n# a comment\n0x00000400     ?          " \
	"     1\n#      pos        size  status\n"

TestSuite(map, .init = temp_make, .fini = temp_remove);

static struct ranges unread;

static int read_map(const char *text, uint64_t size, struct error *error)
{
	*error = (struct error){ 0 };
	ranges_free(&unread);
	temp_write("map", text, strlen(text));
	return ddrescue_map_read(&unread, temp_at("map"), size, error);
}

static void expect_unread(
	const char *text, uint64_t size, size_t count, const struct range *expected)
{
	struct error error;

	cr_assert_eq(read_map(text, size, &error), 0, "%s", error.text);
	cr_assert_eq(unread.count, count, "%zu of %zu in %s", unread.count, count, text);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(unread.items[i].offset, expected[i].offset);
		cr_expect_eq(unread.items[i].length, expected[i].length);
	}
	ranges_free(&unread);
}

Test(map, what_is_not_finished_is_unread)
{
	expect_unread(HEAD "0x0 0x1000 +\n", 0x1000, 0, NULL);
	expect_unread(HEAD "0x0 0x200 +\n0x200 0x200 -\n0x400 0xC00 +\n", 0x1000, 1,
		(struct range[]){ { 0x200, 0x200 } });
	expect_unread(HEAD "0 512 ?\n512 512 +\n1024 512 *\n1536 512 /\n2048 1 +\n2049 1 -\n", 2050,
		3, (struct range[]){ { 0, 512 }, { 1024, 1024 }, { 2049, 1 } });
}

Test(map, what_is_not_mentioned_is_unread)
{
	expect_unread(HEAD "0x200 0x200 +\n0x600 0x200 +\n", 0x1000, 3,
		(struct range[]){ { 0, 0x200 }, { 0x400, 0x200 }, { 0x800, 0x800 } });
	expect_unread(HEAD, 4096, 1, (struct range[]){ { 0, 4096 } });
}

Test(map, what_lies_behind_the_image_is_passed_over)
{
	expect_unread(HEAD "0x0 0x200 +\n0x200 0xFFFFFFFFFFFFFD00 -\n", 0x300, 1,
		(struct range[]){ { 0x200, 0x100 } });
	expect_unread(HEAD "0x0 0x300 +\n0x300 0x100 -\n", 0x300, 0, NULL);
}

Test(map, older_maps_have_no_pass_and_lines_end_in_either_way)
{
	expect_unread("0x00000000     +\r\n0x0  0x200  +\r\n0x200  0x100  -  \r\n", 0x300, 1,
		(struct range[]){ { 0x200, 0x100 } });
}

Test(map, what_is_not_a_map_is_refused_with_its_line)
{
	static const struct {
		const char *text, *piece;
	} rows[] = {
		{ "", "this file is not a ddrescue map" },
		{ "# only a comment\n", "this file is not a ddrescue map" },
		{ "hello\n", ":1: this is not the state" },
		{ HEAD "0x0 0x200\n", ":5: missing position or size" },
		{ HEAD "0x0 +\n", ":5: missing position or size" },
		{ HEAD "-1 0x200 +\n", ":5: missing position" },
		{ HEAD "0x0 0x200 x\n", ":5: unknown status" },
		{ HEAD "0x0 0x200 +-\n", ":5: unknown status" },
		{ HEAD "0x0 0x200 \n", ":5: unknown status" },
		{ HEAD "0x0 0x200 +\n0x1FF 0x200 -\n", ":6: the block starts before" },
		{ HEAD "0x1 0xFFFFFFFFFFFFFFFF -\n", ":5: the block is too large" },
		{ HEAD "0x0 0x10000000000000000 -\n", ":5: missing position" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error error;

		cr_expect_eq(read_map(rows[i].text, 4096, &error), -EINVAL, "%s", rows[i].text);
		cr_expect_not_null(strstr(error.text, rows[i].piece), "%s", error.text);
		cr_expect_eq(error.code, EXIT_USAGE);
	}
	ranges_free(&unread);
}

Test(map, a_long_line_and_a_missing_file_are_refused)
{
	struct error error = { 0 };
	char text[3000];

	memset(text, ' ', sizeof(text));
	text[0] = '#';
	strcpy(text + sizeof(text) - 2, "\n");
	cr_expect_eq(read_map(text, 1, &error), -EINVAL);
	cr_expect_not_null(strstr(error.text, "too long"));
	cr_expect_eq(ddrescue_map_read(&unread, temp_at("none"), 1, &error), -ENOENT);
}

/* ---- an image with a map ------------------------------------------------------------------- */

#define IMAGE_LEN 300001

static uint8_t media[IMAGE_LEN], expected[IMAGE_LEN], got[IMAGE_LEN + 4096];

static struct image *open_mapped(const char *map)
{
	struct error error = { 0 };
	struct image *image;

	for (size_t i = 0; i < IMAGE_LEN; i++)
		media[i] = (uint8_t)(i % 251 + 1);
	temp_write("disk", (const char *)media, IMAGE_LEN);
	temp_write("map", map, strlen(map));
	cr_assert_eq(image_open(&image, temp_at("disk"), &error), 0, "%s", error.text);
	cr_assert_eq(image_use_ddrescue_map(image, temp_at("map"), &error), 0, "%s", error.text);
	return image;
}

/* Two ranges that are not aligned to sectors, one in the middle, one at the end. */
#define TWO HEAD "0 70000 +\n70000 100000 -\n170000 130000 +\n300000 1 -\n"

static void forget(size_t from, size_t len)
{
	memset(expected + from, 0, len);
}

Test(map, an_image_is_unreadable_there_to_the_byte)
{
	struct image *image = open_mapped(TWO);
	uint64_t len;
	char *why;

	memcpy(expected, media, IMAGE_LEN);
	forget(70000, 100000);
	forget(300000, 1);
	cr_expect_eq(image_read_at(image, 0, got, 70000), 0);
	cr_expect_eq(image_read_at(image, 0, got, 70001), -EIO);
	cr_expect_eq(image_read_at(image, 169999, got, 1), -EIO);
	cr_expect_eq(image_read_at(image, 170000, got, 130000), 0);
	cr_expect_eq(image_read_at(image, 300000, got, 1), -EIO);
	cr_expect_eq(image_read_around(image, 0, got, IMAGE_LEN), 100001);
	cr_expect_arr_eq(got, expected, IMAGE_LEN);
	cr_expect_eq(image_read_around(image, 69999, got, 3), 2);
	cr_expect_arr_eq(got, expected + 69999, 3);
	why = image_why(image, 80000, &len);
	cr_expect_eq(len, 90000);
	cr_expect_not_null(strstr(why, "does not list it as finished"));
	free(why);
	cr_expect_null(image_why(image, 0, &len));
	image_close(image);
}

static void read_with(enum reader_method method, enum reader_cache cache, size_t slot_len)
{
	struct reader_options options = {
		.slot_len = slot_len, .overlap = 100, .method = method, .cache = cache
	};
	struct image *image = open_mapped(TWO);
	struct error error = { 0 };
	struct reader *reader;
	struct reader_slot *slot;

	cr_assert_eq(reader_open(&reader, image, &options, &error), 0, "%s", error.text);
	memset(got, 0xEE, sizeof(got));
	while (reader_next(reader, &slot) == 1) {
		memcpy(got + slot->offset, slot->data, slot->len);
		reader_release(reader, slot);
	}
	cr_expect_arr_eq(got, expected, IMAGE_LEN, "%s", reader_method_name(reader));
	cr_assert_eq(reader_unreadable(reader)->count, 2);
	cr_expect_eq(reader_unreadable(reader)->items[0].offset, 70000);
	cr_expect_eq(reader_unreadable(reader)->items[0].length, 100000);
	cr_expect_eq(reader_unreadable(reader)->items[1].offset, 300000);
	reader_close(reader);
	image_close(image);
}

Test(map, every_way_of_reading_keeps_to_it)
{
	image_close(open_mapped(TWO));
	memcpy(expected, media, IMAGE_LEN);
	forget(70000, 100000);
	forget(300000, 1);
	for (int method = READER_AUTO; method <= READER_THREADS; method++)
		for (int cache = READER_CACHE_AUTO; cache <= READER_BUFFERED; cache++) {
			read_with((enum reader_method)method, (enum reader_cache)cache, 4096);
			read_with((enum reader_method)method, (enum reader_cache)cache, 65536);
			read_with((enum reader_method)method, (enum reader_cache)cache, 1 << 20);
		}
}
