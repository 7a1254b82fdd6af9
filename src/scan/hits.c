#include "scan/hits.h"

#include <assert.h>
#include <string.h>

int hit_compare(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->pattern != y->pattern)
		return x->pattern < y->pattern ? -1 : 1;
	return 0;
}

/* Runs of RUN hits are sorted by insertion: the start of the merge sort, and all of it for the few
 * hits that matchers usually find. */
enum { RUN = 16 };

static void sort_run(struct hit *hits, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct hit hit = hits[i];
		size_t j = i;

		for (; j > 0 && hit_compare(&hits[j - 1], &hit) > 0; j--)
			hits[j] = hits[j - 1];
		hits[j] = hit;
	}
}

/* Merges the sorted hits[0 .. middle) and hits[middle .. count); spare holds middle elements. */
static void merge_runs(struct hit *hits, size_t middle, size_t count, struct hit *spare)
{
	size_t left = 0, right = middle, out = 0;

	if (hit_compare(&hits[middle - 1], &hits[middle]) <= 0)
		return;
	memcpy(spare, hits, middle * sizeof(*hits));
	while (left < middle && right < count)
		if (hit_compare(&spare[left], &hits[right]) <= 0)
			hits[out++] = spare[left++];
		else
			hits[out++] = hits[right++];
	memcpy(&hits[out], &spare[left], (middle - left) * sizeof(*hits));
}

static size_t remove_duplicates(struct hit *hits, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || hit_compare(&hits[kept - 1], &hits[i]) != 0)
			hits[kept++] = hits[i];
	return kept;
}

/* Not qsort, which may allocate, and because hits are nearly sorted already. */
size_t hits_sort(struct hit *hits, size_t count, struct hit *spare)
{
	for (size_t at = 0; at < count; at += RUN)
		sort_run(&hits[at], count - at < RUN ? count - at : RUN);
	for (size_t width = RUN; width < count; width *= 2)
		for (size_t at = 0; count - at > width; at += 2 * width) {
			size_t rest = count - at;

			merge_runs(&hits[at], width, rest < 2 * width ? rest : 2 * width, spare);
			if (rest <= 2 * width)
				break;
		}
	return remove_duplicates(hits, count);
}

/* The index of the first hit that is not below the given one. */
static size_t lower_bound(const struct hit *list, size_t count, const struct hit *hit)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (hit_compare(&list[middle], hit) < 0)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

size_t hits_insert(struct hit *list, size_t count, size_t capacity, const struct hit *batch,
	size_t batch_count, uint64_t *limit)
{
	const struct hit end = { *limit, 0, 0 };
	size_t at, tail, room;

	assert(count <= capacity);
	batch_count = lower_bound(batch, batch_count, &end);
	if (!batch_count)
		return count;
	at = lower_bound(list, count, batch);
	tail = count - at;
	room = capacity - at;
	if (batch_count > room || tail > room - batch_count) {
		/* The first hit without room: in the batch, or in the list after it. */
		size_t kept = batch_count < room ? batch_count : room;

		*limit = kept < batch_count ? batch[kept].offset : list[at + room - kept].offset;
		tail = kept < batch_count ? 0 : room - kept;
		batch_count = kept;
	}
	assert(at + batch_count + tail <= capacity);
	memmove(&list[at + batch_count], &list[at], tail * sizeof(*list));
	memcpy(&list[at], batch, batch_count * sizeof(*list));
	return lower_bound(list, at + batch_count + tail, &(struct hit){ *limit, 0, 0 });
}
