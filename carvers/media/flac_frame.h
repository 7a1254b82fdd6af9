/* FLAC frames, decoded as far as needed to find their end, or to the samples. */
#ifndef BURIN_CARVERS_MEDIA_FLAC_FRAME_H
#define BURIN_CARVERS_MEDIA_FLAC_FRAME_H

#include <stdbool.h>

#include "carver.h"

struct flac_frame {
	uint64_t end;        /* after its CRC */
	size_t head_len;     /* bytes of its header; 0: there is none, or it is cut */
	uint64_t number;     /* of the frame, or of its first sample */
	bool counts_samples; /* the latter */
	uint32_t sample_count;
};

/* What a frame decodes to. Zero-initialise; flac_samples_free when done. */
struct flac_samples {
	int64_t *values; /* `count` of the first channel, then those of the next */
	size_t capacity;
	unsigned channels;
	uint32_t count;
	bool valid; /* false: a sample has more bits than it may, or is predicted in no known way */
};

enum flac_state {
	FLAC_INTACT,
	FLAC_CUT,     /* the view ends within it */
	FLAC_NONE,    /* no header here: its CRC-8 is wrong, or a field is impossible */
	FLAC_CORRUPT, /* the header is valid, but not the rest, or the CRC-16 is wrong */
};

/* Reads the frame at `at`; depth: bits a sample, from the stream's header. samples: NULL, or what an intact one decodes
 * to. */
enum flac_state flac_frame_read(struct view *view, uint64_t at, unsigned depth,
	struct flac_frame *frame, struct flac_samples *samples);
/* The same for a frame that is not the stream's last one: where the next one's header follows, by its number, at `most` bytes
 * after it at most, and the CRC-16 is right. What is between is not read: for trials, most of which are refused. */
enum flac_state flac_frame_skip(
	struct view *view, uint64_t at, unsigned depth, uint64_t most, struct flac_frame *frame);
void flac_samples_free(struct flac_samples *samples);

#endif
