/*
 * Parts of an image that a thread read recently. Trials of files in pieces look at the same places again and again: the
 * file's beginning, what is before a break, and one cluster after the other. Not for several threads at once.
 */
#ifndef BURIN_CARVE_RECENT_H
#define BURIN_CARVE_RECENT_H

#include "base/ranges.h"
#include "evidence/image.h"

/* Zeroed: nothing was read. */
struct recent {
	struct image *image;
	struct recent_part *parts; /* NULL: none is kept yet */
};

/* As image_read_noting, which it calls for what is not kept; parts that can't be read whole are not kept. bad may be
 * NULL. The image must not be closed before recent_free, or the next image is read. */
void recent_read(struct recent *recent, struct image *image, uint64_t offset, void *buffer,
	size_t len, struct ranges *bad);
/* The same bytes where they are kept, until the next call; NULL: they are not all in one part that is kept now. */
const uint8_t *recent_lend(struct recent *recent, struct image *image, uint64_t offset, size_t len);
void recent_free(struct recent *recent);

#endif
