/*
 * BMP: Windows' and OS/2's bitmap files ([MS-WMF] 2.2.2, BITMAPFILEHEADER, BITMAPV5HEADER).
 *
 *	file:    'BM', the file's size (4 bytes, little-endian), 4 reserved, the offset
 *	         of the pixels (4)
 *	header:  see dib.c; then the masks of a pixel's colours, and the palette of up to 8
 *	         bits
 *	pixels:  rows, padded to 4 bytes each, or run-length coded, or Huffman-coded
 *	profile: version 5 may have an ICC profile after the pixels
 *
 * The length is where pixels and profile end, by the picture's size, or by the size of coded pixels
 * in the header. The size at the start should agree. Some writers leave it 0, put the length of the
 * two headers there (OS/2), or do not count the file header; some add a few bytes after the pixels
 * and count them. Another size contradicts the picture: unverified, and if the size of the pixels
 * in the header contradicts it too, this is not a BMP.
 *
 * Damage. Run-length codes are decoded; in foreign data they soon become invalid, and they prove
 * the end of a file that they fill. Uncompressed pixels cannot be invalid, but they hardly ever
 * turn into random bytes (noise.c), and the last rows prove the end if the rows before predict them
 * (predictor.c). Zeros at the end may have overwritten it (overwrite.c): such a picture stays
 * unverified, as do pictures of noise, and embedded JPEGs and PNGs.
 */
#include "bmp.h"

#include <inttypes.h>

#include "bytes.h"
#include "noise.h"
#include "overwrite.h"
#include "predictor.h"
#include "walk.h"

#define FILE_HEADER_LEN 14
#define CORE_LEN 12
#define OFFSET_MAX (1u << 20) /* the highest offset of the pixels */
#define EXTRA_MAX 4096        /* bytes after the pixels that the size may count */
#define TRAILING_MAX 32       /* bytes accepted without a check after the end of a code */

struct bmp {
	struct view *view;
	struct finding *finding;
	struct dib dib;
	uint64_t claimed; /* the size at the start */
	uint64_t pixels;  /* where they start */
	uint64_t end;     /* of the file, as far as known */
	bool odd;         /* a field contradicts another */
};

/* The minimum offset of the pixels, for files whose own value is invalid. */
static uint64_t min_pixels_offset(const struct dib *dib)
{
	return FILE_HEADER_LEN + (uint64_t)dib->header_len + dib->colours_len;
}

/* Whether the size at the start fits a file of len bytes. */
static bool size_fits(const struct bmp *bmp, uint64_t len)
{
	return bmp->claimed == len || bmp->claimed == 0 || bmp->claimed + FILE_HEADER_LEN == len ||
	       bmp->claimed == FILE_HEADER_LEN + bmp->dib.header_len;
}

/* Whether the pixels follow OS/2's small header and a whole palette: then the size at the start may be any. */
static bool is_core(const struct bmp *bmp)
{
	return bmp->dib.header_len == CORE_LEN && bmp->dib.colours_len &&
	       bmp->pixels == min_pixels_offset(&bmp->dib);
}

static const char *find_pixels_end(struct bmp *bmp)
{
	const struct dib *dib = &bmp->dib;
	uint64_t pixels_len = dib_pixels_len(dib);
	bool said = dib->image_len >= pixels_len && dib->image_len <= pixels_len + EXTRA_MAX;

	bmp->end = bmp->pixels + pixels_len;
	if (dib->profile_len && dib->profile >= dib->header_len) {
		uint64_t end = FILE_HEADER_LEN + dib->profile + dib->profile_len;

		bmp->end = end > bmp->end ? end : bmp->end;
	}
	if (!pixels_len && bmp->claimed > bmp->pixels)
		bmp->end = bmp->claimed;
	if (bmp->claimed > bmp->end && bmp->claimed - bmp->end <= EXTRA_MAX)
		bmp->end = bmp->claimed;
	if (!size_fits(bmp, bmp->end)) {
		bmp->odd = true;
		if ((!said || !dib->image_len) && !is_core(bmp))
			return "a size that does not fit the picture";
	}
	return bmp->end > bmp->pixels ? NULL : "a bitmap without pixels";
}

static const char *read_start(struct bmp *bmp)
{
	const uint8_t *p = view_peek(bmp->view, 0, FILE_HEADER_LEN);
	const char *problem;

	if (!p || p[0] != 'B' || p[1] != 'M')
		return "no BMP signature";
	bmp->claimed = le32(p + 2);
	bmp->pixels = le32(p + 10);
	problem = dib_read(bmp->view, FILE_HEADER_LEN, &bmp->dib);
	if (problem)
		return problem;
	if (bmp->pixels > OFFSET_MAX)
		return "pixels that start too late";
	if (bmp->pixels < FILE_HEADER_LEN + bmp->dib.header_len)
		bmp->pixels = min_pixels_offset(&bmp->dib);
	return find_pixels_end(bmp);
}

static bool is_rle(const struct dib *dib)
{
	return dib->compression == DIB_RLE8 || dib->compression == DIB_RLE4 ||
	       dib->compression == DIB_RLE24 || dib->compression == DIB_CMYK_RLE8 ||
	       dib->compression == DIB_CMYK_RLE4;
}

static enum verdict broken_verdict(struct bmp *bmp, uint64_t at, const char *problem)
{
	bmp->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, bmp->finding, "%s at %" PRIu64, problem, at);
}

