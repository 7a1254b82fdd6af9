/*
 * How many bits of checks cover each joint of a file in pieces: a place where one run ends and the next begins (view_proved).
 * One thread.
 */
#ifndef BURIN_CARVE_PROOFS_H
#define BURIN_CARVE_PROOFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ranges.h"

struct joint;

/* Zero-initialise: no joints. */
struct proofs {
	struct joint *joints; /* in order of their places in the file */
	size_t count, capacity;
};

/* The joints of these runs, in file order, which nothing covers yet; with no runs, or one, there are none. */
void proofs_start(struct proofs *proofs, const struct range *runs, size_t run_count);
/* A check covers the bytes [from, to) of the file: counts its bits for the joints inside. */
void proofs_add(struct proofs *proofs, uint64_t from, uint64_t to, unsigned bits);
/* The same if exactly one joint is inside. Returns whether it is. */
bool proofs_add_one(struct proofs *proofs, uint64_t from, uint64_t to, unsigned bits);
/* The bits that were counted for the joint at this place of the file; 0 where there is none. */
unsigned proofs_bits(const struct proofs *proofs, uint64_t at);
void proofs_free(struct proofs *proofs);

#endif
