/*
 * Samples of films and sound whose frames show by themselves whether they are intact: by a checksum, or by what their parts say
 * of their places and lengths.
 */
#ifndef BURIN_CARVERS_COMMON_SAMPLE_FRAMES_H
#define BURIN_CARVERS_COMMON_SAMPLE_FRAMES_H

#include "carver.h"

enum sample_kind {
	SAMPLE_OTHER, /* nothing is known of them */
	SAMPLE_FLAC,
	SAMPLE_AC3,
	SAMPLE_PNG,
	SAMPLE_DV,
	SAMPLE_OPUS,
};

#define OPUS_KNOWN 8

/* What is known of a track's samples. Plain data. Zero-initialise, and set the first three. */
struct sample_frames {
	enum sample_kind kind;
	uint32_t len;    /* of each sample where all have one, else 0 */
	uint8_t streams; /* of Opus: packets in a sample, 1 or more */
	uint8_t known[OPUS_KNOWN], known_count, learnt, strange; /* first bytes of its packets */
	uint64_t strange_at; /* the last sample, if it has another one; else 0 */
	bool begun; /* a sample began as all of the kind do: what is wrong is another's, not of another kind */
};

/* Whether a checksum is over all bytes of the samples. */
bool sample_frames_are_summed(const struct sample_frames *frames);

/* Checks the sample, or the run of samples of one size, at [at, at + len), which is inside the view, and declares what its
 * checksums prove (view_proved). False: it is invalid; *valid is up to where it is not, perhaps before `at`. */
bool sample_frames_check(struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len,
	uint64_t *valid);

#endif
