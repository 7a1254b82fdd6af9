/*
 * The default engine of the CPU: Hyperscan's API, as Vectorscan has it.
 *
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
 *     these (anchor.h), wherever in the pattern they stand; the rest is compared here. `????moov`
 *     is the literal moov. All 61 patterns in one database, written out, are 0.75 times as fast as
 *     literals and short ones apart, and slower still with zero runs among them. That literals end
 *     in rare bytes makes burin.conf 1.4 times as fast.
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
 *
 * Vectorscan 5.4.9 loses matches in the last bytes of a text: of the patterns FH and FE, searched
 * together, none that ends in the last 32 bytes is found when its fast search has met none before.
 * Evidence may not be lost to that, so the last GUARD_LEN bytes of what it was given are searched
 * again by other means, the pairs and the regexes themselves, and what both find is one hit.
 *
 * Hyperscan tells where matches end. A byte pattern has one length, so its start is known. For a
 * regex each start that can belong to an end is tried with the regex itself, each start once:
 * struct tried.
 */
#include "scan/matcher.h"

#include <errno.h>
#include <hs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rules/regex.h"
#include "scan/anchor.h"
#include "scan/grams.h"
#include "scan/pairs.h"
#include "scan/teddy.h"

/* The databases; and the literals that are common, which go to one or the other. */
enum { LITERALS, SHORT, REGEXES, GROUPS, COMMON = GROUPS, SOURCES };

enum {
	PLAIN_MAX = 96,  /* patterns of a database for a processor without AVX2 */
	SHORT_MAX = 48,  /* short patterns of a database */
	GUARD_LEN = 128, /* bytes at the end of a text in which Hyperscan is not relied upon */
};

struct group {
	hs_database_t *database; /* NULL when the group is empty */
	unsigned count;
	size_t reach; /* bytes behind the last start that have to be scanned */
};

struct hyperscan {
	const struct pattern_set *set;
	struct anchor *anchors; /* one a pattern; of a regex unused */
	struct group groups[GROUPS];
	struct teddy *teddy; /* NULL when these are no patterns for it */
	uint32_t teddy_count;
	struct grams *grams; /* NULL in the same way */
	bool *taken;         /* a pattern: teddy or grams have it */
	struct pairs *pairs; /* NULL when no pattern needs them */
	struct pairs *guard; /* of the patterns that Hyperscan searches, but for regexes; NULL
				without any */
	uint32_t *guarded;   /* their ids */
	uint32_t guarded_count;
	uint32_t *paired; /* ids of the patterns that the pairs are made of */
	uint32_t paired_count;
	uint32_t *strangers; /* regexes that Hyperscan takes not: tried at each byte */
	uint32_t stranger_count;
	hs_scratch_t *scratch; /* what the threads' are cloned from */
	char kernel[96];
};

/* The starts [from, to) of a regex that have been tried last, relative to the text. */
struct tried {
	size_t from, to;
};

struct scratch {
	hs_scratch_t *hs;
	struct tried *tried; /* one a pattern */
};

/* What is compiled into one database. */
struct sources {
	char **texts;
	unsigned *flags, *ids;
	unsigned count;
};

/* ---- compile ---- */

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

static void hyperscan_free(void *database)
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

static int hyperscan_compile(void **database, const struct pattern_set *set, struct error *error)
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

/* ---- scratch ---- */

static void scratch_free(void *scratch)
{
	struct scratch *own = scratch;

	hs_free_scratch(own->hs);
	free(own->tried);
	free(own);
}

static void *scratch_new(const void *database)
{
	const struct hyperscan *hs = database;
	struct scratch *own = xcalloc(1, sizeof(*own));

	own->tried = xcalloc(hs->set->count, sizeof(*own->tried));
	if (hs->scratch && hs_clone_scratch(hs->scratch, &own->hs) != HS_SUCCESS) {
		scratch_free(own);
		return NULL;
	}
	return own;
}

/* ---- find ---- */

struct search {
	const struct hyperscan *hs;
	struct tried *tried;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
};

/* Hyperscan's callback for byte patterns. Anything but 0 ends the scan. */
static int on_bytes(
	unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
	const struct search *search = context;
	const struct pattern *pattern = &search->hs->set->patterns[id];
	const struct anchor *anchor = &search->hs->anchors[id];
	size_t end = anchor->start + (size_t)anchor->len, start = to - end;

	(void)from;
	(void)flags;
	if (to < end || start >= search->len)
		return 0;
	if (!anchor->whole &&
		!pattern_matches(pattern, search->text + start, search->text_len - start))
		return 0;
	return !hit_sink_add(search->sink, search->offset + start, id);
}

/* Tries the regex at each start of [from, to). False: the sink is full. */
static bool try_starts(const struct search *search, uint32_t id, size_t from, size_t to)
{
	const struct pattern *pattern = &search->hs->set->patterns[id];

	for (size_t start = from; start < to; start++)
		if (pattern_match_len(pattern, search->text + start, search->text_len - start) &&
			!hit_sink_add(search->sink, search->offset + start, id))
			return false;
	return true;
}

