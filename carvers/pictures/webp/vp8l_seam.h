/* What the pixels of a lossless image show of the pieces of its file, for thorough checks. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_SEAM_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_SEAM_H

#include "vp8l_follow.h"

/* The bits (struct carver) for the joint at `at`, the next one being at `end`. */
unsigned vp8l_seam_bits(
	struct view *view, const struct vp8l_place *place, uint64_t at, uint64_t end);

/* Whether no pixel's colours are coded that the cache has; declares what that proves. Of a whole image. False: *at has some, after
 * so many others that the encoder is known to look. */
bool vp8l_cache_agrees(struct view *view, const struct vp8l_place *place, uint64_t *at);

#endif
