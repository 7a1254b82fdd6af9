/* How much work a check may do, and how it ends when that or memory is not enough. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "carve/check.h"
#include "carvers/common/walk.h"
#include "memory_image.h"

#define MIB ((uint64_t)1 << 20)

static uint8_t content[1200000];

static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));

static void fill(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 11 + i / 256);
}

TestSuite(view_work, .init = fill);

static struct view *view_at(uint64_t start, uint64_t size)
{
	struct view *view = view_new();

	view_point(view, &evidence.image, start, size);
	return view;
}

/* Units that it costs to fetch len bytes from the image. */
static uint64_t fetched(uint64_t len)
{
	return 256 + len / 16;
}

Test(view_work, a_peek_costs_its_bytes_and_64_units_and_what_is_fetched)
{
	struct view *view = view_at(0, sizeof(content));

	cr_expect_eq(view_work_done(view), 0);
	view_peek(view, 0, 100);
	cr_expect_eq(view_work_done(view), 164 + fetched(4096));
	view_peek(view, 100, 100);
	cr_expect_eq(view_work_done(view), 2 * 164 + fetched(4096), "it is in the buffer");
	view_peek(view, 900000, 65536);
	cr_expect_eq(view_work_done(view), 2 * 164 + fetched(4096) + 65600 + fetched(65536));
	cr_expect(view_work(view, 1000));
	cr_expect_eq(view_work_done(view), 2 * 164 + fetched(4096) + 65600 + fetched(65536) + 1000);
	cr_expect_null(view_peek(view, sizeof(content), 1), "outside");
	view_point(view, &evidence.image, 5, 10);
	cr_expect_eq(view_work_done(view), 0, "each candidate starts anew");
	view_free(view);
}

Test(view_work, where_a_file_is_put_together_four_bytes_of_a_peek_are_a_unit)
{
	const struct range runs[] = { { 0, 8192 }, { 65536, 65536 } };
	struct view *view = view_new();

	view_point_runs(view, &evidence.image, runs, 2, UINT64_MAX);
	view_peek(view, 0, 100);
	cr_expect_eq(view_work_done(view), 64 + 25 + fetched(4096));
	view_peek(view, 100, 100);
	cr_expect_eq(view_work_done(view), 2 * (64 + 25) + fetched(4096));
	view_free(view);
}

Test(view_work, zeros_that_do_not_begin_cost_no_look_at_where_they_would_end)
{
	struct view *view;

	memset(content + 1000, 0, 1000000);
	view = view_new_memory(content, sizeof(content));
	cr_expect_not(walk_zeros(view, 999, 205000));
	cr_expect_leq(view_work_done(view), 128, "a page with one byte that is not zero");
	cr_expect(walk_zeros(view, 1000, 1000));
	cr_expect(walk_zeros(view, 1000, 1001000));
	cr_expect_lt(view_work_done(view), 1010000, "zeros: their bytes, and little more");
	cr_expect_not(walk_zeros(view, 1000, 1001001));
	view_free(view);
	memset(content, 0, sizeof(content));
	view = view_new_memory(content, sizeof(content));
	cr_expect(walk_zeros(view, 0, sizeof(content)));
	cr_expect_not(walk_zeros(view, 0, sizeof(content) + 1), "past the end");
	view_free(view);
}

Test(view_work, nothing_can_be_peeked_at_anywhere)
{
	struct view *view = view_at(1000000, 5000);

	view_peek(view, 0, 5000);
	view_point(view, &evidence.image, 0, 5000);
	cr_expect_not_null(view_peek(view, 0, 0), "the buffer is elsewhere");
	cr_expect_not_null(view_peek(view, 5000, 0));
	cr_expect_null(view_peek(view, 5001, 0));
	view_free(view);
}

