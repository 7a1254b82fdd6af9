#include "assemble/trials_ahead.h"

#include <stdlib.h>

#include "assemble/joining.h"
#include "base/memory.h"

#define AHEAD_PER_THREAD 12 /* trials that are made ahead, for each thread that makes them */
#define AHEAD_MAX 512
#define AHEAD_LEAST 4       /* fewer are made sooner by the thread itself */
#define AHEAD_GROWTH_MAX 16 /* times as many, while at most one in AHEAD_SHARE is tried */
#define AHEAD_SHARE 32

struct trials_ahead {
	struct steps_ahead steps;
	uint64_t first, end;      /* gaps */
	struct step_ahead *items; /* `width` for each gap */
	size_t capacity;
	size_t growth;
};

struct trials_ahead *trials_ahead_new(const struct steps_ahead *steps)
{
	struct trials_ahead *ahead = xcalloc(1, sizeof(*ahead));

	ahead->steps = *steps;
	ahead->growth = 1;
	return ahead;
}

/* Whether a step would be tried, as far as is known without counting anything. */
static bool seems_worth(const struct steps_ahead *steps, const struct step *step, struct view *view,
	struct step_ahead *item)
{
	enum answer unlikely;

	item->follows = continuations_ask(*steps->continuations, step, view);
	if (item->follows != ANSWER_YES)
		return false;
	unlikely = likeness_ask(steps->likeness, steps->partial, step, view);
	return unlikely != ANSWER_NONE &&
	       (unlikely == ANSWER_YES) == (steps->cell->kind == UNLIKELY);
}

static void try_ahead(void *context, size_t part, struct view *view)
{
	const struct trials_ahead *ahead = context;
	const struct steps_ahead *steps = &ahead->steps;
	struct workbench bench = *steps->bench;
	struct step step = { .at = steps->breaks[part % steps->width] };

	if (!cell_gap(bench.clusters, steps->partial, steps->cell,
		    ahead->first + part / steps->width, &step.gap) ||
		!seems_worth(steps, &step, view, &ahead->items[part]))
		return;
	ahead->items[part].checks.at = step.at;
	bench.view = view;
	bench.ahead = NULL;
	bench.noted = &ahead->items[part].checks;
	bench.heads.extents = (struct extents){ 0 };
	joining_look_ahead(&bench, steps->partial, &step);
	extents_free(&bench.heads.extents);
}

static void forget(struct trials_ahead *ahead)
{
	for (size_t i = 0; i < (ahead->end - ahead->first) * ahead->steps.width; i++) {
		workbench_forget(&ahead->items[i].checks);
		ahead->items[i].follows = ANSWER_NONE;
	}
	ahead->first = ahead->end = 0;
}

/* How many steps of these gaps may be worth a trial. */
static size_t count_open(const struct trials_ahead *ahead, uint64_t gap, size_t count)
{
	const struct steps_ahead *steps = &ahead->steps;
	size_t open = 0;

	for (uint64_t end = gap + count; gap < end; gap++) {
		struct step step;

		if (!cell_gap(steps->bench->clusters, steps->partial, steps->cell, gap, &step.gap))
			break;
		for (size_t b = 0; b < steps->width; b++) {
			step.at = steps->breaks[b];
			open += continuations_is_open(*steps->continuations, &step);
		}
	}
	return open;
}

/* While nothing is tried, most is refused at a look, which is soon done: then more is looked at together. */
static void set_growth(struct trials_ahead *ahead, size_t count)
{
	size_t tried = 0;

	for (size_t i = 0; i < count; i++)
		tried += ahead->items[i].checks.count != 0;
	ahead->growth = tried * AHEAD_SHARE > count        ? 1
			: ahead->growth < AHEAD_GROWTH_MAX ? 2 * ahead->growth
							   : AHEAD_GROWTH_MAX;
}

void trials_ahead_look(struct trials_ahead *ahead, uint64_t gap)
{
	struct workbench *bench = ahead->steps.bench;
	size_t trials = helpers_idle(bench->helpers), width = ahead->steps.width, count;

	if (!trials || !gap || gap < ahead->end || !width || !workbench_goes_on(bench) ||
		!count_open(ahead, gap, 1))
		return;
	trials = (trials + 1) * AHEAD_PER_THREAD;
	trials = (trials < AHEAD_MAX ? trials : AHEAD_MAX) * ahead->growth;
	count = trials / width + 1;
	if (count_open(ahead, gap, count) < AHEAD_LEAST)
		return;
	forget(ahead);
	ahead->first = gap;
	ahead->end = gap + count;
	count *= width;
	if (count > ahead->capacity) {
		free(ahead->items);
		ahead->items = xcalloc(count, sizeof(*ahead->items));
		ahead->capacity = count;
	}
	helpers_share(bench->helpers, bench->view, count, try_ahead, ahead);
	set_growth(ahead, count);
}

const struct step_ahead *trials_ahead_find(
	const struct trials_ahead *ahead, uint64_t gap, size_t number)
{
	return gap >= ahead->first && gap < ahead->end
		       ? &ahead->items[(gap - ahead->first) * ahead->steps.width + number]
		       : NULL;
}

void trials_ahead_free(struct trials_ahead *ahead)
{
	forget(ahead);
	free(ahead->items);
	free(ahead);
}
