#include "evidence/damage.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Takes ownership of why. Adjacent places with the same reason are one. */
static void add_damage(struct damages *damages, uint64_t offset, uint64_t length, char *why)
{
	struct damage *last = damages->count ? &damages->items[damages->count - 1] : NULL;

	if (last && last->offset + last->length == offset && strcmp(last->why, why) == 0) {
		last->length += length;
		free(why);
		return;
	}
	damages->items =
		xgrow(damages->items, &damages->capacity, damages->count, sizeof(*damages->items));
	damages->items[damages->count++] = (struct damage){ offset, length, why };
}

static void collect_range(struct damages *damages, struct image *image, const struct range *range)
{
	uint64_t offset = range->offset, left = range->length;

	while (left && damages->count < DAMAGE_MAX) {
		uint64_t len;
		char *why = image_why(image, offset, &len);

		/* A place that fails once may be readable the next time. */
		if (!why)
			why = xstrdup("the medium or its file could not be read there");
		if (len > left)
			len = left;
		add_damage(damages, offset, len, why);
		offset += len;
		left -= len;
	}
}

void damages_collect(struct damages *damages, struct image *image, const struct ranges *unreadable)
{
	for (size_t i = 0; i < unreadable->count; i++)
		collect_range(damages, image, &unreadable->items[i]);
}

void damages_free(struct damages *damages)
{
	for (size_t i = 0; i < damages->count; i++)
		free(damages->items[i].why);
	free(damages->items);
	*damages = (struct damages){ 0 };
}
