/*
 * Patterns go to Vectorscan in up to three databases, one after the other. The split is by
 * measurement on disk content, with Scalpel's 61 patterns and with conf/burin.conf; figures are
 * ratios of speed.
 *   - literals: patterns with at least 4 exact bytes in a row (or letters of either case), found by
 *     these (anchor.h), wherever in the pattern they are; the rest is compared where a literal is
 *     found. `????moov` is the literal moov. All 61 patterns in one database, written out, are 0.75
 *     times as fast as literals and short ones apart, and slower still with runs of zeros among
 *     them. That literals end in rare bytes makes burin.conf 1.4 times as fast.
 *   - short: magics of 2 and 3 bytes, patterns with wild bytes between their exact ones, and
 *     literals of common bytes. Up to 48 of them Vectorscan is 2 to 3 times as fast as the pairs;
 *     for more it leaves its Teddy, and falls to half or a quarter of them.
 *   - regexes, as they are.
 * The other byte patterns, with masks, go to the pairs (pairs.h): as character classes, 60 of them
 * take Vectorscan seconds to compile, and then 20 times as long to find. A regex that it refuses is
 * left to PCRE2.
 * hs_compile_multi serves for all: hs_compile_lit_multi makes the same database, and refuses
 * literals that begin with a zero byte.
 *
 * Databases of up to 96 patterns are compiled for a processor without AVX2, whatever this one has:
 * for 9 to 96 literals Vectorscan 5.4.9 would choose its 16-bucket "fat" Teddy, which has 0.3 to
 * 0.4 times the speed of what it chooses without. Beyond, there is no Teddy, and the newer
 * instructions are a little ahead.
 */
#include "scan/vectorscan_compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/regex.h"
#include "scan/vectorscan.h"

/* What is compiled: the groups, and the literals that are common, which go to one or the other. */
enum { COMMON = GROUPS, SOURCES };

enum {
	PLAIN_MAX = 96, /* patterns of a database for a processor without AVX2 */
	SHORT_MAX = 48, /* short patterns of a database */
};

/* What is compiled into one database. */
struct sources {
	char **texts;
	unsigned *flags, *ids;
	unsigned count;
};

static void sources_init(struct sources *sources, uint32_t capacity)
{
	sources->texts = xcalloc(capacity, sizeof(*sources->texts));
	sources->flags = xcalloc(capacity, sizeof(*sources->flags));
	sources->ids = xcalloc(capacity, sizeof(*sources->ids));
	sources->count = 0;
}

static void sources_free(struct sources *sources)
{
	for (unsigned i = 0; i < sources->count; i++)
		free(sources->texts[i]);
	free(sources->texts);
	free(sources->flags);
	free(sources->ids);
}

static void sources_add(struct sources *sources, const char *text, unsigned flags, uint32_t id)
{
	sources->texts[sources->count] = xstrdup(text);
	sources->flags[sources->count] = flags | HS_FLAG_DOTALL;
	sources->ids[sources->count++] = id;
}

/* Scratch space fits the database afterwards, and this is also where Vectorscan says whether it can
 * run it. */
static hs_error_t compile_for(const hs_platform_info_t *platform, const struct sources *sources,
	hs_database_t **database, hs_scratch_t **scratch)
{
	hs_compile_error_t *why = NULL;
	hs_error_t rc = hs_compile_multi((const char *const *)sources->texts, sources->flags,
		sources->ids, sources->count, HS_MODE_BLOCK, platform, database, &why);

	hs_free_compile_error(why);
	if (rc != HS_SUCCESS)
		return rc;
	rc = hs_alloc_scratch(*database, scratch);
	if (rc != HS_SUCCESS) {
		hs_free_database(*database);
		*database = NULL;
	}
	return rc;
}

static void pair_pattern(struct vectorscan *vs, uint32_t id)
{
	vs->paired[vs->paired_count++] = id;
}

/* How far after its start a pattern must be searched to be found. */
static size_t reach_of(const struct vectorscan *vs, uint32_t id)
{
	const struct anchor *anchor = &vs->anchors[id];

	if (vs->set->patterns[id].regex)
		return vs->set->patterns[id].len - 1;
	return anchor->start + (size_t)anchor->len - 1;
}

/* What cannot be compiled together is searched in the other ways. */
static void compile_group(struct vectorscan *vs, int which, const struct sources *sources)
{
	static const hs_platform_info_t plain = { .tune = HS_TUNE_FAMILY_GENERIC };
	struct group *group = &vs->groups[which];
	hs_error_t rc = HS_DB_PLATFORM_ERROR;

	if (!sources->count)
		return;
	if (sources->count <= PLAIN_MAX)
		rc = compile_for(&plain, sources, &group->database, &vs->scratch);
	if (rc == HS_DB_PLATFORM_ERROR)
		rc = compile_for(NULL, sources, &group->database, &vs->scratch);
	if (rc != HS_SUCCESS) {
		for (unsigned i = 0; i < sources->count; i++)
			if (which == REGEXES)
				vs->refused[vs->refused_count++] = sources->ids[i];
			else
				pair_pattern(vs, sources->ids[i]);
		return;
	}
	group->count = sources->count;
	group->ids = xcalloc(sources->count, sizeof(*group->ids));
	memcpy(group->ids, sources->ids, sources->count * sizeof(*group->ids));
	for (unsigned i = 0; i < sources->count; i++)
		if (group->reach < reach_of(vs, sources->ids[i]))
			group->reach = reach_of(vs, sources->ids[i]);
}

