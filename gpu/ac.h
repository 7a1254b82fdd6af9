/*
 * Aho-Corasick: what one thread does (for device and host), and making the automaton. ac.cu
 * explains it.
 *
 * The automaton searches keywords (patterns/keywords.h); where one is found, its patterns are confirmed.
 */
#ifndef BURIN_GPU_AC_H
#define BURIN_GPU_AC_H

#include "gpu/automaton.h"

struct ac_tables {
	const uint16_t *next16; /* state_count rows of `columns` states; NULL when there are more
				   than 65,536 */
	const uint32_t *next32; /* the same for more */
	const uint8_t *classes; /* 256: the column of a byte */
	const uint16_t *depths; /* of each state: the matched length of a keyword */
	uint32_t columns;
	struct automaton automaton;
};

/* How a kernel holds the tables: constants to the compiler. */
struct ac_view {
	const void *rows;       /* the first hot rows, in shared memory */
	const uint8_t *classes; /* in shared memory */
	uint32_t hot;           /* how many rows there are */
	bool all_hot;           /* all of them */
	bool wide;              /* states have 32 bits */
	bool direct;            /* a column for every byte value: no classes */
};

GPU_INLINE uint32_t ac_next(
	const struct ac_tables *tables, const struct ac_view *view, uint32_t state, uint8_t byte)
{
	uint32_t column = view->direct ? byte : view->classes[byte];
	uint32_t columns = view->direct ? 256 : tables->columns;
	if (view->all_hot || state < view->hot) {
		uint32_t at = state * columns + column;
		return view->wide ? ((const uint32_t *)view->rows)[at]
				  : ((const uint16_t *)view->rows)[at];
	}
	size_t at = (size_t)state * columns + column;
	return view->wide ? tables->next32[at] : tables->next16[at];
}

/* After a thread's own bytes: continues from `state` at own_end as long as a keyword that began
 * before it may still end. near: the text from near_begin to near_end in nearer memory; it may be
 * empty. */
GPU_INLINE void ac_finish(const struct ac_tables *tables, const struct ac_view *view,
	uint32_t state, uint32_t own_end, const uint8_t *near, uint32_t near_begin,
	uint32_t near_end, const struct gpu_text *text, const struct gpu_hits *hits)
{
	for (uint32_t at = own_end; state && at < text->len && tables->depths[state] > at - own_end;
		at++) {
		uint8_t byte = at < near_end ? near[at - near_begin] : text->bytes[at];
		state = ac_next(tables, view, state, byte);
		if (state >= tables->automaton.accepting)
			automaton_report(&tables->automaton, state, at + 1, own_end, text, hits);
	}
}

/* The plain form: all keywords that begin in [begin, own_end). */
GPU_INLINE void ac_search(const struct ac_tables *tables, const struct ac_view *view,
	uint32_t begin, uint32_t own_end, const struct gpu_text *text, const struct gpu_hits *hits)
{
	uint32_t state = 0;
	for (uint32_t at = begin; at < own_end; at++) {
		state = ac_next(tables, view, state, text->bytes[at]);
		if (state >= tables->automaton.accepting)
			automaton_report(&tables->automaton, state, at + 1, own_end, text, hits);
	}
	ac_finish(tables, view, state, own_end, NULL, 0, 0, text, hits);
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel rows (gpu/kernel.h). */
int ac_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void ac_free(struct gpu_program *program);
double ac_cost(const struct gpu_program *program);
void ac_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct ac_tables *ac_tables(const struct gpu_program *program);
/* The largest limit of the keywords' length, `longest` (4096, 64, ...) at most, that
 * guarantees at most states_max states; 2, which makes 65,793 at most, if none does. */
uint32_t ac_longest(const struct pattern_set *set, uint32_t longest, uint64_t states_max);
#ifdef __CUDACC__
}
#else
#include "patterns/trie.h"

/* The automaton of keywords of at most `longest` bytes; ac_free when done. */
struct gpu_program *ac_make(
	const struct pattern_set *set, uint32_t longest, enum trie_columns columns);
#endif

#endif
