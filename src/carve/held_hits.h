/*
 * Hits before they are paired. Most hits of a rule set with carvers are short headers inside files that a check finds: kept
 * here, at 16 bytes each, until the file is decided on, they are then counted and forgotten, without becoming candidates.
 * Only those of rules whose candidates follow from the hit alone can be; others are paired in their order.
 *
 * The candidates that likely are files are known at once (carve/schedule.h). One thread.
 */
#ifndef BURIN_CARVE_HELD_HITS_H
#define BURIN_CARVE_HELD_HITS_H

#include "carve/pair.h"

struct held_hits;

/* The pairing, to which the hits go, and its rules stay the caller's. */
struct held_hits *held_hits_new(const struct rules *rules, struct pairing *pairing);
/* NULL is fine. */
void held_hits_free(struct held_hits *held);

/* A hit, as for pairing_checked_hit. All rejections of a pattern's hits are of one rule. */
void held_hits_add(struct held_hits *held, uint64_t offset, uint32_t pattern, uint32_t match_len,
	uint32_t rule, uint32_t rejection);
/* All hits that start before position were added. */
void held_hits_advance(struct held_hits *held, uint64_t position);
/* There are no more hits. */
void held_hits_finish(struct held_hits *held);

/* All candidates that start before the position are hidden, and those before the first held hit were taken from the
 * pairing: forgets what would be candidates, gives the rest of these hits to the pairing. Returns how many were forgotten. */
uint64_t held_hits_skip(struct held_hits *held, uint64_t position);
/* Gives the first hit to the pairing, with all at its place; or, if there is none, what was said by held_hits_advance and
 * held_hits_finish. False: nothing was left to be given. */
bool held_hits_pair(struct held_hits *held);
/* All of them, and the same. */
void held_hits_pair_all(struct held_hits *held);
/* How many there are. */
size_t held_hits_count(const struct held_hits *held);

/* The next candidate that starts at a sector, in order, of hits that were added: it may be hidden, or taken from the pairing
 * already. False: there is none for now. */
bool held_hits_next_early(struct held_hits *held, struct candidate *candidate);

#endif
