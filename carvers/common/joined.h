/* Whether rows of pixels that are stored as they are continue over the start of each cluster. */
#ifndef BURIN_CARVERS_COMMON_JOINED_H
#define BURIN_CARVERS_COMMON_JOINED_H

#include <stdbool.h>

#include "carver.h"

/* Whether at each cluster's start in [start, end), where a cut file may go on with other bytes, the row of pixels
 * resembles the row above at the same columns, and hardly at others. Rows have row_len bytes, pixels pixel_len (both at
 * least 1); order: NULL, or, where a pixel is a byte, the place of each value among all. True when no cluster starts there; false for samples, whose rows are too short to be compared, for noise,
 * and where the last cluster has zeros, or many bytes of one value. */
bool joined_rows(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t pixel_len, const uint8_t *order);

/* Whether the row at `at`, of the pixels [start, end), resembles the one above so, and is not of one value as that one is. */
bool joined_row(struct view *view, uint64_t start, uint64_t at, uint64_t end, uint64_t row_len,
	uint64_t pixel_len, const uint8_t *order);

#endif
