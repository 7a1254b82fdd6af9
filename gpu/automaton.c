#include "gpu/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static uint32_t number_states(uint32_t *number, const struct trie *trie)
{
	uint32_t plain = 0, accepting;

	for (uint32_t i = 0; i < trie->state_count; i++)
		if (!trie_accepts(trie, trie->order[i]))
			number[trie->order[i]] = plain++;
	accepting = plain;
	for (uint32_t i = 0; i < trie->state_count; i++)
		if (trie_accepts(trie, trie->order[i]))
			number[trie->order[i]] = accepting++;
	return plain;
}

/* A state that is not a keyword itself reports its longest suffix that is one. */
static struct automaton_output output_of(
	const struct trie *trie, const uint32_t *number, uint32_t state)
{
	uint32_t speller = trie->keywords[state] != TRIE_NONE ? state : trie->output[state];
	uint32_t link = trie->output[speller];

	return (struct automaton_output){ trie->keywords[speller],
		link == TRIE_NONE ? 0 : number[link] };
}

void automaton_build(struct automaton *automaton, uint32_t *number, const struct trie *trie,
	const struct keyword_set *keywords, const struct pattern_set *set)
{
	struct automaton_output *outputs;

	memset(automaton, 0, sizeof(*automaton));
	automaton->state_count = trie->state_count;
	automaton->accepting = number_states(number, trie);
	outputs = xcalloc(trie->state_count - automaton->accepting, sizeof(*outputs));
	for (uint32_t state = 0; state < trie->state_count; state++)
		if (number[state] >= automaton->accepting)
			outputs[number[state] - automaton->accepting] =
				output_of(trie, number, state);
	automaton->outputs = outputs;
	found_build(&automaton->found, keywords, set);
}

void automaton_free(struct automaton *automaton)
{
	free((void *)automaton->outputs);
	found_free(&automaton->found);
	memset(automaton, 0, sizeof(*automaton));
}
