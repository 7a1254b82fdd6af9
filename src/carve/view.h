/*
 * The bounds-checked window through which a carver sees the image (carvers/carver.h has view_peek
 * and the rest of what carvers may call). A view belongs to one thread and is used for one
 * candidate after another.
 */
#ifndef BURIN_CARVE_VIEW_H
#define BURIN_CARVE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carvers/carver.h"
#include "evidence/image.h"

/* A view that has to be pointed at something first. */
struct view *view_new(void);
/* Points it at [start, start + size) of the image; size is cut at the image's end. What was read
 * before is forgotten. */
void view_point(struct view *view, struct image *image, uint64_t start, uint64_t size);
/* Asks before each fetch from the image, saying where in the image it ends. False: nothing more is
 * fetched for this candidate, as if its budget were spent. */
void view_watch(struct view *view, bool (*go_on)(void *context, uint64_t reached), void *context);
/* Whether the watcher said so since view_point: what the carver concluded means nothing then. */
bool view_stopped(const struct view *view);
/* What view_part was told since view_point: rising offsets from the start of the view, good
 * until the next call; *count of them. */
const uint64_t *view_parts(const struct view *view, size_t *count);
/* The same for view_embedded, in the order that they were named. */
const uint64_t *view_embedded_offsets(const struct view *view, size_t *count);
/* A view of bytes in memory, which stay the caller's: for tests and fuzzers. It ends with its
 * image. Each peek gives a copy that the next takes away, so that the sanitizer sees who keeps
 * one. */
struct view *view_new_memory(const uint8_t *bytes, size_t len);
/* NULL is fine. */
void view_free(struct view *view);

#endif
