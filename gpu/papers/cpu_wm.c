/* The engine `wm`: Wu-Manber as Kouzinopoulos et al. have it on the CPU (their algorithm 5); see
 * gpu/papers/wm.cu. */
#include "gpu/papers/wm.h"
#include "gpu/papers/cpu_sequential.h"

static const struct sequential wm_algorithm = { wm_compile, wm_free, wm_describe, wm_run };

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &wm_algorithm, set, error);
}

static const struct matcher wm_matcher = {
	.name = "wm",
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

static int open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &wm_matcher, set, options, error);
}

const struct scan_engine wm_engine = {
	.name = "wm",
	.summary = "Wu-Manber with blocks of three bytes; for comparison",
	.probe = sequential_probe,
	.open = open,
	CPU_SCAN_CALLS,
	.comparison = true,
};
