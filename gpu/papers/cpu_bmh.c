/* The engine `bmh`: Boyer-Moore-Horspool on the processor, Han's algorithm 1; with one thread, the
 * serial program that his kernel is compared with. A pass over the text for each pattern. */
#include "gpu/papers/bmh.h"

#include <stdio.h>

#include "gpu/papers/cpu_sequential.h"

static void search(
	const struct gpu_program *program, const struct gpu_text *text, const struct gpu_hits *hits)
{
	struct bmh_out out = { .hits = hits };

	bmh_search(bmh_tables(program), text->from, text->to, text, &out);
}

static void describe(const struct gpu_program *program, char *text, size_t len)
{
	snprintf(text, len, "bmh (%u passes)", bmh_tables(program)->count);
}

static const struct sequential algorithm = { bmh_compile, bmh_free, describe, search };

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &algorithm, set, error);
}

static const struct matcher matcher = {
	.name = "bmh",
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

static int open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &matcher, set, options, error);
}

const struct scan_engine bmh_engine = {
	.name = "bmh",
	.summary = "Boyer-Moore-Horspool, a pass for each pattern; for comparison",
	.probe = sequential_probe,
	.open = open,
	CPU_SCAN_CALLS,
	.comparison = true,
};
