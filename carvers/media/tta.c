/*
 * TrueAudio (tausoft.org, TTA1 format description).
 *
 *	header: 'TTA1', format, channels, bits a sample (2 bytes each), sample rate, number of
 *	        samples (4 bytes each, little-endian), CRC-32 of these 18 bytes
 *	table:  the length of each frame, a CRC-32 of them
 *	frames: of 256 / 245 seconds each, with a CRC-32 at their end
 *
 * Everything is checked: the valid part ends before a frame whose CRC is wrong. Tags may follow the
 * last frame, or precede the header: then mp3.c finds it.
 */
#include "tta.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "audio_tags.h"
#include "walk.h"

#define HEADER_LEN 22

/* Whether the CRC-32 at `end` matches the bytes before it. */
static bool crc_matches(struct view *view, uint64_t at, uint64_t end)
{
	uint32_t crc = 0;
	const uint8_t *p;

	if (!walk_crc32(view, at, end - at, &crc))
		return false;
	p = view_peek(view, end, 4);
	return p && le32(p) == crc;
}

static enum verdict check_frames(
	struct view *view, uint64_t table, uint64_t frame_count, struct finding *finding)
{
	uint64_t at = table + frame_count * 4 + 4, end;
	const uint8_t *p;

	for (uint64_t i = 0; i < frame_count; i++, at = end) {
		p = view_peek(view, table + i * 4, 4);
		finding->length = at;
		if (!p || le32(p) < 4)
			return verdict_because(CARVE_TRUNCATED, finding,
				"frame %" PRIu64 " has an impossible length", i);
		end = at + le32(p);
		if (end > view_size(view))
			return walk_cut_filled(view, finding, end, at);
		if (!crc_matches(view, at, end - 4))
			return verdict_because(
				CARVE_TRUNCATED, finding, "wrong CRC of the frame at %" PRIu64, at);
	}
	finding->length = audio_tags_end(view, at, finding);
	return CARVE_COMPLETE;
}

enum verdict tta_check(struct view *view, uint64_t at, struct finding *finding)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint64_t frame_samples, frame_count, table = at + HEADER_LEN;

	if (!p || memcmp(p, "TTA1", 4) != 0 || !crc_matches(view, at, at + 18))
		return verdict_because(
			CARVE_REJECT, finding, "no header with a matching CRC at %" PRIu64, at);
	p = view_peek(view, at, HEADER_LEN);
	frame_samples = p ? UINT64_C(256) * le32(p + 10) / 245 : 0;
	if (!frame_samples)
		return verdict_because(CARVE_REJECT, finding, "no sample rate at %" PRIu64, at);
	finding->extension = "tta";
	frame_count = (le32(p + 14) + frame_samples - 1) / frame_samples;
	finding->length = table;
	if (frame_count * 4 + 4 > view_size(view) - table)
		return walk_cut(view, finding, table + frame_count * 4 + 4,
			view_ends_with_image(view) ? view_size(view) : table);
	if (!crc_matches(view, table, table + frame_count * 4))
		return verdict_because(
			CARVE_TRUNCATED, finding, "wrong CRC of the table at %" PRIu64, table);
	return check_frames(view, table, frame_count, finding);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return tta_check(view, 0, finding);
}

const struct carver tta_carver = {
	.name = "tta",
	.summary = "TrueAudio, by its frames and their CRCs",
	.check = check,
};