Test(view_work, a_check_ends_at_its_limit)
{
	const uint64_t limits[] = { 0, 1, 1000, 262143, 262144, 262145, 5000000 };

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct view *view = view_at(0, sizeof(content));

		view_limit_work(view, limits[i]);
		cr_expect(view_work(view, limits[i]), "all of %zu may be spent", (size_t)limits[i]);
		cr_expect_eq(view_work_done(view), limits[i]);
		cr_expect_not(view_work(view, 1), "and not a unit more");
		cr_expect_eq(view_work_done(view), UINT64_MAX);
		cr_expect_null(view_peek(view, 0, 1));
		cr_expect_not(view_work(view, 0), "a spent budget stays spent");
		cr_expect_not(view_is_exhausted(view), "it is the rule's budget that is spent");
		view_free(view);
	}
}

Test(view_work, more_units_than_a_number_holds_are_too_many)
{
	struct view *view = view_at(0, sizeof(content));

	view_limit_work(view, 1000);
	cr_expect_not(view_work(view, UINT64_MAX));
	cr_expect_not(view_work(view, UINT64_MAX));
	cr_expect_eq(view_work_done(view), UINT64_MAX);
	view_free(view);
}

/* Units that a view takes before it is exhausted, in steps of a MiB. */
static uint64_t units_until_exhausted(struct view *view)
{
	uint64_t units = 0;

	while (units < 4096 * MIB && view_work(view, MIB))
		units += MIB;
	return units;
}

Test(view_work, without_looking_on_it_is_exhausted)
{
	struct view *view = view_at(0, sizeof(content));
	uint64_t base, further;

	base = units_until_exhausted(view);
	cr_expect(view_is_exhausted(view));
	cr_expect_eq(base, 512 * MIB, "%zu MiB", (size_t)(base / MIB));
	cr_expect_null(view_peek(view, 0, 1));
	view_point(view, &evidence.image, 0, sizeof(content));
	cr_expect_not(view_is_exhausted(view));
	view_peek(view, 1000000, 10);
	further = units_until_exhausted(view);
	cr_expect(view_is_exhausted(view));
	cr_expect_leq(further, 512 * MIB + 64 * 1000010);
	cr_expect_geq(further + 2 * MIB, 512 * MIB + 64 * 1000010, "64 units a byte looked at");
	view_free(view);
}

/* A carver's walk: small peeks, back and forth, and some work. */
static uint64_t walk(struct view *view)
{
	for (uint64_t i = 0; i < 3000; i++) {
		view_peek(view, i * 7919 % 1000000, (size_t)(i % 500));
		view_work(view, i % 13);
	}
	return view_work_done(view);
}

Test(view_work, the_same_bytes_take_the_same_work_whatever_was_read_before)
{
	struct view *view = view_at(0, sizeof(content)), *memory;
	uint64_t first = walk(view);

	for (uint64_t before = 0; before < 1000000; before += 99991) {
		view_point(view, &evidence.image, before, 5000);
		view_peek(view, 0, 5000);
		view_point(view, &evidence.image, 0, sizeof(content));
		cr_expect_eq(walk(view), first, "after a look at %zu", (size_t)before);
	}
	view_free(view);
	memory = view_new_memory(content, sizeof(content));
	cr_expect_lt(walk(memory), first, "nothing is fetched");
	view_free(memory);
}

struct watcher {
	unsigned asked, refuse_at;
};

static bool watch(void *context, uint64_t reached)
{
	struct watcher *watcher = context;

	(void)reached;
	return ++watcher->asked != watcher->refuse_at;
}

Test(view_work, the_watcher_is_asked_every_256_kib_of_work)
{
	static const uint64_t steps[] = { 1, 100, 65536, 300000 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct watcher watcher = { 0 };
		struct view *view = view_at(0, sizeof(content));
		uint64_t done = 0;

		view_watch(view, watch, &watcher);
		for (; done < 64 * MIB; done += steps[i])
			cr_assert(view_work(view, steps[i]));
		/* The step in which the mark is passed belongs to the span before it. */
		cr_expect_geq(watcher.asked, done / (256 * 1024 + steps[i]), "%u times, by %zu",
			watcher.asked, (size_t)steps[i]);
		cr_expect_leq(watcher.asked, done / (256 * 1024) + 1, "%u times, by %zu",
			watcher.asked, (size_t)steps[i]);
		view_free(view);
	}
}

