/* Numbers in the papers' tables that need no clock: of the algorithms' own tables and steps.
 * gpu/papers/paper_counts.c implements this. */
#ifndef BURIN_SCAN_GPU_PAPERS_H
#define BURIN_SCAN_GPU_PAPERS_H

#include <stddef.h>
#include <stdint.h>

#include "scan/gpu_options.h"

struct pattern_set;

/* L of Lin and others, section 6.2: how many transitions all threads of PFAC look up in the text.
 * 0: it does not take the set. */
double paper_pfac_lookups(const struct pattern_set *set, const uint8_t *text, size_t len);

/* The numbers of Tables 2, 3 and 4 of Tran, Lee and Choi for a set shared by several automata. */
struct paper_automata {
	double states, len; /* of all automata; bytes */
	unsigned count;     /* automata; fewer than wanted where some would be empty */
	unsigned part_states[GPU_PARTS_MAX];
	double average_len; /* of a keyword, bytes */
	double seconds;     /* to distribute the set and to build, on one processor */
};

/* Builds the automata. -1: the set does not suit. */
int paper_automata_make(
	struct paper_automata *automata, const struct pattern_set *set, unsigned part_count);

#endif
