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
	bool round_robin; /* nfa-r16, nfa-cw: fetched words are stored in turns (section 4.2.2) */
	struct automaton automaton;
};

/* On a device: the texture objects of the three tables, algorithm 8's tex_state_transition,
 * tex_state_supply and tex_state_final. */
struct nfa_textures {
	unsigned long long transition, supply, finals;
};

struct nfa_view {
	const struct nfa_tables *tables;
	bool textured; /* a constant to the compiler */
	const struct nfa_textures *textures;
};

GPU_INLINE uint32_t nfa_transition(const struct nfa_view *view, uint32_t state, uint8_t byte)
{
	size_t at = (size_t)state * 256 + byte;
#ifdef __CUDA_ARCH__
	if (view->textured)
		return tex1Dfetch<uint32_t>(view->textures->transition, (int)at);
#endif
	return view->tables->transition[at];
}

GPU_INLINE uint32_t nfa_supply(const struct nfa_view *view, uint32_t state)
{
#ifdef __CUDA_ARCH__
	if (view->textured)
		return tex1Dfetch<uint32_t>(view->textures->supply, (int)state);
#endif
	return view->tables->supply[state];
}

GPU_INLINE uint32_t nfa_final(const struct nfa_view *view, uint32_t state)
{
#ifdef __CUDA_ARCH__
	if (view->textured)
		return tex1Dfetch<uint32_t>(view->textures->finals, (int)state);
#endif
	return view->tables->finals[state];
}

/* The while loop of algorithm 3. */
GPU_INLINE uint32_t nfa_next(const struct nfa_view *view, uint32_t state, uint8_t byte)
{
	uint32_t next;
	while ((next = nfa_transition(view, state, byte)) == NFA_FAIL)
		state = nfa_supply(view, state);
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
GPU_INLINE void nfa_search(const struct nfa_view *view, const struct subchunk *own,
	const struct gpu_text *text, const struct subchunk_output *output)
{
	const struct nfa_tables *tables = view->tables;
	uint32_t state = 0, at = own->begin;
	uint32_t stop = subchunk_stop(own, tables->longest, text);
	for (; at < own->end; at++) {
		state = nfa_next(view, state, subchunk_byte(own, at));
		uint32_t matches = nfa_final(view, state);
		if (output->counting)
			*output->matches += matches;
		else if (matches)
			nfa_report(tables, state, at + 1, own, text, output);
	}
	for (; at < stop; at++) {
		state = nfa_next(view, state, subchunk_byte(own, at));
		if (nfa_final(view, state))
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
/* For nfa-tc: refuses a set whose tables are larger than a texture. */
int nfa_compile_textured(struct gpu_program **program, const struct pattern_set *set,
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
