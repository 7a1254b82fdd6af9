#include "compare/covers.h"

#include <stdlib.h>

#include "base/memory.h"

static int by_start(const void *a, const void *b)
{
	const struct cover *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void covers_add(struct covers *covers, const struct listed *file)
{
	for (size_t i = 0; i < file->run_count; i++) {
		covers->items = xgrow(
			covers->items, &covers->capacity, covers->count, sizeof(*covers->items));
		covers->items[covers->count++] = (struct cover){ file->runs[i].offset,
			file->runs[i].offset + file->runs[i].length, file, 0 };
	}
}

void covers_order(struct covers *covers)
{
	if (covers->count)
		qsort(covers->items, covers->count, sizeof(*covers->items), by_start);
	for (size_t i = 1, best = 0; i < covers->count; i++) {
		if (covers->items[i].end > covers->items[best].end)
			best = i;
		covers->items[i].furthest = best;
	}
}

const struct listed *covers_find(const struct covers *covers, uint64_t offset)
{
	size_t low = 0, high = covers->count;
	const struct cover *cover;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (covers->items[middle].start < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	cover = &covers->items[covers->items[low - 1].furthest];
	return cover->end > offset ? cover->file : NULL;
}

void covers_free(struct covers *covers)
{
	free(covers->items);
}
