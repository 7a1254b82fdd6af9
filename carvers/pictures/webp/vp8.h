/* VP8 key frames in WebP, decoded to see whether they are whole. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8_H

#include "carver.h"

enum vp8_state {
	VP8_WHOLE,
	VP8_EARLY,    /* complete before a part of its data ends: at *at */
	VP8_UNPADDED, /* complete, but its data do not end as encoders end them */
	VP8_BROKEN,   /* it needs more data than its parts have */
	VP8_CUT,      /* it goes on after the view's end */
	VP8_FOREIGN,  /* from *at on it is likely another file's */
};

/* Decodes the frame whose bytes, from its tag on, are [*at, end), all inside the view. The caller
 * has checked its head. */
enum vp8_state vp8_check(struct view *view, uint64_t *at, uint64_t end);

#define VP8_TYPES 4
#define VP8_BANDS 8
#define VP8_CONTEXTS 3
#define VP8_TOKENS 11
#define VP8_MODES 10

extern const uint8_t vp8_token_probs[VP8_TYPES][VP8_BANDS][VP8_CONTEXTS][VP8_TOKENS];
extern const uint8_t vp8_update_probs[VP8_TYPES][VP8_BANDS][VP8_CONTEXTS][VP8_TOKENS];
/* By the modes above and on the left: DC, TM, VE, HE, RD, VR, LD, VL, HD, HU. */
extern const uint8_t vp8_mode_probs[VP8_MODES][VP8_MODES][VP8_MODES - 1];

#endif
