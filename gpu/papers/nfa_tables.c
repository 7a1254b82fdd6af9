/* Makes the tables of gpu/papers/nfa.h from the trie of the keywords. */
#include "gpu/papers/nfa.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "patterns/trie.h"
#include "scan/gpu_options.h"

#define STATES_MAX (1u << 20) /* a row of the transition table is a KiB */
/* A linear texture has 2^27 texels, so 2^19 rows. */
#define TEXTURE_STATES_MAX (1u << 19)

struct nfa_program {
	struct nfa_tables tables;
};

const struct nfa_tables *nfa_tables(const struct gpu_program *program)
{
	return &((const struct nfa_program *)program)->tables;
}

/* The patterns that end in an accepting state: its own keyword's, and its suffixes'. */
static uint32_t count_patterns(const struct automaton *automaton, uint32_t state)
{
	uint32_t count = 0;

	while (state) {
		struct automaton_output output = automaton->outputs[state - automaton->accepting];

		count += automaton->found.keywords[output.keyword].count;
		state = output.link;
	}
	return count;
}

static void make_tables(struct nfa_tables *tables, const struct trie *trie, const uint32_t *number)
{
	uint32_t *transition = xcalloc(trie->state_count, 256 * sizeof(*transition));
	uint32_t *supply = xcalloc(trie->state_count, sizeof(*supply));
	uint32_t *finals = xcalloc(trie->state_count, sizeof(*finals));

	for (uint32_t state = 0; state < trie->state_count; state++) {
		uint32_t *row = transition + (size_t)number[state] * 256;

		for (unsigned byte = 0; byte < 256; byte++) {
			uint32_t next = trie_next(trie, state, (uint8_t)byte);

			row[byte] = next != TRIE_NONE ? number[next] : state ? NFA_FAIL : 0;
		}
		supply[number[state]] = number[trie->fail[state]];
		if (number[state] >= tables->automaton.accepting)
			finals[number[state]] = count_patterns(&tables->automaton, number[state]);
	}
	tables->transition = transition;
	tables->supply = supply;
	tables->finals = finals;
}

static void build(struct nfa_tables *tables, const struct keyword_set *keywords,
	const struct pattern_set *set)
{
	struct trie trie;
	uint32_t *number;

	trie_grow(&trie, keywords, TRIE_CLASSES, false);
	trie_link(&trie);
	number = xcalloc(trie.state_count, sizeof(*number));
	automaton_build(&tables->automaton, number, &trie, keywords, set);
	make_tables(tables, &trie, number);
	tables->longest = keywords->longest ? keywords->longest : 1;
	free(number);
	trie_free(&trie);
}

/* ---- the rows' functions ---- */

static int compile(struct gpu_program **program, const struct pattern_set *set, uint32_t states_max,
	const struct gpu_tuning *tuning, struct error *error)
{
	struct keyword_set keywords;
	struct nfa_program *nfa;
	uint64_t states;

	keywords_make(&keywords, set, SUBCHUNK_KEYWORD_MAX);
	states = keywords_states(&keywords);
	if (states > states_max) {
		keywords_free(&keywords);
		return error_set(error, EXIT_NO_ENGINE, EINVAL,
			"the kernels nfa have a table of a KiB for each state, and the %llu states "
			"of this set make one that does not fit: %u can be",
			(unsigned long long)states, states_max);
	}
	nfa = xcalloc(1, sizeof(*nfa));
	build(&nfa->tables, &keywords, set);
	nfa->tables.round_robin = tuning && tuning->round_robin;
	keywords_free(&keywords);
	*program = (struct gpu_program *)nfa;
	return 0;
}

int nfa_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	return compile(program, set, STATES_MAX, tuning, error);
}

int nfa_compile_textured(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	return compile(program, set, TEXTURE_STATES_MAX, tuning, error);
}

void nfa_free(struct gpu_program *program)
{
	struct nfa_program *nfa = (struct nfa_program *)program;

	if (!nfa)
		return;
	free((void *)nfa->tables.transition);
	free((void *)nfa->tables.supply);
	free((void *)nfa->tables.finals);
	automaton_free(&nfa->tables.automaton);
	free(nfa);
}

void nfa_describe(const struct gpu_program *program, char *text, size_t len)
{
	snprintf(text, len, "nfa (%u states, goto and supply)",
		nfa_tables(program)->automaton.state_count);
}

void nfa_run(
	const struct gpu_program *program, const struct gpu_text *text, const struct gpu_hits *hits)
{
	const struct nfa_tables *tables = nfa_tables(program);
	struct subchunk all = { text->from, found_end(&tables->automaton.found, text), text->bytes,
		0 };
	struct nfa_view view = { .tables = tables };
	struct subchunk_output output = { false, NULL, hits };

	nfa_search(&view, &all, text, &output);
}
