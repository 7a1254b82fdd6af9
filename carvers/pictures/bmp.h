/* What the two parts of the BMP carver share. */
#ifndef BURIN_CARVERS_PICTURES_BMP_H
#define BURIN_CARVERS_PICTURES_BMP_H

#include "dib.h"

enum rle_state {
	RLE_MORE,
	RLE_DONE,   /* the bitmap's end code */
	RLE_CUT,    /* no end code before the end of the data */
	RLE_BROKEN, /* pixels outside the picture */
};

/* Skips run-length coded pixels in [*at, end); sets *at to their end, or to where they are invalid.
 * Never returns RLE_MORE. */
enum rle_state bmp_skip_rle(struct view *view, const struct dib *dib, uint64_t *at, uint64_t end);

#endif
