/*
 * Patterns are searched in up to six ways, one after the other. The split is by measurement on
 * disk content, with Scalpel's 61 patterns and with conf/burin.conf (tests/bench/scan_cpu.c);
 * figures are ratios of speed.
 *   - teddy (teddy.h): byte patterns that are so few and selective that our own vector search takes
 *     them: 1.5 to 5 times as fast as Hyperscan, which reads the text once for the literals and
 *     once for the short ones.
 *   - grams (grams.h): where those are too many, the selective ones, up to about 2,000; teddy then
 *     gets the rest, if it takes that. Both together are twice as fast with conf/burin.conf. The
 *     rest of this list is for what neither has taken.
 *   - literals: patterns with at least 4 exact bytes in a row (or letters of either case), found by
 *     these (anchor.h), wherever in the pattern they stand; the rest is compared when a literal
 *     is found. `????moov` is the literal moov. All 61 patterns in one database, written out,
 *     are 0.75 times as fast as literals and short ones apart, and slower still with zero runs
 *     among them. That literals end in rare bytes makes burin.conf 1.4 times as fast.
 *   - short: two exact bytes in a row, and what else there is with wild bytes between: magics of 2
 *     and 3 bytes; and literals of common bytes. Up to 48 of them Hyperscan is 2 to 3 times as fast
 *     as the pairs; for more it leaves Teddy, and falls to half or a quarter of them.
 *   - pairs (pairs.h): the other byte patterns, with masks. As character classes, 60 of them take
 *     Hyperscan seconds to compile, and then 20 times as long to find.
 *   - regexes, as they are.
 * hs_compile_multi serves for all: hs_compile_lit_multi makes the same database, and refuses
 * literals that begin with a zero byte.
 *
 * Databases of up to 96 patterns are compiled for a processor without AVX2, whatever this one has:
 * for 9 to 96 literals Hyperscan would choose its 16-bucket "fat" Teddy, which in Vectorscan 5.4.9
 * has 0.3 to 0.4 times the speed of what it chooses without. Beyond, there is no Teddy, and the
 * newer instructions are a little ahead.
 */
#include "scan/hyperscan_compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "patterns/regex.h"

/* What is compiled: the groups', and the literals that are common, which go to one or the other. */
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

/* Scratch space fits the database afterwards, and this is also where Hyperscan says whether it can
 * run it. */
static hs_error_t compile_for(const hs_platform_info_t *platform, const struct sources *sources,
	hs_database_t **database, hs_scratch_t **scratch, hs_compile_error_t **why)
{
	hs_error_t rc = hs_compile_multi((const char *const *)sources->texts, sources->flags,
		sources->ids, sources->count, HS_MODE_BLOCK, platform, database, why);

	if (rc != HS_SUCCESS)
		return rc;
	rc = hs_alloc_scratch(*database, scratch);
	if (rc != HS_SUCCESS) {
		hs_free_database(*database);
		*database = NULL;
	}
	return rc;
}

/* How far behind its start a pattern must be searched to be found. */
static size_t reach_of(const struct hyperscan *hs, uint32_t id)
{
	const struct anchor *anchor = &hs->anchors[id];

	if (hs->set->patterns[id].regex)
		return hs->set->patterns[id].len - 1;
	return anchor->start + (size_t)anchor->len - 1;
}

static int compile_group(
	struct hyperscan *hs, int which, const struct sources *sources, struct error *error)
{
	static const hs_platform_info_t plain = { .tune = HS_TUNE_FAMILY_GENERIC };
	struct group *group = &hs->groups[which];
	hs_compile_error_t *why = NULL;
	hs_error_t rc = HS_DB_PLATFORM_ERROR;

