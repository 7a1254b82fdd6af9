/*
 * Dolby Digital and Dolby Digital Plus (ATSC A/52:2018, 5 and annex E).
 *
 * Frames (ac3_frame.c). The CRC at the end of a frame is over all of it but the sync word. How many frames there are is not
 * stored.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "ac3_frame.h"
#include "crc16.h"
#include "walk.h"

#define FRAMES_MIN 2

static bool read_frame(struct view *view, uint64_t at, struct ac3_frame *frame)
{
	const uint8_t *p = view_peek(view, at, AC3_HEAD_LEN);

	return p && ac3_frame_read(p, frame);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ac3_frame first, frame = { 0 };
	uint64_t at = 0, size = view_size(view);
	uint32_t count = 0;
	bool another;

	if (!read_frame(view, 0, &first))
		return verdict_because(CARVE_REJECT, finding, "no frame at 0");
	for (;; count++, at += frame.len) {
		another = read_frame(view, at, &frame) && frame.version == first.version &&
			  frame.rate == first.rate;
		if (!another || !crc16_holds(view, at + 2, at + frame.len))
			break;
		if (at)
			view_part(view, at);
		view_proved(view, at + 2, at + frame.len, 16);
	}
	if (count < FRAMES_MIN)
		return verdict_because(CARVE_REJECT, finding,
			"no intact frame at %" PRIu64 " after %" PRIu32 " others", at, count);
	finding->extension = first.version > 10 ? "eac3" : "ac3";
	finding->length = at;
	if (another && at + frame.len > size)
		return walk_cut(view, finding, at + frame.len, size);
	if (another)
		return verdict_because(
			CARVE_TRUNCATED, finding, "wrong CRC of the frame at %" PRIu64, at);
	return walk_uncounted(view, finding, at, at, 0, "frame");
}

const struct carver ac3_carver = {
	.name = "ac3",
	.summary = "Dolby Digital and Dolby Digital Plus, by their frames' CRCs",
	.check = check,
	.quick = true,
};