Test(view_work, a_watcher_that_refuses_ends_the_work)
{
	struct watcher watcher = { .refuse_at = 3 };
	struct view *view = view_at(0, sizeof(content));
	uint64_t done = 0;

	view_watch(view, watch, &watcher);
	while (done < 64 * MIB && view_work(view, 1000))
		done += 1000;
	cr_expect_lt(done, MIB);
	cr_expect(view_stopped(view));
	cr_expect_null(view_peek(view, 0, 1));
	cr_expect_not(view_work(view, 1));
	cr_expect_eq(watcher.asked, 3, "it is not asked again");
	view_point(view, &evidence.image, 0, 100);
	cr_expect_not(view_stopped(view));
	view_free(view);
}

/* ---- checks -------------------------------------------------------------------------------- */

/* What the carver of these tests does. */
static struct {
	uint64_t units; /* of work, in steps of 1,000 */
	enum verdict verdict;
	bool no_memory;
	struct range unverified[4];
} plan;

static enum verdict planned_check(struct view *view, struct finding *finding)
{
	const uint8_t *first = view_peek(view, 0, 8);

	finding->length = plan.verdict == CARVE_REJECT ? 0 : 5000;
	for (size_t i = 0; i < 4; i++)
		view_unverified(view, plan.unverified[i].offset,
			plan.unverified[i].offset + plan.unverified[i].length);
	if (plan.no_memory)
		view_no_memory(view);
	for (uint64_t done = 0; first && done < plan.units && view_work(view, 1000);)
		done += 1000;
	if (plan.verdict == CARVE_COMPLETE)
		return CARVE_COMPLETE;
	return verdict_because(plan.verdict, finding, "as the test wants it");
}

static const struct carver planned_carver = {
	.name = "planned", .summary = "does what a test wants", .check = planned_check
};
static const struct rule rule = {
	.name = (char *)"planned", .carver = &planned_carver, .max_size = sizeof(content)
};

static struct outcome check(uint64_t work_max)
{
	struct candidate candidate = {
		.start = 1000, .length = sizeof(content) - 1000, .end = END_MAX_SIZE
	};
	struct view *view = view_new();
	struct outcome outcome;

	check_candidate(view, &evidence.image, &rule, &candidate, work_max, &outcome);
	view_free(view);
	return outcome;
}

Test(view_work, an_outcome_has_the_work_of_its_check)
{
	struct outcome outcome;

	plan.units = 7000;
	plan.verdict = CARVE_COMPLETE;
	outcome = check(UINT64_MAX);
	cr_expect_eq(outcome.verdict, CARVE_COMPLETE);
	cr_expect_eq(outcome.work, 7000 + 8 + 64 + fetched(4096));
	outcome = check(7000 + 8 + 64 + fetched(4096));
	cr_expect_eq(outcome.verdict, CARVE_COMPLETE, "just enough");
	plan.verdict = CARVE_REJECT;
	outcome = check(UINT64_MAX);
	cr_expect_eq(outcome.verdict, CARVE_REJECT);
	cr_expect_eq(outcome.work, 7000 + 8 + 64 + fetched(4096), "rejecting costs as much");
}

Test(view_work, what_a_carver_says_after_its_budget_was_spent_is_not_used)
{
	static const enum verdict verdicts[] = { CARVE_REJECT, CARVE_COMPLETE, CARVE_TRUNCATED,
		CARVE_UNVERIFIED };

	plan.units = 7000;
	plan.unverified[0] = (struct range){ 100, 10 };
	for (size_t i = 0; i < 4; i++) {
		struct outcome outcome;

		plan.verdict = verdicts[i];
		outcome = check(7000 + 8 + 64 + fetched(4096) - 1);
		cr_expect_eq(outcome.verdict, CARVE_REJECT);
		cr_expect_eq(outcome.work, UINT64_MAX);
		cr_expect_eq(outcome.length, 0);
		cr_expect_eq(outcome.unverified.count, 0);
		cr_expect_eq(outcome.finding.why[0], 0);
	}
}

