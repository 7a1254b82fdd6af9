/*
 * The engine of the processor: burin's own matchers side by side, and Vectorscan for the rest.
 *
 * Each pattern is searched by one of them. The split is by measurement on disk content
 * (tests/bench/RESULTS.md):
 *   - teddy (teddy.h), where the patterns are few and selective enough: it runs near the speed of
 *     memory, 1.6 to 5.7 times as fast as Vectorscan, and takes every shipped rule set but burin.conf
 *     alone.
 *   - grams (grams.h), where they are too many for that: the selective ones, up to about 2,000;
 *     teddy then gets the rest if it can. Both together take burin.conf, at 1.9 times the speed of
 *     Vectorscan on system files and 11 times on disk images.
 *   - a regex is searched by the bytes that all its matches begin with (patterns/prefix.h), as one
 *     more pattern for these two, and confirmed where they match.
 *   - Vectorscan (vectorscan.h) gets the rest: thousands of strings, and regexes that begin
 *     with anything. There it is 4 to 200 times as fast as pairs and PCRE2, which in turn take what
 *     it refuses.
 *   - Teddy and grams compare in full what they let pass. Where that is much for long, as in prose that
 *     is searched for hundreds of words, Vectorscan searches for all patterns. Its tables for that are
 *     made when it is needed, by a thread of its own: the others go on without them meanwhile, as
 *     what comes after them waits for the oldest chunk.
 *   - Long runs of zeros, of which disks have many, are not searched unless zeros alone are a hit.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "patterns/prefix.h"
#include "scan/grams.h"
#include "scan/matcher.h"
#include "scan/teddy.h"
#include "scan/vectorscan.h"

/* For fewer patterns than this, reading the text for grams does not pay. */
#define GRAMS_MIN 97
/* Patterns that are too many or too common for one teddy may suit two: a pass more over the text costs
 * less than Vectorscan. */
#define TEDDIES_MAX 2

/* A thread judges by its last SAMPLE_LEN bytes. Where teddy and grams looked at a pattern in every
 * DENSE_BYTES of them, or more often, the next DENSE_LEN bytes are searched by Vectorscan. The shipped
 * rules take one in 14 bytes or fewer; at one in 3 Vectorscan is ahead. */
#define SAMPLE_LEN ((size_t)1 << 20)
#define DENSE_BYTES 4
#define DENSE_LEN ((size_t)16 << 20)
/* Making Vectorscan's tables takes 0.2 to 0.3 s of a processor, so it waits until that would have been saved: until so much
 * was looked at beyond one in DENSE_BYTES. Of a GiB of programs with the shipped rules that is 14 MiB. */
#define DENSE_EXCESS ((size_t)32 << 20)

/* Bytes of text that are looked at together; and how many zeros pay for searching what is before and after them alone, if no
 * pattern is longer. */
#define ZEROS_BLOCK ((size_t)4 << 10)
#define ZEROS_MIN (4 * ZEROS_BLOCK)
#define ZEROS_FIRST 64 /* of a block, which are seldom zero if the rest is not */

enum dense_state { DENSE_UNMET, DENSE_MAKING, DENSE_MADE };

struct cpu_matcher {
	/* The patterns with the same ids, but a regex has the bytes and mask of its prefix, or len 0
	 * when it has none. */
	struct pattern_set searched;
	const struct pattern_set *set; /* as they are */
	struct grams *grams;           /* NULL where it takes no pattern; so for the next two */
	struct teddy *teddies[TEDDIES_MAX];
	struct vectorscan *rest;
	uint32_t grams_count, teddy_count;
	bool reads_zeros; /* some pattern is found in zeros, or longer than runs of them that are passed over */
	char kernel[160];
	/* All patterns, for dense text; NULL when it would not be faster. Its maker's until it is made. */
	struct vectorscan *dense;
	_Atomic enum dense_state dense_state;
	_Atomic size_t dense_excess; /* bytes, while it is not made */
	pthread_t dense_maker;       /* joined at the end, unless there was no dense text */
};

