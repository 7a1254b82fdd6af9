#include "carve/ahead.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

/* The bytes that a worker's check has gone through, or the file that it has found last.
 * What others see of it may be out of date: then something is put off, or checked, for nothing. */
struct span {
	_Atomic uint64_t start, end;
	bool insist;
};

struct ahead {
	unsigned workers;
	bool nested;
	_Atomic uint64_t hidden_until;
	struct span spans[];
};

static uint64_t get(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void set(_Atomic uint64_t *value, uint64_t number)
{
	atomic_store_explicit(value, number, memory_order_relaxed);
}

struct ahead *ahead_new(unsigned workers, bool nested)
{
	struct ahead *ahead = xcalloc(1, sizeof(*ahead) + workers * sizeof(ahead->spans[0]));

	ahead->workers = workers;
	ahead->nested = nested;
	return ahead;
}

void ahead_free(struct ahead *ahead)
{
	free(ahead);
}

void ahead_hide(struct ahead *ahead, uint64_t until)
{
	set(&ahead->hidden_until, until);
}

uint64_t ahead_hidden(const struct ahead *ahead)
{
	return get(&ahead->hidden_until);
}

static bool is_overtaken(const struct ahead *ahead, uint64_t start)
{
	for (unsigned i = 0; i < ahead->workers; i++)
		if (get(&ahead->spans[i].start) < start && get(&ahead->spans[i].end) > start)
			return true;
	return false;
}

static bool may_check(const struct ahead *ahead, uint64_t start, bool insist)
{
	return start >= get(&ahead->hidden_until) &&
	       (insist || ahead->nested || !is_overtaken(ahead, start));
}

bool ahead_begin(struct ahead *ahead, unsigned worker, uint64_t start, bool insist)
{
	struct span *own = &ahead->spans[worker];

	if (!may_check(ahead, start, insist))
		return false;
	set(&own->end, 0);
	set(&own->start, start);
	own->insist = insist;
	return true;
}

bool ahead_reach(struct ahead *ahead, unsigned worker, uint64_t reached)
{
	struct span *own = &ahead->spans[worker];
	uint64_t start = get(&own->start);

	if (reached - start > AHEAD_LONG_CHECK && reached > get(&own->end))
		set(&own->end, reached);
	return may_check(ahead, start, own->insist);
}

void ahead_tell(struct ahead *ahead, unsigned worker, uint64_t start, uint64_t reached)
{
	struct span *own = &ahead->spans[worker];

	set(&own->start, start);
	set(&own->end, reached);
}

void ahead_end(struct ahead *ahead, unsigned worker, uint64_t until)
{
	set(&ahead->spans[worker].end, until);
}

uint64_t ahead_until(const struct candidate *candidate, const struct outcome *outcome)
{
	if (outcome->verdict == CARVE_COMPLETE)
		return candidate->start + outcome->length;
	return outcome->part_count ? outcome->parts[outcome->part_count - 1] + 1 : 0;
}

bool ahead_check(struct ahead *ahead, unsigned worker, struct view *view, struct image *image,
	const struct rule *rule, const struct candidate *candidate, bool insist,
	struct outcome *outcome)
{
	if (!ahead_begin(ahead, worker, candidate->start, insist))
		return false;
	check_candidate(view, image, rule, candidate, outcome);
	if (view_gave_up(view)) {
		outcome_free(outcome);
		ahead_end(ahead, worker, 0);
		return false;
	}
	ahead_end(ahead, worker, ahead_until(candidate, outcome));
	return true;
}
