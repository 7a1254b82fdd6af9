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
