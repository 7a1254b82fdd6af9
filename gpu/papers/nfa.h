/*
 * Aho-Corasick with goto and supply functions, after Kouzinopoulos et al., algorithms 1 to 3: what
 * one thread does (for device and host), and making the tables. nfa.cu explains it.
 */
#ifndef BURIN_GPU_PAPERS_NFA_H
#define BURIN_GPU_PAPERS_NFA_H

#include "gpu/automaton.h"
#include "gpu/papers/subchunk.h"

#define NFA_FAIL UINT32_MAX

/* Their three tables, and what accepting states mean. */
struct nfa_tables {
	const uint32_t *transition; /* state_transition: a row of 256 for each state, NFA_FAIL where
				       there is none; of state 0, q0, none fails */
	const uint32_t *supply;     /* state_supply */
	const uint32_t *finals;     /* state_final: how many patterns end here */
	uint32_t longest;           /* keyword, bytes */
	struct automaton automaton;
};

/* The while loop of algorithm 3. */
GPU_INLINE uint32_t nfa_next(const struct nfa_tables *tables, uint32_t state, uint8_t byte)
{
	uint32_t next;
	while ((next = tables->transition[(size_t)state * 256 + byte]) == NFA_FAIL)
		state = tables->supply[state];
	return next;
}

/* Reports the keywords that end before `end` in an accepting state, those of the thread's own. */
GPU_INLINE void nfa_report(const struct nfa_tables *tables, uint32_t state, uint32_t end,
	const struct subchunk *own, const struct gpu_text *text,
	const struct subchunk_output *output)
{
	const struct automaton *automaton = &tables->automaton;
	if (!output->counting) {
		automaton_report(automaton, state, end, own->end, text, output->hits);
		return;
	}
	while (state) {
		struct automaton_output found = automaton->outputs[state - automaton->accepting];
		struct found_keyword keyword = automaton->found.keywords[found.keyword];
		if (end - keyword.len < own->end)
			*output->matches += keyword.count;
		state = found.link;
	}
}

/* Algorithm 6, and the search of algorithm 8: the own bytes, then the m - 1 after them, of which
 * only those keywords count that started before. */
GPU_INLINE void nfa_search(const struct nfa_tables *tables, const struct subchunk *own,
	const struct gpu_text *text, const struct subchunk_output *output)
{
	uint32_t state = 0, at = own->begin;
	uint32_t stop = subchunk_stop(own, tables->longest, text);
	for (; at < own->end; at++) {
		state = nfa_next(tables, state, subchunk_byte(own, at));
		if (output->counting)
			*output->matches += tables->finals[state];
		else if (tables->finals[state])
			nfa_report(tables, state, at + 1, own, text, output);
	}
	for (; at < stop; at++) {
		state = nfa_next(tables, state, subchunk_byte(own, at));
		if (tables->finals[state])
			nfa_report(tables, state, at + 1, own, text, output);
	}
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel rows (gpu/kernel.h) and of the CPU engine (gpu/papers/cpu_sequential.h). */
int nfa_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void nfa_free(struct gpu_program *program);
void nfa_describe(const struct gpu_program *program, char *text, size_t len);
/* All of the text by one thread. */
void nfa_run(const struct gpu_program *program, const struct gpu_text *text,
	const struct gpu_hits *hits);
/* The tables in host memory. */
const struct nfa_tables *nfa_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
