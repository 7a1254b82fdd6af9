#include "assemble/extents.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void extents_clear(struct extents *extents)
{
	extents->count = 0;
}

void extents_grow(struct extents *extents)
{
	extents->runs =
		xgrow(extents->runs, &extents->capacity, extents->count, sizeof(*extents->runs));
}

void extents_set(struct extents *extents, const struct range *runs, size_t count)
{
	extents_clear(extents);
	for (size_t i = 0; i < count; i++)
		extents_add(extents, runs[i].offset, runs[i].length);
}

void extents_set_first(
	struct extents *extents, const struct range *runs, size_t count, uint64_t length)
{
	extents_clear(extents);
	for (size_t i = 0; i < count && length; i++) {
		uint64_t len = runs[i].length < length ? runs[i].length : length;

		extents_add(extents, runs[i].offset, len);
		length -= len;
	}
}

void extents_add_apart(struct extents *extents, const struct range *runs, size_t count)
{
	if (extents->capacity - extents->count < count) {
		extents->capacity = extents->count + count;
		extents->runs =
			xreallocarray(extents->runs, extents->capacity, sizeof(*extents->runs));
	}
	memcpy(extents->runs + extents->count, runs, count * sizeof(*runs));
	extents->count += count;
}

void extents_cut(struct extents *extents, uint64_t length)
{
	size_t i = 0;

	for (; i < extents->count && length; i++) {
		if (extents->runs[i].length > length)
			extents->runs[i].length = length;
		length -= extents->runs[i].length;
	}
	extents->count = i;
}

void extents_split(struct extents *extents, uint64_t at)
{
	size_t i = 0;

	while (i < extents->count && at >= extents->runs[i].length)
		at -= extents->runs[i++].length;
	if (i == extents->count || !at)
		return;
	extents_grow(extents);
	for (size_t n = extents->count++; n > i; n--)
		extents->runs[n] = extents->runs[n - 1];
	extents->runs[i].length = at;
	extents->runs[i + 1].offset += at;
	extents->runs[i + 1].length -= at;
}

uint64_t extents_place(const struct extents *extents, uint64_t at)
{
	for (size_t i = 0; i < extents->count; i++) {
		const struct range *run = &extents->runs[i];

		if (at <= run->length)
			return run->offset + at;
		at -= run->length;
	}
	return UINT64_MAX;
}

uint64_t extents_hash(const struct extents *extents, uint64_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i < extents->count && length; i++) {
		uint64_t len = extents->runs[i].length < length ? extents->runs[i].length : length;

		hash = (hash ^ extents->runs[i].offset) * 0x9e3779b97f4a7c15;
		hash = (hash ^ len ^ hash >> 29) * 0xbf58476d1ce4e5b9;
		length -= len;
	}
	return hash ^ hash >> 32;
}

bool extents_overlaps_itself(const struct extents *extents)
{
	struct ranges seen = { 0 };
	bool twice = false;

	for (size_t i = 0; i < extents->count && !twice; i++) {
		const struct range *run = &extents->runs[i];

		twice = ranges_overlap(&seen, run->offset, run->length) != 0;
		ranges_add(&seen, run->offset, run->length);
	}
	ranges_free(&seen);
	return twice;
}

void extents_free(struct extents *extents)
{
	free(extents->runs);
	*extents = (struct extents){ 0 };
}
