/* What the pixels of a lossless image show of the pieces of its file, for thorough checks. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_SEAM_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_SEAM_H

#include "vp8l_follow.h"

/* Whether no pixel's colours are coded that the cache has. Of a whole image. False: *at has some, after so many others that the
 * encoder is known to look. Declares what that proves, and with_rows what
 * rows of pixels do. */
bool vp8l_pixels_agree(
	struct view *view, const struct vp8l_place *place, bool with_rows, uint64_t *at);

#endif
