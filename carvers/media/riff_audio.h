/* Audio's part of a RIFF file. */
#ifndef BURIN_CARVERS_MEDIA_RIFF_AUDIO_H
#define BURIN_CARVERS_MEDIA_RIFF_AUDIO_H

#include "pcm.h"
#include "predictor.h"
#include "riff.h"
#include "riff_packets.h"

struct riff_audio {
	struct riff_chunk data;      /* the chunk 'data': at is 0 before it was found */
	struct pcm_format samples;   /* from 'fmt '; frame_len is 0 without it */
	struct riff_packets packets; /* if compressed */
};

/* Reads the chunk 'fmt '. False if it is too short. */
bool riff_audio_read_format(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_audio *audio);

/* Whether the samples in `data` can be distinguished from foreign bytes; if so *tail is as from
 * pcm_check, or riff_packets_check for compressed ones. */
bool riff_audio_check(
	struct view *view, const struct riff_audio *audio, enum predictor_end *tail, uint64_t *at);

/* Whether this is an unclosed recording: its sizes are not set. */
bool riff_audio_is_unclosed(const struct riff *riff, const struct riff_audio *audio);

/* The verdict on such a recording. */
enum verdict riff_audio_judge_unclosed(
	struct view *view, struct finding *finding, const struct riff_audio *audio);

#endif
