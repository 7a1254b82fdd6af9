/*
 * Searching with Vectorscan's databases; vectorscan_compile.c says which pattern is in which.
 *
 * Vectorscan 5.4.9 loses matches in the last bytes of a text: of the patterns FH and FE, searched
 * together, none that ends in the last 32 bytes is found when its fast search has met none before.
 * Evidence must not be lost to that, so the last GUARD_LEN bytes of what it was given are searched
 * again by other means, the pairs and the regexes themselves, and what both find is one hit.
 *
 * Vectorscan reports where matches end. A byte pattern has one length, so its start is known. For a
 * regex each start that can belong to an end is tried with the regex itself, each start once:
 * struct tried.
 */
#include "scan/vectorscan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/vectorscan_compile.h"

/* Bytes at the end of a text in which Vectorscan is not relied upon. */
#define GUARD_LEN ((size_t)128)

/* The starts [from, to) of a regex that have been tried last, relative to the text. */
struct tried {
	size_t from, to;
};

struct scratch {
	hs_scratch_t *hs;
	struct tried *tried; /* one a pattern */
};

/* ---- scratch ---- */

void vectorscan_scratch_free(void *scratch)
{
	struct scratch *own = scratch;

	hs_free_scratch(own->hs);
	free(own->tried);
	free(own);
}

void *vectorscan_scratch_new(const struct vectorscan *vs)
{
	struct scratch *own = xcalloc(1, sizeof(*own));

	if (!vs)
		return own;
	own->tried = xcalloc(vs->set->count, sizeof(*own->tried));
	if (vs->scratch && hs_clone_scratch(vs->scratch, &own->hs) != HS_SUCCESS) {
		vectorscan_scratch_free(own);
		return NULL;
	}
	return own;
}

/* ---- find ---- */

struct search {
	const struct vectorscan *vs;
	struct tried *tried;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
};

/* Vectorscan's callback for byte patterns. Anything but 0 ends the scan. */
static int on_bytes(
	unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
	const struct search *search = context;
	const struct pattern *pattern = &search->vs->set->patterns[id];
	const struct anchor *anchor = &search->vs->anchors[id];
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

/* Finds the starts of the regex in [from, to). False: the sink is full. */
static bool try_starts(const struct search *search, uint32_t id, size_t from, size_t to)
{
	return matcher_find_regex(&search->vs->set->patterns[id], id, search->text, from, to,
		search->text_len, search->offset, search->sink);
}

/* Ends come in rising order, as it seems, though the documentation is of two minds. So the starts
 * that have been tried are a range that grows at its end, and rarely at its start or anew, which
 * costs time or doubles hits and loses none. */
static int on_regex(unsigned id, unsigned long long end_from, unsigned long long end,
	unsigned flags, void *context)
{
	const struct search *search = context;
	const struct pattern *pattern = &search->vs->set->patterns[id];
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
	size_t after = search->text_len - search->len;
	size_t len = search->len + (after < group->reach ? after : group->reach);
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
	size_t after = search->text_len - search->len;
	size_t len = search->len + (after < reach ? after : reach);

	return len > GUARD_LEN + reach ? len - GUARD_LEN - reach : 0;
}

/* Searches the end of the text again, without Vectorscan. */
static void search_end(const struct search *search)
{
	const struct vectorscan *vs = search->vs;
	const struct group *literals = &vs->groups[LITERALS], *few = &vs->groups[SHORT];
	const struct group *regexes = &vs->groups[REGEXES];
	size_t reach = literals->reach > few->reach ? literals->reach : few->reach;
	size_t from = guarded_from(search, reach);

	if (vs->guard)
		pairs_find(vs->guard, search->text + from, search->len - from,
			search->text_len - from, search->offset + from, search->sink);
	from = guarded_from(search, regexes->reach);
	for (uint32_t i = 0; i < regexes->count && !search->sink->full; i++)
		try_starts(search, regexes->ids[i], from, search->len);
}

int vectorscan_find(const struct vectorscan *vs, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	struct scratch *own = scratch;
	struct search search = { vs, own->tried, text, len, text_len, offset, sink };
	int rc = 0;

	if (vs->groups[REGEXES].count)
		memset(own->tried, 0, vs->set->count * sizeof(*own->tried));
	for (int i = 0; i < GROUPS && rc == 0; i++)
		rc = scan_group(
			&search, &vs->groups[i], own->hs, i == REGEXES ? on_regex : on_bytes);
	if (rc == 0 && !sink->full)
		search_end(&search);
	if (vs->pairs && rc == 0 && !sink->full)
		pairs_find(vs->pairs, text, len, text_len, offset, sink);
	for (uint32_t i = 0; i < vs->refused_count && rc == 0 && !sink->full; i++)
		try_starts(&search, vs->refused[i], 0, len);
	return rc;
}

/* ---- engine ---- */

struct engine_database {
	struct vectorscan *vectorscan;
	char kernel[96];
};

static int engine_compile(void **database, const struct pattern_set *set, struct error *error)
{
	struct engine_database *made = xcalloc(1, sizeof(*made));
	uint32_t *ids = xcalloc(set->count, sizeof(*ids));
	struct matcher_part parts[VECTORSCAN_PARTS];

	(void)error;
	for (uint32_t id = 0; id < set->count; id++)
		ids[id] = id;
	made->vectorscan = vectorscan_new(set, ids, set->count);
	free(ids);
	vectorscan_describe(made->vectorscan, parts);
	matcher_describe(made->kernel, sizeof(made->kernel), parts, VECTORSCAN_PARTS);
	*database = made;
	return 0;
}

static void engine_free(void *database)
{
	vectorscan_free(((struct engine_database *)database)->vectorscan);
	free(database);
}

static void *engine_scratch_new(const void *database)
{
	return vectorscan_scratch_new(((const struct engine_database *)database)->vectorscan);
}

static int engine_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	return vectorscan_find(((const struct engine_database *)database)->vectorscan, scratch,
		text, len, text_len, offset, sink);
}

static const char *engine_kernel(const void *database)
{
	return ((const struct engine_database *)database)->kernel;
}

static const struct matcher vectorscan_matcher = {
	.name = "vectorscan",
	.compile = engine_compile,
	.free = engine_free,
	.scratch_new = engine_scratch_new,
	.scratch_free = vectorscan_scratch_free,
	.find = engine_find,
	.kernel = engine_kernel,
};

static int vectorscan_probe(char *reason, size_t len)
{
	if (hs_valid_platform() == HS_SUCCESS)
		return 0;
	snprintf(reason, len, "this processor lacks instructions that Vectorscan needs (SSSE3)");
	return -ENOTSUP;
}

static int vectorscan_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &vectorscan_matcher, set, options, error);
}

const struct scan_engine vectorscan_engine = {
	.name = "vectorscan",
	.summary = "Vectorscan (or Hyperscan) alone, to be compared with cpu",
	.probe = vectorscan_probe,
	.open = vectorscan_open,
	CPU_SCAN_CALLS,
};