struct cpu_scratch {
	void *rest, *dense;     /* of these two; dense is NULL until it is needed */
	size_t sampled, effort; /* bytes, and what was looked at in them */
	size_t dense_left;      /* bytes */
};

/* ---- compiling ----------------------------------------------------------------------------- */

static void fill_searched(struct cpu_matcher *matcher)
{
	const struct pattern_set *set = matcher->set;
	struct pattern_set *searched = &matcher->searched;

	*searched = (struct pattern_set){ .count = set->count, .longest = set->longest };
	searched->patterns = xcalloc(set->count, sizeof(*searched->patterns));
	for (uint32_t id = 0; id < set->count; id++) {
		struct pattern *pattern = &searched->patterns[id];

		if (!set->patterns[id].regex)
			*pattern = set->patterns[id];
		else if (prefix_pattern_make(pattern, &set->patterns[id]))
			pattern->regex = set->patterns[id].regex;
		else
			*pattern = (struct pattern){ 0 };
	}
}

static void free_searched(struct cpu_matcher *matcher)
{
	for (uint32_t id = 0; id < matcher->searched.count; id++)
		if (matcher->set->patterns[id].regex) {
			matcher->searched.patterns[id].regex = NULL; /* the caller's */
			pattern_free(&matcher->searched.patterns[id]);
		}
	free(matcher->searched.patterns);
}

static bool hits_zeros(const struct pattern_set *set)
{
	uint8_t *zeros = xcalloc(set->longest, 1);
	bool hits = false;

	for (uint32_t id = 0; id < set->count && !hits; id++)
		hits = pattern_match_len(&set->patterns[id], zeros, set->longest) > 0;
	free(zeros);
	return hits;
}

enum which { WITH_PREFIXES, BYTES_ONLY, ALL };

/* Fills in the ids of the patterns that are not taken: those with bytes, or all of them. */
static uint32_t list_untaken(
	const struct cpu_matcher *matcher, enum which which, const bool *taken, uint32_t *ids)
{
	uint32_t count = 0;

	for (uint32_t id = 0; id < matcher->searched.count; id++) {
		const struct pattern *pattern = &matcher->searched.patterns[id];
		bool wanted = which == ALL ||
			      (pattern->len && (which == WITH_PREFIXES || !pattern->regex));

		if (wanted && !taken[id])
			ids[count++] = id;
	}
	return count;
}

static void free_teddies(struct cpu_matcher *matcher)
{
	for (uint32_t i = 0; i < TEDDIES_MAX; i++) {
		teddy_free(matcher->teddies[i]);
		matcher->teddies[i] = NULL;
	}
}

/* False, with none made: a part is too much for one. */
static bool make_teddies(
	struct cpu_matcher *matcher, uint32_t parts, const uint32_t *ids, uint32_t count)
{
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t from = count * i / parts, to = count * (i + 1) / parts;

		matcher->teddies[i] = teddy_new(&matcher->searched, ids + from, to - from);
		if (matcher->teddies[i])
			continue;
		free_teddies(matcher);
		return false;
	}
	return true;
}

/* All that are not taken yet, or none. */
static void try_teddy(
	struct cpu_matcher *matcher, uint32_t parts, enum which which, bool *taken, uint32_t *ids)
{
	uint32_t count = list_untaken(matcher, which, taken, ids);

	if (matcher->teddies[0] || count < parts || !make_teddies(matcher, parts, ids, count))
		return;
	matcher->teddy_count = count;
	for (uint32_t i = 0; i < count; i++)
		taken[ids[i]] = true;
}

static void split_patterns(struct cpu_matcher *matcher)
{
	uint32_t *ids = xcalloc(matcher->set->count, sizeof(*ids)), count;
	bool *taken = xcalloc(matcher->set->count, sizeof(*taken));

	try_teddy(matcher, 1, WITH_PREFIXES, taken, ids);
	count = list_untaken(matcher, WITH_PREFIXES, taken, ids);
	if (!matcher->teddies[0] && count >= GRAMS_MIN)
		matcher->grams = grams_new(&matcher->searched, ids, count, taken);
	if (matcher->grams)
		matcher->grams_count = grams_count(matcher->grams);
	for (uint32_t parts = 1; parts <= TEDDIES_MAX; parts++)
		try_teddy(matcher, parts, WITH_PREFIXES, taken, ids);
	for (uint32_t parts = 1; parts <= TEDDIES_MAX; parts++)
		try_teddy(matcher, parts, BYTES_ONLY, taken, ids);
	count = list_untaken(matcher, ALL, taken, ids);
	if (count)
		matcher->rest = vectorscan_new(matcher->set, ids, count);
	free(taken);
	free(ids);
}

