#include "carve/defer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

/* The bytes that a worker's check has gone through, or the file that it has found last.
 * What others see of it may be out of date: then something is put off, or checked, for nothing. */
struct span {
	_Atomic uint64_t start, end;
	_Atomic uint32_t rule; /* that it is checked by, NO_RULE when it was checked */
	bool insist;
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
	struct defer *ahead = xcalloc(1, sizeof(*ahead) + workers * sizeof(ahead->spans[0]));

	ahead->workers = workers;
	ahead->nested = nested;
	ahead->parted = xcalloc(rule_count + 1, sizeof(*ahead->parted));
	for (unsigned i = 0; i < workers; i++)
		ahead->spans[i].rule = NO_RULE;
	return ahead;
}

void defer_free(struct defer *ahead)
{
	if (ahead)
		free(ahead->parted);
	free(ahead);
}

void defer_hide(struct defer *ahead, uint64_t until)
{
	uint64_t before = get(&ahead->hidden_until);

	while (before < until &&
		!atomic_compare_exchange_weak_explicit(&ahead->hidden_until, &before, until,
			memory_order_relaxed, memory_order_relaxed))
		;
}

uint64_t defer_hidden(const struct defer *ahead)
{
	return get(&ahead->hidden_until);
}

static bool is_parted(const struct defer *ahead, uint32_t rule)
{
	return rule != NO_RULE && atomic_load_explicit(&ahead->parted[rule], memory_order_relaxed);
}

/* A member of an archive begins as the archive does: while one is looked at, what begins alike
 * behind it may be its. */
static bool may_be_part(
	const struct defer *ahead, unsigned worker, const struct candidate *candidate)
{
	if (!is_parted(ahead, candidate->rule))
		return false;
	for (unsigned i = 0; i < ahead->workers; i++)
		if (i != worker && get(&ahead->spans[i].start) < candidate->start &&
			atomic_load_explicit(&ahead->spans[i].rule, memory_order_relaxed) ==
				candidate->rule)
			return true;
	return false;
}

static bool is_overtaken(const struct defer *ahead, uint64_t start)
{
	for (unsigned i = 0; i < ahead->workers; i++)
		if (get(&ahead->spans[i].start) < start && get(&ahead->spans[i].end) > start)
			return true;
	return false;
}

static bool may_check(const struct defer *ahead, uint64_t start, bool insist)
{
	return start >= get(&ahead->hidden_until) &&
	       (insist || ahead->nested || !is_overtaken(ahead, start));
}

bool defer_begin(
	struct defer *ahead, unsigned worker, const struct candidate *candidate, bool insist)
{
	struct span *own = &ahead->spans[worker];

	if (!may_check(ahead, candidate->start, insist) ||
		(!insist && !ahead->nested && may_be_part(ahead, worker, candidate)))
		return false;
	own->insist = insist;
	set(&own->end, 0);
	/* Of several that are begun together, the first that others may be parts of is the one
	 * to be known. */
	if (is_parted(ahead, own->rule))
		return true;
	set(&own->start, candidate->start);
	atomic_store_explicit(&own->rule, candidate->rule, memory_order_relaxed);
	return true;
}

bool defer_reach(struct defer *ahead, unsigned worker, uint64_t reached)
{
	struct span *own = &ahead->spans[worker];
	uint64_t start = get(&own->start);

	if (reached - start > AHEAD_LONG_CHECK && reached > get(&own->end))
		set(&own->end, reached);
	return may_check(ahead, start, own->insist);
}

void defer_tell(struct defer *ahead, unsigned worker, uint64_t start, uint64_t reached)
{
	struct span *own = &ahead->spans[worker];

	set(&own->start, start);
	set(&own->end, reached);
}

void defer_end(struct defer *ahead, unsigned worker, uint64_t until)
{
	atomic_store_explicit(&ahead->spans[worker].rule, NO_RULE, memory_order_relaxed);
	set(&ahead->spans[worker].end, until);
}

uint64_t defer_until(
	struct defer *ahead, const struct candidate *candidate, const struct outcome *outcome)
{
	if (outcome->part_count)
		atomic_store_explicit(&ahead->parted[candidate->rule], true, memory_order_relaxed);
	if (outcome->verdict == CARVE_COMPLETE)
		return candidate->start + outcome->length;
	return outcome->part_count ? outcome->parts[outcome->part_count - 1] + 1 : 0;
}

bool defer_check(struct defer *ahead, unsigned worker, struct view *view, struct image *image,
	const struct rule *rule, const struct candidate *candidate, bool insist,
	struct outcome *outcome)
{
	if (!defer_begin(ahead, worker, candidate, insist))
		return false;
	check_candidate(view, image, rule, candidate, outcome);
	if (view_gave_up(view)) {
		outcome_free(outcome);
		defer_end(ahead, worker, 0);
		return false;
	}
	defer_end(ahead, worker, defer_until(ahead, candidate, outcome));
	return true;
}
