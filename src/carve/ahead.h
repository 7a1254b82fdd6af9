/*
 * Which checks are better put off. Checks run in parallel and ahead of the decisions, but most
 * candidates inside an archive of a thousand members start files that nobody will want once the
 * archive is found complete, and each would be walked to the archive's end. So a check tells how
 * far it has got, and whatever starts in between waits for what becomes of it: its own check is not
 * begun, or given up. Nothing here changes a result: what was put off and turns out not to be
 * hidden is checked after all.
 */
#ifndef BURIN_CARVE_AHEAD_H
#define BURIN_CARVE_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct ahead;

/* workers: how many threads check. nested: nothing hides anything, so nothing is put off. */
struct ahead *ahead_new(unsigned workers, bool nested);
/* NULL is fine. */
void ahead_free(struct ahead *ahead);

/* It was decided that what starts before this offset is hidden. From the deciding thread. */
void ahead_hide(struct ahead *ahead, uint64_t until);

/* A worker is about to check the candidate at start; false: put it off. insist: only when it is
 * hidden. */
bool ahead_begin(struct ahead *ahead, unsigned worker, uint64_t start, bool insist);
/* Its check has read to this offset of the image; false: give it up. */
bool ahead_reach(struct ahead *ahead, unsigned worker, uint64_t reached);
/* It is over; until: what starts before this should wait until it is decided on. The end of a
 * complete file, or behind the last part of another; 0 for nothing. */
void ahead_end(struct ahead *ahead, unsigned worker, uint64_t until);

#endif
