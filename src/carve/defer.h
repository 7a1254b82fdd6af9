/*
 * Which checks are better deferred. Checks run in parallel and ahead of the decisions, but most
 * candidates inside an archive of a thousand members start files that nobody wants once the archive
 * is found complete, and each would be walked to the archive's end. So each check reports how far
 * it has read, and a candidate that starts in between waits until that check has ended: its own
 * check is not begun, or given up. Nothing here changes a result: a deferred candidate that turns
 * out not to be hidden is checked after all.
 */
#ifndef BURIN_CARVE_DEFER_H
#define BURIN_CARVE_DEFER_H

#include <stdbool.h>
#include <stdint.h>

#include "carve/check.h"

/* Bytes. Most checks end after one look; nothing waits for those. */
#define DEFER_LONG_CHECK (64 * 1024)

/* Bytes. Candidates up to here after what a check has read are deferred if they may be its parts:
 * a member of an archive begins as the archive itself does. */
#define DEFER_PARTS_NEAR (16 * 1024 * 1024)

struct defer;

/* workers: how many threads check. nested: nothing hides anything, so nothing is deferred.
 * rule_count: all candidates' rules are below it. */
struct defer *defer_new(unsigned workers, bool nested, uint32_t rule_count);
/* The same, for workers that are in other processes, too. Where there is no such memory they can't share it. */
struct defer *defer_new_shared(unsigned workers, bool nested, uint32_t rule_count);
/* By which another process can share it; -1: none can. It stays this one's. */
int defer_descriptor(const struct defer *defer);
/* In another process; the last three as there. What is hidden it does not share. NULL: there is no memory. */
struct defer *defer_open(int descriptor, unsigned workers, bool nested, uint32_t rule_count);
/* NULL is fine. */
void defer_free(struct defer *defer);

/* It was decided, here or in another process, that what starts before this offset is hidden.
 * From any thread. */
void defer_hide(struct defer *defer, uint64_t until);
uint64_t defer_hidden_until(const struct defer *defer);

/* All that starts before this was decided on: files that were found there cover nothing any more.
 * From any thread. */
void defer_set_decided(struct defer *defer, uint64_t position);

/* Whether a check of the candidate may begin now; force: only when it is hidden it may not. From any thread. */
bool defer_may_begin(const struct defer *defer, const struct candidate *candidate, bool force);
/* Whether one that has begun at start may go on. From any thread. */
bool defer_may_go_on(const struct defer *defer, uint64_t start, bool force);
/* A worker is about to check the candidate; false: the check is to be deferred. Several may begin before one
 * defer_end. */
bool defer_begin(
	struct defer *defer, unsigned worker, const struct candidate *candidate, bool force);
/* The worker's check has read up to this offset of the image; false: give it up. */
bool defer_progress(struct defer *defer, unsigned worker, uint64_t reached);
/* The same for a check in another process, of the candidate at start. From any thread. */
void defer_remote_progress(struct defer *defer, unsigned worker, uint64_t start, uint64_t reached);
/* The check is over. until: what starts before this waits for its decision; 0: nothing does. Returns
 * up to where the start of other checks may have waited for this one; 0: none has. */
uint64_t defer_end(struct defer *defer, unsigned worker, uint64_t until);
/* That value for an outcome: the end of a complete file, or just past the last part of another. */
uint64_t defer_covered_until(
	struct defer *defer, const struct candidate *candidate, const struct outcome *outcome);
/* All of it: check_candidate between defer_begin and defer_end. view: one whose watcher calls
 * defer_progress (view_watch). False: the check was deferred, and there is no outcome. *waited:
 * what defer_end returned. */
bool defer_check(struct defer *defer, unsigned worker, struct view *view, struct image *image,
	const struct rule *rule, const struct candidate *candidate, uint64_t work_max, bool force,
	struct outcome *outcome, uint64_t *waited);

#endif
