#include "carve/defer.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sandbox.h"

/* The bytes that a worker's check has read, or the file that it found last. Others may see old values: then a
 * check is deferred, or made, needlessly. */
struct span {
	_Atomic uint64_t start, end; /* end: 0 while nothing waits for the check */
	_Atomic uint32_t rule;       /* of the check that is running; NO_RULE: none is */
	bool force;
};

/* What workers in other processes share. They may have been taken over: nothing that must be right is here. */
struct board {
	_Atomic uint64_t decided;
	struct span spans[]; /* of the workers; after them the flags that has_parts is */
};

struct defer {
	unsigned workers;
	uint32_t rule_count;
	bool nested;
	_Atomic uint64_t hidden_until;
	struct board *board;
	struct span *spans;     /* of the board */
	atomic_bool *has_parts; /* by rule: some file of it had parts */
	size_t len;             /* of the board */
	int fd;                 /* of the board; -1: it is not shared, or another process's */
	bool mapped;
};

#define NO_RULE UINT32_MAX

static uint64_t load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void store(_Atomic uint64_t *value, uint64_t number)
{
	atomic_store_explicit(value, number, memory_order_relaxed);
}

/* Without a board. */
static struct defer *new_defer(unsigned workers, bool nested, uint32_t rule_count)
{
	struct defer *defer = xcalloc(1, sizeof(*defer));

	defer->workers = workers;
	defer->rule_count = rule_count;
	defer->nested = nested;
	defer->len = sizeof(*defer->board) + workers * sizeof(*defer->spans) +
		     rule_count * sizeof(*defer->has_parts);
	defer->fd = -1;
	return defer;
}

static void set_board(struct defer *defer, void *memory)
{
	defer->board = memory;
	defer->spans = defer->board->spans;
	defer->has_parts = (atomic_bool *)(defer->spans + defer->workers);
}

/* memory: zeros; NULL: there is none to be shared. */
static struct defer *begin_board(struct defer *defer, void *memory)
{
	defer->mapped = memory != NULL;
	set_board(defer, memory ? memory : xcalloc(1, defer->len));
	for (unsigned i = 0; i < defer->workers; i++)
		defer->spans[i].rule = NO_RULE;
	return defer;
}

struct defer *defer_new(unsigned workers, bool nested, uint32_t rule_count)
{
	return begin_board(new_defer(workers, nested, rule_count), NULL);
}

struct defer *defer_new_shared(unsigned workers, bool nested, uint32_t rule_count)
{
	struct defer *defer = new_defer(workers, nested, rule_count);
	const char *why;

	return begin_board(defer, sandbox_memory(defer->len, &defer->fd, &why));
}

int defer_descriptor(const struct defer *defer)
{
	return defer->fd;
}