	group->count = sources->count;
	for (unsigned i = 0; i < sources->count; i++)
		if (group->reach < reach_of(hs, sources->ids[i]))
			group->reach = reach_of(hs, sources->ids[i]);
	if (!sources->count)
		return 0;
	if (sources->count <= PLAIN_MAX)
		rc = compile_for(&plain, sources, &group->database, &hs->scratch, &why);
	if (rc == HS_DB_PLATFORM_ERROR)
		rc = compile_for(NULL, sources, &group->database, &hs->scratch, &why);
	if (rc == HS_SUCCESS)
		return 0;
	if (why && why->expression >= 0 && (unsigned)why->expression < sources->count)
		error_set(error, EXIT_USAGE, EINVAL,
			"Hyperscan cannot compile the pattern %s: %s; use --engine reference",
			hs->set->patterns[sources->ids[why->expression]].text, why->message);
	else
		error_set(error, EXIT_USAGE, EINVAL,
			"Hyperscan cannot compile the %u patterns: %s; use --engine reference",
			sources->count, why ? why->message : "out of memory");
	hs_free_compile_error(why);
	return -EINVAL;
}

static void add_bytes(struct hyperscan *hs, struct sources sources[SOURCES], uint32_t id,
	const float share[RARITY_KINDS][256])
{
	static const int where[] = {
		[ANCHOR_LITERAL] = LITERALS,
		[ANCHOR_COMMON] = COMMON,
		[ANCHOR_SHORT] = SHORT,
	};
	const struct pattern *pattern = &hs->set->patterns[id];
	struct anchor *anchor = &hs->anchors[id];
	char text[ANCHOR_TEXT_MAX];

	*anchor = anchor_choose(pattern, share);
	if (anchor->kind == ANCHOR_NONE) {
		hs->paired[hs->paired_count++] = id;
		return;
	}
	anchor_regex(text, pattern, anchor);
	sources_add(&sources[where[anchor->kind]], text, anchor->nocase ? HS_FLAG_CASELESS : 0, id);
}

/* Hyperscan refuses some regexes only because of their size, which shows when they are compiled. */
static bool compiles(const char *source)
{
	hs_database_t *database = NULL;
	hs_compile_error_t *why = NULL;
	hs_error_t rc = hs_compile(source, HS_FLAG_DOTALL, HS_MODE_BLOCK, NULL, &database, &why);

	hs_free_compile_error(why);
	hs_free_database(database);
	return rc == HS_SUCCESS;
}

static void add_regex(struct hyperscan *hs, struct sources sources[SOURCES], uint32_t id)
{
	const struct pattern *pattern = &hs->set->patterns[id];
	const char *source = regex_source(pattern->regex);

	if (!compiles(source)) {
		hs->strangers[hs->stranger_count++] = id;
		return;
	}
	sources_add(&sources[REGEXES], source, 0, id);
}

static void move_sources(struct sources *from, struct sources *to)
{
	for (unsigned i = 0; i < from->count; i++) {
		sources_add(to, from->texts[i], from->flags[i], from->ids[i]);
		free(from->texts[i]);
	}
	from->count = 0;
}

/* Common literals are in good company with the short ones, unless there are too many of them. Too
 * many short ones are better off with the pairs. */
static void deal_sources(struct hyperscan *hs, struct sources sources[SOURCES])
{
	struct sources *brief = &sources[SHORT];

	move_sources(&sources[COMMON],
		brief->count + sources[COMMON].count <= SHORT_MAX ? brief : &sources[LITERALS]);
	if (brief->count <= SHORT_MAX)
		return;
	for (unsigned i = 0; i < brief->count; i++) {
		hs->paired[hs->paired_count++] = brief->ids[i];
		free(brief->texts[i]);
	}
	brief->count = 0;
}

/* What the report says: the same for the same rules on every machine with AVX2. */
static void describe(struct hyperscan *hs)
{
	const struct {
		const char *name;
		unsigned count;
	} ways[] = {
		{ "grams", hs->grams ? grams_count(hs->grams) : 0 },
		{ "teddy", hs->teddy_count },
		{ "literals", hs->groups[LITERALS].count },
		{ "short", hs->groups[SHORT].count },
		{ "pairs", hs->paired_count },
		{ "regexes", hs->groups[REGEXES].count + hs->stranger_count },
	};
	size_t used = 0;

	snprintf(hs->kernel, sizeof(hs->kernel), "no patterns");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (ways[i].count)
			used += (size_t)snprintf(hs->kernel + used, sizeof(hs->kernel) - used,
				"%s%u %s", used ? " + " : "", ways[i].count, ways[i].name);
}

