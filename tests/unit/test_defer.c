/* Which checks are put off: what starts inside a file that is being walked, here or in another
 * process, or was found complete. */
#include <criterion/criterion.h>

#include "carve/defer.h"

static struct candidate place;

static const struct candidate *at(uint64_t start)
{
	place = (struct candidate){ .start = start };
	return &place;
}

Test(ahead, what_a_long_check_has_passed_is_put_off)
{
	struct defer *ahead = defer_new(2, false, 2);

	cr_expect(defer_begin(ahead, 0, at(1000), false));
	cr_expect(defer_progress(ahead, 0, 1000 + DEFER_LONG_CHECK));
	cr_expect(defer_begin(ahead, 1, at(2000), false), "nobody waits for a short one");
	cr_expect(defer_progress(ahead, 0, 1000 + 2 * DEFER_LONG_CHECK));
	cr_expect_not(defer_progress(ahead, 1, 3000), "it goes on with what was overtaken");
	cr_expect_not(defer_begin(ahead, 1, at(2000), false));
	cr_expect(defer_begin(ahead, 1, at(2000), true), "somebody insists");
	cr_expect(
		defer_begin(ahead, 1, at(1000), false), "what starts at the same place is no part");
	cr_expect(defer_begin(ahead, 1, at(1000 + 2 * DEFER_LONG_CHECK), false));
	defer_end(ahead, 0, 0);
	cr_expect(defer_begin(ahead, 1, at(2000), false));
	defer_free(ahead);
}

Test(ahead, another_process_tells_how_far_it_is)
{
	struct defer *ahead = defer_new(2, false, 2);

	defer_remote_progress(ahead, 0, 1000, 500000);
	cr_expect_not(defer_begin(ahead, 1, at(1001), false));
	cr_expect_not(defer_begin(ahead, 1, at(499999), false));
	cr_expect(defer_begin(ahead, 1, at(500000), false));
	cr_expect(defer_begin(ahead, 1, at(1000), false));
	defer_free(ahead);
}

Test(ahead, what_is_hidden_is_put_off_whoever_insists)
{
	struct defer *ahead = defer_new(1, false, 2);

	cr_expect_eq(defer_hidden_until(ahead), 0);
	defer_hide(ahead, 5000);
	cr_expect_eq(defer_hidden_until(ahead), 5000);
	cr_expect_not(defer_begin(ahead, 0, at(4999), true));
	cr_expect(defer_begin(ahead, 0, at(5000), false));
	defer_free(ahead);
}

Test(ahead, nothing_is_overtaken_where_nothing_hides)
{
	struct defer *ahead = defer_new(2, true, 2);

	defer_remote_progress(ahead, 0, 1000, 500000);
	cr_expect(defer_begin(ahead, 1, at(2000), false));
	defer_free(ahead);
}

Test(ahead, outcomes_tell_what_should_wait)
{
	const struct candidate candidate = { .start = 100 };
	uint64_t parts[] = { 150, 170 };
	const struct outcome complete = { .verdict = CARVE_COMPLETE, .length = 50 },
			     cut = { .verdict = CARVE_TRUNCATED,
				     .length = 90,
				     .parts = parts,
				     .part_count = 2 },
			     guessed = { .verdict = CARVE_UNVERIFIED, .length = 90 };

	struct defer *ahead = defer_new(1, false, 2);

	cr_expect_eq(defer_covered_until(ahead, &candidate, &complete), 150);
	cr_expect_eq(defer_covered_until(ahead, &candidate, &cut), 171);
	cr_expect_eq(defer_covered_until(ahead, &candidate, &guessed), 0);
	defer_free(ahead);
}

/* While an archive is looked at, what begins as it does waits, however short the look is. */
Test(ahead, what_may_be_a_part_is_put_off)
{
	const struct candidate archive = { .start = 1000, .rule = 1 },
			       member = { .start = 1500, .rule = 1 },
			       picture = { .start = 1500, .rule = 0 };
	uint64_t parts[] = { 1500 };
	const struct outcome parted = {
		.verdict = CARVE_UNVERIFIED, .length = 90, .parts = parts, .part_count = 1
	};
	struct defer *ahead = defer_new(2, false, 2);

	cr_expect(defer_begin(ahead, 0, &archive, false));
	cr_expect(defer_begin(ahead, 1, &member, false),
		"nobody knows yet that such files have parts");
	defer_end(ahead, 1, 0);
	defer_end(ahead, 0, defer_covered_until(ahead, &archive, &parted));
	defer_end(ahead, 0, 0);
	cr_expect(defer_begin(ahead, 0, &archive, false));
	cr_expect_not(defer_begin(ahead, 1, &member, false));
	cr_expect(defer_begin(ahead, 1, &member, true));
	defer_end(ahead, 1, 0);
	cr_expect(defer_begin(ahead, 1, &picture, false), "it begins otherwise");
	defer_end(ahead, 0, 0);
	cr_expect(defer_begin(ahead, 1, &member, false));
	defer_free(ahead);
}

Test(ahead, of_a_batch_the_first_archive_is_known)
{
	const struct candidate archive = { .start = 1000, .rule = 1 },
			       later = { .start = 3000, .rule = 0 },
			       member = { .start = 1500, .rule = 1 };
	uint64_t parts[] = { 1500 };
	const struct outcome parted = {
		.verdict = CARVE_UNVERIFIED, .length = 90, .parts = parts, .part_count = 1
	};
	struct defer *ahead = defer_new(2, false, 2);

	defer_covered_until(ahead, &archive, &parted);
	cr_expect(defer_begin(ahead, 0, &archive, false));
	cr_expect(defer_begin(ahead, 0, &later, false));
	cr_expect_not(defer_begin(ahead, 1, &member, false));
	defer_free(ahead);
}
