/*
 * DTS Coherent Acoustics (ETSI TS 102 114, 5.3 and 7.4), as 16-bit words, big-endian.
 *
 *	frame:     7F FE 80 01, kind (1 bit), samples (5), CRC (1), blocks less one (7), length less one (14),
 *	           channels (6), sample rate (4), ...
 *	extension: 64 58 20 25, a byte, index (2 bits), width (1), length of the header (8 or 12), length of all
 *	           less one (16 or 20)
 *
 * Nothing verifies the audio, and the number of frames is not stored.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "turning.h"
#include "walk.h"

#define HEAD_LEN 16
#define FRAMES_MIN 3

/* The length of the frame at `at`, or of an extension of the frame before, or 0. */
static uint32_t frame_len(struct view *view, uint64_t at, const uint8_t *shape)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN);
	uint32_t len, blocks;
	uint64_t bits;

	if (!p)
		return 0;
	if (be32(p) == 0x64582025 && at) {
		bits = be64(p + 5);
		len = (uint32_t)(bits >> 61 & 1 ? bits >> 29 & 0xfffff : bits >> 37 & 0xffff) + 1;
		return len >= HEAD_LEN ? len : 0;
	}
	blocks = (p[4] & 1u) << 6 | p[5] >> 2;
	len = ((p[5] & 3u) << 12 | (uint32_t)p[6] << 4 | p[7] >> 4) + 1;
	if (be32(p) != 0x7ffe8001 || blocks < 5 || len < 96 || !(p[8] >> 2 & 15) ||
		(p[7] & 15) != (shape[0] & 15) || p[8] >> 2 != shape[1] >> 2)
		return 0;
	return len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = 0, size = view_size(view);
	uint32_t count = 0, len, last = 0;
	uint8_t shape[2];

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "no frame at 0");
	shape[0] = p[7];
	shape[1] = p[8];
	while ((len = frame_len(view, at, shape)) && at + len <= size) {
		if (at)
			view_part(view, at);
		at += len;
		last = len;
		count++;
	}
	if (count < FRAMES_MIN)
		return verdict_because(CARVE_REJECT, finding,
			"no frame at %" PRIu64 " after %" PRIu32 " others", at, count);
	if (len)
		return walk_uncounted(view, finding, 0, at, len, "frame");
	view_unverified(view, 0, at);
	return turning_uncounted(view, finding, at - last, at, "frame");
}

const struct carver dts_carver = {
	.name = "dts",
	.summary = "DTS audio, by its frames' lengths",
	.check = check,
};
