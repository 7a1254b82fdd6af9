#include "carve/ahead.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

/* Most checks end after one look; nobody need wait for those. */
#define LONG_CHECK (64 * 1024)

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

	if (reached - start > LONG_CHECK && reached > get(&own->end))
		set(&own->end, reached);
	return may_check(ahead, start, own->insist);
}

void ahead_end(struct ahead *ahead, unsigned worker, uint64_t until)
{
	set(&ahead->spans[worker].end, until);
}
