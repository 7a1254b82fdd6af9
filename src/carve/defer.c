#include "carve/defer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

/* The bytes that a worker's check has gone through, or the file that it has found last.
 * What others see of it may be out of date: then something is put off, or checked, for nothing. */
struct span {
	_Atomic uint64_t start, end;
	_Atomic uint32_t rule; /* that it is checked by, NO_RULE when it was checked */
	bool force;
};

struct defer {
	unsigned workers;
	bool nested;
	_Atomic uint64_t hidden_until;
	atomic_bool *parted; /* by rule: some file of it had parts */
	struct span spans[];
};

#define NO_RULE UINT32_MAX

static uint64_t get(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void set(_Atomic uint64_t *value, uint64_t number)
{
	atomic_store_explicit(value, number, memory_order_relaxed);
}

struct defer *defer_new(unsigned workers, bool nested, uint32_t rule_count)
{
	struct defer *defer = xcalloc(1, sizeof(*defer) + workers * sizeof(defer->spans[0]));

	defer->workers = workers;
	defer->nested = nested;
	defer->parted = xcalloc(rule_count + 1, sizeof(*defer->parted));
	for (unsigned i = 0; i < workers; i++)
		defer->spans[i].rule = NO_RULE;
	return defer;
}

void defer_free(struct defer *defer)
{
	if (defer)
		free(defer->parted);
	free(defer);
}

void defer_hide(struct defer *defer, uint64_t until)
{
	uint64_t before = get(&defer->hidden_until);

	while (before < until &&
		!atomic_compare_exchange_weak_explicit(&defer->hidden_until, &before, until,
			memory_order_relaxed, memory_order_relaxed))
		;
}

uint64_t defer_hidden_until(const struct defer *defer)
{
	return get(&defer->hidden_until);
}

static bool is_parted(const struct defer *defer, uint32_t rule)
{
	return rule != NO_RULE && atomic_load_explicit(&defer->parted[rule], memory_order_relaxed);
}

/* A member of an archive begins as the archive does: while one is looked at, what begins alike
 * behind it may be its. */
static bool may_be_part(
	const struct defer *defer, unsigned worker, const struct candidate *candidate)
{
	if (!is_parted(defer, candidate->rule))
		return false;
	for (unsigned i = 0; i < defer->workers; i++)
		if (i != worker && get(&defer->spans[i].start) < candidate->start &&
			atomic_load_explicit(&defer->spans[i].rule, memory_order_relaxed) ==
				candidate->rule)
			return true;
	return false;
}

static bool is_overtaken(const struct defer *defer, uint64_t start)
{
	for (unsigned i = 0; i < defer->workers; i++)
		if (get(&defer->spans[i].start) < start && get(&defer->spans[i].end) > start)
			return true;
	return false;
}

static bool may_check(const struct defer *defer, uint64_t start, bool force)
{
	return start >= get(&defer->hidden_until) &&
	       (force || defer->nested || !is_overtaken(defer, start));
}

bool defer_begin(
	struct defer *defer, unsigned worker, const struct candidate *candidate, bool force)
{
	struct span *own = &defer->spans[worker];

	if (!may_check(defer, candidate->start, force) ||
		(!force && !defer->nested && may_be_part(defer, worker, candidate)))
		return false;
	own->force = force;
	set(&own->end, 0);
	/* Of several that are begun together, the first that others may be parts of is the one
	 * to be known. */
	if (is_parted(defer, own->rule))
		return true;
	set(&own->start, candidate->start);
	atomic_store_explicit(&own->rule, candidate->rule, memory_order_relaxed);
	return true;
}

bool defer_progress(struct defer *defer, unsigned worker, uint64_t reached)
{
	struct span *own = &defer->spans[worker];
	uint64_t start = get(&own->start);

	if (reached - start > DEFER_LONG_CHECK && reached > get(&own->end))
		set(&own->end, reached);
	return may_check(defer, start, own->force);
}

void defer_remote_progress(struct defer *defer, unsigned worker, uint64_t start, uint64_t reached)
{
	struct span *own = &defer->spans[worker];

	set(&own->start, start);
	set(&own->end, reached);
}

void defer_end(struct defer *defer, unsigned worker, uint64_t until)
{
	atomic_store_explicit(&defer->spans[worker].rule, NO_RULE, memory_order_relaxed);
	set(&defer->spans[worker].end, until);
}

uint64_t defer_covered_until(
	struct defer *defer, const struct candidate *candidate, const struct outcome *outcome)
{
	if (outcome->part_count)
		atomic_store_explicit(&defer->parted[candidate->rule], true, memory_order_relaxed);
	if (outcome->verdict == CARVE_COMPLETE)
		return candidate->start + outcome->length;
	return outcome->part_count ? outcome->parts[outcome->part_count - 1] + 1 : 0;
}

bool defer_check(struct defer *defer, unsigned worker, struct view *view, struct image *image,
	const struct rule *rule, const struct candidate *candidate, bool force,
	struct outcome *outcome)
{
	if (!defer_begin(defer, worker, candidate, force))
		return false;
	check_candidate(view, image, rule, candidate, outcome);
	if (view_stopped(view)) {
		outcome_free(outcome);
		defer_end(defer, worker, 0);
		return false;
	}
	defer_end(defer, worker, defer_covered_until(defer, candidate, outcome));
	return true;
}
