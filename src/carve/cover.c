/*
 * The covered ranges are in arrays in order of their starts, and, since none contains another, of
 * their ends: the last one that starts before an offset decides. Nearly always a range is added near
 * the end of its array, and the first are dropped, in order of the decisions. One array has what
 * complete files cover, which is hidden whatever its rule is. The parts that others named are only
 * parts to candidates of the same rule: each rule has an array of its own.
 *
 * Each has the start of the file that covers it. A complete file of which some parts are not
 * verified has several; those that are not the first may be in the array for a while after the
 * file was decided on, and count for nothing then.
 */
#include "carve/cover.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"

/* Parts of one file that are remembered; the rest of it counts as not covered. */
#define PARTS_MAX 16

struct covered {
	uint64_t owner; /* where the file starts */
	uint64_t from, until;
};

struct list {
	struct covered *items;
	size_t first, count, room; /* items[first] to items[count - 1] */
};

struct cover {
	pthread_mutex_t lock; /* guards all but the atomics */
	size_t rule_count;
	struct list complete;
	uint64_t retry_from, retry_until;
	_Atomic uint64_t decided; /* files that start before this cover nothing */
	_Atomic uint64_t version;
	_Atomic uint64_t first_owner; /* at most the first; UINT64_MAX: there is none */
	atomic_bool retry;
	struct list parts[]; /* by rule */
};

struct cover *cover_new(size_t rule_count)
{
	struct cover *cover = xcalloc(1, sizeof(*cover) + rule_count * sizeof(cover->parts[0]));

	thread_lock_init(&cover->lock);
	cover->rule_count = rule_count;
	cover->first_owner = UINT64_MAX;
	return cover;
}

void cover_free(struct cover *cover)
{
	if (!cover)
		return;
	pthread_mutex_destroy(&cover->lock);
	free(cover->complete.items);
	for (size_t i = 0; i < cover->rule_count; i++)
		free(cover->parts[i].items);
	free(cover);
}

/* The first item that starts after offset. */
static size_t item_after(const struct list *list, uint64_t offset)
{
	size_t low = list->first, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].from > offset)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool counts(const struct cover *cover, const struct covered *item)
{
	return item->owner >= atomic_load_explicit(&cover->decided, memory_order_relaxed);
}

/* Makes room for one more at the end. */
static void make_room(struct list *list)
{
	if (list->first > list->count / 2) {
		list->count -= list->first;
		memmove(list->items, list->items + list->first, list->count * sizeof(*list->items));
		list->first = 0;
	}
	list->items = xgrow(list->items, &list->room, list->count, sizeof(*list->items));
}

/* Of two ranges of which one contains the other, the larger remains. */
static void insert(struct cover *cover, struct list *list, struct covered item)
{
	size_t at, end;

	if (item.until <= item.from || !counts(cover, &item))
		return;
	make_room(list);
	at = item_after(list, item.from);
	if (at > list->first && list->items[at - 1].until >= item.until &&
		counts(cover, &list->items[at - 1]))
		return;
	if (at > list->first && list->items[at - 1].from == item.from)
		at--;
	for (end = at; end < list->count && list->items[end].until <= item.until;)
		end++;
	memmove(list->items + at + 1, list->items + end,
		(list->count - end) * sizeof(*list->items));
	list->count -= end - at;
	list->items[at] = item;
	list->count++;
	if (item.owner < atomic_load_explicit(&cover->first_owner, memory_order_relaxed))
		atomic_store_explicit(&cover->first_owner, item.owner, memory_order_relaxed);
}

static void insert_verified(struct cover *cover, uint64_t start, const struct outcome *outcome)
{
	const struct ranges *unverified = &outcome->unverified;
	struct list *list = &cover->complete;
	uint64_t from = start + 1;

	for (size_t i = 0; i < unverified->count; i++) {
		const struct range *range = &unverified->items[i];

		if (i == PARTS_MAX)
			return;
		insert(cover, list, (struct covered){ start, from, range->offset });
		from = range->offset + range->length;
	}
	insert(cover, list, (struct covered){ start, from, start + outcome->length });
}

/* Just past the last offset that is covered; 0: none is. */
static uint64_t covered_until(uint64_t start, const struct outcome *outcome)
{
	if (outcome->verdict == CARVE_COMPLETE)
		return start + outcome->length;
	return outcome->part_count ? outcome->parts[outcome->part_count - 1] + 1 : 0;
}

