/*
 * Run-length coded bitmaps ([MS-WMF] 3.1.6; OS/2's RLE24): pairs of a count and a pixel (two of 4
 * bits each in RLE4, three bytes in RLE24), or, with count 0: 0 ends a row, 1 the bitmap, 2 moves
 * on, and a larger number counts literal pixels that follow, padded to an even length.
 */
#include "bmp.h"

#include "walk.h"

/* How far rows may exceed the width: encoders round runs up. */
#define OVERHANG 8

struct rle {
	struct view *view;
	const struct dib *dib;
	uint64_t at, end, x, y;
};

/* Bytes after the count of a run. */
static size_t run_len(const struct dib *dib)
{
	return dib->compression == DIB_RLE24 ? 3 : 1;
}

static uint64_t literal_len(const struct dib *dib, uint32_t pixels)
{
	uint64_t len = pixels;

	if (dib->compression == DIB_RLE4 || dib->compression == DIB_CMYK_RLE4)
		len = (pixels + 1) / 2;
	else if (dib->compression == DIB_RLE24)
		len = 3 * (uint64_t)pixels;
	return (len + 1) / 2 * 2;
}

/* Executes one command at rle->at. */
static enum rle_state step(struct rle *rle)
{
	const uint8_t *p = rle->end - rle->at < 2 ? NULL : view_peek(rle->view, rle->at, 2);
	uint8_t count = p ? p[0] : 0, code = p ? p[1] : 0;
	uint64_t len = 2;

	if (!p)
		return RLE_CUT;
	if (count) {
		len = 1 + run_len(rle->dib);
		rle->x += count;
	} else if (code == 0) {
		rle->x = 0;
		rle->y++;
	} else if (code == 2) {
		p = rle->end - rle->at < 4 ? NULL : view_peek(rle->view, rle->at, 4);
		if (!p)
			return RLE_CUT;
		rle->x += p[2];
		rle->y += p[3];
		len = 4;
	} else if (code > 2) {
		rle->x += code;
		len += literal_len(rle->dib, code);
	}
	if (rle->x > (uint64_t)rle->dib->width + OVERHANG || rle->y > rle->dib->height)
		return RLE_BROKEN;
	if (len > rle->end - rle->at)
		return RLE_CUT;
	rle->at += len;
	return count == 0 && code == 1 ? RLE_DONE : RLE_MORE;
}

enum rle_state bmp_skip_rle(struct view *view, const struct dib *dib, uint64_t *at, uint64_t end)
{
	struct rle rle = { .view = view, .dib = dib, .at = *at, .end = end };
	enum rle_state state = RLE_MORE;

	while (state == RLE_MORE)
		state = step(&rle);
	*at = rle.at;
	if (state == RLE_BROKEN)
		*at = walk_before_fill(view, *at > 4096 ? *at - 4096 : 0, *at);
	return state;
}
