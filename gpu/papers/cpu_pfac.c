/* The engine `pfac`: PFAC_OMP of Lin et al. (gpu/papers/pfac.h), on a team of OpenMP's threads that
 * is scheduled dynamically; a thread of the kernel is a turn of the loop here. */
#include "gpu/papers/pfac.h"
#include "gpu/papers/cpu_sequential.h"

static void search(
	const struct gpu_program *program, const struct gpu_text *text, const struct gpu_hits *hits)
{
	const struct pfac_tables *tables = pfac_tables(program);
	uint32_t end = found_end(&tables->found, text);
	struct pfac_view view = { 0 };

	for (uint32_t at = text->from; at < end && *hits->count <= hits->capacity; at++)
		pfac_search(tables, &view, at, text, hits, NULL);
}

static const struct sequential algorithm = { pfac_compile, pfac_free, pfac_describe, search };

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &algorithm, set, error);
}

static const struct matcher matcher = {
	.name = "pfac",
	.team = TEAM_DYNAMIC,
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

static int open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &matcher, set, options, error);
}

const struct scan_engine pfac_engine = {
	.name = "pfac",
	.summary = "failureless Aho-Corasick from every byte, with OpenMP; for comparison",
	.probe = sequential_probe,
	.open = open,
	CPU_SCAN_CALLS,
	.comparison = true,
};