void cover_add(
	struct cover *cover, const struct candidate *candidate, const struct outcome *outcome)
{
	uint64_t start = candidate->start, until = covered_until(start, outcome);

	assert(candidate->rule < cover->rule_count);
	if (until < start + COVER_MIN && !outcome->part_count)
		return;
	pthread_mutex_lock(&cover->lock);
	if (outcome->verdict == CARVE_COMPLETE)
		insert_verified(cover, start, outcome);
	else
		insert(cover, &cover->parts[candidate->rule],
			(struct covered){ start, start + 1, until });
	pthread_mutex_unlock(&cover->lock);
	atomic_fetch_add_explicit(&cover->version, 1, memory_order_release);
}

uint64_t cover_version(const struct cover *cover)
{
	return atomic_load_explicit(&cover->version, memory_order_acquire);
}

static bool find(
	const struct cover *cover, const struct list *list, uint64_t offset, struct range *range)
{
	size_t at = item_after(list, offset);
	const struct covered *item;

	if (at == list->first)
		return false;
	item = &list->items[at - 1];
	*range = (struct range){ item->from, item->until - item->from };
	return offset < item->until && counts(cover, item);
}

bool cover_find(struct cover *cover, const struct candidate *candidate, struct covered_range *found)
{
	const struct list *parts = &cover->parts[candidate->rule];
	bool covered;

	*found = (struct covered_range){ .rule = COVER_ALL_RULES };
	if (atomic_load_explicit(&cover->first_owner, memory_order_relaxed) == UINT64_MAX)
		return false;
	pthread_mutex_lock(&cover->lock);
	covered = find(cover, &cover->complete, candidate->start, &found->range);
	if (!covered) {
		found->rule = candidate->rule;
		covered = find(cover, parts, candidate->start, &found->range);
	}
	pthread_mutex_unlock(&cover->lock);
	return covered;
}

static void note_retry(struct cover *cover, uint64_t from, uint64_t until)
{
	if (!atomic_load_explicit(&cover->retry, memory_order_relaxed)) {
		cover->retry_from = from;
		cover->retry_until = until;
	} else {
		if (from < cover->retry_from)
			cover->retry_from = from;
		if (until > cover->retry_until)
			cover->retry_until = until;
	}
	atomic_store_explicit(&cover->retry, true, memory_order_relaxed);
}

void cover_retry(struct cover *cover, uint64_t from, uint64_t until)
{
	if (until <= from)
		return;
	pthread_mutex_lock(&cover->lock);
	note_retry(cover, from, until);
	pthread_mutex_unlock(&cover->lock);
}

bool cover_take_retry(struct cover *cover, uint64_t *from, uint64_t *until)
{
	if (!atomic_load_explicit(&cover->retry, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&cover->lock);
	*from = cover->retry_from;
	*until = cover->retry_until;
	atomic_store_explicit(&cover->retry, false, memory_order_relaxed);
	pthread_mutex_unlock(&cover->lock);
	return true;
}

/* Drops what those cover that were decided on. */
static void forget(struct cover *cover, struct list *list, uint64_t hidden_until)
{
	for (; list->first < list->count && !counts(cover, &list->items[list->first]);
		list->first++) {
		const struct covered *item = &list->items[list->first];

		if (item->until > hidden_until)
			note_retry(cover, item->from, item->until);
	}
}

static uint64_t first_owner(const struct list *list)
{
	return list->first < list->count ? list->items[list->first].owner : UINT64_MAX;
}

void cover_decided(struct cover *cover, uint64_t position, uint64_t hidden_until)
{
	uint64_t first;

	atomic_store_explicit(&cover->decided, position, memory_order_relaxed);
	if (atomic_load_explicit(&cover->first_owner, memory_order_relaxed) >= position)
		return;
	pthread_mutex_lock(&cover->lock);
	forget(cover, &cover->complete, hidden_until);
	first = first_owner(&cover->complete);
	for (size_t i = 0; i < cover->rule_count; i++) {
		forget(cover, &cover->parts[i], hidden_until);
		if (first_owner(&cover->parts[i]) < first)
			first = first_owner(&cover->parts[i]);
	}
	atomic_store_explicit(&cover->first_owner, first, memory_order_relaxed);
	pthread_mutex_unlock(&cover->lock);
}
