/*
 * 7z (7-Zip's 7zFormat.txt).
 *
 *	file:  start header (32 bytes), compressed streams, header (usually compressed itself)
 *	start: '7z' BC AF 27 1C, version (2 bytes), CRC-32 of the rest; then the header's offset after
 *		these 32 bytes, its length and its CRC-32 (8, 8 and 4 bytes, little-endian)
 *
 * The header comes last, so its end is the end of the file, and both CRCs prove it. It has CRCs of what
 * the streams unpack to: sevenzip_streams.c. An archive with a wrong one is unverified.
 *
 * Damage. Without the header nothing is known about the streams. Most are LZMA2, though: whatever
 * decompresses as LZMA2 is valid.
 */
#include "sevenzip_streams.h"

#include <inttypes.h>

#include "compressed.h"
#include "sevenzip_info.h"
#include "walk.h"

/* A stream that breaks off earlier than this is not LZMA2. */
#define LZMA2_MIN 64

#define CRC_BITS 32 /* see view_proved */

/* How far the compressed streams are LZMA2. */
static uint64_t walk_streams(struct view *view, uint64_t end)
{
	uint64_t at = SEVENZIP_START_LEN;
	struct compressed stream;
	enum compressed_state state;

	do {
		state = compressed_walk(view, COMPRESSED_LZMA2, at, end, &stream);
		if (state != COMPRESSED_DONE && stream.end < at + LZMA2_MIN)
			break;
		at = stream.end;
	} while (state == COMPRESSED_DONE && at < end);
	/* Or LZMA, which takes longer to find out. */
	if (view_thorough(view) && at < SEVENZIP_START_LEN + LZMA2_MIN)
		at = sevenzip_lzma_end(view, end);
	return walk_before_fill(view, SEVENZIP_START_LEN, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t size = view_size(view), valid_end, damaged, noticed;
	struct sevenzip head;
	const char *problem = sevenzip_read(view, 0, &head);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	finding->length = head.end;
	if (sevenzip_header_valid(view, &head)) {
		view_proved(view, 0, SEVENZIP_START_LEN, CRC_BITS);
		view_proved(view, head.at, head.end, CRC_BITS);
		damaged = sevenzip_streams_check(view, &head, &noticed);
		/* Of pieces that were put together the wrong ones begin before. */
		if (damaged && view_thorough(view)) {
			finding->length = noticed;
			return verdict_because(CARVE_TRUNCATED, finding,
				"the compressed stream at %" PRIu64
				" can't be unpacked from %" PRIu64 " on",
				damaged, noticed);
		}
		if (damaged)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the compressed stream at %" PRIu64
				" is invalid, or a CRC of its content wrong",
				damaged);
		return CARVE_COMPLETE;
	}
	valid_end = walk_streams(view, head.at < size ? head.at : size);
	if (head.end > size && view_thorough(view))
		return walk_cut(view, finding, head.end, valid_end);
	if (head.end > size)
		return walk_cut_filled(view, finding, head.end, valid_end);
	finding->length = valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "the header's CRC is wrong at %" PRIu64, head.at);
}

const struct carver sevenzip_carver = {
	.name = "sevenzip",
	.summary = "7z archives, by the CRCs of both headers",
	.check = check,
	.map = &sevenzip_map,
};
