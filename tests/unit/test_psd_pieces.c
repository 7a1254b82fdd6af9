/* What checks of Photoshop's files do where pieces are put together: all rows have to be as wide as their picture, in layers, too. */
#include "joints_case.h"

enum { SIZE = 512, SOON = 1200 };

static const char *const pictures[] = { "tests/golden/psd/long.psd",
	"tests/golden/psd/long-deep.psd" };

enum { PICTURES = sizeof(pictures) / sizeof(*pictures) };

static struct bytes cut_at(const struct bytes *whole, size_t cut)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, whole->data, cut);
	bytes_add_random(&bytes, cut, whole->len - cut);
	return bytes;
}

static enum verdict try(
	const struct bytes *bytes, const struct carve_state *from, struct finding *found)
{
	const struct carver *carver = carver_find("psd");
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_trial(view, true);
	verdict = from ? carver->resume(view, from, found) : carver->check(view, found);
	view_free(view);
	return verdict;
}

static void expect_foreign(const char *path)
{
	struct bytes whole = bytes_of_file(path);
	struct finding found;

	cr_expect_eq(try(&whole, NULL, &found), CARVE_COMPLETE, "%s", found.why);
	for (size_t cut = SIZE; cut + 2 * SOON < whole.len; cut += SIZE) {
		struct bytes bytes = cut_at(&whole, cut);
		struct bytes head = { .data = bytes.data, .len = cut };

		cr_expect_eq(try(&bytes, NULL, &found), CARVE_TRUNCATED);
		cr_expect(found.length <= cut + SOON && found.length + SOON > cut,
			"%s, %zu: %zu, %s", path, cut, (size_t)found.length, found.why);
		cr_expect_eq(try(&head, NULL, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, cut, "%s, %zu: %zu, %s", path, cut, (size_t)found.length,
			found.why);
		free(bytes.data);
	}
	free(whole.data);
}

Test(psd_pieces, foreign_bytes_show_in_their_first_row)
{
	for (size_t i = 0; i < PICTURES; i++)
		expect_foreign(pictures[i]);
}

static void expect_resumed(const char *path)
{
	struct bytes whole = bytes_of_file(path);
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding first = { 0 };
	unsigned resumed = 0;

	view_keep_states(saving, SIZE);
	cr_assert_eq(carver_find("psd")->check(saving, &first), CARVE_COMPLETE);
	for (size_t cut = SIZE; cut < whole.len; cut += 911) {
		const struct carve_state *state = view_state_before(saving, cut);
		struct bytes bytes = cut_at(&whole, cut);
		struct finding rest, all;

		if (cut % 2)
			memcpy(bytes.data, whole.data, whole.len);
		if (state) {
			enum verdict verdict = try(&bytes, NULL, &all);

			cr_expect_eq(try(&bytes, state, &rest), verdict);
			cr_expect_eq(rest.length, all.length, "at %zu", cut);
			cr_expect_str_eq(rest.why, all.why);
			resumed++;
		}
		free(bytes.data);
	}
	cr_expect_gt(resumed, 5);
	view_free(saving);
	free(whole.data);
}

Test(psd_pieces, goes_on_from_states)
{
	for (size_t i = 0; i < PICTURES; i++)
		expect_resumed(pictures[i]);
}

/* Rows after a joint prove it, those after another one only what is between them and it. */
Test(psd_pieces, rows_prove_joints)
{
	struct bytes whole = bytes_of_file(pictures[0]);
	uint64_t joints[] = { 9 * SIZE, 20 * SIZE }, late = whole.len - 2;
	uint64_t resource = 2 * SIZE, block;
	const uint8_t *pattern = memmem(whole.data, whole.len, "pattern", 7);
	unsigned bits[2], alone;

	cr_expect_eq(prove_joints("psd", &whole, joints, 1, true, &alone), CARVE_COMPLETE);
	cr_expect_gt(alone, 100);
	cr_expect_eq(prove_joints("psd", &whole, joints, 2, true, bits), CARVE_COMPLETE);
	cr_expect_gt(bits[0], 20);
	cr_expect_lt(bits[0], alone);
	cr_expect_gt(bits[1], 20);
	/* In the last row, and where no row shows that what follows belongs there. */
	cr_expect_eq(prove_joints("psd", &whole, &late, 1, true, bits), CARVE_COMPLETE);
	cr_expect_leq(bits[0], 4);
	cr_expect_eq(prove_joints("psd", &whole, &resource, 1, true, bits), CARVE_COMPLETE);
	cr_expect_eq(bits[0], 0);
	/* Rows show where the piece after a joint belongs, but not where it begins among bytes that nothing checks. */
	cr_assert_not_null(pattern);
	block = (uint64_t)(pattern - whole.data) + 3;
	cr_expect_eq(prove_joints("psd", &whole, &block, 1, true, bits), CARVE_COMPLETE);
	cr_expect_eq(bits[0], 0);
	free(whole.data);
}

/* Rows that all have one length prove next to nothing. */
Test(psd_pieces, like_rows_prove_little)
{
	struct bytes whole = bytes_of_file("tests/golden/psd/flat.psd");
	uint64_t joint = 3 * SIZE;
	unsigned bits;

	cr_expect_eq(prove_joints("psd", &whole, &joint, 1, true, &bits), CARVE_COMPLETE);
	cr_expect_lt(bits, 20, "%u", bits);
	free(whole.data);
}

Test(psd_pieces, stored_planes_are_described)
{
	struct bytes whole = bytes_of_file("tests/golden/psd/plain.psd");
	struct bytes rows = bytes_of_file("tests/golden/psd/flat.psd");
	const struct carver *carver = carver_find("psd");
	struct view *view = view_new_memory(whole.data, whole.len);
	struct carve_stored stored = { 0 };

	cr_expect(carver->stored(view, &stored));
	cr_expect_eq(stored.from, 40);
	cr_expect_eq(stored.to, whole.len);
	cr_expect_eq(stored.length, whole.len);
	cr_expect_eq(stored.row_len, 40);
	cr_expect_eq(stored.channels, 1);
	view_free(view);
	/* Compressed, and cut before the picture. */
	view = view_new_memory(rows.data, rows.len);
	cr_expect(!carver->stored(view, &stored));
	view_free(view);
	view = view_new_memory(whole.data, 39);
	cr_expect(!carver->stored(view, &stored));
	view_free(view);
	free(rows.data);
	free(whole.data);
}
