/* Deciding: hiding, ties at one start, strictness, quotas; and the tallies of each. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "carve/decide.h"
#include "carve/parts.h"
#include "report/record.h"

static const struct carver a_carver = { .name = "a" };

/* Rules 0 to 2 have a carver, 3 and 4 have none. */
static struct rule rule_list[5] = { { .name = (char *)"r0", .carver = &a_carver },
	{ .name = (char *)"r1", .carver = &a_carver },
	{ .name = (char *)"r2", .carver = &a_carver }, { .name = (char *)"r3" },
	{ .name = (char *)"r4" } };
static const struct rules rules = { .rules = rule_list, .count = 5 };

struct fixture {
	struct tallies rejected, skipped;
	struct decider *decider;
	struct candidate candidates[8];
	struct outcome outcomes[8];
	struct decision decisions[8];
	size_t count;
};

static void setup(struct fixture *f, struct decide_options options)
{
	memset(f, 0, sizeof(*f));
	f->decider = decider_new(&rules, &options, &f->rejected, &f->skipped);
}

static void teardown(struct fixture *f)
{
	decider_free(f->decider);
	tallies_free(&f->rejected);
	tallies_free(&f->skipped);
}

static void add(
	struct fixture *f, uint64_t start, uint32_t rule, enum verdict verdict, uint64_t length)
{
	f->candidates[f->count] = (struct candidate){ .start = start, .rule = rule };
	f->outcomes[f->count] = (struct outcome){ .verdict = verdict, .length = length };
	f->decisions[f->count] = (struct decision){ .candidate = &f->candidates[f->count],
		.outcome = &f->outcomes[f->count] };
	f->count++;
}

/* Of the candidate that was added last. */
static void add_unverified(struct fixture *f, uint64_t from, uint64_t to)
{
	ranges_add(&f->outcomes[f->count - 1].unverified, from, to - from);
}

/* Decides the group that was added, and returns what is kept as a string of rule numbers. */
static const char *decide(struct fixture *f)
{
	static char kept[9];
	size_t len = 0;

	decide_group(f->decider, f->decisions, f->count);
	for (size_t i = 0; i < f->count; i++)
		if (f->decisions[i].keep)
			kept[len++] = (char)('0' + f->candidates[i].rule);
	kept[len] = '\0';
	f->count = 0;
	return kept;
}

static const char *one(
	struct fixture *f, uint64_t start, uint32_t rule, enum verdict verdict, uint64_t length)
{
	add(f, start, rule, verdict, length);
	return decide(f);
}

static uint64_t tally(const struct tallies *tallies, const char *name)
{
	for (size_t i = 0; i < tallies->count; i++)
		if (strcmp(tallies->items[i].name, name) == 0)
			return tallies->items[i].count;
	return 0;
}

Test(decide, only_complete_files_hide_and_only_what_starts_strictly_inside)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_str_eq(one(&f, 100, 0, CARVE_COMPLETE, 50), "0");
	cr_expect_str_eq(one(&f, 101, 1, CARVE_COMPLETE, 500), "", "starts inside");
	cr_expect_str_eq(one(&f, 149, 3, CARVE_UNVERIFIED, 10), "", "rules without carvers too");
	cr_expect_str_eq(one(&f, 150, 3, CARVE_UNVERIFIED, 10), "3", "starts after the last byte");
	cr_expect_str_eq(one(&f, 200, 0, CARVE_TRUNCATED, 100), "0");
	cr_expect_str_eq(one(&f, 210, 0, CARVE_COMPLETE, 10), "0", "truncated ones don't hide");
	cr_expect_str_eq(one(&f, 300, 0, CARVE_UNVERIFIED, 100), "0");
	cr_expect_str_eq(one(&f, 310, 0, CARVE_COMPLETE, 5), "0", "unverified ones don't hide");
	/* The hidden file of 500 bytes at 101 hides nothing itself. */
	cr_expect_str_eq(one(&f, 400, 0, CARVE_COMPLETE, 5), "0");
	cr_expect_eq(tally(&f.skipped, "inside a complete file"), 2);
	teardown(&f);
}

