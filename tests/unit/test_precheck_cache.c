/* Outcomes that were told before they are asked for: they come back to their candidates, in order,
 * and take bounded memory. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "carve/precheck_cache.h"

static void add(struct precheck_cache *early, uint64_t start, uint32_t rule, size_t part_count)
{
	struct outcome outcome = { .verdict = CARVE_COMPLETE, .length = start + rule };

	outcome.part_count = part_count;
	outcome.parts = part_count ? calloc(part_count, sizeof(*outcome.parts)) : NULL;
	outcome.embedded_count = part_count != 0;
	outcome.embedded = part_count ? calloc(1, sizeof(*outcome.embedded)) : NULL;
	precheck_cache_add(early, start, rule, &outcome);
	cr_expect_null(outcome.parts, "it is taken over");
	cr_expect_null(outcome.embedded);
}

/* The length of the outcome, 0 when there is none. */
static uint64_t take(struct precheck_cache *early, uint64_t start, uint32_t rule)
{
	struct candidate candidate = { .start = start, .rule = rule };
	struct outcome outcome = { 0 };

	if (!precheck_cache_take(early, &candidate, &outcome))
		return 0;
	outcome_free(&outcome);
	return outcome.length;
}

Test(early, outcomes_come_back_to_their_candidates)
{
	struct precheck_cache *early = precheck_cache_new();

	cr_expect_eq(take(early, 5, 0), 0, "nothing was told");
	add(early, 10, 2, 0);
	add(early, 10, 4, 3);
	add(early, 30, 1, 0);
	add(early, 40, 0, 7);
	cr_expect_eq(take(early, 9, 9), 0);
	cr_expect_eq(take(early, 10, 2), 12);
	cr_expect_eq(take(early, 10, 2), 0, "it is given once");
	cr_expect_eq(take(early, 10, 3), 0);
	cr_expect_eq(take(early, 10, 4), 14);
	cr_expect_eq(take(early, 31, 0), 0, "that of 30 is forgotten");
	cr_expect_eq(take(early, 30, 1), 0);
	precheck_cache_skip(early, &(struct candidate){ .start = 40 });
	cr_expect_eq(take(early, 40, 0), 40);
	precheck_cache_free(early);
}

Test(early, many_are_held_and_found)
{
	struct precheck_cache *early = precheck_cache_new();
	uint64_t asked = 0;

	for (uint64_t n = 1; n <= 20000; n++) {
		add(early, n * 3, (uint32_t)(n % 5), n % 4);
		if (n % 3) /* so that the ring goes round while it grows */
			continue;
		asked++;
		cr_assert_eq(take(early, asked * 3, (uint32_t)(asked % 5)), asked * 3 + asked % 5);
	}
	while (++asked <= 20000)
		cr_assert_eq(take(early, asked * 3, (uint32_t)(asked % 5)), asked * 3 + asked % 5);
	precheck_cache_free(early);
}

Test(early, what_does_not_fit_is_dropped)
{
	const size_t half = PRECHECK_CACHE_MAX / 2 / sizeof(uint64_t);
	struct precheck_cache *early = precheck_cache_new();

	add(early, 1, 0, half);
	add(early, 2, 0, half); /* with what an entry takes, too much */
	add(early, 3, 0, 1);
	cr_expect_eq(take(early, 1, 0), 1);
	cr_expect_eq(take(early, 2, 0), 0);
	cr_expect_eq(take(early, 3, 0), 3);
	add(early, 4, 0, half);
	cr_expect_eq(take(early, 4, 0), 4, "there is room again");
	precheck_cache_free(early);
}
