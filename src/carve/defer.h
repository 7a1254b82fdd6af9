/*
 * Which checks are better put off. Checks run in parallel and defer of the decisions, but most
 * candidates inside an archive of a thousand members start files that nobody will want once the
 * archive is found complete, and each would be walked to the archive's end. So a check tells how
 * far it has got, and whatever starts in between waits for what becomes of it: its own check is not
 * begun, or given up. Nothing here changes a result: what was put off and turns out not to be
 * hidden is checked after all.
 */
#ifndef BURIN_CARVE_DEFER_H
#define BURIN_CARVE_DEFER_H

#include <stdbool.h>
#include <stdint.h>

#include "carve/check.h"

/* Most checks end after one look; nobody need wait for those. */
#define DEFER_LONG_CHECK (64 * 1024)

struct defer;

/* workers: how many threads check. nested: nothing hides anything, so nothing is put off.
 * rule_count: candidates' rules are below it. */
struct defer *defer_new(unsigned workers, bool nested, uint32_t rule_count);
/* NULL is fine. */
void defer_free(struct defer *defer);

/* It was decided, here or in another process, that what starts before this offset is hidden.
 * From any thread. */
void defer_hide(struct defer *defer, uint64_t until);
uint64_t defer_hidden_until(const struct defer *defer);

/* A worker is about to check the candidate; false: put it off. force: only when it is hidden.
 * Several may be begun before one defer_end. */
bool defer_begin(
	struct defer *defer, unsigned worker, const struct candidate *candidate, bool force);
/* Its check has read to this offset of the image; false: give it up. */
bool defer_progress(struct defer *defer, unsigned worker, uint64_t reached);
/* For a check in another process: that of the candidate at start has read to this offset. From any
 * thread. */
void defer_remote_progress(struct defer *defer, unsigned worker, uint64_t start, uint64_t reached);
/* It is over; until: what starts before this should wait until it is decided on; 0 for nothing. */
void defer_end(struct defer *defer, unsigned worker, uint64_t until);
/* That of an outcome: the end of a complete file, or behind the last part of another. */
uint64_t defer_covered_until(
	struct defer *defer, const struct candidate *candidate, const struct outcome *outcome);
/* All of it: check_candidate between defer_begin and defer_end. view: one that asks defer_progress
 * (view_watch). False: the check is put off, and there is no outcome. */
bool defer_check(struct defer *defer, unsigned worker, struct view *view, struct image *image,
	const struct rule *rule, const struct candidate *candidate, bool force,
	struct outcome *outcome);

#endif
