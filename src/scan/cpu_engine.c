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
 *   - Vectorscan (vectorscan.h) gets what is left: thousands of strings, and regexes that begin
 *     with anything. There it is 4 to 200 times as fast as pairs and PCRE2, which in turn take what
 *     it refuses.
 *   - Teddy and grams compare in full what they let pass. In a piece where that is much, such as prose
 *     searched for hundreds of words, they give up, and Vectorscan searches it for all patterns. Its
 *     tables for that are made when the first such piece comes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "patterns/prefix.h"
#include "scan/grams.h"
#include "scan/matcher.h"
#include "scan/teddy.h"
#include "scan/vectorscan.h"

/* For fewer patterns than this, reading the text for grams does not pay. */
#define GRAMS_MIN 97

struct cpu_matcher {
	/* The patterns with the same ids, but a regex has the bytes and mask of its prefix, or len 0
	 * when it has none. */
	struct pattern_set searched;
	const struct pattern_set *set; /* as they are */
	struct grams *grams;           /* NULL where it takes no pattern; so for the next two */
	struct teddy *teddy;
	struct vectorscan *rest;
	uint32_t grams_count, teddy_count;
	char kernel[160];
	pthread_mutex_t lock; /* of making this: */
	/* All patterns, for dense pieces. NULL until there was one, or when it would not be faster. */
	_Atomic(struct vectorscan *) dense;
	atomic_bool dense_made;
};

struct cpu_scratch {
	void *rest, *dense; /* of these two; dense is NULL until it is needed */
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

/* All that are not taken yet, or none. */
static void try_teddy(struct cpu_matcher *matcher, enum which which, bool *taken, uint32_t *ids)
{
	uint32_t count = list_untaken(matcher, which, taken, ids);

	if (matcher->teddy || !count)
		return;
	matcher->teddy = teddy_new(&matcher->searched, ids, count);
	if (!matcher->teddy)
		return;
	matcher->teddy_count = count;
	for (uint32_t i = 0; i < count; i++)
		taken[ids[i]] = true;
}

static void split_patterns(struct cpu_matcher *matcher)
{
	uint32_t *ids = xcalloc(matcher->set->count, sizeof(*ids)), count;
	bool *taken = xcalloc(matcher->set->count, sizeof(*taken));

	try_teddy(matcher, WITH_PREFIXES, taken, ids);
	count = list_untaken(matcher, WITH_PREFIXES, taken, ids);
	if (!matcher->teddy && count >= GRAMS_MIN)
		matcher->grams = grams_new(&matcher->searched, ids, count, taken);
	if (matcher->grams) {
		matcher->grams_count = grams_count(matcher->grams);
		try_teddy(matcher, WITH_PREFIXES, taken, ids);
	}
	try_teddy(matcher, BYTES_ONLY, taken, ids);
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

	teddy_free(matcher->teddy);
	grams_free(matcher->grams);
	vectorscan_free(matcher->rest);
	vectorscan_free(matcher->dense);
	pthread_mutex_destroy(&matcher->lock);
	free_searched(matcher);
	free(matcher);
}

static int cpu_compile(void **database, const struct pattern_set *set, struct error *error)
{
	struct cpu_matcher *matcher = xcalloc(1, sizeof(*matcher));

	(void)error;
	matcher->set = set;
	pthread_mutex_init(&matcher->lock, NULL);
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

/* NULL where Vectorscan cannot take all patterns itself: what takes the others is slower. */
static struct vectorscan *make_dense(const struct cpu_matcher *matcher)
{
	uint32_t *ids = xcalloc(matcher->set->count, sizeof(*ids));
	struct matcher_part parts[VECTORSCAN_PARTS];
	struct vectorscan *dense;

	for (uint32_t id = 0; id < matcher->set->count; id++)
		ids[id] = id;
	dense = vectorscan_new(matcher->set, ids, matcher->set->count);
	free(ids);
	vectorscan_describe(dense, parts);
	if (parts[0].count == matcher->set->count)
		return dense;
	vectorscan_free(dense);
	return NULL;
}

static const struct vectorscan *get_dense(struct cpu_matcher *matcher)
{
	if (!atomic_load(&matcher->dense_made)) {
		pthread_mutex_lock(&matcher->lock);
		if (!atomic_load(&matcher->dense_made))
			matcher->dense = make_dense(matcher);
		atomic_store(&matcher->dense_made, true);
		pthread_mutex_unlock(&matcher->lock);
	}
	return matcher->dense;
}

static void find_sparse(const struct cpu_matcher *matcher, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink, bool *dense)
{
	if (matcher->grams)
		grams_find(matcher->grams, text, len, text_len, offset, sink, dense);
	if (matcher->teddy && !sink->full && !(dense && *dense))
		teddy_find(matcher->teddy, text, len, text_len, offset, sink, dense);
}

static int cpu_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	struct cpu_matcher *matcher = (struct cpu_matcher *)database;
	struct cpu_scratch *own = scratch;
	const size_t before = sink->count;
	bool dense = false;

	find_sparse(matcher, text, len, text_len, offset, sink, &dense);
	if (dense) {
		const struct vectorscan *all = get_dense(matcher);

		sink->count = before;
		if (all && !own->dense)
			own->dense = vectorscan_scratch_new(all);
		if (all && own->dense)
			return vectorscan_find(all, own->dense, text, len, text_len, offset, sink);
		find_sparse(matcher, text, len, text_len, offset, sink, NULL);
	}
	if (matcher->rest && !sink->full)
		return vectorscan_find(matcher->rest, own->rest, text, len, text_len, offset, sink);
	return 0;
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
