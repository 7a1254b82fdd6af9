/*
 * The default engine of the CPU: Hyperscan's API, as Vectorscan has it, and beside it what is
 * faster or does what it can't. hyperscan_compile.c says which pattern goes which way.
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
#include "scan/hyperscan_compile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Bytes at the end of a text in which Hyperscan is not relied upon. */
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
	struct hit_sink *output_dir;
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
	return !hit_sink_add(search->output_dir, search->offset + start, id);
}

/* Tries the regex at each start of [from, to). False: the output_dir is full. */
static bool try_starts(const struct search *search, uint32_t id, size_t from, size_t to)
{
	const struct pattern *pattern = &search->hs->set->patterns[id];

	for (size_t start = from; start < to; start++)
		if (pattern_match_len(pattern, search->text + start, search->text_len - start) &&
			!hit_sink_add(search->output_dir, search->offset + start, id))
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

	if (!group->database || search->output_dir->full)
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
			search->text_len - from, search->offset + from, search->output_dir);
	from = guarded_from(search, hs->groups[REGEXES].reach);
	for (uint32_t id = 0; id < hs->set->count && hs->groups[REGEXES].count; id++)
		if (hs->set->patterns[id].regex && !search->output_dir->full)
			try_starts(search, id, from, search->len);
}

static int hyperscan_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *output_dir)
{
	const struct hyperscan *hs = database;
	struct scratch *own = scratch;
	struct search search = { hs, own->tried, text, len, text_len, offset, output_dir };
	int rc = 0;

	if (hs->groups[REGEXES].database)
		memset(own->tried, 0, hs->set->count * sizeof(*own->tried));
	if (hs->grams)
		grams_find(hs->grams, text, len, text_len, offset, output_dir);
	if (hs->teddy && !output_dir->full)
		teddy_find(hs->teddy, text, len, text_len, offset, output_dir);
	for (int i = 0; i < GROUPS && rc == 0; i++)
		rc = scan_group(
			&search, &hs->groups[i], own->hs, i == REGEXES ? on_regex : on_bytes);
	if (rc == 0 && !output_dir->full)
		search_end(&search);
	if (hs->pairs && rc == 0 && !output_dir->full)
		pairs_find(hs->pairs, text, len, text_len, offset, output_dir);
	for (uint32_t i = 0; i < hs->stranger_count && rc == 0 && !output_dir->full; i++)
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
	CPU_SCAN_CALLS,
};
