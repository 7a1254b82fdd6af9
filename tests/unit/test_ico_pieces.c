/* What is known of an icon that is put together: where its images begin, and the CRCs of those that are PNGs. */
#include "joints_case.h"

#include "bytes.h"
#include "pictures/ico.h"

enum { CRC = 32 };

struct known {
	struct carve_table table; /* first */
	const struct bytes *whole;
	unsigned there, count;
};

/* Of the anchors of a place one has what the file has there, in any order. */
static bool add(struct carve_table *table, const struct carve_anchor *anchor)
{
	struct known *known = (struct known *)table;

	cr_expect_eq(anchor->any, 0);
	cr_assert_leq(anchor->offset + anchor->len, known->whole->len);
	cr_expect_eq(memcmp(anchor->bytes + anchor->word_at, ico_map.words[anchor->word].bytes,
			     ico_map.words[anchor->word].len),
		0);
	known->there +=
		memcmp(known->whole->data + anchor->offset, anchor->bytes, anchor->len) == 0;
	known->count++;
	return true;
}

static void expect_images(const char *path, unsigned there)
{
	struct bytes whole = bytes_of_file(path);
	struct known known = { .table.add = add, .whole = &whole };
	struct view *view = view_new_memory(whole.data, 512);

	cr_expect(ico_map.head(view, &known.table));
	cr_expect_eq(known.table.length, whole.len);
	cr_expect_eq(known.there, there, "%s: %u", path, known.there);
	view_free(view);
	free(whole.data);
}

Test(ico_pieces, entries_show_where_images_begin)
{
	/* Those of 4 and 1 bits have no word. */
	expect_images("tests/golden/ico/bitmaps.ico", 3);
	expect_images("tests/golden/ico/both.ico", 2);
	expect_images("tests/golden/ico/pillow.ico", 2);
	expect_images("tests/golden/ico/no-mask.ico", 1);
}

Test(ico_pieces, no_images_are_in_broken_entries)
{
	struct bytes whole = bytes_of_file("tests/golden/ico/bad-offset.ico");
	struct known known = { .table.add = add, .whole = &whole };
	struct view *view = view_new_memory(whole.data, whole.len);

	cr_expect(!ico_map.head(view, &known.table));
	cr_expect_eq(known.count, 0);
	view_free(view);
	free(whole.data);
}

/* Where the chunk with the pixels of the second image is. */
static uint64_t find_data(const struct bytes *whole)
{
	const uint8_t *p = memmem(whole->data, whole->len, "IDAT", 4);

	cr_assert_not_null(p);
	return (uint64_t)(p - whole->data) - 4;
}

Test(ico_pieces, crcs_of_png_prove_and_find_joints)
{
	struct bytes whole = bytes_of_file("tests/golden/ico/both.ico");
	uint64_t data = find_data(&whole), joint = data + 40, early = 700;
	uint64_t len = be32(whole.data + data);
	struct carve_sum sum = { 0 };
	struct finding found = { 0 };
	struct view *view;
	unsigned bits;

	cr_expect_eq(prove_joints("ico", &whole, &joint, 1, true, &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, CRC);
	cr_expect_eq(prove_joints("ico", &whole, &early, 1, true, &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, 0);

	whole.data[joint] ^= 1;
	view = view_new_memory(whole.data, whole.len);
	cr_expect(ico_map.sum(view, &sum));
	cr_expect_eq(sum.from, data + 4);
	cr_expect_eq(sum.to, data + 8 + len);
	cr_expect_eq(sum.stored, sum.to);
	cr_expect_eq(sum.next_count, 3);
	view_set_trial(view, true);
	cr_expect_eq(carver_find("ico")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, data, "%zu", (size_t)found.length);
	view_free(view);

	/* A file in one piece is only checked where it is quick. */
	view = view_new_memory(whole.data, whole.len);
	cr_expect_eq(carver_find("ico")->check(view, &found), CARVE_COMPLETE);
	view_free(view);

	/* Cut in the chunk: all that is there may be right. */
	found = (struct finding){ 0 };
	view = view_new_memory(whole.data, joint + 100);
	view_set_trial(view, true);
	cr_expect_eq(carver_find("ico")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, joint + 100);
	view_free(view);
	free(whole.data);
}
