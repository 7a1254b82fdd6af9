/* Pairing: Scalpel's table case by case, and random hits against a plain model of it. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carve/pair.h"
#include "report/record.h"
#include "carve/scalpel_order.h"
#include "carvers/carver.h"
#include "tier.h"

#define MAX_CANDIDATES 4096

struct test_hit {
	uint64_t offset;
	uint32_t pattern;
};

/* A rule set whose pattern 2r is rule r's header and 2r + 1 its footer. */
struct fixture {
	struct rules rules;
	struct rule rule[4];
	uint32_t header[4], footer[4];
	struct pattern pattern[8];
};

static void fixture_init(struct fixture *f, uint32_t count, uint32_t footer_len)
{
	memset(f, 0, sizeof(*f));
	f->rules = (struct rules){ .rules = f->rule, .count = count };
	f->rules.patterns =
		(struct pattern_set){ .patterns = f->pattern, .count = count * 2, .longest = 4 };
	for (uint32_t r = 0; r < count; r++) {
		f->header[r] = 2 * r;
		f->footer[r] = 2 * r + 1;
		f->pattern[2 * r].len = f->pattern[2 * r].min_len = 2;
		f->pattern[2 * r + 1].len = f->pattern[2 * r + 1].min_len = footer_len;
		f->rule[r] = (struct rule){ .name = (char *)"t",
			.headers = &f->header[r],
			.footers = &f->footer[r],
			.header_count = 1,
			.footer_count = 1,
			.include_footer = true,
			.max_size = 100 };
	}
}

struct outcome_list {
	struct candidate items[MAX_CANDIDATES];
	size_t count;
};

static int no_file(void *context, struct error *error)
{
	(void)context;
	return error_set(error, EXIT_IO, 1, "the test allows no spilling");
}

static void drain(struct pairing *pairing, struct outcome_list *list)
{
	while (pairing_next(pairing, &list->items[list->count])) {
		cr_assert_lt(list->count, MAX_CANDIDATES - 1);
		list->count++;
	}
}

/* step: how far the scan advances before candidates are taken out again. */
static void pair_hits(const struct fixture *f, const struct pairing_options *options,
	const struct test_hit *hits, size_t count, uint64_t step, struct outcome_list *list)
{
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct fifo_store *store = fifo_store_new(1 << 20, no_file, NULL);
	struct pairing *pairing = pairing_new(&f->rules, options, store, &rejected, &skipped);
	uint64_t position = 0;

	list->count = 0;
	for (size_t i = 0; i < count; i++) {
		while (hits[i].offset >= position + step) {
			position += step;
			pairing_advance(pairing, position);
			drain(pairing, list);
		}
		pairing_hit(
			pairing, hits[i].offset, hits[i].pattern, f->pattern[hits[i].pattern].len);
	}
	pairing_finish(pairing);
	drain(pairing, list);
	cr_assert_eq(fifo_store_status(store, NULL), 0);
	pairing_free(pairing);
	fifo_store_free(store);
	tallies_free(&rejected);
	tallies_free(&skipped);
}

static void expect_one(enum pair_mode mode, bool both, uint64_t header, uint64_t footer1,
	uint64_t footer2, uint64_t length, enum file_end end, bool chop)
{
	struct fixture f;
	struct test_hit hits[3] = { { header, 0 }, { footer1, 1 }, { footer2, 1 } };
	static struct outcome_list list;
	struct pairing_options options = { .both = both };

	fixture_init(&f, 1, 2);
	f.rule[0].pair = mode;
	f.rule[0].include_footer = mode != PAIR_NEXT;
	pair_hits(&f, &options, hits, footer2 ? 3 : footer1 ? 2 : 1, 10, &list);
	cr_assert_eq(list.count, length ? 1 : 0, "header %" PRIu64, header);
	if (!length)
		return;
	cr_expect_eq(list.items[0].start, header);
	cr_expect_eq(list.items[0].length, length, "length %" PRIu64, list.items[0].length);
	cr_expect_eq(list.items[0].end, end);
	cr_expect_eq(list.items[0].chop, chop);
}

