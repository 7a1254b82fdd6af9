/* What a strategy comes to for one file that broke off, in an image in memory and for a made-up format. */
#ifndef BURIN_TEST_STRATEGY_CASE_H
#define BURIN_TEST_STRATEGY_CASE_H

#include "assemble/affinity.h"
#include "assemble/searcher.h"
#include "assemble/strategies.h"

struct strategy_result {
	bool found, exhausted;
	uint64_t length, work_left, tested;
	struct assembly assembly;
};

/* with: the image, its clusters, the work, and what else of the workbench the strategy needs. The extents are the caller's to
 * free. */
static inline struct strategy_result strategy_try(__typeof__(((struct strategy *)0)->find) find,
	const struct workbench *with, const struct carver *carver, const struct broken *broken,
	struct extents *extents)
{
	static char name[] = "x";
	const struct rule rule = {
		.name = name, .extension = name, .carver = carver, .max_size = 1 << 20
	};
	struct strategy_result result = { .found = false };
	struct workbench bench = *with;
	struct outcome outcome = { 0 };

	bench.view = view_new();
	bench.rule = &rule;
	bench.searcher = searcher_new(NULL, NULL, bench.clusters);
	bench.samples = affinity_samples_new();
	result.found = find(&bench, broken, extents, &outcome, &result.assembly);
	result.exhausted = bench.exhausted;
	result.length = outcome.length;
	result.work_left = bench.work_left;
	result.tested = bench.tested;
	if (result.found)
		outcome_free(&outcome);
	view_free(bench.view);
	affinity_samples_free(bench.samples);
	searcher_free(bench.searcher);
	return result;
}

#endif
