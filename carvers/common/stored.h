/* Pixels and other data that are stored as they are, up to an end that the header gives: nothing verifies them. */
#ifndef BURIN_CARVERS_COMMON_STORED_H
#define BURIN_CARVERS_COMMON_STORED_H

#include "carver.h"

/* The verdict on a file whose data are [start, end): truncated where they turn into random bytes, or
 * where the view ends; else unverified. */
enum verdict stored_check(struct view *view, struct finding *finding, uint64_t start, uint64_t end);

/* The same for data other than text: also truncated where they turn into zeros or text with a sector. */
enum verdict stored_check_data(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end);

/* The same for pixels of pixel_len bytes in rows of row_len: also truncated where they turn into bytes unlike them. */
enum verdict stored_check_pixels(struct view *view, struct finding *finding, uint64_t start,
	uint64_t end, uint64_t row_len, uint64_t pixel_len);

/* The same for data of which parts may be compressed, so that random bytes mean nothing: truncated only where zeros
 * or text begin with a sector, or the view ends. */
enum verdict stored_check_coded(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end);

#endif