/* The same for the same rules on every processor with AVX2. */
static void describe(struct cpu_matcher *matcher)
{
	struct matcher_part parts[2 + VECTORSCAN_PARTS] = {
		{ "grams", matcher->grams_count },
		{ "teddy", matcher->teddy_count },
	};

	if (matcher->rest)
		vectorscan_describe(matcher->rest, parts + 2);
	matcher_describe(matcher->kernel, sizeof(matcher->kernel), parts,
		matcher->rest ? 2 + VECTORSCAN_PARTS : 2);
}

static void cpu_free(void *database)
{
	struct cpu_matcher *matcher = database;

	if (matcher->dense_state != DENSE_UNMET)
		pthread_join(matcher->dense_maker, NULL);
	free_teddies(matcher);
	grams_free(matcher->grams);
	vectorscan_free(matcher->rest);
	vectorscan_free(matcher->dense);
	free_searched(matcher);
	free(matcher);
}

static int cpu_compile(void **database, const struct pattern_set *set, struct error *error)
{
	struct cpu_matcher *matcher = xcalloc(1, sizeof(*matcher));

	(void)error;
	matcher->set = set;
	matcher->reads_zeros = set->longest > ZEROS_MIN || hits_zeros(set);
	fill_searched(matcher);
	split_patterns(matcher);
	describe(matcher);
	*database = matcher;
	return 0;
}

/* ---- searching ----------------------------------------------------------------------------- */

static void cpu_scratch_free(void *memory)
{
	struct cpu_scratch *scratch = memory;

	vectorscan_scratch_free(scratch->rest);
	if (scratch->dense)
		vectorscan_scratch_free(scratch->dense);
	free(scratch);
}

static void *cpu_scratch_new(const void *database)
{
	struct cpu_scratch *scratch = xcalloc(1, sizeof(*scratch));

	scratch->rest = vectorscan_scratch_new(((const struct cpu_matcher *)database)->rest);
	if (scratch->rest)
		return scratch;
	free(scratch);
	return NULL;
}

/* Keeps it unless Vectorscan cannot take all patterns itself: what takes the others is slower. */
static void *make_dense(void *arg)
{
	struct cpu_matcher *matcher = arg;
	uint32_t *ids = xcalloc(matcher->set->count, sizeof(*ids));
	struct matcher_part parts[VECTORSCAN_PARTS];
	struct vectorscan *dense;

	for (uint32_t id = 0; id < matcher->set->count; id++)
		ids[id] = id;
	dense = vectorscan_new(matcher->set, ids, matcher->set->count);
	free(ids);
	vectorscan_describe(dense, parts);
	if (parts[0].count == matcher->set->count)
		matcher->dense = dense;
	else
		vectorscan_free(dense);
	atomic_store(&matcher->dense_state, DENSE_MADE);
	return NULL;
}

/* Whether it can be used already. excess: what was looked at needlessly since this was called last. */
static bool get_dense(struct cpu_matcher *matcher, size_t excess)
{
	enum dense_state state = DENSE_UNMET;

	if (atomic_load(&matcher->dense_state) == DENSE_UNMET &&
		atomic_fetch_add(&matcher->dense_excess, excess) + excess < DENSE_EXCESS)
		return false;
	if (atomic_compare_exchange_strong(&matcher->dense_state, &state, DENSE_MAKING) &&
		thread_start(&matcher->dense_maker, make_dense, matcher))
		atomic_store(&matcher->dense_state, DENSE_UNMET);
	return state == DENSE_MADE && matcher->dense;
}

