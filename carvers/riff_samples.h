/* The samples of a sound file that are stored as they are: whether they go on to its end. */
#ifndef BURIN_RIFF_SAMPLES_H
#define BURIN_RIFF_SAMPLES_H

#include <stdbool.h>

#include "riff.h"
#include "tail.h"

enum coding { CODING_NONE, CODING_SAMPLES, CODING_PACKED };

/* What the chunk 'fmt ' says of them. */
struct riff_samples {
	enum coding coding;
	bool big_endian;
	uint16_t tag;  /* 1 plain, 3 floating point, 6 A-law, 7 mu-law, FFFE says it elsewhere */
	uint16_t bits; /* of a sample; 0 when it is not told */
	uint16_t frame_len; /* bytes of a sample of all channels, at least 1 */
};

/* False when there is no 'fmt ' in the chunk. */
bool riff_samples_read(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_samples *samples);

/* Whether the samples [start, end) go on to their end, or others begin at *at. */
enum tail riff_samples_check(struct view *view, const struct riff_samples *samples, uint64_t start,
	uint64_t end, uint64_t *at);

/* Where the samples from `start` on end in a recording whose sizes are not set: start when there
 * are none. */
uint64_t riff_samples_guess(struct view *view, uint64_t start);

#endif
