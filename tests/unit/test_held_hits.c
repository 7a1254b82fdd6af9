/* Hits that are held back, and forgotten where a file hides them: the same candidates and counts as when all are paired. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "carve/held_hits.h"
#include "report/record.h"
#include "rules/load.h"
#include "tier.h"

#define HITS_MAX 600
#define IMAGE_LEN ((uint64_t)40000)
#define CHUNK_LEN 1000

/* Alternatives of one rule, one of which another rule has, too; headers after the start, one of them shared; an aligned one; and
 * one that needs a footer. */
static const char text[] =
	"types = ( { name = \"a\"; header = ( \"'A'\", \"'B'\", \"'AA'\" ); max_size = \"1K\"; "
	"carver = \"png\"; },"
	" { name = \"b\"; header = \"'B'\"; max_size = \"1K\"; carver = \"png\"; },"
	" { name = \"c\"; header = \"'C'\"; header_offset = 37; max_size = \"1K\"; carver = "
	"\"png\"; },"
	" { name = \"d\"; header = ( \"'C'\", \"'D'\" ); max_size = \"1K\"; carver = \"png\"; },"
	" { name = \"e\"; header = \"'E'\"; align = 512; max_size = \"1K\"; carver = \"png\"; },"
	" { name = \"f\"; header = \"'F'\"; footer = \"'D'\"; max_size = 300; },"
	" { name = \"g\"; header = ( \"'G'\", \"'H'\" ); max_size = \"1K\"; carver = \"png\"; } );";

static struct rules *rules;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

struct hit_at {
	uint64_t offset;
	uint32_t pattern;
};

