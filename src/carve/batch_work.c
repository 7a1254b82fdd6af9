#include "carve/batch_work.h"

#include <stdlib.h>

#include "base/memory.h"

/* Of a rule, in the batch with that number. */
struct spent {
	uint64_t number, work;
};

struct batch_work {
	uint64_t number; /* from 1 on */
	struct spent rules[];
};

struct batch_work *batch_work_new(size_t rule_count)
{
	return xcalloc(1, sizeof(struct batch_work) + rule_count * sizeof(struct spent));
}

void batch_work_free(struct batch_work *batch)
{
	free(batch);
}

void batch_work_begin(struct batch_work *batch)
{
	batch->number++;
}

static void add(struct spent *spent, uint64_t number, uint64_t units)
{
	if (spent->number != number)
		*spent = (struct spent){ .number = number };
	spent->work += units < UINT64_MAX - spent->work ? units : UINT64_MAX - spent->work;
}

bool batch_work_check(struct batch_work *batch, struct defer *defer, unsigned worker,
	struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, uint64_t work_max, bool force, bool first,
	struct outcome *outcome, uint64_t *waited)
{
	struct spent *spent = &batch->rules[candidate->rule];

	*waited = 0;
	if (!force && spent->number == batch->number && check_seems_spent(spent->work, work_max))
		return false;
	if (!defer_check(defer, worker, view, image, rule, candidate, work_max, force || first,
		    outcome, waited))
		return false;
	add(spent, batch->number, outcome->work);
	return true;
}
