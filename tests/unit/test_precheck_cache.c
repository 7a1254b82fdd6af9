/* Outcomes that are added ahead of time come back to their candidates, in order, and take bounded
 * memory. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "carve/precheck_cache.h"

static void add(struct precheck_cache *cache, uint64_t start, uint32_t rule, size_t part_count)
{
	struct outcome outcome = { .verdict = CARVE_COMPLETE, .length = start + rule };

	outcome.part_count = part_count;
	outcome.parts = part_count ? calloc(part_count, sizeof(*outcome.parts)) : NULL;
	outcome.embedded_count = part_count != 0;
	outcome.embedded = part_count ? calloc(1, sizeof(*outcome.embedded)) : NULL;
	precheck_cache_add(cache, start, rule, &outcome);
	cr_expect_null(outcome.parts, "it is taken over");
	cr_expect_null(outcome.embedded);
}

/* The length of the outcome, 0 when there is none. */
static uint64_t take(struct precheck_cache *cache, uint64_t start, uint32_t rule)
{
	struct candidate candidate = { .start = start, .rule = rule };
	struct outcome outcome = { 0 };

	if (!precheck_cache_take(cache, &candidate, &outcome))
		return 0;
	outcome_free(&outcome);
	return outcome.length;
}

Test(precheck_cache, outcomes_come_back_to_their_candidates)
{
	struct precheck_cache *cache = precheck_cache_new();

	cr_expect_eq(take(cache, 5, 0), 0, "nothing was added");
	add(cache, 10, 2, 0);
	add(cache, 10, 4, 3);
	add(cache, 30, 1, 0);
	add(cache, 40, 0, 7);
	cr_expect_eq(take(cache, 9, 9), 0);
	cr_expect_eq(take(cache, 10, 2), 12);
	cr_expect_eq(take(cache, 10, 2), 0, "it is taken out once");
	cr_expect_eq(take(cache, 10, 3), 0);
	cr_expect_eq(take(cache, 10, 4), 14);
	cr_expect_eq(take(cache, 31, 0), 0, "that of 30 is dropped");
	cr_expect_eq(take(cache, 30, 1), 0);
	precheck_cache_skip(cache, &(struct candidate){ .start = 40 });
	cr_expect_eq(take(cache, 40, 0), 40);
	precheck_cache_free(cache);
}

Test(precheck_cache, many_are_held_and_found)
{
	struct precheck_cache *cache = precheck_cache_new();
	uint64_t taken = 0;

	for (uint64_t n = 1; n <= 20000; n++) {
		add(cache, n * 3, (uint32_t)(n % 5), n % 4);
		if (n % 3) /* so that the ring goes round while it grows */
			continue;
		taken++;
		cr_assert_eq(take(cache, taken * 3, (uint32_t)(taken % 5)), taken * 3 + taken % 5);
	}
	while (++taken <= 20000)
		cr_assert_eq(take(cache, taken * 3, (uint32_t)(taken % 5)), taken * 3 + taken % 5);
	precheck_cache_free(cache);
}

Test(precheck_cache, what_does_not_fit_is_dropped)
{
	const size_t half = PRECHECK_CACHE_MAX / 2 / sizeof(uint64_t);
	struct precheck_cache *cache = precheck_cache_new();

	add(cache, 1, 0, half);
	add(cache, 2, 0, half); /* with what an entry takes, too much */
	add(cache, 3, 0, 1);
	cr_expect_eq(take(cache, 1, 0), 1);
	cr_expect_eq(take(cache, 2, 0), 0);
	cr_expect_eq(take(cache, 3, 0), 3);
	add(cache, 4, 0, half);
	cr_expect_eq(take(cache, 4, 0), 4, "there is room again");
	precheck_cache_free(cache);
}
