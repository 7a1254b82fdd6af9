/* Follows the symbols of a lossless image, and notices where they are another file's. Only where files in pieces are put together. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_FOLLOW_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_FOLLOW_H

#include "vp8l.h"

/* An image whose bytes are [at, end) in the file, which may go on after the view. */
struct vp8l_place {
	uint64_t at, end;
	uint32_t width, height; /* of transparency, which has no signature; 0: it is a picture */
};

/* As vp8l_check, but VP8L_CUT where the view ends, or VP8L_FOREIGN: *valid is how far it is valid. Saves states, if the view
 * wants them, and goes on from one of this image. A whole image's joints are declared as proved. */
enum vp8l_state vp8l_follow(struct view *view, const struct vp8l_place *place,
	const struct carve_state *from, uint64_t *valid);

/* As struct carve_codes has it, for an image that ends after the view. */
void *vp8l_break_new(
	struct view *view, const struct vp8l_place *place, const struct carve_state *from);
unsigned vp8l_break_ask(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work);
void vp8l_break_free(void *broken);

#endif
