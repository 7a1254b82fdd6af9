#include "assemble/known_trials.h"

#include <stdlib.h>

#include "base/memory.h"

struct known_trials {
	size_t most;
	struct known_trial *items; /* NULL until one is added; seen 0: an empty slot */
};

struct known_trials *known_trials_new(size_t most)
{
	struct known_trials *known = xcalloc(1, sizeof(*known));

	known->most = most;
	return known;
}

size_t known_trials_most(const struct known_trials *known)
{
	return known ? known->most : 0;
}

void known_trials_free(struct known_trials *known)
{
	if (known)
		free(known->items);
	free(known);
}

const struct known_trial *known_trials_find(const struct known_trials *known, uint64_t key)
{
	const struct known_trial *item;

	if (!known || !known->items)
		return NULL;
	item = &known->items[key % known->most];
	return item->seen && item->key == key ? item : NULL;
}

void known_trials_add(struct known_trials *known, const struct known_trial *trial)
{
	if (!known)
		return;
	if (!known->items)
		known->items = xcalloc(known->most, sizeof(*known->items));
	known->items[trial->key % known->most] = *trial;
}

void known_trials_save(const struct known_trials *known, struct codec_writer *writer)
{
	codec_put(writer, known->most);
	codec_put(writer, known->items != NULL);
	for (size_t i = 0; known->items && i < known->most; i++) {
		const struct known_trial *item = &known->items[i];

		codec_put(writer, item->seen);
		if (!item->seen)
			continue;
		codec_put(writer, item->key);
		codec_put(writer, item->hash);
		codec_put(writer, item->reached);
		codec_put(writer, item->verdict);
		codec_put(writer, item->proof);
	}
}

struct known_trials *known_trials_load(uint64_t *room, struct codec_reader *reader)
{
	size_t most = (size_t)codec_get(reader, *room);
	struct known_trials *known;

	if (!most) {
		codec_fail(reader);
		return NULL;
	}
	*room -= most;
	known = known_trials_new(most);
	if (!codec_get_flag(reader))
		most = 0;
	for (size_t i = 0; i < most && codec_ok(reader); i++) {
		struct known_trial item = { .seen = codec_get(reader, INT64_MAX) };

		if (!item.seen)
			continue;
		item.key = codec_get(reader, UINT64_MAX);
		item.hash = codec_get(reader, UINT64_MAX);
		item.reached = codec_get(reader, INT64_MAX);
		item.verdict = (enum verdict)codec_get(reader, CARVE_UNVERIFIED);
		item.proof = (unsigned)codec_get(reader, UINT32_MAX);
		if (item.key % most != i)
			codec_fail(reader);
		known_trials_add(known, &item);
	}
	if (codec_ok(reader))
		return known;
	known_trials_free(known);
	return NULL;
}