struct defer *defer_open(int descriptor, unsigned workers, bool nested, uint32_t rule_count)
{
	struct defer *defer = new_defer(workers, nested, rule_count);
	void *memory = mmap(NULL, defer->len, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

	if (memory == MAP_FAILED) {
		free(defer);
		return NULL;
	}
	defer->mapped = true;
	set_board(defer, memory);
	return defer;
}

void defer_free(struct defer *defer)
{
	if (!defer)
		return;
	if (defer->mapped)
		munmap(defer->board, defer->len);
	else
		free(defer->board);
	if (defer->fd >= 0)
		close(defer->fd);
	free(defer);
}

void defer_hide(struct defer *defer, uint64_t until)
{
	uint64_t before = load(&defer->hidden_until);

	while (before < until &&
		!atomic_compare_exchange_weak_explicit(&defer->hidden_until, &before, until,
			memory_order_relaxed, memory_order_relaxed))
		;
}

uint64_t defer_hidden_until(const struct defer *defer)
{
	return load(&defer->hidden_until);
}

static bool may_have_parts(const struct defer *defer, uint32_t rule)
{
	return rule < defer->rule_count &&
	       atomic_load_explicit(&defer->has_parts[rule], memory_order_relaxed);
}

static uint32_t running_rule(const struct span *span)
{
	return atomic_load_explicit(&span->rule, memory_order_relaxed);
}

/* A member of an archive begins as the archive itself does: while an archive is being checked, a
 * candidate of its rule that starts after it may be its member. Not that of a short check: members
 * that are near each other are checked one after the other anyway. */
static bool may_be_part(const struct defer *defer, const struct candidate *candidate)
{
	if (!may_have_parts(defer, candidate->rule))
		return false;
	for (unsigned i = 0; i < defer->workers; i++) {
		const struct span *span = &defer->spans[i];
		uint64_t end = load(&span->end);

		if (running_rule(span) == candidate->rule && end &&
			load(&span->start) < candidate->start &&
			candidate->start < end + DEFER_PARTS_NEAR)
			return true;
	}
	return false;
}

/* Some check that began before it has read past it, or has found a file that covers it. */
static bool is_overtaken(const struct defer *defer, uint64_t start)
{
	for (unsigned i = 0; i < defer->workers; i++) {
		const struct span *span = &defer->spans[i];
		uint64_t from = load(&span->start);

		if (load(&span->end) > start && from < start &&
			(running_rule(span) != NO_RULE || from >= load(&defer->board->decided)))
			return true;
	}
	return false;
}

static bool may_check(const struct defer *defer, uint64_t start, bool force)
{
	return start >= load(&defer->hidden_until) &&
	       (force || defer->nested || !is_overtaken(defer, start));
}

void defer_set_decided(struct defer *defer, uint64_t position)
{
	store(&defer->board->decided, position);
}

bool defer_may_begin(const struct defer *defer, const struct candidate *candidate, bool force)
{
	return may_check(defer, candidate->start, force) &&
	       (force || defer->nested || !may_be_part(defer, candidate));
}

bool defer_may_go_on(const struct defer *defer, uint64_t start, bool force)
{
	return may_check(defer, start, force);
}

bool defer_begin(
	struct defer *defer, unsigned worker, const struct candidate *candidate, bool force)
{
	struct span *own = &defer->spans[worker];

	assert(worker < defer->workers);
	if (!defer_may_begin(defer, candidate, force))
		return false;
	own->force = force;
	store(&own->end, 0);
	/* Of several that begin together, the first one that may have parts is announced. */
	if (may_have_parts(defer, own->rule))
		return true;
	store(&own->start, candidate->start);
	atomic_store_explicit(&own->rule, candidate->rule, memory_order_relaxed);
	return true;
}

bool defer_progress(struct defer *defer, unsigned worker, uint64_t reached)
{
	struct span *own = &defer->spans[worker];
	uint64_t start = load(&own->start);

	if (reached - start > DEFER_LONG_CHECK && reached > load(&own->end))
		store(&own->end, reached);
	return may_check(defer, start, own->force);
}

void defer_remote_progress(struct defer *defer, unsigned worker, uint64_t start, uint64_t reached)
{
	struct span *own = &defer->spans[worker];

	store(&own->start, start);
	store(&own->end, reached);
}

uint64_t defer_end(struct defer *defer, unsigned worker, uint64_t until)
{
	struct span *own = &defer->spans[worker];
	uint64_t end = load(&own->end);

	if (end && may_have_parts(defer, own->rule))
		end += DEFER_PARTS_NEAR;
	atomic_store_explicit(&own->rule, NO_RULE, memory_order_relaxed);
	store(&own->end, until);
	return end;
}

uint64_t defer_covered_until(
	struct defer *defer, const struct candidate *candidate, const struct outcome *outcome)
{
	if (outcome->part_count)
		atomic_store_explicit(
			&defer->has_parts[candidate->rule], true, memory_order_relaxed);
	if (outcome->verdict == CARVE_COMPLETE)
		return candidate->start + outcome->length;
	return outcome->part_count ? outcome->parts[outcome->part_count - 1] + 1 : 0;
}

bool defer_check(struct defer *defer, unsigned worker, struct view *view, struct image *image,
	const struct rule *rule, const struct candidate *candidate, uint64_t work_max, bool force,
	struct outcome *outcome, uint64_t *waited)
{
	*waited = 0;
	if (!defer_begin(defer, worker, candidate, force))
		return false;
	check_candidate(view, image, rule, candidate, work_max, outcome);
	if (view_stopped(view)) {
		outcome_free(outcome);
		*waited = defer_end(defer, worker, 0);
		return false;
	}
	*waited = defer_end(defer, worker, defer_covered_until(defer, candidate, outcome));
	return true;
}
