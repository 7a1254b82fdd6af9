/*
 * The covered ranges are in an array in order of their starts, and, since none contains another,
 * of their ends: the last one that starts before an offset tells. Nearly always a range is added
 * near the end of the array, and the first are dropped, in order of the decisions.
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

/* Parts of one file that are remembered; the rest of it counts as not covered. */
#define PARTS_MAX 16

struct covered {
	uint64_t owner; /* where the file starts */
	uint64_t from, until;
};

struct cover {
	pthread_mutex_t lock; /* guards all but the atomics */
	struct covered *items;
	size_t first, count, room; /* items[first] to items[count - 1] */
	uint64_t retry_from, retry_until;
	_Atomic uint64_t decided; /* files that start before this cover nothing */
	_Atomic uint64_t version;
	_Atomic uint64_t first_owner; /* UINT64_MAX: there is none */
	atomic_bool retry;
};

struct cover *cover_new(void)
{
	struct cover *cover = xcalloc(1, sizeof(*cover));

	pthread_mutex_init(&cover->lock, NULL);
	cover->first_owner = UINT64_MAX;
	return cover;
}

void cover_free(struct cover *cover)
{
	if (!cover)
		return;
	pthread_mutex_destroy(&cover->lock);
	free(cover->items);
	free(cover);
}

/* The first item that starts after offset. */
static size_t item_after(const struct cover *cover, uint64_t offset)
{
	size_t low = cover->first, high = cover->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cover->items[middle].from > offset)
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

static void publish(struct cover *cover)
{
	atomic_store_explicit(&cover->first_owner,
		cover->first < cover->count ? cover->items[cover->first].owner : UINT64_MAX,
		memory_order_relaxed);
}

/* Makes room for one more at the end. */
static void make_room(struct cover *cover)
{
	if (cover->first > cover->count / 2) {
		cover->count -= cover->first;
		memmove(cover->items, cover->items + cover->first,
			cover->count * sizeof(*cover->items));
		cover->first = 0;
	}
	cover->items = xgrow(cover->items, &cover->room, cover->count, sizeof(*cover->items));
}

/* Of two ranges of which one contains the other, the larger remains. */
static void insert(struct cover *cover, struct covered item)
{
	size_t at, end;

	if (item.until <= item.from || !counts(cover, &item))
		return;
	make_room(cover);
	at = item_after(cover, item.from);
	if (at > cover->first && cover->items[at - 1].until >= item.until &&
		counts(cover, &cover->items[at - 1]))
		return;
	if (at > cover->first && cover->items[at - 1].from == item.from)
		at--;
	for (end = at; end < cover->count && cover->items[end].until <= item.until;)
		end++;
	memmove(cover->items + at + 1, cover->items + end,
		(cover->count - end) * sizeof(*cover->items));
	cover->count -= end - at;
	cover->items[at] = item;
	cover->count++;
}

static void insert_verified(struct cover *cover, uint64_t start, const struct outcome *outcome)
{
	const struct ranges *unverified = &outcome->unverified;
	uint64_t from = start + 1;

	for (size_t i = 0; i < unverified->count; i++) {
		const struct range *range = &unverified->items[i];

		if (i == PARTS_MAX)
			return;
		insert(cover, (struct covered){ start, from, range->offset });
		from = range->offset + range->length;
	}
	insert(cover, (struct covered){ start, from, start + outcome->length });
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

	if (until < start + COVER_MIN && !outcome->part_count)
		return;
	pthread_mutex_lock(&cover->lock);
	if (outcome->verdict == CARVE_COMPLETE)
		insert_verified(cover, start, outcome);
	else
		insert(cover, (struct covered){ start, start + 1, until });
	publish(cover);
	pthread_mutex_unlock(&cover->lock);
	atomic_fetch_add_explicit(&cover->version, 1, memory_order_release);
}

uint64_t cover_version(const struct cover *cover)
{
	return atomic_load_explicit(&cover->version, memory_order_acquire);
}

bool cover_find(struct cover *cover, uint64_t offset, struct range *range)
{
	bool found = false;
	size_t at;

	pthread_mutex_lock(&cover->lock);
	at = item_after(cover, offset);
	if (at > cover->first) {
		const struct covered *item = &cover->items[at - 1];

		found = offset < item->until && counts(cover, item);
		*range = (struct range){ item->from, item->until - item->from };
	}
	pthread_mutex_unlock(&cover->lock);
	return found;
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

void cover_decided(struct cover *cover, uint64_t position, uint64_t hidden_until)
{
	atomic_store_explicit(&cover->decided, position, memory_order_relaxed);
	if (atomic_load_explicit(&cover->first_owner, memory_order_relaxed) >= position)
		return;
	pthread_mutex_lock(&cover->lock);
	for (; cover->first < cover->count && !counts(cover, &cover->items[cover->first]);
		cover->first++) {
		const struct covered *item = &cover->items[cover->first];

		if (item->until > hidden_until)
			note_retry(cover, item->from, item->until);
	}
	publish(cover);
	pthread_mutex_unlock(&cover->lock);
}