/* Adds a piece to the sample, and judges it when it is long enough. */
static void judge(
	struct cpu_matcher *matcher, struct cpu_scratch *scratch, size_t len, size_t effort)
{
	size_t usual;

	scratch->sampled += len;
	scratch->effort += effort;
	if (scratch->sampled < SAMPLE_LEN)
		return;
	usual = scratch->sampled / DENSE_BYTES;
	if (scratch->effort > usual && get_dense(matcher, scratch->effort - usual)) {
		if (!scratch->dense)
			scratch->dense = vectorscan_scratch_new(matcher->dense);
		scratch->dense_left = scratch->dense ? DENSE_LEN : 0;
	}
	scratch->sampled = scratch->effort = 0;
}

static int find_part(struct cpu_matcher *matcher, struct cpu_scratch *scratch, const uint8_t *text,
	size_t len, size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	size_t effort = 0;

	if (scratch->dense_left) {
		scratch->dense_left -= len < scratch->dense_left ? len : scratch->dense_left;
		return vectorscan_find(
			matcher->dense, scratch->dense, text, len, text_len, offset, sink);
	}
	if (matcher->grams)
		effort += grams_find(matcher->grams, text, len, text_len, offset, sink);
	for (uint32_t i = 0; i < TEDDIES_MAX && matcher->teddies[i] && !sink->full; i++)
		effort += teddy_find(matcher->teddies[i], text, len, text_len, offset, sink);
	judge(matcher, scratch, len, effort);
	if (matcher->rest && !sink->full)
		return vectorscan_find(
			matcher->rest, scratch->rest, text, len, text_len, offset, sink);
	return 0;
}

static bool is_zero_block(const uint8_t *block)
{
	return is_all_zero(block, ZEROS_FIRST) && is_all_zero(block, ZEROS_BLOCK);
}

/* Where the next run of at least ZEROS_MIN zeros is, in whole blocks from *at on. False: there is none. */
static bool find_zeros(const uint8_t *text, size_t text_len, size_t *at, size_t *end)
{
	for (size_t from = *at; text_len - from >= ZEROS_MIN;) {
		size_t to = from;

		while (text_len - to >= ZEROS_BLOCK && is_zero_block(text + to))
			to += ZEROS_BLOCK;
		*at = from;
		*end = to;
		if (to - from >= ZEROS_MIN)
			return true;
		from = to;
		if (text_len - from >= ZEROS_BLOCK)
			from += ZEROS_BLOCK;
	}
	return false;
}

static int cpu_find(const void *database, void *memory, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	struct cpu_matcher *matcher = (struct cpu_matcher *)database;
	size_t overlap = matcher->set->longest ? matcher->set->longest - 1 : 0;
	size_t at = 0, from, end;
	int status = 0;

	while (!status && at < len && !sink->full) {
		from = at;
		if (matcher->reads_zeros || !find_zeros(text, text_len, &from, &end))
			return find_part(matcher, memory, text + at, len - at, text_len - at,
				offset + at, sink);
		if (from > len)
			from = len;
		if (from > at)
			status = find_part(matcher, memory, text + at, from - at, text_len - at,
				offset + at, sink);
		/* A match may start in the zeros and end after them. */
		at = end - overlap;
	}
	return status;
}

static const char *cpu_kernel(const void *database)
{
	return ((const struct cpu_matcher *)database)->kernel;
}

/* ---- engine -------------------------------------------------------------------------------- */

static int cpu_probe(char *reason, size_t len)
{
	(void)reason;
	(void)len;
	return 0;
}

static const struct matcher cpu_matcher = {
	.name = "cpu",
	.compile = cpu_compile,
	.free = cpu_free,
	.scratch_new = cpu_scratch_new,
	.scratch_free = cpu_scratch_free,
	.find = cpu_find,
	.kernel = cpu_kernel,
};

static int cpu_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &cpu_matcher, set, options, error);
}

const struct scan_engine cpu_engine = {
	.name = "cpu",
	.summary =
		"on the processor: teddy and grams by vector instructions, Vectorscan for the rest "
		"and where patterns are dense",
	.probe = cpu_probe,
	.open = cpu_open,
	CPU_SCAN_CALLS,
};
