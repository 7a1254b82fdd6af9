/*
 * Dolby Digital and Dolby Digital Plus (ATSC A/52:2018, 5 and annex E).
 *
 *	frame: 0B 77, ..., version at 5 (5 bits: 8 and less AC-3, 16 E-AC-3), audio, CRC-16
 *	AC-3:  CRC of the first 5/8 of the frame (2), sample rate (2 bits), length (6 bits: a row of the table of
 *	       bit rates, and its lowest bit)
 *	E-AC-3: kind of stream (2 bits), number (3), length in pairs of bytes less one (11)
 *
 * The CRC at the end of a frame is over all of it but the sync word. How many frames there are is not stored.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "crc16.h"
#include "walk.h"

#define HEAD_LEN 6
#define FRAMES_MIN 2

struct frame {
	uint32_t len;
	uint8_t version, rate;
};

static bool read_frame(struct view *view, uint64_t at, struct frame *frame)
{
	static const uint16_t kilobits[] = { 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224,
		256, 320, 384, 448, 512, 576, 640 };
	const uint8_t *p = view_peek(view, at, HEAD_LEN);
	unsigned row = p ? p[4] >> 1 & 31 : 0;

	if (!p || p[0] != 0x0b || p[1] != 0x77)
		return false;
	*frame = (struct frame){ .version = p[5] >> 3, .rate = p[4] >> 6 };
	if (frame->version > 10 && frame->version <= 16) {
		frame->len = ((be16(p + 2) & 0x7ffu) + 1) * 2;
		return frame->len > 16 && p[2] >> 6 < 3;
	}
	if (frame->version > 8 || frame->rate == 3 || row >= sizeof(kilobits) / sizeof(*kilobits))
		return false;
	frame->len = frame->rate == 0   ? kilobits[row] * 4u
		     : frame->rate == 1 ? (kilobits[row] * 96000u / 44100 + (p[4] & 1)) * 2
					: kilobits[row] * 6u;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct frame first, frame = { 0 };
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
