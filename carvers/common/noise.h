/* Where uncompressed data, which has no checksum and no code that could break, turns into random
 * bytes, and the reverse. */
#ifndef BURIN_CARVERS_COMMON_NOISE_H
#define BURIN_CARVERS_COMMON_NOISE_H

#include <stdbool.h>

#include "carver.h"

/* Where in [start, end) random bytes (or compressed or encrypted ones, which look the same) begin
 * after other data, to about a KiB. end when there are fewer than 3 KiB of them, or no clearly
 * different data before, as in a picture that is noise all over. */
uint64_t noise_start(struct view *view, uint64_t start, uint64_t end);

/* The first sector's start in [start, end) from which on one sector or more have random bytes, if the sectors before and after
 * them clearly have not; end when there is none. Finds fewer bytes than noise_start does. step: bytes of a pixel or sample, at least 1. */
uint64_t noise_between(struct view *view, uint64_t start, uint64_t end, uint64_t step);

/* Whether [start, end) begins with 4 KiB of random bytes: then nothing shows that the expected
 * pixels or samples are there. */
bool noise_at(struct view *view, uint64_t start, uint64_t end);

/* Where the random bytes begin that reach `end`: a multiple of a KiB before it, not before start.
 * end when the last KiB is not random. */
uint64_t noise_before(struct view *view, uint64_t start, uint64_t end);

/* The reverse: where in [start, end) coded data, in which all values are about equally frequent,
 * gives way to at least 2 KiB of zeros, text or other plain bytes, to about a KiB. end when it does
 * not. */
uint64_t plain_start(struct view *view, uint64_t start, uint64_t end);

/* Whether the last bytes of [start, end), which no structure confirms, are a handful, or text
 * (UTF-8), or numbers, most of whose bytes are 0. Neither coded data nor random bytes look like
 * that, and wiped data has more zeros. Not for coded data, which text may follow. */
bool plain_at_end(struct view *view, uint64_t start, uint64_t end);

#endif
