/*
 * The chunks 'fmt ' and 'data' of WAVE: what the samples are, and how far they extend if the
 * recording program did not get to write the sizes.
 */
#include "riff_audio.h"

#include <inttypes.h>

#include "bytes.h"
#include "predictor.h"

bool riff_audio_read_format(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_audio *audio)
{
	size_t len = chunk->len < 16 ? 14 : 16;
	const uint8_t *p = chunk->len >= 14 ? view_peek(riff->view, chunk->data, len) : NULL;

	if (!p)
		return false;
	if (riff_is(riff->form, "QLCM")) {
		audio->samples = (struct pcm_format){ .frame_len = 1 };
		riff_packets_read_format(riff, chunk, &audio->packets);
		return true;
	}
	audio->samples = (struct pcm_format){
		.tag = ordered16(riff->big_endian, p),
		.bits = len < 16 ? 0 : ordered16(riff->big_endian, p + 14),
		.frame_len = ordered16(riff->big_endian, p + 12),
		.big_endian = riff->big_endian,
	};
	if (!audio->samples.frame_len)
		audio->samples.frame_len = 1;
	p = audio->samples.tag == PCM_EXTENSIBLE && chunk->len >= PCM_GUID_END
		    ? view_peek(riff->view, chunk->data + PCM_GUID_AT, 2)
		    : NULL;
	if (p)
		pcm_set_guid(&audio->samples, ordered16(riff->big_endian, p));
	riff_packets_read_format(riff, chunk, &audio->packets);
	return true;
}

bool riff_audio_check(
	struct view *view, const struct riff_audio *audio, enum predictor_end *tail, uint64_t *at)
{
	if (!audio->samples.frame_len)
		return false;
	if (!pcm_is_plain(&audio->samples)) {
		*tail = riff_packets_check(
			view, &audio->packets, audio->data.data, audio->data.end, at);
		return *tail != PREDICTOR_UNKNOWN;
	}
	*tail = pcm_check(view, &audio->samples, audio->data.data, audio->data.end, at);
	return true;
}

bool riff_audio_is_unclosed(const struct riff *riff, const struct riff_audio *audio)
{
	return riff_is(riff->form, "WAVE") && audio->data.at && audio->samples.frame_len &&
	       pcm_is_plain(&audio->samples) && !riff->data_len && riff->end != audio->data.end &&
	       (audio->data.len == UINT32_MAX || !audio->data.len ||
		       (audio->data.len & 0x7ffff000) == 0x7ffff000);
}

enum verdict riff_audio_judge_unclosed(
	struct view *view, struct finding *finding, const struct riff_audio *audio)
{
	uint64_t start = audio->data.data;

	finding->length = pcm_guess_end(view, &audio->samples, start);
	if (finding->length == start)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no samples after the head of %" PRIu64 " bytes", start);
	return verdict_because(
		CARVE_UNVERIFIED, finding, "an unclosed recording: its sizes are not set");
}