static void add_bytes(struct vectorscan *vs, struct sources sources[SOURCES], uint32_t id,
	const float share[RARITY_KINDS][256])
{
	static const int where[] = {
		[ANCHOR_LITERAL] = LITERALS,
		[ANCHOR_COMMON] = COMMON,
		[ANCHOR_SHORT] = SHORT,
	};
	const struct pattern *pattern = &vs->set->patterns[id];
	struct anchor *anchor = &vs->anchors[id];
	char text[ANCHOR_TEXT_MAX];

	*anchor = anchor_choose(pattern, share);
	if (anchor->kind == ANCHOR_NONE) {
		pair_pattern(vs, id);
		return;
	}
	anchor_regex(text, pattern, anchor);
	sources_add(&sources[where[anchor->kind]], text, anchor->nocase ? HS_FLAG_CASELESS : 0, id);
}

/* Vectorscan refuses some regexes only because of their size, which shows when they are compiled. */
static bool compiles(const char *source)
{
	hs_database_t *database = NULL;
	hs_compile_error_t *why = NULL;
	hs_error_t rc = hs_compile(source, HS_FLAG_DOTALL, HS_MODE_BLOCK, NULL, &database, &why);

	hs_free_compile_error(why);
	hs_free_database(database);
	return rc == HS_SUCCESS;
}

static void add_regex(struct vectorscan *vs, struct sources sources[SOURCES], uint32_t id)
{
	const char *source = regex_source(vs->set->patterns[id].regex);

	if (compiles(source))
		sources_add(&sources[REGEXES], source, 0, id);
	else
		vs->refused[vs->refused_count++] = id;
}

static void move_sources(struct sources *from, struct sources *to)
{
	for (unsigned i = 0; i < from->count; i++) {
		sources_add(to, from->texts[i], from->flags[i], from->ids[i]);
		free(from->texts[i]);
	}
	from->count = 0;
}

/* Common literals share a database with the short ones, unless there are too many of them. Too many
 * short ones go to the pairs. */
static void deal_sources(struct vectorscan *vs, struct sources sources[SOURCES])
{
	struct sources *brief = &sources[SHORT];

	move_sources(&sources[COMMON],
		brief->count + sources[COMMON].count <= SHORT_MAX ? brief : &sources[LITERALS]);
	if (brief->count <= SHORT_MAX)
		return;
	for (unsigned i = 0; i < brief->count; i++) {
		pair_pattern(vs, brief->ids[i]);
		free(brief->texts[i]);
	}
	brief->count = 0;
}

static void add_patterns(
	struct vectorscan *vs, struct sources sources[SOURCES], const uint32_t *ids, uint32_t count)
{
	float share[RARITY_KINDS][256];
	bool usable = hs_valid_platform() == HS_SUCCESS;

	rarity_bytes(share);
	for (uint32_t i = 0; i < count; i++) {
		bool is_regex = vs->set->patterns[ids[i]].regex != NULL;

		if (!usable && is_regex)
			vs->refused[vs->refused_count++] = ids[i];
		else if (!usable)
			pair_pattern(vs, ids[i]);
		else if (is_regex)
			add_regex(vs, sources, ids[i]);
		else
			add_bytes(vs, sources, ids[i], share);
	}
	deal_sources(vs, sources);
}

/* See vectorscan.c: what Vectorscan may lose. */
static void make_guard(struct vectorscan *vs)
{
	const struct group *literals = &vs->groups[LITERALS], *brief = &vs->groups[SHORT];
	uint32_t count = literals->count + brief->count, *ids = xcalloc(count, sizeof(*ids));

	if (literals->count)
		memcpy(ids, literals->ids, literals->count * sizeof(*ids));
	if (brief->count)
		memcpy(ids + literals->count, brief->ids, brief->count * sizeof(*ids));
	if (count)
		vs->guard = pairs_new(vs->set, ids, count);
	free(ids);
}

struct vectorscan *vectorscan_new(
	const struct pattern_set *set, const uint32_t *ids, uint32_t count)
{
	struct vectorscan *vs = xcalloc(1, sizeof(*vs));
	struct sources sources[SOURCES];

	vs->set = set;
	vs->anchors = xcalloc(set->count, sizeof(*vs->anchors));
	vs->paired = xcalloc(count, sizeof(*vs->paired));
	vs->refused = xcalloc(count, sizeof(*vs->refused));
	for (int i = 0; i < SOURCES; i++)
		sources_init(&sources[i], count);
	add_patterns(vs, sources, ids, count);
	for (int i = 0; i < GROUPS; i++)
		compile_group(vs, i, &sources[i]);
	for (int i = 0; i < SOURCES; i++)
		sources_free(&sources[i]);
	make_guard(vs);
	if (vs->paired_count)
		vs->pairs = pairs_new(set, vs->paired, vs->paired_count);
	return vs;
}

void vectorscan_free(struct vectorscan *vs)
{
	if (!vs)
		return;
	for (int i = 0; i < GROUPS; i++) {
		hs_free_database(vs->groups[i].database);
		free(vs->groups[i].ids);
	}
	hs_free_scratch(vs->scratch);
	pairs_free(vs->pairs);
	pairs_free(vs->guard);
	free(vs->paired);
	free(vs->refused);
	free(vs->anchors);
	free(vs);
}

void vectorscan_describe(const struct vectorscan *vs, struct matcher_part parts[VECTORSCAN_PARTS])
{
	parts[0] = (struct matcher_part){ "vectorscan", 0 };
	for (int i = 0; i < GROUPS; i++)
		parts[0].count += vs->groups[i].count;
	parts[1] = (struct matcher_part){ "pairs", vs->paired_count };
	parts[2] = (struct matcher_part){ "PCRE2", vs->refused_count };
}
