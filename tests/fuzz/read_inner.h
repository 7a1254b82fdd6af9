/* What targets do with a volume that burin opens itself: it is opened, and read from end to end. */
#ifndef BURIN_TESTS_READ_INNER_H
#define BURIN_TESTS_READ_INNER_H

#include <stdlib.h>

#include "evidence/backend.h"
#include "evidence/inner_kind.h"

#define MOST_MEDIA ((uint64_t)1 << 20)

/* And closed. */
static inline void read_all(struct image *image, struct image *outer)
{
	static uint8_t buffer[70001];
	uint64_t size = image_info(image)->size;

	image->outer = outer;
	for (uint64_t at = 0; at < size && at < MOST_MEDIA; at += sizeof(buffer)) {
		size_t part_len = size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);

		if (image_read_around(image, at, buffer, part_len))
			free(image->backend->why(image, at));
	}
	image->outer = NULL; /* the caller's */
	image_close(image);
}

static inline void read_inner(
	const struct inner_kind *kind, struct image *outer, const struct inner_place *place)
{
	char how[INNER_HOW_LEN];
	const char *why = NULL;
	struct image *image = kind->open(outer, place, &why, how);

	if (image)
		read_all(image, outer);
	else if (!why)
		abort();
}

#endif