Test(view_work, an_exhausted_check_leaves_the_file_unverified)
{
	static const enum verdict verdicts[] = { CARVE_COMPLETE, CARVE_TRUNCATED,
		CARVE_UNVERIFIED };
	struct outcome outcome;

	plan.units = UINT64_MAX;
	for (size_t i = 0; i < 3; i++) {
		plan.verdict = verdicts[i];
		outcome = check(UINT64_MAX);
		cr_expect_eq(outcome.verdict, CARVE_UNVERIFIED);
		cr_expect_eq(outcome.length, 5000);
		cr_expect_str_eq(outcome.finding.why,
			"decodes to far more than its size: checked up to 5000");
		cr_expect_geq(outcome.work, 512 * MIB);
		cr_expect_leq(outcome.work, 514 * MIB);
	}
	plan.verdict = CARVE_REJECT;
	outcome = check(UINT64_MAX);
	cr_expect_eq(outcome.verdict, CARVE_REJECT);
	cr_expect_eq(outcome.work, UINT64_MAX, "it counts as not checked");
}

Test(view_work, the_unverified_parts_of_a_complete_file_are_places_in_the_image)
{
	struct outcome outcome;

	plan.verdict = CARVE_COMPLETE;
	plan.unverified[0] = (struct range){ 4900, 1000 }; /* beyond the end, and out of order */
	plan.unverified[1] = (struct range){ 10, 20 };
	plan.unverified[2] = (struct range){ 25, 15 };
	plan.unverified[3] = (struct range){ 6000, 5 };
	outcome = check(UINT64_MAX);
	cr_assert_eq(outcome.unverified.count, 2);
	cr_expect_eq(outcome.unverified.items[0].offset, 1010);
	cr_expect_eq(outcome.unverified.items[0].length, 30);
	cr_expect_eq(outcome.unverified.items[1].offset, 5900);
	cr_expect_eq(outcome.unverified.items[1].length, 100);
	outcome_free(&outcome);
	plan.verdict = CARVE_TRUNCATED;
	outcome = check(UINT64_MAX);
	cr_expect_eq(outcome.unverified.count, 0, "only complete files hide anything");
}

static enum verdict many_check(struct view *view, struct finding *finding)
{
	for (uint64_t i = 0; i < 100000; i++)
		view_unverified(view, i * 10, i * 10 + 5);
	finding->length = 1000000;
	return CARVE_COMPLETE;
}

Test(view_work, too_many_unverified_parts_are_merged)
{
	static const struct carver many = {
		.name = "many", .summary = "names 100,000 parts", .check = many_check
	};
	const struct rule many_rule = {
		.name = (char *)"many", .carver = &many, .max_size = sizeof(content)
	};
	struct candidate candidate = { .start = 0, .length = sizeof(content) };
	struct view *view = view_new();
	struct outcome outcome;

	check_candidate(view, &evidence.image, &many_rule, &candidate, UINT64_MAX, &outcome);
	cr_expect_leq(outcome.unverified.count, 4096);
	for (uint64_t i = 0; i < 100000; i++)
		cr_assert_eq(
			ranges_overlap(&outcome.unverified, i * 10, 5), 5, "part %zu", (size_t)i);
	outcome_free(&outcome);
	view_free(view);
}

Test(view_work, without_memory_there_is_no_verdict_but_an_error)
{
	static const enum verdict verdicts[] = { CARVE_REJECT, CARVE_COMPLETE, CARVE_TRUNCATED,
		CARVE_UNVERIFIED };
	const struct candidate candidate = { .start = 1000 };
	struct error error = { 0 };

	plan.no_memory = true;
	plan.units = 7000;
	for (size_t i = 0; i < 4; i++) {
		struct outcome outcome;

		plan.verdict = verdicts[i];
		outcome = check(UINT64_MAX);
		cr_expect(outcome.no_memory);
		cr_expect_eq(outcome.verdict, CARVE_REJECT);
		cr_expect_eq(outcome.length, 0);
	}
	plan.no_memory = false;
	cr_expect_not(check(UINT64_MAX).no_memory, "the next check may succeed");
	cr_expect_eq(check_memory_error(&error, &rule, &candidate), -ENOMEM);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_not_null(strstr(error.text, "resume the run"), "%s", error.text);
}

