/* FLAC frames, decoded only as far as needed to find their end. */
#ifndef BURIN_CARVERS_MEDIA_FLAC_FRAME_H
#define BURIN_CARVERS_MEDIA_FLAC_FRAME_H

#include <stdbool.h>

#include "carver.h"

struct flac_frame {
	uint64_t end;        /* after its CRC */
	uint64_t number;     /* of the frame, or of its first sample */
	bool counts_samples; /* the latter */
	uint32_t sample_count;
};

enum flac_state {
	FLAC_INTACT,
	FLAC_CUT,     /* the view ends within it */
	FLAC_NONE,    /* no header here: its CRC-8 is wrong, or a field is impossible */
	FLAC_CORRUPT, /* the header is valid, but not the rest, or the CRC-16 is wrong */
};

/* Reads the frame at `at`; depth: bits a sample, from the stream's header. */
enum flac_state flac_frame_read(
	struct view *view, uint64_t at, unsigned depth, struct flac_frame *frame);

#endif
