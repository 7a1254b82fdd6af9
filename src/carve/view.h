/*
 * The bounds-checked window through which a carver sees the image (carvers/carver.h has view_peek and the rest of what carvers may
 * call). A view belongs to one thread and is used for one candidate after another.
 */
#ifndef BURIN_CARVE_VIEW_H
#define BURIN_CARVE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "carvers/carver.h"
#include "evidence/image.h"

/* A view that has to be pointed at something first. */
struct view *view_new(void);
/* Points it at [start, start + size) of the image; size is cut at the image's end. What was read before is forgotten. */
void view_point(struct view *view, struct image *image, uint64_t start, uint64_t size);
/* A view of bytes in memory, which stay the caller's: for tests and fuzzers. It ends with its image. */
struct view *view_new_memory(const uint8_t *bytes, size_t len);
/* NULL is fine. */
void view_free(struct view *view);

#endif
