/*
 * The engine `dpac`: DPAC_OMP of Lin et al. (sections III and 6.1), data-parallel Aho-Corasick. A
 * chunk is cut into one segment for each OpenMP thread, which walks the machine with its failure
 * transitions (section II: it is "different from the DFA") through it, and past its end as long as a
 * pattern that began in it may still end. The paper continues for the longest pattern's length - 1,
 * whatever the state.
 *
 * `dpac-dfa` is the same with the complete automaton, which looks up once for each byte: what a
 * processor gains by it.
 */
#include "gpu/papers/cpu_ac.h"

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &nfa_sequential, set, error);
}

static int compile_dfa(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &ac_sequential, set, error);
}

static const struct matcher matcher = {
	.name = "dpac",
	.team = TEAM_SEGMENTS,
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

static const struct matcher matcher_dfa = {
	.name = "dpac-dfa",
	.team = TEAM_SEGMENTS,
	.compile = compile_dfa,
	SEQUENTIAL_MATCHER,
};

static int open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &matcher, set, options, error);
}

static int open_dfa(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &matcher_dfa, set, options, error);
}

const struct scan_engine dpac_engine = {
	.name = "dpac",
	.summary = "Aho-Corasick with failure transitions, a segment a thread, with OpenMP; for "
		   "comparison",
	.probe = sequential_probe,
	.open = open,
	CPU_SCAN_CALLS,
	.comparison = true,
};

const struct scan_engine dpac_dfa_engine = {
	.name = "dpac-dfa",
	.summary = "the same with a complete automaton (DFA); for comparison",
	.probe = sequential_probe,
	.open = open_dfa,
	CPU_SCAN_CALLS,
	.comparison = true,
};
