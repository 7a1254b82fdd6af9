#include "stretches.h"

#include <stdlib.h>

#include "walk.h"

void stretches_add(
	struct view *view, struct stretches *stretches, size_t most, uint64_t at, uint64_t end)
{
	struct stretch *list = walk_list_grow(
		view, stretches->list, stretches->count, &stretches->room, most, sizeof(*list));

	if (!list)
		return;
	stretches->list = list;
	list[stretches->count++] = (struct stretch){ at, end };
}

static int by_place(const void *a, const void *b)
{
	const struct stretch *first = a, *second = b;

	if (first->at != second->at)
		return first->at < second->at ? -1 : 1;
	return first->end < second->end ? -1 : first->end > second->end;
}

void stretches_sort(struct stretches *stretches)
{
	if (stretches->count)
		qsort(stretches->list, stretches->count, sizeof(*stretches->list), by_place);
}

uint64_t stretches_name_gaps(struct view *view, struct stretches *stretches, uint64_t from)
{
	stretches_sort(stretches);
	for (size_t i = 0; i < stretches->count; i++) {
		view_unverified(view, from, stretches->list[i].at);
		if (stretches->list[i].end > from)
			from = stretches->list[i].end;
	}
	return from;
}