static enum verdict check_rle(struct bmp *bmp)
{
	uint64_t at = bmp->pixels, size = view_size(bmp->view);
	uint64_t end = bmp->end < size ? bmp->end : size;
	enum rle_state state = bmp_skip_rle(bmp->view, &bmp->dib, &at, end);

	if (state == RLE_BROKEN)
		return broken_verdict(bmp, at, "invalid run-length codes");
	if (bmp->end > size)
		return walk_cut(bmp->view, bmp->finding, bmp->end, at > bmp->pixels ? size : at);
	if (state == RLE_CUT)
		return verdict_because(CARVE_UNVERIFIED, bmp->finding,
			"run-length codes without an end before %" PRIu64, end);
	if (end - at > TRAILING_MAX)
		return verdict_because(CARVE_UNVERIFIED, bmp->finding,
			"the bitmap's code ends at %" PRIu64 ", and what follows cannot be checked",
			at);
	view_unverified(bmp->view, at, end);
	return CARVE_COMPLETE;
}

/* Checks the end of pixels that are all readable and are not noise. */
static enum verdict check_end(struct bmp *bmp, uint64_t end)
{
	const struct dib *dib = &bmp->dib;
	uint64_t row_len = dib_row_len(dib->width, dib->bits), at = end;
	const char *what;

	switch (overwrite_find(bmp->view, bmp->pixels, end, row_len, &at, &what)) {
	case OVERWRITE_CERTAIN:
		bmp->finding->length = at;
		return verdict_because(CARVE_TRUNCATED, bmp->finding,
			"%s instead of pixels at %" PRIu64, what, at);
	case OVERWRITE_POSSIBLE:
		return verdict_because(CARVE_UNVERIFIED, bmp->finding,
			"%s from %" PRIu64 " on: the picture's own, or its end was wiped", what,
			at);
	case OVERWRITE_NONE:
		break;
	}
	switch (dib_check_pixels(bmp->view, FILE_HEADER_LEN, dib, bmp->pixels, end, &at)) {
	case PREDICTOR_FOREIGN:
		return broken_verdict(bmp, at, "bytes unlike the pixels before");
	case PREDICTOR_UNKNOWN:
		return verdict_because(CARVE_UNVERIFIED, bmp->finding,
			"the last pixels before %" PRIu64 " cannot be verified", end);
	case PREDICTOR_CONTINUOUS:
		break;
	}
	return CARVE_COMPLETE;
}

static enum verdict check_plain(struct bmp *bmp)
{
	uint64_t size = view_size(bmp->view), end = bmp->end < size ? bmp->end : size;
	uint64_t noise = noise_start(bmp->view, bmp->pixels, end);

	if (noise < end)
		return broken_verdict(bmp, noise, "random bytes instead of pixels");
	if (bmp->end > size)
		return walk_cut(bmp->view, bmp->finding, bmp->end, size);
	if (noise_at(bmp->view, bmp->pixels, end))
		return verdict_because(CARVE_UNVERIFIED, bmp->finding,
			"random bytes from %" PRIu64 " on, where pixels should be", bmp->pixels);
	return check_end(bmp, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct bmp bmp = { .view = view, .finding = finding };
	const char *problem = read_start(&bmp);
	enum verdict verdict;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	if (bmp.end > view_size(view) && (bmp.odd || view_size(view) < bmp.pixels))
		return verdict_because(CARVE_REJECT, finding,
			"a doubtful picture, and the image ends before it does, at %" PRIu64,
			bmp.end);
	finding->length = bmp.end;
	view_unverified(view, FILE_HEADER_LEN + bmp.dib.header_len,
		is_rle(&bmp.dib) ? bmp.pixels : bmp.end);
	if (is_rle(&bmp.dib))
		verdict = check_rle(&bmp);
	else if (dib_is_plain(&bmp.dib))
		verdict = check_plain(&bmp);
	else if (bmp.end > view_size(view))
		verdict = walk_cut(view, finding, bmp.end, view_size(view));
	else
		verdict = verdict_because(CARVE_UNVERIFIED, finding,
			"pixels in a code that is not decoded, from %" PRIu64 " on", bmp.pixels);
	verdict = walk_past_unread(view, finding, verdict, bmp.end);
	if (verdict == CARVE_COMPLETE && bmp.odd)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the size at 2 is %" PRIu64 ", but the picture ends at %" PRIu64,
			bmp.claimed, bmp.end);
	return verdict;
}

static bool describe(struct view *view, struct carve_stored *stored)
{
	struct finding ignored = { 0 };
	struct bmp bmp = { .view = view, .finding = &ignored };
	uint64_t row_len;

	if (read_start(&bmp) || !dib_is_plain(&bmp.dib))
		return false;
	row_len = dib_row_len(bmp.dib.width, bmp.dib.bits);
	if (!row_len || row_len > UINT32_MAX)
		return false;
	*stored = (struct carve_stored){ .from = bmp.pixels,
		.to = bmp.pixels + dib_pixels_len(&bmp.dib),
		.length = bmp.end,
		.row_len = (uint32_t)row_len,
		.sample_len = 1,
		.channels = (uint8_t)((bmp.dib.bits + 7) / 8) };
	return true;
}

const struct carver bmp_carver = {
	.name = "bmp",
	.summary = "BMP pictures, by their headers and run-length codes",
	.check = check,
	.stored = describe,
};
