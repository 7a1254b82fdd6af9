/*
 * The reference engine: tries every pattern at every byte, and so defines which hits are right. It
 * is simple on purpose: all other engines are tested against it.
 */
#include "scan/matcher.h"

static int reference_compile(void **database, const struct pattern_set *set, struct error *error)
{
	(void)error;
	*database = (void *)set; /* the set itself, which outlives the scan */
	return 0;
}

static void reference_free(void *database)
{
	(void)database;
}

static bool matches(const struct pattern *pattern, const uint8_t *text, size_t len)
{
	return pattern->regex ? pattern_match_len(pattern, text, len) > 0
			      : pattern_matches(pattern, text, len);
}

static int reference_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	const struct pattern_set *set = database;

	(void)scratch;
	for (size_t at = 0; at < len; at++)
		for (uint32_t i = 0; i < set->count; i++)
			if (matches(&set->patterns[i], text + at, text_len - at) &&
				!hit_sink_add(sink, offset + at, i))
				return 0;
	return 0;
}

static const struct matcher reference_matcher = {
	.name = "reference",
	.summary = "every pattern at every byte; slow, for tests",
	.compile = reference_compile,
	.free = reference_free,
	.find = reference_find,
};

static int reference_probe(char *reason, size_t len)
{
	(void)reason;
	(void)len;
	return 0;
}

static int reference_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &reference_matcher, set, options, error);
}

const struct scan_engine reference_engine = {
	.name = "reference",
	.summary = "every pattern at every byte; slow, for tests",
	.probe = reference_probe,
	.open = reference_open,
	CPU_SCAN_CALLS,
};