Test(decide, complete_files_do_not_hide_what_starts_in_their_unverified_parts)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	add(&f, 100, 0, CARVE_COMPLETE, 100);
	add_unverified(&f, 120, 140);
	add_unverified(&f, 180, 200);
	cr_expect_str_eq(decide(&f), "0");
	ranges_free(&f.outcomes[0].unverified);
	cr_expect(decider_hides(f.decider, 110));
	cr_expect_eq(decider_hidden_until(f.decider), 120);
	cr_expect_str_eq(one(&f, 119, 1, CARVE_COMPLETE, 5), "", "verified");
	cr_expect_str_eq(one(&f, 120, 1, CARVE_TRUNCATED, 5), "", "not complete");
	cr_expect_str_eq(one(&f, 121, 3, CARVE_UNVERIFIED, 5), "");
	cr_expect_str_eq(one(&f, 125, 1, CARVE_COMPLETE, 10), "1");
	cr_expect(f.decisions[0].overlaps);
	cr_expect_eq(f.decisions[0].outer, 100);
	cr_expect_str_eq(one(&f, 130, 2, CARVE_COMPLETE, 2), "", "inside the file at 125");
	cr_expect_str_eq(one(&f, 136, 2, CARVE_COMPLETE, 20), "2");
	cr_expect_str_eq(one(&f, 150, 2, CARVE_COMPLETE, 2), "", "hidden by both");
	cr_expect_str_eq(one(&f, 179, 2, CARVE_COMPLETE, 2), "", "hidden by the first");
	cr_expect_str_eq(one(&f, 185, 2, CARVE_COMPLETE, 2), "2");
	cr_expect_str_eq(one(&f, 200, 2, CARVE_TRUNCATED, 2), "2", "after its end");
	cr_expect_not(f.decisions[0].overlaps);
	cr_expect_eq(tally(&f.skipped, "in an unverified part of a complete file"), 2);
	cr_expect_eq(tally(&f.skipped, "inside a complete file"), 4);
	teardown(&f);
}

Test(decide, unverified_files_with_one_end_are_one)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_str_eq(one(&f, 100, 0, CARVE_UNVERIFIED, 100), "0");
	cr_expect_str_eq(one(&f, 110, 0, CARVE_UNVERIFIED, 90), "", "the same end");
	cr_expect_str_eq(one(&f, 120, 0, CARVE_UNVERIFIED, 70), "0", "another end");
	cr_expect_str_eq(one(&f, 130, 1, CARVE_UNVERIFIED, 70), "1", "another rule");
	cr_expect_str_eq(one(&f, 140, 3, CARVE_UNVERIFIED, 60), "3");
	cr_expect_str_eq(one(&f, 150, 3, CARVE_UNVERIFIED, 50), "3", "a rule without a carver");
	cr_expect_eq(tally(&f.skipped, "inside an unverified file of its type"), 1);
	teardown(&f);
}

/* Units that the tests' rules get for each byte searched, and have at first for LEN bytes. */
#define FACTOR 16
#define LEN 1000000
#define MOST (((uint64_t)512 << 20) + (uint64_t)FACTOR * LEN)

