/* The part of a RIFF file that only sound has. */
#ifndef BURIN_CARVERS_MEDIA_RIFF_AUDIO_H
#define BURIN_CARVERS_MEDIA_RIFF_AUDIO_H

#include "pcm.h"
#include "predictor.h"
#include "riff.h"
#include "riff_packets.h"

struct riff_audio {
	struct riff_chunk data;      /* the chunk 'data': at is 0 before it was found */
	struct pcm_format samples;   /* as 'fmt ' has them; frame_len is 0 without */
	struct riff_packets packets; /* of those that are packed */
};

/* False when there is no 'fmt ' in the chunk. */
bool riff_audio_read_format(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_audio *sound);

/* Whether the samples in `data` are told from others, and go on to its end: as samples_check, or for
 * packed ones riff_packets_check. False where that can't be told. */
bool riff_audio_check(
	struct view *view, const struct riff_audio *sound, enum predictor_end *tail, uint64_t *at);

/* Whether this is a recording that was not closed: its sizes are not set. */
bool riff_audio_is_unclosed(const struct riff *riff, const struct riff_audio *sound);

/* The verdict on such a recording. */
enum verdict riff_audio_judge_unclosed(
	struct view *view, struct finding *finding, const struct riff_audio *sound);

#endif
