/* Where data that is stored as it is, with no checksum and no code that could break, turns into
 * random bytes. */
#ifndef BURIN_CARVERS_COMMON_NOISE_H
#define BURIN_CARVERS_COMMON_NOISE_H

#include <stdbool.h>

#include "carver.h"

/* Where in [start, end) random bytes (or compressed, or encrypted ones: they look alike) begin
 * behind others: to about a KiB. end when there are no such, less than 3 KiB of them, or nothing
 * else before them, as in a picture that is noise all over. */
uint64_t noise_start(struct view *view, uint64_t start, uint64_t end);

/* True when [start, end) begins with 4 KiB of random bytes: then nothing says that the pixels or
 * samples that should be there are there. */
bool noise_at(struct view *view, uint64_t start, uint64_t end);

/* Where the random bytes begin that go up to `end`, not before start: a multiple of a KiB before
 * it. end when the last KiB is none. */
uint64_t noise_before(struct view *view, uint64_t start, uint64_t end);

/* The opposite: where in [start, end) coded data, in which all values are about as frequent, gives
 * way to zeros, text or other plain bytes, 2 KiB of them at least, to about a KiB. end when it does
 * not. */
uint64_t plain_start(struct view *view, uint64_t start, uint64_t end);

#endif