Test(decide, work_beyond_what_a_rule_has_left_is_refused)
{
	const struct candidate at_5 = { .start = 5 };
	struct tallies checks = { 0 };
	struct fixture f;

	setup(&f, (struct decide_options){ .searched_len = LEN });
	cr_expect_eq(decider_work_left(f.decider, &at_5), MOST);
	add(&f, 5, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = MOST - 100000;
	cr_expect_str_eq(decide(&f), "0", "there is enough");
	add(&f, 10, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = 100000 + FACTOR * 5 + 1;
	cr_expect_str_eq(decide(&f), "", "a unit more than is left, and was added since");
	cr_expect(f.decisions[0].unchecked);
	add(&f, 20010, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = FACTOR * 20000;
	cr_expect_str_eq(decide(&f), "0", "it took all, but more was added");
	add(&f, 20021, 1, CARVE_COMPLETE, 1);
	f.outcomes[0].work = MOST;
	cr_expect_str_eq(decide(&f), "1", "each rule has its own");
	add(&f, 20100, 2, CARVE_COMPLETE, 1);
	f.outcomes[0].work = UINT64_MAX;
	cr_expect_str_eq(decide(&f), "", "a check that was ended for its work");
	cr_expect_eq(decider_unchecked(f.decider), 2);
	decider_tally_checks(f.decider, &checks);
	cr_expect_eq(checks.count, 3, "the rules whose candidates were checked");
	cr_expect_str_eq(checks.items[0].name, "r0");
	cr_expect_eq(checks.items[0].count, 3);
	cr_expect_eq(checks.items[0].bytes,
		(MOST - 100000) + (100000 + FACTOR * 5) + FACTOR * 20000,
		"the check that took too much counts as what was left");
	cr_expect_str_eq(checks.items[2].name, "r2");
	cr_expect_eq(checks.items[2].bytes, MOST);
	tallies_free(&checks);
	cr_expect_eq(tally(&f.skipped, "r0: not checked, the rule's work budget was spent"), 1);
	cr_expect_eq(tally(&f.skipped, "r2: not checked, the rule's work budget was spent"), 1);
	teardown(&f);
}

/* Many headers side by side cost nothing while too little is left for a check, so that in the midst of them there is enough
 * for one now and then. */
Test(decide, a_rule_that_has_too_little_left_saves_for_the_next_check)
{
	const uint64_t distance = DECIDE_SAVED / FACTOR;
	const struct candidate before = { .start = 5 + distance - 1 },
			       at = { .start = 5 + distance };
	struct tallies checks = { 0 };
	struct fixture f;

	setup(&f, (struct decide_options){ .searched_len = LEN });
	cr_expect_not(decider_is_spent(f.decider, &before));
	add(&f, 5, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = MOST;
	cr_expect_str_eq(decide(&f), "0");
	for (uint64_t start = 6; start < before.start; start++) {
		add(&f, start, 0, start & 1 ? CARVE_COMPLETE : CARVE_REJECT, 1);
		f.outcomes[0].work = start & 2 ? 1 : UINT64_MAX;
		cr_expect_str_eq(decide(&f), "", "whatever a check would find");
	}
	cr_expect_eq(decider_unchecked(f.decider), distance - 2);
	cr_expect(decider_is_spent(f.decider, &before));
	cr_expect_not(decider_is_spent(f.decider, &at));
	add(&f, at.start, 0, CARVE_COMPLETE, 1);
	cr_expect_eq(decider_work_ahead(f.decider, &before, true), 0);
	cr_expect_eq(decider_work_ahead(f.decider, &at, true), DECIDE_SAVED);
	f.outcomes[0].work = DECIDE_SAVED - CHECK_WORK_LEAST;
	cr_expect_str_eq(decide(&f), "0");
	cr_expect_not(decider_is_spent(f.decider, &at), "there is enough for one more");
	add(&f, at.start + 1, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = FACTOR + 1;
	cr_expect_str_eq(decide(&f), "0");
	cr_expect(decider_is_spent(f.decider, &(struct candidate){ .start = at.start + 2 }));
	decider_tally_checks(f.decider, &checks);
	cr_expect_eq(checks.items[0].count, 3);
	cr_expect_eq(checks.items[0].bytes, MOST + DECIDE_SAVED - CHECK_WORK_LEAST + FACTOR + 1);
	tallies_free(&checks);
	teardown(&f);
}

/* When a check starts, any thread may ask: what was decided on since it was queued counts. */
Test(decide, a_check_may_take_what_its_rule_has_left_when_it_starts)
{
	const struct candidate at_100 = { .start = 100 }, other = { .start = 100, .rule = 1 },
			       earlier = { .start = 50 };
	struct fixture f;

	setup(&f, (struct decide_options){ .searched_len = LEN });
	cr_expect_eq(decider_work_cap(f.decider, &at_100), MOST, "never more than at first");
	add(&f, 40, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = MOST - 100000;
	cr_expect_str_eq(decide(&f), "0");
	cr_expect_eq(decider_work_cap(f.decider, &at_100), 100000 + FACTOR * 60);
	cr_expect_eq(decider_work_cap(f.decider, &at_100), decider_work_left(f.decider, &at_100));
	cr_expect_eq(decider_work_cap(f.decider, &other), MOST, "each rule has its own");
	add(&f, 90, 0, CARVE_COMPLETE, 1);
	f.outcomes[0].work = UINT64_MAX;
	cr_expect_str_eq(decide(&f), "");
	cr_expect_eq(
		decider_work_cap(f.decider, &at_100), FACTOR * 10, "only what was added since");
	cr_expect_eq(decider_work_cap(f.decider, &earlier), 0, "already decided on");
	teardown(&f);
	/* Numbers that do not fit: no bound, or the first one. */
	setup(&f, (struct decide_options){ .searched_len = 0 });
	cr_expect_eq(decider_work_cap(f.decider, &at_100), UINT64_MAX);
	teardown(&f);
	setup(&f, (struct decide_options){ .searched_len = UINT64_MAX });
	cr_expect_eq(decider_work_cap(f.decider, &at_100), UINT64_MAX);
	teardown(&f);
	setup(&f, (struct decide_options){ .searched_len = LEN });
	cr_expect_eq(decider_work_cap(f.decider, &(struct candidate){ .start = UINT64_MAX }), MOST);
	teardown(&f);
	/* In Scalpel's order a rule may have more left when an earlier offset comes later. */
	setup(&f, (struct decide_options){ .searched_len = LEN, .any_order = true });
	cr_expect_str_eq(one(&f, 900, 0, CARVE_COMPLETE, 1), "0");
	cr_expect_eq(decider_work_cap(f.decider, &earlier), MOST);
	teardown(&f);
}

Test(decide, checks_that_wait_for_a_decision_spend_what_the_rule_has)
{
	const struct candidate next = { .start = 100 }, other = { .start = 100, .rule = 1 };
	const uint64_t much = MOST - 5 * DECIDE_SAVED, little = 5 * DECIDE_SAVED;
	struct fixture f;

	setup(&f, (struct decide_options){ .searched_len = LEN });
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), MOST);
	decider_share_work(f.decider, 4);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), MOST / 4);
	decider_begin_pending(f.decider, 0, much);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), little / 4);
	cr_expect_eq(decider_work_cap(f.decider, &next), MOST, "whom everything waits for");
	decider_begin_pending(f.decider, 0, little);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), 0);
	cr_expect_eq(
		decider_work_ahead(f.decider, &next, true), DECIDE_SAVED, "right after the front");
	cr_expect_eq(
		decider_work_ahead(f.decider, &other, false), MOST / 4, "each rule has its own");
	decider_end_pending(f.decider, 0, much);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), (MOST - little) / 4);
	decider_begin_pending(f.decider, 0, UINT64_MAX);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), 0, "it may leave nothing");
	decider_end_pending(f.decider, 0, UINT64_MAX);
	decider_end_pending(f.decider, 0, little);
	decider_begin_pending(f.decider, 0, MOST - 4 * DECIDE_SAVED);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), DECIDE_SAVED);
	decider_begin_pending(f.decider, 0, 4);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), 0,
		"a batch that may take too little for several checks");
	cr_expect_not(decider_seems_spent(f.decider, &next, false), "one that began may go on");
	decider_end_pending(f.decider, 0, 4);
	decider_end_pending(f.decider, 0, MOST - 4 * DECIDE_SAVED);
	decider_begin_pending(f.decider, 0, MOST - 4 * CHECK_WORK_LEAST);
	cr_expect_not(decider_seems_spent(f.decider, &next, false));
	decider_begin_pending(f.decider, 0, 4);
	cr_expect(decider_seems_spent(f.decider, &next, false));
	cr_expect_not(decider_seems_spent(f.decider, &next, true));
	decider_end_pending(f.decider, 0, 4);
	decider_end_pending(f.decider, 0, MOST - 4 * CHECK_WORK_LEAST);
	teardown(&f);
	/* No bound: nothing is spent. */
	setup(&f, (struct decide_options){ .searched_len = 0 });
	decider_begin_pending(f.decider, 0, UINT64_MAX);
	cr_expect_eq(decider_work_ahead(f.decider, &next, false), UINT64_MAX);
	decider_end_pending(f.decider, 0, UINT64_MAX);
	teardown(&f);
}

