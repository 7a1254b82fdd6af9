/* Whether data that is stored uncompressed continues to its end as it began. */
#ifndef BURIN_CARVERS_COMMON_PREDICTOR_H
#define BURIN_CARVERS_COMMON_PREDICTOR_H

#include "carver.h"

enum predictor_end {
	PREDICTOR_CONTINUOUS, /* the bytes before predict the last bytes */
	PREDICTOR_FOREIGN,    /* other bytes begin at *at, near a sector, to about 32 bytes */
	PREDICTOR_UNKNOWN,    /* not predictable: noise, or too few bytes */
};

/* Checks the last 64 KiB of the stored bytes [start, end), in rows of row_len bytes and pixels of
 * pixel_len (both at least 1). Fewer than 32 bytes count as continuous: they are too few to lose. */
enum predictor_end predictor_check_end(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, uint64_t *at);

/* The same for pixels or samples alone, which are alike all over: bytes of another file are also found by its head
 * at a sector, by random values that fill sectors, and by what they are like where they begin with a cluster, in the last MiB; and the data continue only if
 * their rows do at each cluster's start (joined.h), which samples never show. */
enum predictor_end predictor_check(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, uint64_t *at);

/* The same for pixels of one byte, of which order has the place of each value among all: values that are near each other
 * there look alike, as a palette may have any order. NULL: they are numbers themselves. */
enum predictor_end predictor_check_ordered(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, const uint8_t order[256], uint64_t *at);

#endif