/* The cases that were run with Scalpel 1.60 and 2.02, with max 100 and footers of 2 bytes. */
Test(pair, scalpels_table)
{
	expect_one(PAIR_FORWARD, false, 100, 150, 180, 52, END_FOOTER, false);
	expect_one(PAIR_FORWARD, false, 1000, 1099, 0, 0, 0, false);
	expect_one(PAIR_FORWARD, true, 1000, 1099, 0, 100, END_MAX_SIZE, true);
	expect_one(PAIR_FORWARD, false, 1500, 1598, 0, 100, END_FOOTER, false);
	expect_one(PAIR_FORWARD, false, 1500, 0, 0, 0, 0, false);
	expect_one(PAIR_FORWARD, true, 1500, 0, 0, 100, END_MAX_SIZE, true);
	/* The first footer decides, even when a later one would not be needed. */
	expect_one(PAIR_FORWARD, false, 100, 199, 300, 0, 0, false);
	expect_one(PAIR_NEXT, false, 2000, 2050, 0, 50, END_NEXT, false);
	expect_one(PAIR_NEXT, false, 2500, 2600, 0, 100, END_NEXT, false);
	expect_one(PAIR_NEXT, false, 2800, 2901, 0, 100, END_MAX_SIZE, true);
	expect_one(PAIR_NEXT, false, 2800, 0, 0, 100, END_MAX_SIZE, true);
	expect_one(PAIR_REVERSE, false, 3000, 3040, 3100, 102, END_FOOTER, false);
	expect_one(PAIR_REVERSE, false, 3500, 3601, 0, 0, 0, false);
	expect_one(PAIR_REVERSE, true, 3500, 3601, 0, 0, 0, false);
	/* A footer at the header's own offset does not count; one inside the header's bytes
	 * does. */
	expect_one(PAIR_FORWARD, false, 50, 50, 60, 12, END_FOOTER, false);
	expect_one(PAIR_FORWARD, false, 50, 51, 0, 3, END_FOOTER, false);
}

/* ---- the plain model: lists, no streaming -------------------------------------------------- */

static bool model_one(const struct rule *rule, uint64_t start, uint32_t pattern,
	const struct test_hit *hits, size_t count, uint32_t footer_len, bool both,
	struct candidate *candidate)
{
	uint64_t first = UINT64_MAX, last = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		if (hits[i].pattern != pattern + 1 || hits[i].offset <= start)
			continue;
		if (first == UINT64_MAX)
			first = hits[i].offset;
		if (hits[i].offset - start <= rule->max_size)
			last = hits[i].offset;
	}
	candidate->start = start;
	candidate->length = rule->max_size;
	candidate->end = END_MAX_SIZE;
	switch (rule->pair) {
	case PAIR_FORWARD:
		if (first != UINT64_MAX && first + footer_len - start <= rule->max_size) {
			candidate->length = first - start + (rule->include_footer ? footer_len : 0);
			candidate->end = END_FOOTER;
			return true;
		}
		return both;
	case PAIR_NEXT:
		if (first != UINT64_MAX && first - start <= rule->max_size) {
			candidate->length = first - start + (rule->include_footer ? footer_len : 0);
			candidate->end = END_NEXT;
		}
		return true;
	case PAIR_REVERSE:
		if (last == UINT64_MAX)
			return false;
		candidate->length = last - start + (rule->include_footer ? footer_len : 0);
		candidate->end = END_FOOTER;
		return true;
	}
	return false;
}

static int by_start_and_rule(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

static void model(const struct fixture *f, const struct pairing_options *options,
	const struct test_hit *hits, size_t count, struct outcome_list *list)
{
	list->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t r = hits[i].pattern / 2;
		const struct rule *rule = &f->rule[r];
		struct candidate candidate = { .rule = r };

		if (hits[i].pattern % 2 || hits[i].offset < rule->header_offset)
			continue;
		if (options->align > 1 && (hits[i].offset - rule->header_offset) % options->align)
			continue;
		if (model_one(rule, hits[i].offset - rule->header_offset, hits[i].pattern, hits,
			    count, f->pattern[hits[i].pattern + 1].len, options->both,
			    &candidate) &&
			candidate.length >= rule->min_size)
			list->items[list->count++] = candidate;
	}
	qsort(list->items, list->count, sizeof(*list->items), by_start_and_rule);
}