Test(decide, truncated_files_contain_only_truncated_ones_of_their_own_rule)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_str_eq(one(&f, 100, 0, CARVE_TRUNCATED, 50), "0");
	cr_expect_str_eq(one(&f, 110, 0, CARVE_TRUNCATED, 40), "", "ends at the same byte");
	cr_expect_str_eq(one(&f, 115, 0, CARVE_TRUNCATED, 3), "");
	cr_expect_str_eq(one(&f, 120, 0, CARVE_TRUNCATED, 31), "0", "a byte beyond it");
	cr_expect_str_eq(one(&f, 130, 1, CARVE_TRUNCATED, 5), "1", "another rule");
	cr_expect_str_eq(one(&f, 140, 0, CARVE_COMPLETE, 5), "0", "complete");
	cr_expect_str_eq(one(&f, 147, 0, CARVE_UNVERIFIED, 2), "0", "unverified");
	cr_expect_str_eq(one(&f, 200, 0, CARVE_TRUNCATED, 5), "0", "after it");
	add(&f, 203, 0, CARVE_TRUNCATED, 2);
	add(&f, 203, 1, CARVE_TRUNCATED, 2);
	cr_expect_str_eq(decide(&f), "1", "what is contained beats nobody");
	cr_expect_eq(tally(&f.skipped, "inside a truncated file of its type"), 3);
	teardown(&f);
	setup(&f, (struct decide_options){ .nested = true });
	cr_expect_str_eq(one(&f, 100, 0, CARVE_TRUNCATED, 50), "0");
	cr_expect_str_eq(one(&f, 110, 0, CARVE_TRUNCATED, 40), "0");
	teardown(&f);
}