void hyperscan_free(void *database)
{
	struct hyperscan *hs = database;

	for (int i = 0; i < GROUPS; i++)
		hs_free_database(hs->groups[i].database);
	hs_free_scratch(hs->scratch);
	teddy_free(hs->teddy);
	grams_free(hs->grams);
	free(hs->taken);
	pairs_free(hs->pairs);
	pairs_free(hs->guard);
	free(hs->guarded);
	free(hs->paired);
	free(hs->strangers);
	free(hs->anchors);
	free(hs);
}

/* All byte patterns that are not taken, for teddy, or none. */
static void try_teddy(struct hyperscan *hs, uint32_t *ids)
{
	uint32_t count = 0;

	for (uint32_t id = 0; id < hs->set->count; id++)
		if (!hs->set->patterns[id].regex && !hs->taken[id])
			ids[count++] = id;
	hs->teddy = teddy_new(hs->set, ids, count);
	hs->teddy_count = hs->teddy ? count : 0;
	for (uint32_t i = 0; i < hs->teddy_count; i++)
		hs->taken[ids[i]] = true;
}

static void take_patterns(struct hyperscan *hs)
{
	uint32_t *ids = xcalloc(hs->set->count, sizeof(*ids)), count = 0;

	hs->taken = xcalloc(hs->set->count, sizeof(*hs->taken));
	for (uint32_t id = 0; id < hs->set->count; id++)
		if (!hs->set->patterns[id].regex)
			ids[count++] = id;
	try_teddy(hs, ids);
	if (!hs->teddy && count > PLAIN_MAX)
		hs->grams = grams_new(hs->set, ids, count, hs->taken);
	if (hs->grams)
		try_teddy(hs, ids);
	free(ids);
}

static void add_patterns(struct hyperscan *hs, struct sources sources[SOURCES])
{
	float share[RARITY_KINDS][256];

	rarity_bytes(share);
	take_patterns(hs);
	for (uint32_t id = 0; id < hs->set->count; id++)
		if (hs->set->patterns[id].regex)
			add_regex(hs, sources, id);
		else if (!hs->taken[id])
			add_bytes(hs, sources, id, share);
	deal_sources(hs, sources);
}

/* The byte patterns that Hyperscan searches. */
static void guard_patterns(struct hyperscan *hs)
{
	bool *with_pairs = xcalloc(hs->set->count, sizeof(*with_pairs));

	hs->guarded = xcalloc(hs->set->count, sizeof(*hs->guarded));
	for (uint32_t i = 0; i < hs->paired_count; i++)
		with_pairs[hs->paired[i]] = true;
	for (uint32_t id = 0; id < hs->set->count; id++)
		if (!hs->set->patterns[id].regex && !hs->taken[id] && !with_pairs[id])
			hs->guarded[hs->guarded_count++] = id;
	if (hs->guarded_count)
		hs->guard = pairs_new(hs->set, hs->guarded, hs->guarded_count);
	free(with_pairs);
}

int hyperscan_compile(void **database, const struct pattern_set *set, struct error *error)
{
	struct hyperscan *hs = xcalloc(1, sizeof(*hs));
	struct sources sources[SOURCES];
	int rc = 0;

	hs->set = set;
	hs->anchors = xcalloc(set->count, sizeof(*hs->anchors));
	hs->paired = xcalloc(set->count, sizeof(*hs->paired));
	hs->strangers = xcalloc(set->count, sizeof(*hs->strangers));
	for (int i = 0; i < SOURCES; i++)
		sources_init(&sources[i], set->count);
	add_patterns(hs, sources);
	for (int i = 0; i < GROUPS && rc == 0; i++)
		rc = compile_group(hs, i, &sources[i], error);
	for (int i = 0; i < SOURCES; i++)
		sources_free(&sources[i]);
	if (rc) {
		hyperscan_free(hs);
		return rc;
	}
	guard_patterns(hs);
	if (hs->paired_count)
		hs->pairs = pairs_new(set, hs->paired, hs->paired_count);
	describe(hs);
	*database = hs;
	return 0;
}