/* Ends come in rising order, as it seems, though the documentation is of two minds. So the starts
 * that have been tried are a range that grows at its end, and rarely at its start or anew, which
 * costs time or doubles hits and loses none. */
static int on_regex(unsigned id, unsigned long long end_from, unsigned long long end,
	unsigned flags, void *context)
{
	const struct search *search = context;
	const struct pattern *pattern = &search->hs->set->patterns[id];
	struct tried *tried = &search->tried[id];
	size_t from = end > pattern->len ? end - pattern->len : 0;
	size_t to = end >= pattern->min_len ? end - pattern->min_len + 1 : 0;
	struct tried old = *tried;

	(void)end_from;
	(void)flags;
	if (to > search->len)
		to = search->len;
	if (from >= to)
		return 0;
	if (from > old.to || to < old.from)
		old = *tried = (struct tried){ from, from };
	if (from < old.from) {
		tried->from = from;
		if (!try_starts(search, id, from, old.from))
			return 1;
	}
	if (to > old.to) {
		tried->to = to;
		return !try_starts(search, id, old.to, to);
	}
	return 0;
}

static int scan_group(struct search *search, const struct group *group, hs_scratch_t *scratch,
	match_event_handler on_match)
{
	size_t behind = search->text_len - search->len;
	size_t len = search->len + (behind < group->reach ? behind : group->reach);
	hs_error_t rc;

	if (!group->database || search->sink->full)
		return 0;
	if (len > UINT_MAX)
		return -EOVERFLOW;
	rc = hs_scan(group->database, (const char *)search->text, (unsigned)len, 0, scratch,
		on_match, search);
	return rc == HS_SUCCESS || rc == HS_SCAN_TERMINATED ? 0 : -EIO;
}

/* The first start of which the match may end in the guarded end of what a group was given. */
static size_t guarded_from(const struct search *search, size_t reach)
{
	size_t behind = search->text_len - search->len;
	size_t len = search->len + (behind < reach ? behind : reach);

	return len > GUARD_LEN + reach ? len - GUARD_LEN - reach : 0;
}

/* Searches the end of the text again, without Hyperscan. */
static void search_end(const struct search *search)
{
	const struct hyperscan *hs = search->hs;
	const struct group *literals = &hs->groups[LITERALS], *few = &hs->groups[SHORT];
	size_t reach = literals->reach > few->reach ? literals->reach : few->reach;
	size_t from = guarded_from(search, reach);

	if (hs->guard)
		pairs_find(hs->guard, search->text + from, search->len - from,
			search->text_len - from, search->offset + from, search->sink);
	from = guarded_from(search, hs->groups[REGEXES].reach);
	for (uint32_t id = 0; id < hs->set->count && hs->groups[REGEXES].count; id++)
		if (hs->set->patterns[id].regex && !search->sink->full)
			try_starts(search, id, from, search->len);
}

static int hyperscan_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	const struct hyperscan *hs = database;
	struct scratch *own = scratch;
	struct search search = { hs, own->tried, text, len, text_len, offset, sink };
	int rc = 0;

	if (hs->groups[REGEXES].database)
		memset(own->tried, 0, hs->set->count * sizeof(*own->tried));
	if (hs->grams)
		grams_find(hs->grams, text, len, text_len, offset, sink);
	if (hs->teddy && !sink->full)
		teddy_find(hs->teddy, text, len, text_len, offset, sink);
	for (int i = 0; i < GROUPS && rc == 0; i++)
		rc = scan_group(
			&search, &hs->groups[i], own->hs, i == REGEXES ? on_regex : on_bytes);
	if (rc == 0 && !sink->full)
		search_end(&search);
	if (hs->pairs && rc == 0 && !sink->full)
		pairs_find(hs->pairs, text, len, text_len, offset, sink);
	for (uint32_t i = 0; i < hs->stranger_count && rc == 0 && !sink->full; i++)
		try_starts(&search, hs->strangers[i], 0, len);
	return rc;
}

static const char *hyperscan_kernel(const void *database)
{
	return ((const struct hyperscan *)database)->kernel;
}

/* ---- engine ---- */

static int hyperscan_probe(char *reason, size_t len)
{
	if (hs_valid_platform() == HS_SUCCESS)
		return 0;
	snprintf(reason, len, "this processor lacks instructions that Hyperscan needs (SSSE3)");
	return -ENOTSUP;
}

static const struct matcher hyperscan_matcher = {
	.name = "hyperscan",
	.summary = "Vectorscan or Hyperscan, on all processors",
	.probe = hyperscan_probe,
	.compile = hyperscan_compile,
	.free = hyperscan_free,
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.find = hyperscan_find,
	.kernel = hyperscan_kernel,
};

static int hyperscan_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &hyperscan_matcher, set, options, error);
}

const struct scan_engine hyperscan_engine = {
	.name = "hyperscan",
	.summary = "Vectorscan or Hyperscan, on all processors",
	.probe = hyperscan_probe,
	.open = hyperscan_open,
	.submit = cpu_scan_submit,
	.reap = cpu_scan_reap,
	.close = cpu_scan_close,
	.kernel = cpu_scan_kernel,
};
