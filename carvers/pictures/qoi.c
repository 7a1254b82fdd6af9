/*
 * QOI (Dominic Szablewski, The Quite OK Image Format, version 1.0).
 *
 *	'qoif', width, height (4 bytes each, big-endian), 3 or 4 channels, 0 or 1 for the colour
 *	        space
 *	chunks of 1 to 5 bytes, each one pixel or a run of up to 62
 *	7 zeros and a 1
 *
 * The chunks are walked until all pixels are decoded; the end mark has to follow. On the way,
 * foreign bytes show by what no encoder writes: the same index twice in a row, a pixel with
 * transparency in a picture without.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "walk.h"

#define HEADER_LEN 14
#define END_LEN 8
#define PIXELS_MAX (400u * 1000 * 1000)
/* Bytes of chunks that make certain that a picture which is cut later is a QOI. */
#define SURE 512

enum { RGB = 0xfe, RGBA = 0xff };

/* Walks the chunks of `pixels` pixels. False: they end or are invalid at the cursor. */
static bool walk(struct cursor *cursor, uint64_t pixels, bool transparent)
{
	int last = -1;

	while (pixels) {
		int chunk = cursor_peek(cursor);
		uint64_t count = 1;

		if (chunk < 0 || (chunk == RGBA && !transparent) || (chunk < 64 && chunk == last))
			return false;
		last = chunk;
		if (chunk == RGB || chunk == RGBA) {
			cursor->at += chunk == RGB ? 4 : 5;
		} else {
			if (chunk >> 6 == 3)
				count = (uint64_t)(chunk & 63) + 1;
			cursor->at += chunk >> 6 == 2 ? 2 : 1;
		}
		if (count > pixels)
			return false;
		pixels -= count;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	struct cursor cursor = { .view = view, .at = HEADER_LEN };
	uint64_t pixels = p ? (uint64_t)be32(p + 4) * be32(p + 8) : 0;
	bool whole;

	if (!p || memcmp(p, "qoif", 4) != 0 || p[12] < 3 || p[12] > 4 || p[13] > 1 || !pixels ||
		be32(p + 4) >= PIXELS_MAX / be32(p + 8))
		return verdict_because(CARVE_REJECT, finding, "no QOI header at 0");
	whole = walk(&cursor, pixels, p[12] == 4);
	p = whole ? cursor_bytes(&cursor, END_LEN) : NULL;
	if (p && memcmp(p, "\0\0\0\0\0\0\0\1", END_LEN) == 0) {
		finding->length = cursor.at + END_LEN;
		return CARVE_COMPLETE;
	}
	if (cursor.at < SURE)
		return verdict_because(CARVE_REJECT, finding, "no pixels at %" PRIu64, cursor.at);
	if (cursor.at + (whole ? END_LEN : 1) > view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	finding->length = walk_before_fill(view, HEADER_LEN, cursor.at);
	return verdict_because(CARVE_TRUNCATED, finding,
		whole ? "no end mark at %" PRIu64 : "no chunk of pixels at %" PRIu64, cursor.at);
}

const struct carver qoi_carver = {
	.name = "qoi",
	.summary = "QOI pictures, by their chunks and end mark",
	.check = check,
};
