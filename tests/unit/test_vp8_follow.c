/* What checks of lossy WebP do where pieces are put together: any bytes decode, but others' do not go on as the picture began. */
#include "carver_case.h"

#include "carver.h"

#define PATH "tests/golden/webp/long.webp"

enum { SIZE = 4096, SOON = 1024, LOOK = 1024 };

static struct bytes cut_at(const struct bytes *whole, size_t cut, uint64_t seed)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, whole->data, cut);
	bytes_add_random(&bytes, seed, whole->len - cut);
	return bytes;
}

static enum verdict try(
	const struct bytes *bytes, const struct carve_state *from, struct finding *found)
{
	const struct carver *carver = carver_find("webp");
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, !from);
	view_set_trial(view, true);
	verdict = from ? carver->resume(view, from, found) : carver->check(view, found);
	view_free(view);
	return verdict;
}

Test(vp8_follow, foreign_bytes_show_soon)
{
	struct bytes whole = bytes_of_file(PATH);
	struct finding found;

	cr_expect_eq(try(&whole, NULL, &found), CARVE_COMPLETE, "%s", found.why);
	for (size_t cut = 2 * SIZE; cut + SIZE < whole.len; cut += 700) {
		struct bytes bytes = cut_at(&whole, cut, cut);

		/* The file's own bytes from elsewhere are no better. */
		if (cut % 1400 == 0)
			memmove(bytes.data + cut, whole.data + cut - 3 * 512, whole.len - cut);
		cr_expect_eq(try(&bytes, NULL, &found), CARVE_TRUNCATED);
		cr_expect(found.length + SOON > cut && found.length < cut + SOON, "%zu: %zu, %s",
			cut, (size_t)found.length, found.why);
		free(bytes.data);
	}
	free(whole.data);
}

Test(vp8_follow, goes_on_from_states)
{
	struct bytes whole = bytes_of_file(PATH);
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding first = { 0 };
	unsigned resumed = 0;

	view_keep_states(saving, SIZE / 2);
	cr_assert_eq(carver_find("webp")->check(saving, &first), CARVE_COMPLETE);
	for (size_t cut = SIZE; cut < whole.len; cut += 911) {
		const struct carve_state *state = view_state_before(saving, cut);
		struct bytes bytes = cut_at(&whole, cut, cut);
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

Test(vp8_follow, what_goes_on_is_likely)
{
	const struct carve_codes *codes = carver_find("webp")->codes;
	struct bytes whole = bytes_of_file(PATH);
	uint8_t zeros[LOOK] = { 0 };
	unsigned likely = 0, asked = 0;

	for (size_t cut = 2 * SIZE; cut + LOOK < whole.len; cut += SIZE / 2) {
		struct view *view = view_new_memory(whole.data, cut);
		void *broken = codes->begin(view, NULL);
		struct bytes noise = { 0 };
		uint64_t work;

		cr_assert_not_null(broken);
		asked++;
		likely += codes->ask(broken, whole.data + cut, LOOK, &work) > 0;
		cr_expect_gt(work, 0);
		bytes_add_random(&noise, cut, LOOK);
		cr_expect_eq(codes->ask(broken, noise.data, LOOK, &work), 0);
		cr_expect_eq(codes->ask(broken, zeros, LOOK, &work), 0);
		cr_expect_eq(codes->ask(broken, whole.data + cut - 512, LOOK, &work), 0);
		codes->end(broken);
		free(noise.data);
		view_free(view);
	}
	cr_expect(asked >= 2 && likely * 10 >= asked * 9, "%u of %u", likely, asked);
	free(whole.data);
}
