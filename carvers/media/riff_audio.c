/*
 * The chunks 'fmt ' and 'data' of WAVE: what the samples are, and, where programs that record did
 * not come to write the sizes, how far they go.
 */
#include "riff_audio.h"

#include <inttypes.h>

#include "bytes.h"
#include "predictor.h"

bool riff_audio_read_format(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_audio *sound)
{
	size_t len = chunk->len < 16 ? 14 : 16;
	const uint8_t *p = chunk->len >= 14 ? view_peek(riff->view, chunk->data, len) : NULL;

	if (!p)
		return false;
	if (riff_is(riff->form, "QLCM")) {
		sound->samples = (struct pcm_format){ .frame_len = 1 };
		riff_packets_read_format(riff, chunk, &sound->packets);
		return true;
	}
	sound->samples = (struct pcm_format){
		.tag = ordered16(riff->big_endian, p),
		.bits = len < 16 ? 0 : ordered16(riff->big_endian, p + 14),
		.frame_len = ordered16(riff->big_endian, p + 12),
		.big_endian = riff->big_endian,
	};
	if (!sound->samples.frame_len)
		sound->samples.frame_len = 1;
	riff_packets_read_format(riff, chunk, &sound->packets);
	return true;
}

bool riff_audio_check(
	struct view *view, const struct riff_audio *sound, enum predictor_end *tail, uint64_t *at)
{
	if (!sound->samples.frame_len)
		return false;
	if (!pcm_is_plain(&sound->samples)) {
		*tail = riff_packets_check(
			view, &sound->packets, sound->data.data, sound->data.end, at);
		return *tail != PREDICTOR_UNKNOWN;
	}
	*tail = pcm_check(view, &sound->samples, sound->data.data, sound->data.end, at);
	return true;
}

bool riff_audio_is_unclosed(const struct riff *riff, const struct riff_audio *sound)
{
	return riff_is(riff->form, "WAVE") && sound->data.at && sound->samples.frame_len &&
	       pcm_is_plain(&sound->samples) && !riff->data_len && riff->end != sound->data.end &&
	       (sound->data.len == UINT32_MAX || !sound->data.len ||
		       (sound->data.len & 0x7ffff000) == 0x7ffff000);
}

enum verdict riff_audio_judge_unclosed(
	struct view *view, struct finding *finding, const struct riff_audio *sound)
{
	uint64_t start = sound->data.data;

	finding->length = pcm_guess_end(view, start);
	if (finding->length == start)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no samples behind the head of %" PRIu64 " bytes", start);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"a recording that was not closed: its sizes are not set");
}
