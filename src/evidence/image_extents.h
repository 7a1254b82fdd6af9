/* Reads what lies in several extents of an image, such as a file, as if it was in one. */
#ifndef BURIN_EVIDENCE_IMAGE_EXTENTS_H
#define BURIN_EVIDENCE_IMAGE_EXTENTS_H

#include "base/ranges.h"
#include "evidence/image.h"

/* Reads at most len bytes at offset. extents: in their order, all inside the image. Returns how many
 * (0: at the end), or -EIO where the evidence can't be read, unless zeros take the place of that.
 * Thread-safe. */
int64_t image_read_extents(struct image *image, const struct range *extents, size_t count,
	uint64_t offset, void *buffer, size_t len, bool zeros);

#endif