Test(decide, parts_are_not_files_whatever_their_check_would_find)
{
	static uint64_t parts[] = { 110, 130, 200 };
	const struct candidate part = { .start = 130, .rule = 0 },
			       other = { .start = 130, .rule = 1 };
	struct fixture f;

	setup(&f, (struct decide_options){ .nested = true });
	cr_expect_not(decider_is_part(f.decider, &part));
	add(&f, 100, 0, CARVE_REJECT, 0);
	f.outcomes[0].parts = parts;
	f.outcomes[0].part_count = 3;
	cr_expect_str_eq(decide(&f), "", "what is rejected names parts too");
	cr_expect(decider_is_part(f.decider, &part));
	cr_expect_not(decider_is_part(f.decider, &other), "another rule");
	add(&f, 110, 0, CARVE_COMPLETE, 5);
	add(&f, 110, 1, CARVE_TRUNCATED, 5);
	cr_expect_str_eq(decide(&f), "1", "a part beats nobody");
	cr_expect(f.decisions[0].unused && !f.decisions[1].unused);
	cr_expect_str_eq(one(&f, 120, 0, CARVE_COMPLETE, 5), "0", "between two parts");
	/* A part's own check was not made: its outcome must not count. */
	add(&f, 130, 0, CARVE_REJECT, 0);
	f.outcomes[0].parts = &parts[2];
	f.outcomes[0].part_count = 1;
	cr_expect_str_eq(decide(&f), "");
	cr_expect_str_eq(one(&f, 200, 0, CARVE_COMPLETE, 5), "", "the last part");
	cr_expect_str_eq(one(&f, 201, 0, CARVE_COMPLETE, 5), "0", "after it");
	cr_expect_eq(tally(&f.skipped, "a part of an earlier file of its type"), 3);
	teardown(&f);
}

Test(decide, parts_of_hidden_files_are_ignored)
{
	static uint64_t parts[] = { 170 };
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_str_eq(one(&f, 100, 1, CARVE_COMPLETE, 50), "1");
	add(&f, 110, 0, CARVE_TRUNCATED, 100);
	f.outcomes[0].parts = parts;
	f.outcomes[0].part_count = 1;
	cr_expect_str_eq(decide(&f), "");
	cr_expect_str_eq(one(&f, 170, 0, CARVE_COMPLETE, 5), "0");
	teardown(&f);
}

/* Decides on one file that names other files at `embedded`. */
static const char *holder(struct fixture *f, uint64_t start, enum verdict verdict, uint64_t length,
	uint64_t *embedded, size_t count)
{
	add(f, start, 0, verdict, length);
	f->outcomes[0].embedded = embedded;
	f->outcomes[0].embedded_count = count;
	return decide(f);
}

Test(decide, what_a_kept_file_holds_is_not_written_again)
{
	static uint64_t first[] = { 130, 110 }, inner[] = { 132 }, lost[] = { 350 };
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_str_eq(holder(&f, 100, CARVE_TRUNCATED, 60, first, 2), "0");
	cr_expect_str_eq(one(&f, 110, 1, CARVE_COMPLETE, 10), "", "a picture, of another rule");
	cr_expect_str_eq(one(&f, 112, 1, CARVE_COMPLETE, 4), "", "its thumbnail");
	cr_expect_str_eq(one(&f, 125, 1, CARVE_COMPLETE, 4), "1", "not named");
	add(&f, 130, 1, CARVE_UNVERIFIED, 5000);
	f.outcomes[0].embedded = inner;
	f.outcomes[0].embedded_count = 1;
	cr_expect_str_eq(decide(&f), "", "however long it seems to be");
	cr_expect_str_eq(one(&f, 132, 2, CARVE_UNVERIFIED, 9), "", "what it holds in turn");
	cr_expect_eq(tally(&f.skipped, "a part of an earlier file"), 3);
	cr_expect_str_eq(holder(&f, 200, CARVE_REJECT, 0, lost, 1), "");
	cr_expect_str_eq(one(&f, 350, 1, CARVE_UNVERIFIED, 9), "1", "the first was not a file");
	teardown(&f);
}