static int compare(const void *a, const void *b)
{
	const struct hit_at *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static size_t draw_hits(struct hit_at *hits)
{
	size_t count = 0, kept = 0;

	while (count < HITS_MAX) {
		uint64_t at = draw(4) ? draw(IMAGE_LEN) : draw(IMAGE_LEN / 512) * 512;

		for (uint64_t n = draw(3); n < 3 && count < HITS_MAX; n++)
			hits[count++] =
				(struct hit_at){ at, (uint32_t)draw(rules->patterns.count) };
	}
	qsort(hits, count, sizeof(*hits), compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || compare(&hits[kept - 1], &hits[i]))
			hits[kept++] = hits[i];
	return kept;
}

/* What comes out, as text, and a decider's part: a candidate that starts in the last quarter of 256 bytes hides the next 3000. */
struct result {
	char text[HITS_MAX * 40];
	size_t len;
	uint64_t hidden, until;
	struct tallies rejected, skipped;
};

static void take(struct result *result, const struct candidate *candidate)
{
	if (candidate->start < result->until) {
		result->hidden++;
		return;
	}
	result->len +=
		(size_t)snprintf(result->text + result->len, sizeof(result->text) - result->len,
			"%" PRIu64 " %u %u %" PRIu64 " %u\n", candidate->start, candidate->rule,
			candidate->pattern, candidate->length, candidate->rejection);
	if (candidate->start % 256 >= 192)
		result->until = candidate->start + 3000;
}

static struct pairing *begin(struct result *result, struct fifo_store *store)
{
	const struct pairing_options options = { .range_start = 700, .range_end = IMAGE_LEN - 700 };

	return pairing_new(rules, &options, store, &result->rejected, &result->skipped);
}

/* The rejection of a hit of the last rule, which is checked where the hit is found. */
static uint32_t rejection_of(const struct hit_at *hit)
{
	return hit->pattern + 2 >= rules->patterns.count ? (uint32_t)(hit->offset % 3) : 0;
}

static void plainly(const struct hit_at *hits, size_t count, struct result *result)
{
	struct fifo_store *store = fifo_store_new(SIZE_MAX, NULL, NULL);
	struct pairing *pairing = begin(result, store);
	struct candidate candidate;

	for (size_t i = 0; i < count; i++)
		pairing_checked_hit(pairing, hits[i].offset, hits[i].pattern, 1, rules->count - 1,
			rejection_of(&hits[i]));
	pairing_finish(pairing);
	while (pairing_next(pairing, &candidate))
		take(result, &candidate);
	pairing_free(pairing);
	fifo_store_free(store);
}

/* hold: candidates wait for the next chunk now and then. */
static void drain(struct held_hits *held, struct pairing *pairing, bool hold, struct result *result)
{
	struct candidate candidate;
	bool more = true;

	while (more && (!hold || draw(8))) {
		result->hidden +=
			pairing_skip(pairing, result->until) + held_hits_skip(held, result->until);
		while (!pairing_next(pairing, &candidate) && (more = held_hits_pair(held)))
			;
		if (more)
			take(result, &candidate);
	}
}

static void add_early(struct held_hits *held, struct result *early)
{
	struct candidate candidate;

	while (held_hits_next_early(held, &candidate))
		early->len += (size_t)snprintf(early->text + early->len,
			sizeof(early->text) - early->len, "%" PRIu64 " %u %u\n", candidate.start,
			candidate.rule, candidate.pattern);
}

static void held_back(
	const struct hit_at *hits, size_t count, struct result *result, struct result *early)
{
	struct fifo_store *store = fifo_store_new(SIZE_MAX, NULL, NULL);
	struct pairing *pairing = begin(result, store);
	struct held_hits *held = held_hits_new(rules, pairing);

	for (size_t i = 0, position = 0; position < IMAGE_LEN; position += CHUNK_LEN) {
		for (; i < count && hits[i].offset < position + CHUNK_LEN; i++)
			held_hits_add(held, hits[i].offset, hits[i].pattern, 1, rules->count - 1,
				rejection_of(&hits[i]));
		held_hits_advance(held, position + CHUNK_LEN);
		add_early(held, early);
		drain(held, pairing, true, result);
		if (!draw(20))
			held_hits_pair_all(held);
	}
	held_hits_finish(held);
	add_early(held, early);
	drain(held, pairing, false, result);
	cr_expect_eq(held_hits_count(held), 0);
	held_hits_free(held);
	pairing_free(pairing);
	fifo_store_free(store);
}

/* All candidates at sectors that need no footer and were not rejected: what was paired, without what hides. */
static void expect_early(const struct hit_at *hits, size_t count, const struct result *early)
{
	struct fifo_store *store = fifo_store_new(SIZE_MAX, NULL, NULL);
	struct result *all = calloc(1, sizeof(*all));
	struct pairing *pairing = begin(all, store);
	struct candidate candidate;

	for (size_t i = 0; i < count; i++)
		pairing_checked_hit(pairing, hits[i].offset, hits[i].pattern, 1, rules->count - 1,
			rejection_of(&hits[i]));
	pairing_finish(pairing);
	while (pairing_next(pairing, &candidate))
		if (candidate.start % 512 == 0 && candidate.end == END_MAX_SIZE &&
			!candidate.rejection)
			all->len += (size_t)snprintf(all->text + all->len,
				sizeof(all->text) - all->len, "%" PRIu64 " %u %u\n",
				candidate.start, candidate.rule, candidate.pattern);
	cr_expect_str_eq(early->text, all->text);
	pairing_free(pairing);
	fifo_store_free(store);
	tallies_free(&all->rejected);
	tallies_free(&all->skipped);
	free(all);
}

static void expect_equal_tallies(const struct tallies *a, const struct tallies *b)
{
	cr_assert_eq(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (!strcmp(a->items[i].name, b->items[j].name))
				cr_expect_eq(a->items[i].count, b->items[j].count, "%s",
					a->items[i].name);
}

static void compare_round(void)
{
	static struct hit_at hits[HITS_MAX];
	struct result *plain = calloc(1, sizeof(*plain)), *held = calloc(1, sizeof(*held)),
		      *early = calloc(1, sizeof(*early));
	size_t count = draw_hits(hits);

	plainly(hits, count, plain);
	held_back(hits, count, held, early);
	cr_expect_str_eq(held->text, plain->text);
	cr_expect_eq(held->hidden, plain->hidden);
	cr_expect_gt(plain->hidden, 50);
	expect_equal_tallies(&plain->rejected, &held->rejected);
	expect_equal_tallies(&plain->skipped, &held->skipped);
	expect_early(hits, count, early);
	tallies_free(&plain->rejected);
	tallies_free(&plain->skipped);
	tallies_free(&held->rejected);
	tallies_free(&held->skipped);
	free(plain);
	free(held);
	free(early);
}

Test(held_hits, give_the_same_candidates_and_counts)
{
	struct error error;

	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	for (unsigned round = 0; round < test_tier(20, 100, 2000); round++) {
		state = test_seed() + round;
		compare_round();
	}
	rules_free(rules);
}