Test(view_work, after_no_memory_nothing_more_is_read)
{
	struct view *view = view_at(0, sizeof(content));

	cr_expect_not_null(view_peek(view, 0, 1));
	view_no_memory(view);
	cr_expect(view_lacked_memory(view));
	cr_expect_null(view_peek(view, 0, 1));
	cr_expect_not(view_work(view, 1));
	view_point(view, &evidence.image, 0, 100);
	cr_expect_not(view_lacked_memory(view));
	cr_expect_not_null(view_peek(view, 0, 1));
	view_free(view);
}

/* ---- searches ------------------------------------------------------------------------------ */

/* Two candidates search for what only the image's end has, the second one with what the first one found out or anew:
 * the same places, work and unreadable bytes. */
static void expect_same_search(uint64_t second_size, uint64_t peek_before)
{
	struct view *view = view_at(0, sizeof(content)), *fresh;
	uint64_t at = 10, fresh_at = 10;

	cr_expect_eq(walk_find_word(view, &at, UINT64_MAX, "no w"), true);
	cr_expect_eq(at, sizeof(content) - 4);
	view_point(view, &evidence.image, 777, second_size);
	fresh = view_at(777, second_size);
	at = 10;
	cr_expect(view_lacks(view, "no w", 10, second_size / 2));
	cr_expect_not(view_lacks(view, "no x", 10, 1));
	cr_expect_not(view_lacks(fresh, "no w", 10, 1));
	view_peek(view, peek_before, 5000);
	view_peek(fresh, peek_before, 5000);
	cr_expect_eq(walk_find_word(view, &at, UINT64_MAX, "no w"),
		walk_find_word(fresh, &fresh_at, UINT64_MAX, "no w"));
	cr_expect_eq(at, fresh_at);
	cr_expect_eq(view_work_done(view), view_work_done(fresh));
	cr_expect_eq(view_reach(view), view_reach(fresh));
	cr_expect_eq(view_met_unreadable(view), view_met_unreadable(fresh));
	cr_expect_arr_eq(view_peek(view, 5000, 3000), content + 5777, 3000);
	cr_expect_not_null(view_peek(fresh, 5000, 3000));
	cr_expect_eq(walk(view), walk(fresh));
	view_free(view);
	view_free(fresh);
}

Test(view_search, what_another_candidate_looked_for_in_vain_is_not_looked_for_again, .init = fill)
{
	memcpy(content + sizeof(content) - 4, "no w", 4);
	expect_same_search(sizeof(content), 0);
	expect_same_search(900000, 0);
	expect_same_search(900000, 300000);
	evidence.bad_from = 1800 * 512;
	evidence.bad_to = 1801 * 512;
	for (uint64_t size = evidence.bad_from - 300000; size < evidence.bad_from + 5000;
		size += 9973)
		expect_same_search(size, 0);
}

/* One of two words at each place of a text that is full of their first bytes, also where they end with it. */
Test(view_search, a_word_is_found_at_every_place)
{
	uint8_t text[300];
	const char *words = "SECd\xff\x80zz";

	for (size_t len = 4; len <= sizeof(text); len += len < 200 ? 61 : 1)
		for (size_t place = 0; place + 4 <= len; place++) {
			struct view *view = view_new_memory(text, len);
			uint64_t at = place % 3, from = at;

			for (size_t i = 0; i < len; i++)
				text[i] = (uint8_t) "SSE\xff\x80\x80"
						    "C"[i * i % 11 % 7];
			memcpy(text + place, place % 2 ? words : words + 4, 4);
			cr_assert_eq(walk_find_word(view, &at, UINT64_MAX, words), place >= from);
			if (place >= from)
				cr_assert_eq(at, place);
			view_free(view);
		}
}