Test(decide, all_in_a_range_that_a_kept_file_holds_is_its_own)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	add(&f, 100, 0, CARVE_UNVERIFIED, 60);
	ranges_add(&f.outcomes[0].held, 110, 20);
	cr_expect_str_eq(decide(&f), "0");
	ranges_free(&f.outcomes[0].held);
	cr_expect_str_eq(one(&f, 105, 1, CARVE_COMPLETE, 4), "1", "before the range");
	cr_expect_str_eq(one(&f, 110, 2, CARVE_COMPLETE, 10), "");
	cr_expect_str_eq(one(&f, 129, 2, CARVE_TRUNCATED, 4000), "");
	cr_expect_str_eq(one(&f, 130, 1, CARVE_TRUNCATED, 4), "1", "after it");
	add(&f, 200, 0, CARVE_UNVERIFIED, 60);
	ranges_add(&f.outcomes[0].held, 210, 20);
	cr_expect_str_eq(decide(&f), "0");
	ranges_free(&f.outcomes[0].held);
	cr_expect_str_eq(one(&f, 215, 1, CARVE_COMPLETE, 46), "1", "a byte past the file");
	add(&f, 1000, 0, CARVE_UNVERIFIED, 1000);
	ranges_add(&f.outcomes[0].held, 1001, 900);
	cr_expect_str_eq(decide(&f), "0");
	ranges_free(&f.outcomes[0].held);
	cr_expect_str_eq(one(&f, 1024, 1, CARVE_COMPLETE, 10), "1", "at a sector");
	cr_expect_str_eq(one(&f, 1536, 1, CARVE_TRUNCATED, 10), "1", "at another");
	cr_expect_str_eq(one(&f, 1537, 1, CARVE_TRUNCATED, 10), "", "after it");
	teardown(&f);
}

Test(decide, what_would_be_lost_is_written)
{
	static uint64_t embedded[] = { 110 };
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_str_eq(holder(&f, 100, CARVE_TRUNCATED, 60, embedded, 1), "0");
	cr_expect_str_eq(one(&f, 110, 1, CARVE_COMPLETE, 51), "1", "a byte past the first");
	teardown(&f);
	setup(&f, (struct decide_options){ .strict = true });
	cr_expect_str_eq(holder(&f, 100, CARVE_TRUNCATED, 60, embedded, 1), "");
	cr_expect_str_eq(one(&f, 110, 1, CARVE_COMPLETE, 9), "1", "the first is not written");
	teardown(&f);
	setup(&f, (struct decide_options){ .nested = true });
	cr_expect_str_eq(holder(&f, 100, CARVE_TRUNCATED, 60, embedded, 1), "0");
	cr_expect_str_eq(one(&f, 110, 1, CARVE_TRUNCATED, 9), "1");
	teardown(&f);
}

Test(decide, a_set_of_parts_holds_what_was_added)
{
	struct parts parts = { 0 };

	cr_expect_not(parts_has(&parts, 1));
	for (uint64_t i = 1; i <= 100000; i++)
		parts_add(&parts, i * i);
	parts_add(&parts, 0);
	parts_add(&parts, 4);
	cr_expect_eq(parts.count, 100000);
	for (uint64_t i = 1; i <= 100000; i++) {
		cr_assert(parts_has(&parts, i * i), "%d", (int)i);
		cr_assert_not(parts_has(&parts, i * i + 1));
	}
	cr_expect_not(parts_has(&parts, 0));
	parts_forget_before(&parts, parts.last);
	cr_expect_eq(parts.count, 100000, "the last one may still be looked up");
	parts_forget_before(&parts, parts.last + 1);
	cr_expect_eq(parts.count, 0);
	cr_expect_null(parts.slots);
	cr_expect_not(parts_has(&parts, 4));
	/* A full set ignores more: it does not grow for ever. */
	for (uint64_t i = 1; i <= (4 << 20) + 5; i++)
		parts_add(&parts, i);
	cr_expect_eq(parts.count, 4 << 20);
	cr_expect_not(parts_has(&parts, (4 << 20) + 1));
	parts_free(&parts);
}

