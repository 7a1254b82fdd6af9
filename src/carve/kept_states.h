/*
 * The states that a check saves (view_save), so that another check can go on from one: the last one of each part of the file, and
 * of these the last KEPT_STATES_MAX. One thread.
 */
#ifndef BURIN_CARVE_KEPT_STATES_H
#define BURIN_CARVE_KEPT_STATES_H

#include "carvers/carver.h"

#define KEPT_STATES_MAX 64

struct kept_state;

/* Zero-initialise: then nothing is kept. */
struct kept_states {
	struct kept_state *items; /* KEPT_STATES_MAX of them, a ring; NULL: never wanted */
	uint64_t count;   /* saved since kept_states_want, those that were dropped included */
	uint64_t spacing; /* bytes of a part; 0: nothing is kept */
};

/* Drops what is kept. From now on states are kept, of each `spacing` bytes of the file (at least 1) the last one; 0: none. */
void kept_states_want(struct kept_states *states, uint64_t spacing);
/* Keeps a copy, if states are wanted. Offsets do not decrease from call to call. */
void kept_states_add(struct kept_states *states, const struct carve_state *state);
/* Moves them to `to`, which has room for KEPT_STATES_MAX, in order of offset; the caller frees their data. Returns how many. */
size_t kept_states_take(struct kept_states *states, struct carve_state *to);
/* The last one at or before offset, or NULL. Valid until the next call that changes them. */
const struct carve_state *kept_states_before(const struct kept_states *states, uint64_t offset);
void kept_states_free(struct kept_states *states);

#endif