Test(view_search, another_image_is_searched_anew, .init = fill)
{
	static uint8_t other_content[100000];
	struct memory_image other = MEMORY_IMAGE(other_content, sizeof(other_content));
	struct view *view = view_at(0, 100000);
	uint64_t at = 0;

	memcpy(other_content + 50000, "no w", 4);
	cr_expect_not(walk_find_word(view, &at, UINT64_MAX, "no w"));
	view_point(view, &other.image, 0, sizeof(other_content));
	at = 0;
	cr_expect(walk_find_word(view, &at, UINT64_MAX, "no w"));
	cr_expect_eq(at, 50000);
	view_free(view);
}

/* ---- unreadable bytes ---------------------------------------------------------------------- */

static void expect_unreadable(
	struct view *view, uint64_t offset, uint64_t len, uint64_t from, uint64_t to)
{
	uint64_t found_from = 0, found_to = 0;

	cr_expect(view_unreadable(view, offset, len, &found_from, &found_to));
	cr_expect_eq(found_from, from, "%u", (unsigned)found_from);
	cr_expect_eq(found_to, to, "%u", (unsigned)found_to);
}

Test(view_unreadable, a_place_in_the_image_is_found_from_anywhere, .init = fill)
{
	struct view *view = view_at(1000, 500000);
	uint64_t from, to;

	evidence.bad_from = 300 * 512;
	evidence.bad_to = 500 * 512;
	cr_expect_not(view_unreadable(view, 0, evidence.bad_from - 1000, &from, &to));
	expect_unreadable(view, 0, 500000, evidence.bad_from - 1000, evidence.bad_to - 1000);
	expect_unreadable(view, 200000, 500000, 200000, evidence.bad_to - 1000);
	expect_unreadable(view, 0, 200000, evidence.bad_from - 1000, 200000);
	expect_unreadable(view, 250000, UINT64_MAX, 250000, evidence.bad_to - 1000);
	cr_expect_not(view_unreadable(view, evidence.bad_to - 1000, UINT64_MAX, &from, &to));
	cr_expect_not(view_unreadable(view, 500001, 10, &from, &to));
	cr_expect_not(view_unreadable(view, 200000, 0, &from, &to));
	view_free(view);
}

Test(view_unreadable, what_an_earlier_candidate_read_changes_nothing, .init = fill)
{
	struct view *view = view_at(0, 500000), *fresh = view_at(150000, 300000);
	uint64_t from, to;

	evidence.bad_from = 300 * 512;
	evidence.bad_to = evidence.bad_from + 512;
	view_peek(view, 150000, 60000);
	view_point(view, &evidence.image, 150000, 300000);
	cr_expect_eq(view_unreadable(view, 100, 2000, &from, &to),
		view_unreadable(fresh, 100, 2000, &from, &to));
	expect_unreadable(view, 100, 200000, evidence.bad_from - 150000, evidence.bad_to - 150000);
	expect_unreadable(fresh, 100, 200000, evidence.bad_from - 150000, evidence.bad_to - 150000);
	cr_expect_eq(view_work_done(view), view_work_done(fresh));
	view_free(view);
	view_free(fresh);
}

static enum verdict stop_before(struct view *view, struct finding *finding)
{
	view_peek(view, 0, 20000);
	finding->length = 10000;
	return verdict_because(CARVE_TRUNCATED, finding, "no chunk at 10000");
}

Test(view_unreadable, a_file_that_ends_before_it_names_the_place, .init = fill)
{
	static const struct carver carver = { .name = "stops", .check = stop_before };
	static char name[] = "stops";
	struct rule stops = { .name = name, .carver = &carver, .min_size = 1, .max_size = 1 << 20 };
	struct candidate candidate = { .start = 2048, .length = 100000 };
	struct view *view = view_new();
	struct outcome outcome;

	evidence.bad_from = 12288;
	evidence.bad_to = evidence.bad_from + 512;
	check_candidate(view, &evidence.image, &stops, &candidate, UINT64_MAX, &outcome);
	cr_expect_eq(outcome.verdict, CARVE_TRUNCATED);
	cr_expect_str_eq(
		outcome.finding.why, "unreadable at image offset 12288; no chunk at 10000");
	outcome_free(&outcome);
	evidence.bad_from = 2048 + 20480; /* not looked at */
	evidence.bad_to = evidence.bad_from + 512;
	view_free(view);
	view = view_new();
	check_candidate(view, &evidence.image, &stops, &candidate, UINT64_MAX, &outcome);
	cr_expect_str_eq(outcome.finding.why, "no chunk at 10000");
	outcome_free(&outcome);
	view_free(view);
}

