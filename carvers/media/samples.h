/* Samples of sound that are stored as they are: whether they go on to their end. */
#ifndef BURIN_CARVERS_MEDIA_SAMPLES_H
#define BURIN_CARVERS_MEDIA_SAMPLES_H

#include <stdbool.h>

#include "carver.h"
#include "tail.h"

/* The codings by their numbers in WAVE, whichever file they stand in. */
enum { SAMPLES_PLAIN = 1, SAMPLES_FLOAT = 3, SAMPLES_A_LAW = 6, SAMPLES_MU_LAW = 7 };

struct samples {
	uint16_t tag;       /* one of those, or FFFE, which says it elsewhere; else: packed */
	uint16_t bits;      /* of a sample; 0 when it is not told */
	uint16_t frame_len; /* bytes of a sample of all channels, at least 1 */
	bool big_endian;
	bool signed_8; /* those of 8 bits have a sign: silence is 0 */
};

/* Whether they are stored as they are, so that samples_check can tell them. */
bool samples_plain(const struct samples *samples);

/* Whether the samples [start, end) go on to their end, or others begin at *at. */
enum tail samples_check(struct view *view, const struct samples *samples, uint64_t start,
	uint64_t end, uint64_t *at);

/* Where the samples from `start` on end in a recording whose sizes are not set: start when there
 * are none. */
uint64_t samples_guess(struct view *view, uint64_t start);

#endif
