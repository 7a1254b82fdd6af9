/* Which checks are deferred: those of candidates inside a file that is being checked, here or in
 * another process, or was found complete. */
#include <criterion/criterion.h>

#include "carve/defer.h"

static struct candidate place;

static const struct candidate *at(uint64_t start)
{
	place = (struct candidate){ .start = start };
	return &place;
}

Test(defer, what_a_long_check_has_passed_is_deferred)
{
	struct defer *defer = defer_new(2, false, 2);

	cr_expect(defer_begin(defer, 0, at(1000), false));
	cr_expect(defer_progress(defer, 0, 1000 + DEFER_LONG_CHECK));
	cr_expect(defer_begin(defer, 1, at(2000), false), "nothing waits for a short one");
	cr_expect(defer_progress(defer, 0, 1000 + 2 * DEFER_LONG_CHECK));
	cr_expect_not(defer_progress(defer, 1, 3000), "it goes on although another has passed it");
	cr_expect_not(defer_begin(defer, 1, at(2000), false));
	cr_expect(defer_begin(defer, 1, at(2000), true), "it is forced");
	cr_expect(defer_begin(defer, 1, at(1000), false),
		"what starts at the same place is not a part");
	cr_expect(defer_begin(defer, 1, at(1000 + 2 * DEFER_LONG_CHECK), false));
	defer_end(defer, 0, 0);
	cr_expect(defer_begin(defer, 1, at(2000), false));
	defer_free(defer);
}

Test(defer, another_process_reports_its_progress)
{
	struct defer *defer = defer_new(2, false, 2);

	defer_remote_progress(defer, 0, 1000, 500000);
	cr_expect_not(defer_begin(defer, 1, at(1001), false));
	cr_expect_not(defer_begin(defer, 1, at(499999), false));
	cr_expect(defer_begin(defer, 1, at(500000), false));
	cr_expect(defer_begin(defer, 1, at(1000), false));
	defer_free(defer);
}

Test(defer, workers_in_other_processes_share_it)
{
	const struct candidate candidate = { .start = 1000 };
	const struct outcome complete = { .verdict = CARVE_COMPLETE, .length = 70000 };
	struct defer *defer = defer_new_shared(2, false, 2), *other;

	other = defer_open(defer_descriptor(defer), 2, false, 2);
	cr_assert_not_null(other);
	cr_expect(defer_begin(other, 1, &candidate, false));
	cr_expect(defer_progress(other, 1, 1001 + DEFER_LONG_CHECK));
	cr_expect_not(defer_may_begin(defer, at(2000), false));
	cr_expect(defer_may_begin(defer, at(2000), true), "it is forced");
	cr_expect_not(defer_may_go_on(defer, 2000, false));
	cr_expect(defer_may_go_on(defer, 1000, false), "it goes on itself");
	defer_end(other, 1, defer_covered_until(other, &candidate, &complete));
	cr_expect_not(defer_may_begin(defer, at(70999), false), "a file that was found covers it");
	defer_set_decided(defer, 1001);
	cr_expect(defer_may_begin(defer, at(70999), false));
	defer_hide(other, 5000);
	cr_expect_eq(defer_hidden_until(defer), 0, "it is not another process that decides");
	defer_free(other);
	defer_free(defer);
}

/* A process that was ended says nothing any more. */
Test(defer, what_a_worker_did_can_be_ended_for_it)
{
	struct defer *defer = defer_new_shared(2, false, 2);
	struct defer *other = defer_open(defer_descriptor(defer), 2, false, 2);

	cr_expect(defer_begin(other, 1, at(1000), false));
	cr_expect(defer_progress(other, 1, 500000));
	defer_free(other);
	cr_expect_not(defer_may_begin(defer, at(2000), false));
	cr_expect_eq(defer_end(defer, 1, 0), 500000, "up to there others may have waited");
	cr_expect(defer_may_begin(defer, at(2000), false));
	defer_free(defer);
}

Test(defer, what_is_hidden_is_deferred_even_when_forced)
{
	struct defer *defer = defer_new(1, false, 2);

	cr_expect_eq(defer_hidden_until(defer), 0);
	defer_hide(defer, 5000);
	cr_expect_eq(defer_hidden_until(defer), 5000);
	cr_expect_not(defer_begin(defer, 0, at(4999), true));
	cr_expect(defer_begin(defer, 0, at(5000), false));
	defer_free(defer);
}