static int by_offset_and_pattern(const void *a, const void *b)
{
	const struct test_hit *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static size_t random_hits(unsigned *seed, uint32_t patterns, struct test_hit *hits, size_t most)
{
	size_t count = (size_t)rand_r(seed) % most, kept = 0;
	uint64_t span = 1 + (uint64_t)rand_r(seed) % 1000;

	for (size_t i = 0; i < count; i++)
		hits[i] = (struct test_hit){ (uint64_t)rand_r(seed) % span,
			(uint32_t)rand_r(seed) % patterns };
	qsort(hits, count, sizeof(*hits), by_offset_and_pattern);
	for (size_t i = 0; i < count; i++)
		if (!i || by_offset_and_pattern(&hits[i], &hits[i - 1]))
			hits[kept++] = hits[i];
	return kept;
}

static void random_round(unsigned seed)
{
	static struct outcome_list expected, got;
	static struct test_hit hits[1000];
	unsigned first = seed;
	struct fixture f;
	struct pairing_options options = { .both = rand_r(&seed) % 2,
		.align = (uint64_t)rand_r(&seed) % 4 };
	size_t count;

	fixture_init(&f, 1 + (uint32_t)rand_r(&seed) % 4, 1 + (uint32_t)rand_r(&seed) % 4);
	for (uint32_t r = 0; r < f.rules.count; r++) {
		f.rule[r].pair = (enum pair_mode)(rand_r(&seed) % 3);
		f.rule[r].include_footer = rand_r(&seed) % 2;
		f.rule[r].max_size = 1 + (uint64_t)rand_r(&seed) % 200;
		f.rule[r].min_size = rand_r(&seed) % 3 ? 0 : (uint64_t)rand_r(&seed) % 40;
		f.rule[r].header_offset = rand_r(&seed) % 2 ? 0 : (uint64_t)rand_r(&seed) % 30;
	}
	count = random_hits(&seed, f.rules.patterns.count, hits, 1000);
	model(&f, &options, hits, count, &expected);
	pair_hits(&f, &options, hits, count, 1 + (uint64_t)rand_r(&seed) % 300, &got);
	cr_assert_eq(got.count, expected.count, "seed %u: %zu candidates, the model has %zu", first,
		got.count, expected.count);
	for (size_t i = 0; i < got.count; i++) {
		const struct candidate *a = &got.items[i], *b = &expected.items[i];

		cr_assert(a->start == b->start && a->length == b->length && a->rule == b->rule &&
				  a->end == b->end,
			"seed %u: candidate %zu is %" PRIu64 "+%" PRIu64
			" rule %u, the model has %" PRIu64 "+%" PRIu64 " rule %u",
			first, i, a->start, a->length, a->rule, b->start, b->length, b->rule);
	}
}

Test(pair, agrees_with_the_plain_model)
{
	for (unsigned seed = 1; seed <= test_tier(600, 3000, 30000); seed++)
		random_round(seed);
}

Test(pair, scalpel_order_is_by_rule_and_knows_the_chop_column)
{
	struct fixture f;
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct fifo_store *store = fifo_store_new(1 << 20, no_file, NULL);
	struct scalpel_order *order;
	struct candidate candidate, added[] = {
		{ 100, 100, 1, 2, END_MAX_SIZE, true, 0 }, /* a footer was recorded after it */
		{ 200, 50, 0, 0, END_FOOTER, false, 0 },
		{ 900, 100, 1, 2, END_MAX_SIZE, true, 0 }, /* none was */
	};
	static const struct {
		uint64_t start;
		bool chop;
	} expected[] = { { 200, false }, { 100, true }, { 900, false } };

	fixture_init(&f, 2, 2);
	cr_assert_eq(scalpel_order_new(&order, &f.rules, store, NULL), 0);
	scalpel_order_hit(order, 100, 2);
	scalpel_order_hit(order, 200, 0);
	scalpel_order_hit(order, 250, 1);
	scalpel_order_hit(order, 500, 3);
	scalpel_order_hit(order, 900, 2);
	for (int i = 0; i < 3; i++)
		scalpel_order_add(order, &added[i]);
	for (int i = 0; i < 3; i++) {
		cr_assert(scalpel_order_next(order, &candidate));
		cr_assert_eq(candidate.start, expected[i].start);
		cr_assert_eq(candidate.chop, expected[i].chop);
	}
	cr_assert_not(scalpel_order_next(order, &candidate));
	scalpel_order_free(order);
	fifo_store_free(store);
	tallies_free(&rejected);
	tallies_free(&skipped);
}

Test(pair, scalpel_order_refuses_what_scalpel_lacks)
{
	struct fixture f;
	struct error error = { 0 };
	struct scalpel_order *order = NULL;

	fixture_init(&f, 1, 2);
	f.rule[0].length.width = 4;
	f.rule[0].file = "x.conf";
	f.rule[0].line = 7;
	cr_assert_lt(scalpel_order_new(&order, &f.rules, NULL, &error), 0);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_not_null(strstr(error.text, "x.conf:7"));
	cr_assert_not_null(strstr(error.text, "length"));
}

/* A process that sees only some of the hits makes only candidates that depend on no other hits and
 * have a check. */
Test(pair, for_prechecks_candidates_need_no_footer)
{
	static const struct carver carver = { .name = "a" };
	const struct test_hit hits[] = { { 10, 0 }, { 10, 2 }, { 20, 1 }, { 30, 4 }, { 40, 6 },
		{ 50, 2 } };
	const struct pairing_options options = { .precheck = true, .range_start = 15 };
	static struct outcome_list list;
	struct fixture f;

	fixture_init(&f, 4, 2);
	f.rule[0].must_count = 1;   /* checked, but its end is a footer */
	f.rule[1].carver = &carver; /* its footers don't matter */
	f.rule[2].length.width = 4; /* nor here */
	f.rule[3].footer_count = 0; /* nothing to check */
	pair_hits(&f, &options, hits, sizeof(hits) / sizeof(*hits), 7, &list);
	cr_assert_eq(list.count, 2);
	cr_expect_eq(list.items[0].start, 30);
	cr_expect_eq(list.items[0].rule, 2);
	cr_expect_eq(list.items[1].start, 50);
	cr_expect_eq(list.items[1].rule, 1);
}

/* Pairs the hit of one header that two rules share, checked for the second of them; the run ends
 * there and is resumed, or goes on. */
static void pair_checked(bool resume, struct outcome_list *list)
{
	const struct pairing_options options = { .range_end = 1000 };
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct fifo_store *store = fifo_store_new(1 << 20, no_file, NULL);
	struct codec_writer writer = { 0 };
	struct codec_reader reader;
	struct pairing *pairing;
	struct fixture f;

	fixture_init(&f, 3, 2);
	f.header[1] = 0;
	f.rule[0].header_offset = 20;
	f.rule[0].footer_count = f.rule[1].footer_count = f.rule[2].footer_count = 0;
	pairing = pairing_new(&f.rules, &options, store, &rejected, &skipped);
	pairing_checked_hit(pairing, 100, 0, 2, 0, 0x1234567);
	pairing_checked_hit(pairing, 130, 0, 2, 1, 0x89abcde);
	pairing_hit(pairing, 131, 4, 2);
	if (resume) {
		pairing_save(pairing, &writer);
		pairing_free(pairing);
		pairing = pairing_new(&f.rules, &options, store, &rejected, &skipped);
		reader = codec_reader_from(writer.bytes, writer.len);
		pairing_load(pairing, &reader);
		cr_assert(codec_at_end(&reader));
		free(writer.bytes);
	}
	pairing_checked_hit(pairing, 140, 4, 2, 2, 7);
	pairing_finish(pairing);
	list->count = 0;
	drain(pairing, list);
	pairing_free(pairing);
	fifo_store_free(store);
	tallies_free(&rejected);
	tallies_free(&skipped);
}

Test(pair, a_rejection_goes_to_its_rule_and_into_no_checkpoint)
{
	static const uint64_t starts[] = { 80, 100, 110, 130, 131, 140 };
	static const uint32_t rules[] = { 0, 1, 0, 1, 2, 2 };
	static const uint32_t rejections[] = { 0x1234567, 0, 0, 0x89abcde, 0, 7 };
	static struct outcome_list list;

	for (int resume = 0; resume < 2; resume++) {
		pair_checked(resume, &list);
		cr_assert_eq(list.count, 6, "%zu", list.count);
		for (size_t i = 0; i < 6; i++) {
			cr_expect_eq(list.items[i].start, starts[i]);
			cr_expect_eq(list.items[i].rule, rules[i]);
			cr_expect_eq(list.items[i].rejection, resume && i < 5 ? 0 : rejections[i],
				"resume %d, %zu: %x", resume, i, list.items[i].rejection);
		}
	}
}
