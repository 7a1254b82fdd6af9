/*
 * PFAC, the parallel failureless Aho-Corasick algorithm of Lin, Liu, Chien and Chang ("Accelerating
 * Pattern Matching Using a Novel Parallel Algorithm on GPU"): what one thread does, for device and
 * host, and making the machine. pfac.cu explains it.
 *
 * The machine searches keywords (patterns/keywords.h); a match is the number of a keyword + 1, 0 none.
 */
#ifndef BURIN_GPU_PAPERS_PFAC_H
#define BURIN_GPU_PAPERS_PFAC_H

#include "gpu/found.h"

/* The state for a missing transition, in entries of 32 and of 16 bits. The paper has -1. */
#define PFAC_TRAP UINT32_MAX
#define PFAC_TRAP_MERGED 0xffffu

/* More states there are not: the table is 2^27 entries then, which is what a texture over linear
 * memory may have on every device. */
#define PFAC_STATES_MAX (1u << 19)

struct pfac_tables {
	/* PFAC_table: state_count rows of 256 entries, each the next state; merged: the next state
	 * in the lower 16 bits, and its match in the upper ones. */
	const uint32_t *entries;
	const uint32_t *outputs; /* output_table: the match of each state */
	uint32_t state_count;
	uint32_t initial; /* states below it are final, and no others */
	bool merged;
	struct found found;
};

/* How a kernel holds the tables and the text. Apart from pointers and handles, constants to the
 * compiler. */
struct pfac_view {
	const uint8_t *near; /* the text from near_begin on in shared memory; NULL: none */
	uint32_t near_begin, near_len;
	const uint32_t *first; /* the initial state's row in shared memory; NULL: none */
	bool merged;           /* as in the tables */
	bool reordered;        /* outputs are asked of final states alone */
	bool textured;         /* the tables are read through these */
	unsigned long long entries, outputs;
};

GPU_INLINE uint8_t pfac_byte(const struct pfac_view *view, const struct gpu_text *text, uint32_t at)
{
	if (view->near && at - view->near_begin < view->near_len)
		return view->near[at - view->near_begin];
	return text->bytes[at];
}

GPU_INLINE uint32_t pfac_entry(const struct pfac_tables *tables, const struct pfac_view *view,
	uint32_t state, uint8_t byte)
{
	uint32_t at = state * 256 + byte;
#ifdef __CUDA_ARCH__
	if (view->textured)
		return tex1Dfetch<uint32_t>(view->entries, (int)at);
#endif
	(void)view;
	return tables->entries[at];
}

GPU_INLINE uint32_t pfac_output(
	const struct pfac_tables *tables, const struct pfac_view *view, uint32_t state)
{
	if (view->reordered && state >= tables->initial)
		return 0;
#ifdef __CUDA_ARCH__
	if (view->textured && view->reordered)
		return tex1Dfetch<uint32_t>(view->outputs, (int)state);
#endif
	return tables->outputs[state];
}

/*
 * The thread of the byte at start, which is before text->len: goes from the initial state as far as
 * there are transitions. hits: gets every match, or NULL; match: gets the longest one and is left
 * alone when there is none, or NULL. Returns the bytes that were read, l(start) in the paper.
 */
GPU_INLINE uint32_t pfac_search(const struct pfac_tables *tables, const struct pfac_view *view,
	uint32_t start, const struct gpu_text *text, const struct gpu_hits *hits, uint32_t *match)
{
	uint8_t byte = pfac_byte(view, text, start);
	uint32_t entry =
		view->first ? view->first[byte] : pfac_entry(tables, view, tables->initial, byte);
	for (uint32_t at = start + 1;; at++) {
		uint32_t state = view->merged ? entry & 0xffff : entry;
		if (state == (view->merged ? PFAC_TRAP_MERGED : PFAC_TRAP))
			return at - start;
		uint32_t found = view->merged ? entry >> 16 : pfac_output(tables, view, state);
		if (found && match)
			*match = found;
		if (found && hits)
			found_report(&tables->found, tables->found.keywords[found - 1], start, text,
				hits);
		if (at == text->len)
			return at - start;
		entry = pfac_entry(tables, view, state, pfac_byte(view, text, at));
	}
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel rows (gpu/kernel.h); -ENOMEM alone can come. */
int pfac_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
/* With merged entries, if there are few enough states. */
int pfac_compile_merged(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void pfac_free(struct gpu_program *program);
void pfac_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct pfac_tables *pfac_tables(const struct gpu_program *program);

/* The paper's L: the lookups of all threads whose bytes are in [text->from, text->to), the sum of
 * l(i). text->bytes: host memory. Of any of the programs above. */
uint64_t pfac_lookups(const struct gpu_program *program, const struct gpu_text *text);
#ifdef __CUDACC__
}
#endif

#endif
