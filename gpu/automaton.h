/*
 * What accepting states mean, for all kernels that walk an Aho-Corasick automaton, in whatever form
 * its transitions are. States are numbered by depth, the root 0, and accepting states after all
 * others, so that one comparison finds them.
 */
#ifndef BURIN_GPU_AUTOMATON_H
#define BURIN_GPU_AUTOMATON_H

#include "gpu/found.h"

/* The matches of an accepting state: a keyword, and those of a shorter accepting state. */
struct automaton_output {
	uint32_t keyword;
	uint32_t link; /* accepting state, or 0 */
};

struct automaton {
	const struct automaton_output *outputs; /* of the accepting states */
	uint32_t state_count;
	uint32_t accepting; /* this state and those after it accept */
	struct found found;
};

/* Reports the keywords of an accepting state that was reached before `end` (exclusive), those that
 * begin before own_end. */
GPU_INLINE void automaton_report(const struct automaton *automaton, uint32_t state, uint32_t end,
	uint32_t own_end, const struct gpu_text *text, const struct gpu_hits *hits)
{
	while (state) {
		struct automaton_output output = automaton->outputs[state - automaton->accepting];
		struct found_keyword keyword = automaton->found.keywords[output.keyword];
		if (end - keyword.len < own_end)
			found_report(
				&automaton->found, keyword, (int64_t)end - keyword.len, text, hits);
		state = output.link;
	}
}

#ifndef __CUDACC__
#include "patterns/trie.h"

/* Numbers the states of a linked trie and makes the outputs. number (out, state_count elements, the
 * caller's): the number of each of the trie's states. automaton_free when done. */
void automaton_build(struct automaton *automaton, uint32_t *number, const struct trie *trie,
	const struct keyword_set *keywords, const struct pattern_set *set);
void automaton_free(struct automaton *automaton);
#endif

#endif