Test(view_work, looks_at_an_end_that_was_found_elsewhere_do_not_count, .init = fill)
{
	struct view *view = view_at(0, sizeof(content));

	view_peek(view, 900, 100);
	cr_expect_eq(view_tail_reach(view), 0);
	view_watch_tail(view, 2000);
	view_peek(view, 1000, 500);
	view_peek(view, 2000, 500);
	view_peek(view, 200, 100);
	cr_expect_eq(view_tail_reach(view), 1500);
	cr_expect_eq(view_reach(view), 2500);
	view_peek(view, 1900, 300);
	cr_expect_eq(view_tail_reach(view), 2200);
	view_point(view, &evidence.image, 0, sizeof(content));
	view_peek(view, 1000, 500);
	cr_expect_eq(view_tail_reach(view), 0);
	view_free(view);
}

/* ---- reads --------------------------------------------------------------------------------- */

static size_t count_read(void *context, uint64_t offset, void *buffer, size_t len)
{
	(void)offset;
	(void)buffer;
	(void)len;
	++*(unsigned *)context;
	return 0;
}

/* A file from `start` on, whose check looks at its end and then at its beginning. */
static void check_small_file(struct view *view, uint64_t start)
{
	view_point(view, &evidence.image, start, 3000);
	cr_expect_arr_eq(view_peek(view, 2900, 100), content + start + 2900, 100);
	cr_expect_arr_eq(view_peek(view, 0, 3000), content + start, 3000);
}

Test(view_reads, files_next_to_each_other_share_them, .init = fill)
{
	unsigned reads = 0;
	struct view *view = view_new();

	image_set_cache(&evidence.image, count_read, &reads);
	check_small_file(view, 500000);
	cr_expect_eq(reads, 2);
	for (uint64_t start = 504096; start < 524288; start += 4096)
		check_small_file(view, start);
	cr_expect_leq(reads, 4, "%u", reads);
	image_set_cache(&evidence.image, NULL, NULL);
	view_free(view);
}

Test(view_reads, two_places_are_kept, .init = fill)
{
	unsigned reads = 0;
	struct view *view = view_at(0, sizeof(content));

	image_set_cache(&evidence.image, count_read, &reads);
	for (unsigned round = 0; round < 5; round++)
		for (uint64_t at = 100000; at <= 900000; at += 800000)
			cr_expect_arr_eq(view_peek(view, at, 1000), content + at, 1000);
	cr_expect_eq(reads, 2);
	cr_expect_arr_eq(view_peek(view, 500000, 1000), content + 500000, 1000);
	cr_expect_arr_eq(view_peek(view, 900000, 1000), content + 900000, 1000);
	cr_expect_arr_eq(view_peek(view, 100000, 1000), content + 100000, 1000);
	cr_expect_eq(reads, 4);
	image_set_cache(&evidence.image, NULL, NULL);
	view_free(view);
}

/* Each candidate sees bytes that can't be read as it wants them, in either window. */
Test(view_reads, both_places_look_as_each_candidate_wants, .init = fill)
{
	static const uint64_t places[] = { 100000, 900000 };
	struct view *view = view_new();

	for (unsigned round = 0; round < 4; round++) {
		view_point(view, &evidence.image, 0, sizeof(content));
		view_fill_unreadable(view, round % 2 ? 0xFF : 0);
		for (size_t i = 0; i < 2; i++) {
			const uint8_t *bytes;

			evidence.bad_from = places[i] / 512 * 512 + 512;
			evidence.bad_to = evidence.bad_from + 512;
			bytes = view_peek(view, places[i], 2000);
			cr_assert_not_null(bytes);
			cr_expect_eq(bytes[0], content[places[i]]);
			cr_expect_eq(bytes[evidence.bad_from - places[i]], round % 2 ? 0xFF : 0);
			cr_expect(view_met_unreadable(view));
		}
	}
	view_free(view);
}