Test(decide, nested_keeps_everything)
{
	struct fixture f;

	setup(&f, (struct decide_options){ .nested = true });
	cr_expect_str_eq(one(&f, 100, 0, CARVE_COMPLETE, 50), "0");
	cr_expect_str_eq(one(&f, 110, 1, CARVE_COMPLETE, 5), "1");
	cr_expect_eq(decider_hidden_until(f.decider), 0);
	teardown(&f);
}

Test(decide, one_start)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	add(&f, 10, 0, CARVE_TRUNCATED, 5);
	add(&f, 10, 1, CARVE_COMPLETE, 9);
	add(&f, 10, 2, CARVE_COMPLETE, 3);
	add(&f, 10, 3, CARVE_UNVERIFIED, 7);
	cr_expect_str_eq(decide(&f), "1", "the first complete one beats everything");
	add(&f, 50, 0, CARVE_REJECT, 0);
	add(&f, 50, 1, CARVE_UNVERIFIED, 9);
	add(&f, 50, 2, CARVE_TRUNCATED, 3);
	add(&f, 50, 3, CARVE_UNVERIFIED, 7);
	add(&f, 50, 4, CARVE_UNVERIFIED, 7);
	cr_expect_str_eq(decide(&f), "134", "first carver; rules without are independent");
	cr_expect_eq(tally(&f.skipped, "another type starts here"), 4);
	teardown(&f);
}

Test(decide, rejections_are_counted_by_type_and_reason_without_numbers)
{
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	for (unsigned i = 0; i < 3; i++) {
		add(&f, 10 + i, i == 2, CARVE_REJECT, 0);
		snprintf(f.outcomes[0].finding.why, sizeof(f.outcomes[0].finding.why),
			"CRC wrong at %u", 1000 + i);
		cr_expect_str_eq(decide(&f), "");
	}
	cr_expect_eq(tally(&f.rejected, "r0: CRC wrong at N"), 2);
	cr_expect_eq(tally(&f.rejected, "r1: CRC wrong at N"), 1);
	teardown(&f);
}

/* What was expected is the rule's, what was found is the file's. */
Test(decide, rejections_are_counted_without_what_was_found)
{
	static const char *const reasons[] = { "expected 48 4? 41 ... at offset 16, found 48 49 41",
		"expected 48 4? 41 ... at offset 17, found the end of the image",
		"expected 3 blocks at 12, found 2", "expected 4 blocks at 12, found 5" };
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	for (unsigned i = 0; i < 4; i++) {
		add(&f, 10 + i, 0, CARVE_REJECT, 0);
		strcpy(f.outcomes[0].finding.why, reasons[i]);
		cr_expect_str_eq(decide(&f), "");
	}
	cr_expect_eq(tally(&f.rejected, "r0: expected 48 4? 41 ... at offset N"), 2);
	cr_expect_eq(tally(&f.rejected, "r0: expected N blocks at N"), 2);
	teardown(&f);
}

Test(decide, strict_writes_only_complete_files)
{
	struct fixture f;

	setup(&f, (struct decide_options){ .strict = true });
	cr_expect_str_eq(one(&f, 10, 0, CARVE_TRUNCATED, 5), "");
	cr_expect_str_eq(one(&f, 20, 3, CARVE_UNVERIFIED, 5), "");
	cr_expect_str_eq(one(&f, 30, 0, CARVE_COMPLETE, 5), "0");
	cr_expect_eq(tally(&f.skipped, "not complete (--strict)"), 2);
	teardown(&f);
}

static struct quota_state quota_of(const struct fixture *f)
{
	struct quota_state quota;

	decider_quota(f->decider, &quota);
	return quota;
}

