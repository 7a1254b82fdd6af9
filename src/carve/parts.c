#include "carve/parts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "carve/view.h"

#define FIRST_SIZE 64
#define PARTS_MAX VIEW_PARTS_MAX /* 64 MiB of slots */

/* The slot that holds offset, or the free one for it. At least half of the slots are free. */
static uint64_t *slot_of(const struct parts *parts, uint64_t offset)
{
	size_t at = (size_t)((offset * 0x9e3779b97f4a7c15u) >> 20) & (parts->size - 1);

	while (parts->slots[at] && parts->slots[at] != offset)
		at = (at + 1) & (parts->size - 1);
	return &parts->slots[at];
}

static void grow(struct parts *parts)
{
	struct parts larger = *parts;

	larger.size = parts->size ? parts->size * 2 : FIRST_SIZE;
	larger.slots = xcalloc(larger.size, sizeof(*larger.slots));
	for (size_t i = 0; i < parts->size; i++)
		if (parts->slots[i])
			*slot_of(&larger, parts->slots[i]) = parts->slots[i];
	free(parts->slots);
	*parts = larger;
}

void parts_add(struct parts *parts, uint64_t offset)
{
	uint64_t *slot;

	if (!offset || parts->count == PARTS_MAX)
		return;
	if (parts->count * 2 >= parts->size)
		grow(parts);
	slot = slot_of(parts, offset);
	parts->count += *slot == 0;
	*slot = offset;
	if (offset > parts->last)
		parts->last = offset;
}

bool parts_has(const struct parts *parts, uint64_t offset)
{
	return parts->count && offset <= parts->last && *slot_of(parts, offset) == offset && offset;
}

void parts_forget_before(struct parts *parts, uint64_t offset)
{
	if (parts->count && offset > parts->last)
		parts_free(parts);
}

void parts_free(struct parts *parts)
{
	free(parts->slots);
	*parts = (struct parts){ 0 };
}

void parts_save(const struct parts *parts, struct codec_writer *writer)
{
	codec_put(writer, parts->count);
	for (size_t i = 0; i < parts->size; i++)
		if (parts->slots[i])
			codec_put(writer, parts->slots[i]);
}

void parts_load(struct parts *parts, uint64_t limit, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, PARTS_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++)
		parts_add(parts, codec_get(reader, limit));
}
