/* The engine `nfa`: Aho-Corasick with goto and supply functions, as Kouzinopoulos et al. have it on
 * the CPU (their algorithm 3); see gpu/papers/nfa.cu. With one thread it is AC_CPU of Lin et al. */
#include "gpu/papers/nfa.h"
#include "gpu/papers/cpu_ac.h"

const struct sequential nfa_sequential = { nfa_compile, nfa_free, nfa_describe, nfa_run };

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &nfa_sequential, set, error);
}

static const struct matcher nfa_matcher = {
	.name = "nfa",
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

static int open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &nfa_matcher, set, options, error);
}

const struct scan_engine nfa_engine = {
	.name = "nfa",
	.summary = "Aho-Corasick with goto and supply functions; for comparison",
	.probe = sequential_probe,
	.open = open,
	CPU_SCAN_CALLS,
	.comparison = true,
};
