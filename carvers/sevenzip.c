/*
 * 7z (7-Zip's 7zFormat.txt).
 *
 *	file:  start header (32 bytes), packed streams, header (mostly packed itself)
 *	start: '7z' BC AF 27 1C, version (2 bytes), CRC-32 of the rest; where the header starts
 *		behind these 32 bytes, its length, its CRC-32 (8, 8 and 4 bytes, little-endian)
 *
 * The header comes last, so its end is the file's, and both CRCs prove it. Streams are not
 * unpacked: what they are is written in the header.
 *
 * Damage. Without the header nothing is known of the streams. Most are LZMA2 though: sound is what
 * unpacks as such.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "packed.h"
#include "walk.h"

enum {
	START_LEN = 32,
	SURE_LEN = 64,
};

/* How far the packed streams are LZMA2. What breaks early is something else. */
static uint64_t walk_streams(struct view *view, uint64_t end)
{
	uint64_t at = START_LEN;
	struct packed packed;
	enum packed_state state;

	do {
		state = packed_walk(view, PACKED_LZMA2, at, end, &packed);
		if (state != PACKED_DONE && packed.end < at + SURE_LEN)
			break;
		at = packed.end;
	} while (state == PACKED_DONE && at < end);
	return walk_before_fill(view, START_LEN, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, START_LEN);
	uint64_t at, len, end, size = view_size(view), sound;
	uint32_t want, crc = 0;

	if (!p || memcmp(p, "7z\xbc\xaf\x27\x1c\0", 7) != 0)
		return verdict_because(CARVE_REJECT, finding, "no signature at 0");
	at = le64(p + 12);
	len = le64(p + 20);
	want = le32(p + 28);
	if (!walk_crc32(view, 12, 20, &crc) || crc != le32(view_peek(view, 8, 4)))
		return verdict_because(
			CARVE_REJECT, finding, "the start header's CRC is wrong at 8");
	if (at > INT64_MAX || len > INT64_MAX - at - START_LEN)
		return verdict_because(CARVE_REJECT, finding, "impossible lengths at 12");
	at += START_LEN;
	end = at + len;
	crc = 0;
	if (end <= size && walk_crc32(view, at, len, &crc) && crc == want) {
		finding->length = end;
		return CARVE_COMPLETE;
	}
	sound = walk_streams(view, at < size ? at : size);
	if (end > size)
		return walk_cut(view, finding, end,
			view_ends_with_image(view) ? walk_before_fill(view, sound, size) : sound);
	finding->length = sound;
	return verdict_because(
		CARVE_TRUNCATED, finding, "the header's CRC is wrong at %" PRIu64, at);
}

const struct carver sevenzip_carver = {
	.name = "sevenzip",
	.summary = "7z archives, by the CRCs of both headers",
	.check = check,
};
