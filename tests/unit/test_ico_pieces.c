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

/* The same result from each state as from the start, with other bytes after it, and with the file's own. */
static void expect_resumed(const char *path)
{
	const struct carver *carver = carver_find("ico");
	struct bytes whole = bytes_of_file(path);
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding first = { 0 };
	size_t last = 0;

	view_keep_states(saving, 1);
	carver->check(saving, &first);
	for (size_t at = 64; at < whole.len; at += 64) {
		const struct carve_state *state = view_state_before(saving, at);
		struct bytes bytes = { 0 };

		if (!state || state->offset == last)
			continue;
		last = state->offset;
		bytes_add(&bytes, whole.data, whole.len);
		for (int other = 0; other < 2; other++) {
			struct view *views[2];
			struct finding found[2] = { 0 };
			enum verdict verdicts[2];

			for (int i = 0; i < 2; i++) {
				views[i] = view_new_memory(bytes.data, bytes.len);
				view_set_trial(views[i], true);
			}
			verdicts[0] = carver->check(views[0], &found[0]);
			verdicts[1] = carver->resume(views[1], state, &found[1]);
			cr_expect_eq(
				verdicts[0], verdicts[1], "%s: %s", found[0].why, found[1].why);
			cr_expect_eq(found[0].length, found[1].length, "%s at %zu", path, last);
			cr_expect_str_eq(found[0].why, found[1].why);
			cr_expect_lt(view_work_done(views[1]), view_work_done(views[0]));
			view_free(views[0]);
			view_free(views[1]);
			bytes.len = last;
			bytes_add_random(&bytes, last, whole.len - last);
		}
		free(bytes.data);
	}
	cr_expect_gt(last, 0, "%s has no state", path);
	view_free(saving);
	free(whole.data);
}

Test(ico_pieces, goes_on_after_images)
{
	expect_resumed("tests/golden/ico/bitmaps.ico");
	expect_resumed("tests/golden/ico/pillow.ico");
	expect_resumed("tests/golden/ico/both.ico");
}
