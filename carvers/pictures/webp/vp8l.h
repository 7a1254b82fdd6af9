/* WebP's lossless pictures, decoded to see whether they are whole. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_H

#include "carver.h"

enum vp8l_state {
	VP8L_COMPLETE,
	VP8L_UNKNOWN, /* too large to be decoded */
	VP8L_EARLY,   /* complete before the end of its data */
	VP8L_BROKEN,  /* invalid from *at on */
	VP8L_CUT,     /* the data ends too early */
	VP8L_FOREIGN, /* from some place on it is likely another file's */
};

/* Decodes the picture whose bytes, from its signature on, are [*at, end); sets *at to how far it
 * came. */
enum vp8l_state vp8l_check(struct view *view, uint64_t *at, uint64_t end);

#endif
