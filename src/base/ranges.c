#include "base/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/codec.h"

static uint64_t range_end(const struct range *range)
{
	return range->offset + range->length;
}

/* Index of the first range that ends at or after offset. */
static size_t first_reaching(const struct ranges *ranges, uint64_t offset)
{
	size_t low = 0, high = ranges->count;

	if (high && range_end(&ranges->items[high - 1]) < offset)
		return high; /* what most ranges are added to in rising order see */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (range_end(&ranges->items[middle]) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void ranges_add(struct ranges *ranges, uint64_t offset, uint64_t length)
{
	uint64_t end = offset + length;
	size_t first, last;

	if (!length)
		return;
	first = last = first_reaching(ranges, offset);
	while (last < ranges->count && ranges->items[last].offset <= end) {
		if (ranges->items[last].offset < offset)
			offset = ranges->items[last].offset;
		if (range_end(&ranges->items[last]) > end)
			end = range_end(&ranges->items[last]);
		last++;
	}
	if (first == last)
		ranges->items = xgrow(
			ranges->items, &ranges->capacity, ranges->count, sizeof(*ranges->items));
	memmove(&ranges->items[first + 1], &ranges->items[last],
		(ranges->count - last) * sizeof(*ranges->items));
	ranges->items[first] = (struct range){ offset, end - offset };
	ranges->count = ranges->count + 1 - (last - first);
}

static int compare_offsets(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* They are added in rising order, which is cheap. */
void ranges_add_all(struct ranges *ranges, struct range *items, size_t count)
{
	struct ranges both = { 0 };
	size_t i = 0, k = 0;

	if (!count)
		return;
	qsort(items, count, sizeof(*items), compare_offsets);
	while (i < ranges->count || k < count) {
		const struct range *next = &items[k];

		if (k == count || (i < ranges->count && ranges->items[i].offset < next->offset))
			next = &ranges->items[i++];
		else
			k++;
		ranges_add(&both, next->offset, next->length);
	}
	ranges_free(ranges);
	*ranges = both;
}

uint64_t ranges_overlap(const struct ranges *ranges, uint64_t offset, uint64_t length)
{
	uint64_t end = offset + length, sum = 0;

	for (size_t i = first_reaching(ranges, offset); i < ranges->count; i++) {
		const struct range *range = &ranges->items[i];
		uint64_t from = range->offset > offset ? range->offset : offset;
		uint64_t to = range_end(range) < end ? range_end(range) : end;

		if (range->offset >= end)
			break;
		if (to > from)
			sum += to - from;
	}
	return sum;
}

void ranges_forget_before(struct ranges *ranges, uint64_t offset)
{
	size_t keep_from = 0;

	while (keep_from < ranges->count && range_end(&ranges->items[keep_from]) <= offset)
		keep_from++;
	if (!keep_from)
		return;
	ranges->count -= keep_from;
	memmove(ranges->items, ranges->items + keep_from, ranges->count * sizeof(*ranges->items));
}

uint64_t ranges_bytes(const struct ranges *ranges)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ranges->count; i++)
		sum += ranges->items[i].length;
	return sum;
}

const struct range *ranges_after(const struct ranges *ranges, uint64_t offset)
{
	size_t i = first_reaching(ranges, offset);

	if (i < ranges->count && range_end(&ranges->items[i]) == offset)
		i++;
	return i < ranges->count ? &ranges->items[i] : NULL;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct ranges){ 0 };
}

void ranges_save(const struct ranges *ranges, uint64_t limit, struct codec_writer *writer)
{
	size_t count = 0;

	while (count < ranges->count && ranges->items[count].offset < limit)
		count++;
	codec_put(writer, count);
	for (size_t i = 0; i < count; i++) {
		const struct range *range = &ranges->items[i];

		codec_put(writer, range->offset);
		codec_put(writer, range_end(range) < limit ? range->length : limit - range->offset);
	}
}

void ranges_load(struct ranges *ranges, uint64_t limit, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, limit);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		uint64_t offset = codec_get(reader, limit);

		ranges_add(ranges, offset, codec_get(reader, limit - offset));
	}
}
