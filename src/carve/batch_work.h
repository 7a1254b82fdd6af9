/*
 * What the checks of a batch have cost, rule by rule. What a check may cost was said before the batch, of all that its rule
 * had left then; so without this each of a batch's checks could take as much as all of them may. Not for several threads at
 * once.
 */
#ifndef BURIN_CARVE_BATCH_WORK_H
#define BURIN_CARVE_BATCH_WORK_H

#include "carve/defer.h"

struct batch_work;

/* All candidates' rules are below rule_count. */
struct batch_work *batch_work_new(size_t rule_count);
void batch_work_free(struct batch_work *batch);
/* Another batch begins. */
void batch_work_begin(struct batch_work *batch);
/* As defer_check, but a check is also left to a later batch, unless it is forced, if those before it in this one may leave
 * nothing for it. first: it is not to be deferred for what other threads check. */
bool batch_work_check(struct batch_work *batch, struct defer *defer, unsigned worker,
	struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, uint64_t work_max, bool force, bool first,
	struct outcome *outcome, uint64_t *waited);

#endif
