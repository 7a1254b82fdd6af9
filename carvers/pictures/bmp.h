/* What the two parts of the BMP carver tell each other. */
#ifndef BURIN_CARVERS_PICTURES_BMP_H
#define BURIN_CARVERS_PICTURES_BMP_H

#include "dib.h"

enum rle_state {
	RLE_MORE,
	RLE_DONE,   /* the end of the bitmap */
	RLE_CUT,    /* no end before the end of what there is */
	RLE_BROKEN, /* pixels outside of the picture */
};

/* Passes over run-length coded pixels in [*at, end); *at is behind them then, or where they stop
 * making sense. Never RLE_MORE. */
enum rle_state bmp_pass_rle(struct view *view, const struct dib *dib, uint64_t *at, uint64_t end);

#endif
