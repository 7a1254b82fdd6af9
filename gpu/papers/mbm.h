/*
 * Multipattern Boyer-Moore after Commentz-Walter (ICALP 1979), as Zha and Sahni use it: what one
 * thread does, for device and host. mbm.cu explains it.
 *
 * The trie of the reversed keywords is followed from the end of a window backwards. v is the node
 * that was reached, d(v) its depth, w(v) the bytes that lead to it.
 *   char(c)    the least depth at which a keyword has the byte c, counted from its end; one more
 *              than the shortest keyword's length if that is less
 *   shift1(v)  the least d(v') - d(v) over the nodes v' whose w(v') ends with w(v), or the
 *              shortest keyword's length. 1 for the root
 *   shift2(v)  the same over those v' that are whole keywords, and over what holds for v's parent;
 *              the shortest keyword's length for the root
 * A keyword that ends k bytes after the window's end either covers the bytes seen and the byte c
 * before them (so k >= shift1(v), and c is in it at depth k + d(v) + 1 >= char(c)), or begins within
 * them (so k >= shift2(v)). So the window moves by
 *     min(max(shift1(v), char(c) - d(v) - 1), shift2(v)).
 * shift1 is not handed down as shift2 is: it would be the root's 1 everywhere.
 */
#ifndef BURIN_GPU_PAPERS_MBM_H
#define BURIN_GPU_PAPERS_MBM_H

#include "gpu/automaton.h"
#include "gpu/papers/zha.h"

struct mbm_shift {
	uint16_t first, second; /* shift1 and shift2 */
};

struct mbm_tables {
	/* state_count rows of ZHA_COLUMNS children; 0: none, as the root is never a child. */
	const uint16_t *next16;         /* NULL when there are more than 65,536 nodes */
	const uint32_t *next32;         /* the same for more */
	const struct mbm_shift *shifts; /* of each node */
	const uint16_t *chars;          /* 256 */
	uint32_t shortest, longest;     /* keyword, bytes; 0 when there are none */
	/* Accepting are the nodes at which a keyword starts: its own, or one that is a prefix of
	 * what the node spells when read forwards; in the trie, a suffix. They are numbered after
	 * all others. */
	struct automaton automaton;
};

struct mbm_view {
	const struct mbm_tables *tables;
	const struct gpu_text *text;
	const struct gpu_hits *hits;    /* NULL: nodes are wanted */
	void *nodes;                    /* of the thread's own bytes */
	const struct mbm_shift *shifts; /* in shared memory, or not */
	const uint16_t *chars;          /* in shared memory */
	unsigned long long texture;     /* of the trie */
	/* Constants to the compiler: */
	bool in_texture;
	bool wide; /* nodes have 32 bits */
};

GPU_INLINE uint32_t mbm_next(const struct mbm_view *view, uint32_t node, uint8_t byte)
{
	size_t at = (size_t)node * ZHA_COLUMNS + byte;
#ifdef __CUDA_ARCH__
	if (view->in_texture)
		return view->wide ? tex1Dfetch<uint32_t>(view->texture, (int)at)
				  : tex1Dfetch<uint16_t>(view->texture, (int)at);
#endif
	return view->wide ? view->tables->next32[at] : view->tables->next16[at];
}

/* Reports all keywords that start where an accepting node was left in the array of nodes. */
GPU_INLINE void mbm_report_node(const struct automaton *automaton, uint32_t node, uint32_t start,
	const struct gpu_text *text, const struct gpu_hits *hits)
{
	while (node) {
		struct automaton_output output = automaton->outputs[node - automaton->accepting];
		found_report(&automaton->found, automaton->found.keywords[output.keyword], start,
			text, hits);
		node = output.link;
	}
}

/* A node was reached at byte k, which is the thread's own. Section 3.1: the output is the last node
 * visited at a byte over all windows, accepting or not; a node of a later window spells more than
 * those before at the same byte, so its list has their keywords, too. As hits: of an accepting
 * node's keywords those that are shorter have been found before, from windows that ended nearer, and
 * only that of its own is new. */
GPU_INLINE void mbm_visit(const struct mbm_view *view, const struct zha_window *window,
	uint32_t node, uint32_t depth, uint32_t k)
{
	const struct automaton *automaton = &view->tables->automaton;
	if (!view->hits) {
		zha_store(view->nodes, view->wide, k, node);
		return;
	}
	if (node < automaton->accepting)
		return;
	uint32_t number = automaton->outputs[node - automaton->accepting].keyword;
	struct found_keyword keyword = automaton->found.keywords[number];
	if (keyword.len == depth)
		found_report(&automaton->found, keyword, window->at + k, view->text, view->hits);
}

/* How far the window moves from a node that has no child by byte c. */
GPU_INLINE uint32_t mbm_shift(struct mbm_shift shift, uint32_t occurs, uint32_t depth)
{
	uint32_t far = occurs > depth + 1 ? occurs - depth - 1 : 0;
	if (far < shift.first)
		far = shift.first;
	return far < shift.second ? far : shift.second;
}

/* All keywords that start in the thread's own bytes; `bytes` are its window's. Where the window
 * begins there is no such byte: keywords that cover more are not the thread's, so only shift2
 * counts. */
GPU_INLINE void mbm_search(
	const struct mbm_view *view, const struct zha_window *window, const uint8_t *bytes)
{
	const struct mbm_tables *tables = view->tables;
	if (!tables->shortest)
		return;
	for (uint32_t end = tables->shortest; end <= window->last;) {
		uint32_t node = 0, k = end, child = 0;
		uint8_t byte = 0;
		while (k) {
			byte = bytes[k - 1];
			child = mbm_next(view, node, byte);
			if (!child)
				break;
			node = child;
			k--;
			if (k < window->own)
				mbm_visit(view, window, node, end - k, k);
		}
		struct mbm_shift shift = view->shifts[node];
		end += k ? mbm_shift(shift, view->chars[byte], end - k) : shift.second;
	}
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

int mbm_compile(struct gpu_program **program, unsigned stage, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void mbm_free(struct gpu_program *program);
void mbm_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct mbm_tables *mbm_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
