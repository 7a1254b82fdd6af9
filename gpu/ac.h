/*
 * Aho-Corasick: what one thread does (for device and host), and the making of the automaton. The
 * essay is in ac.cu.
 *
 * The automaton searches keywords: of each pattern the whole, if no bit of it is wild, or else a
 * run of its bytes in which wild bits can be written out in few variants (letters without case,
 * say). A keyword's match is then confirmed with the whole pattern.
 */
#ifndef BURIN_GPU_AC_H
#define BURIN_GPU_AC_H

#include "gpu/confirm.h"

struct ac_record {
	uint32_t pattern;
	uint16_t back;        /* of the keyword in the pattern, bytes */
	uint16_t keyword_len; /* bytes */
	uint32_t exact;       /* the keyword is the whole pattern: no need to compare */
};

/* What an accepting state has found: records of its own, and those of a shorter accepting state. */
struct ac_output {
	uint32_t first, count;
	uint32_t link; /* accepting state, or 0 */
};

struct ac_tables {
	const uint16_t *next16; /* state_count rows of `columns` states; NULL when there are more
				   than 65,536 */
	const uint32_t *next32; /* the same for more */
	const uint8_t *classes; /* 256: the column of a byte */
	const uint16_t *depths; /* of each state: length of what it has seen of a keyword */
	const struct ac_output *outputs; /* of the accepting states */
	const struct ac_record *records;
	uint32_t state_count, columns, record_count;
	uint32_t accepting; /* states from this on accept; before it they are in order of depth, the
			       root is 0 */
	uint32_t reach; /* a keyword begins at most so many bytes behind the start of its pattern */
	struct confirm confirm; /* patterns and words only */
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

/* Reports the patterns of an accepting state that was reached before `end` (exclusive), with
 * keywords that begin before own_end. */
GPU_INLINE void ac_report(const struct ac_tables *tables, uint32_t state, uint32_t end,
	uint32_t own_end, const struct gpu_text *text, const struct gpu_hits *hits)
{
	while (state) {
		struct ac_output output = tables->outputs[state - tables->accepting];
		for (uint32_t i = 0; i < output.count; i++) {
			struct ac_record record = tables->records[output.first + i];
			if (end - record.keyword_len >= own_end)
				continue;
			int64_t start = (int64_t)end - record.keyword_len - record.back;
			if (!record.exact)
				confirm_start(&tables->confirm, record.pattern, start, text, hits);
			else if (start >= text->from && start < text->to && end <= text->len)
				gpu_hits_add(hits, (uint32_t)start, record.pattern);
		}
		state = output.link;
	}
}

/* Behind a thread's own bytes: goes on from `state` at own_end as long as a keyword that began
 * before it may still end. near: the text from near_begin to near_end in a nearer place; it may be
 * empty. */
GPU_INLINE void ac_finish(const struct ac_tables *tables, const struct ac_view *view,
	uint32_t state, uint32_t own_end, const uint8_t *near, uint32_t near_begin,
	uint32_t near_end, const struct gpu_text *text, const struct gpu_hits *hits)
{
	for (uint32_t at = own_end; state && at < text->len && tables->depths[state] > at - own_end;
		at++) {
		uint8_t byte = at < near_end ? near[at - near_begin] : text->bytes[at];
		state = ac_next(tables, view, state, byte);
		if (state >= tables->accepting)
			ac_report(tables, state, at + 1, own_end, text, hits);
	}
}

/* The plain form: all keywords that begin in [begin, own_end). */
GPU_INLINE void ac_search(const struct ac_tables *tables, const struct ac_view *view,
	uint32_t begin, uint32_t own_end, const struct gpu_text *text, const struct gpu_hits *hits)
{
	uint32_t state = 0;
	for (uint32_t at = begin; at < own_end; at++) {
		state = ac_next(tables, view, state, text->bytes[at]);
		if (state >= tables->accepting)
			ac_report(tables, state, at + 1, own_end, text, hits);
	}
	ac_finish(tables, view, state, own_end, NULL, 0, 0, text, hits);
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct pattern_set;
struct error;

/* The functions of the kernel rows (gpu/kernel.h). */
int ac_compile(struct gpu_program **program, const struct pattern_set *set, struct error *error);
void ac_free(struct gpu_program *program);
double ac_cost(const struct gpu_program *program);
void ac_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct ac_tables *ac_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
