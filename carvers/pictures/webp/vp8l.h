/* WebP's lossless pictures, decoded to see whether they are whole. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_H

#include "carver.h"

enum vp8l_state {
	VP8L_WHOLE,  /* or too large to be looked at */
	VP8L_EARLY,  /* complete before the end of its data */
	VP8L_BROKEN, /* senseless from *at on */
	VP8L_CUT,    /* more would have to come */
};

/* Decodes the picture whose bytes, from its signature on, are [*at, end); *at is then how far it
 * came. */
enum vp8l_state vp8l_check(struct view *view, uint64_t *at, uint64_t end);

#endif