Test(decide, quotas)
{
	struct fixture f;

	setup(&f, (struct decide_options){ .max_files = 3, .max_bytes = 100, .max_files_type = 2 });
	cr_expect_not(quota_of(&f).other);
	cr_expect_str_eq(one(&f, 10, 0, CARVE_COMPLETE, 10), "0");
	cr_expect_str_eq(one(&f, 30, 0, CARVE_COMPLETE, 10), "0");
	cr_expect_not(quota_of(&f).other);
	cr_expect_str_eq(one(&f, 50, 0, CARVE_COMPLETE, 10), "", "two of a rule");
	cr_expect(quota_of(&f).other);
	cr_expect_eq(quota_of(&f).over_files, 0);
	cr_expect_str_eq(one(&f, 55, 1, CARVE_COMPLETE, 1), "", "left out, but it still hides");
	cr_expect_str_eq(one(&f, 70, 1, CARVE_COMPLETE, 81), "", "101 bytes in all");
	cr_expect_str_eq(one(&f, 200, 1, CARVE_COMPLETE, 80), "1", "100 bytes in all");
	cr_expect_str_eq(one(&f, 300, 2, CARVE_COMPLETE, 0), "", "three files in all");
	cr_expect_eq(tally(&f.skipped, "quota"), 3);
	cr_expect_eq(quota_of(&f).kept_bytes, 100);
	cr_expect_eq(quota_of(&f).over_files, 1, "the one of 81 bytes");
	cr_expect_eq(quota_of(&f).over_bytes, 81);
	teardown(&f);
}

/* A run that is resumed knows what it has kept and left out. */
Test(decide, quotas_are_saved)
{
	const struct decide_options options = { .max_bytes = 100 };
	struct codec_writer saved = { 0 };
	struct codec_reader reader;
	struct fixture f;

	setup(&f, options);
	cr_expect_str_eq(one(&f, 10, 0, CARVE_COMPLETE, 60), "0");
	cr_expect_str_eq(one(&f, 100, 0, CARVE_COMPLETE, 41), "", "101 bytes in all");
	decider_save(f.decider, &saved);
	teardown(&f);
	setup(&f, options);
	reader = codec_reader_from(saved.bytes, saved.len);
	decider_load(f.decider, 1000, &reader);
	cr_assert(codec_ok(&reader));
	cr_expect_eq(quota_of(&f).kept_bytes, 60);
	cr_expect_eq(quota_of(&f).over_files, 1);
	cr_expect_eq(quota_of(&f).over_bytes, 41);
	cr_expect_not(quota_of(&f).other);
	cr_expect_str_eq(one(&f, 200, 0, CARVE_COMPLETE, 41), "");
	cr_expect_str_eq(one(&f, 300, 0, CARVE_COMPLETE, 40), "0");
	cr_expect_eq(quota_of(&f).over_bytes, 82);
	free(saved.bytes);
	teardown(&f);
}

/* What is known to be hidden when it is offered is counted as it would be by a decision. */
Test(decide, what_is_hidden_needs_no_decision)
{
	const struct candidate inside = { .start = 149, .rule = 3 },
			       after = { .start = 150, .rule = 3 };
	struct fixture f;

	setup(&f, (struct decide_options){ 0 });
	cr_expect_not(decider_skip_hidden(f.decider, &inside));
	cr_expect_str_eq(one(&f, 100, 0, CARVE_COMPLETE, 50), "0");
	cr_expect(decider_skip_hidden(f.decider, &inside));
	cr_expect_not(decider_skip_hidden(f.decider, &after));
	cr_expect_eq(tally(&f.skipped, "inside a complete file"), 1);
	cr_expect_eq(decider_position(f.decider), 101);
	decider_pass_hidden(f.decider, 130, 3);
	cr_expect_eq(tally(&f.skipped, "inside a complete file"), 4);
	cr_expect_eq(decider_position(f.decider), 131);
	cr_expect(decider_skip_hidden(f.decider, &inside), "up to the file's end");
	cr_expect_eq(tally(&f.skipped, "inside a complete file"), 5);
	decider_hide(f.decider, 151);
	decider_hide(f.decider, 120);
	cr_expect(decider_skip_hidden(f.decider, &after), "another process has decided so");
	cr_expect_eq(decider_hidden_until(f.decider), 151);
	teardown(&f);
	setup(&f, (struct decide_options){ .nested = true });
	cr_expect_str_eq(one(&f, 100, 0, CARVE_COMPLETE, 50), "0");
	cr_expect_not(decider_skip_hidden(f.decider, &inside));
	teardown(&f);
}