Test(defer, nothing_is_deferred_where_nothing_hides)
{
	struct defer *defer = defer_new(2, true, 2);

	defer_remote_progress(defer, 0, 1000, 500000);
	cr_expect(defer_begin(defer, 1, at(2000), false));
	defer_free(defer);
}

Test(defer, an_outcome_determines_what_waits)
{
	const struct candidate candidate = { .start = 100 };
	uint64_t parts[] = { 150, 170 };
	const struct outcome complete = { .verdict = CARVE_COMPLETE, .length = 50 },
			     cut = { .verdict = CARVE_TRUNCATED,
				     .length = 90,
				     .parts = parts,
				     .part_count = 2 },
			     guessed = { .verdict = CARVE_UNVERIFIED, .length = 90 };

	struct defer *defer = defer_new(1, false, 2);

	cr_expect_eq(defer_covered_until(defer, &candidate, &complete), 150);
	cr_expect_eq(defer_covered_until(defer, &candidate, &cut), 171);
	cr_expect_eq(defer_covered_until(defer, &candidate, &guessed), 0);
	defer_free(defer);
}

/* While a check of an archive is long, candidates of its rule after it wait, also those that it has
 * not reached: but not far from it. */
Test(defer, what_may_be_a_part_is_deferred)
{
	const uint64_t reached = 1001 + DEFER_LONG_CHECK;
	const struct candidate archive = { .start = 1000, .rule = 1 },
			       member = { .start = reached + 500, .rule = 1 },
			       far = { .start = reached + DEFER_PARTS_NEAR, .rule = 1 },
			       picture = { .start = reached + 500, .rule = 0 };
	uint64_t parts[] = { 1500 };
	const struct outcome parted = {
		.verdict = CARVE_UNVERIFIED, .length = 90, .parts = parts, .part_count = 1
	};
	struct defer *defer = defer_new(2, false, 2);

	cr_expect(defer_begin(defer, 0, &archive, false));
	cr_expect(defer_begin(defer, 1, &member, false),
		"it is not known yet that such files have parts");
	defer_end(defer, 1, 0);
	defer_end(defer, 0, defer_covered_until(defer, &archive, &parted));
	defer_end(defer, 0, 0);
	cr_expect(defer_begin(defer, 0, &archive, false));
	cr_expect(defer_begin(defer, 1, &member, false), "nothing waits for a short check");
	defer_end(defer, 1, 0);
	cr_expect(defer_progress(defer, 0, reached));
	cr_expect_not(defer_begin(defer, 1, &member, false));
	cr_expect(defer_begin(defer, 1, &member, true));
	defer_end(defer, 1, 0);
	cr_expect(defer_begin(defer, 1, &far, false));
	defer_end(defer, 1, 0);
	cr_expect(defer_begin(defer, 1, &picture, false), "it is of another rule");
	cr_expect_eq(defer_end(defer, 0, 0), reached + DEFER_PARTS_NEAR,
		"what waited for it can begin now");
	cr_expect(defer_begin(defer, 1, &member, false));
	defer_free(defer);
}

Test(defer, of_a_batch_the_first_archive_is_announced)
{
	const struct candidate archive = { .start = 1000, .rule = 1 },
			       later = { .start = 3000, .rule = 0 },
			       member = { .start = 1500 + DEFER_LONG_CHECK, .rule = 1 };
	uint64_t parts[] = { 1500 };
	const struct outcome parted = {
		.verdict = CARVE_UNVERIFIED, .length = 90, .parts = parts, .part_count = 1
	};
	struct defer *defer = defer_new(2, false, 2);

	defer_covered_until(defer, &archive, &parted);
	cr_expect(defer_begin(defer, 0, &archive, false));
	cr_expect(defer_begin(defer, 0, &later, false));
	cr_expect(defer_progress(defer, 0, 1400 + DEFER_LONG_CHECK));
	cr_expect_not(defer_begin(defer, 1, &member, false));
	defer_free(defer);
}
