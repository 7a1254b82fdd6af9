/*
 * Truevision's TGA, version 2 (Truevision, TGA File Format Specification 2.0).
 *
 *	header: length of a remark (1), whether there is a palette (1), kind (1: palette, 2: colours, 3: grey, plus 8: run-length
 *	        coded), palette: its first entry, its length (2 each), bits of an entry (1); origin, width, height (2 each), bits
 *	        of a pixel (1), bits of alpha and order (1); little-endian
 *	then    remark, palette, pixels; coded: a byte n below 128 and n + 1 pixels, or a byte 128 + n and a pixel n + 1 times
 *	then    what the footer points to: an extension, an area for programs; tables
 *	footer: their places (4 each), 'TRUEVISION-XFILE.', 0
 *
 * The footer is the file's end: it has to be close after the pixels, and its places between them. Pixels stored as they are,
 * which nothing verifies, are declared (view_unverified).
 *
 * Version 1 has no footer, and a header that zeros and short numbers look like. Such a file is accepted if its pixels are
 * like their neighbours, as those of a picture are: unverified, as nothing proves its end, or truncated where they become
 * something else.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "plain_text.h"
#include "predictor.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 18
#define FOOTER_LEN 26
#define MARK "TRUEVISION-XFILE.\0"
#define MARK_LEN 18
#define MARK_WORD "TRUE"
#define SIDE_MAX 32768
#define TABLES_MAX (UINT64_C(1) << 20) /* after the pixels */
#define EXTENSION_LEN 495
/* Bytes of pixels that have to be like a picture's, in a file without a footer; first those, then more */
#define LOOK_LEN 2048
#define LOOK_MORE 16384
#define PIXELS_MIN 64
#define SIDE_MIN 4
#define CODE_MAX 513 /* bytes of a code and its pixels */
#define BLOCK_STEPS 48
#define STEP_MAX 24 /* how much neighbours differ, mostly */

struct tga {
	struct view *view;
	uint32_t width, height, pixel_len;
	uint64_t pixels, pixels_end;
	/* Of a coded picture's pixels: steps, those of at most STEP_MAX, of 0; the same in this block, which began there, and
	 * where the blocks begin, up to this one, that are unlike a picture's; 0: this one is not. */
	uint64_t steps, small_steps, no_steps, block_steps, block_small, block_at, foreign_at;
	bool coded;
};

/* Whether the remark of len bytes is text, perhaps before zeros or blanks. UTF-16 has zeros among it. */
static bool is_remark(struct view *view, size_t len)
{
	const uint8_t *p = len ? view_peek(view, HEAD_LEN, len) : NULL;

	while (p && len && !p[len - 1])
		len--;
	return p ? len && !memchr(p, 0, len) && utf8_valid(p, len) : !len;
}

static bool read_header(struct tga *tga)
{
	const uint8_t *p = view_peek(tga->view, 0, HEAD_LEN);
	unsigned kind, bits, alpha;

	if (!p || p[1] > 1 || (p[2] & ~11) || !(p[2] & 3))
		return false;
	kind = p[2] & 3;
	bits = p[16];
	alpha = p[17] & 15;
	tga->coded = p[2] & 8;
	tga->width = le16(p + 12);
	tga->height = le16(p + 14);
	tga->pixel_len = (bits + 7) / 8;
	tga->pixels = HEAD_LEN + (uint64_t)p[0] + (uint64_t)le16(p + 5) * ((p[7] + 7u) / 8);
	if (!tga->width || !tga->height || tga->width > SIDE_MAX || tga->height > SIDE_MAX ||
		p[17] & 0xc0 || alpha > 8 || (kind == 1) != (p[1] == 1) ||
		(!p[1] && (le32(p + 3) || p[7])))
		return false;
	if (p[1] && (!le16(p + 5) || (p[7] != 15 && p[7] != 16 && p[7] != 24 && p[7] != 32)))
		return false;
	if ((bits == 24 || bits == 8) && alpha)
		return false;
	if (!is_remark(tga->view, p[0]))
		return false;
	return kind == 2 ? bits == 15 || bits == 16 || bits == 24 || bits == 32
			 : bits == 8 || bits == 16;
}

/* Compares the pixel at the cursor, whose values may be of several bytes, with the one that a code gave before. */
static void note_step(struct tga *tga, struct cursor *cursor, uint8_t *last)
{
	uint64_t at = cursor->at;

	for (uint32_t i = 0; i < tga->pixel_len && i < 3; i++) {
		int byte = cursor_next(cursor);
		int step = byte - last[i];
		bool small = byte >= 0 && step <= STEP_MAX && step >= -STEP_MAX;

		tga->steps++;
		tga->block_steps++;
		tga->small_steps += small;
		tga->no_steps += !step;
		tga->block_small += small;
		last[i] = (uint8_t)byte;
	}
	cursor->at = at;
	if (tga->block_steps >= BLOCK_STEPS) {
		if (tga->block_small >= tga->block_steps / 2)
			tga->foreign_at = 0;
		else if (!tga->foreign_at)
			tga->foreign_at = tga->block_at;
		tga->block_steps = tga->block_small = 0;
		tga->block_at = at;
	}
}

/* Walks the codes. False: they are cut, or go on past the picture: tga->pixels_end is where. */
static bool walk_codes(struct tga *tga)
{
	struct cursor cursor = { .view = tga->view, .at = tga->pixels };
	uint64_t left = (uint64_t)tga->width * tga->height;
	uint8_t last[3] = { 0 };

	tga->pixels_end = tga->block_at = cursor.at;
	while (left) {
		int byte = cursor_next(&cursor);
		uint32_t count = ((uint32_t)byte & 127) + 1;

		if (byte < 0 || count > left)
			return false;
		for (uint32_t i = 0; i < (byte & 128 ? 1 : count); i++) {
			if (cursor.at + tga->pixel_len > view_size(tga->view))
				return false;
			note_step(tga, &cursor, last);
			cursor.at += tga->pixel_len;
		}
		tga->pixels_end = cursor.at;
		left -= count;
	}
	return true;
}

/* Whether the footer at `at` ends a file with these pixels. */
static bool is_footer(const struct tga *tga, uint64_t at)
{
	const uint8_t *p = view_peek(tga->view, at, FOOTER_LEN);
	uint64_t extension = p ? le32(p) : 0, area = p ? le32(p + 4) : 0;

	if (!p || memcmp(p + 8, MARK, MARK_LEN) != 0 ||
		(area && (area < tga->pixels_end || area >= at)))
		return false;
	if (!extension)
		return area || at == tga->pixels_end;
	p = view_peek(tga->view, extension, 2);
	return p && extension >= tga->pixels_end && extension + EXTENSION_LEN <= at &&
	       le16(p) == EXTENSION_LEN;
}

/* The footer's place, or 0. */
static uint64_t find_footer(const struct tga *tga)
{
	uint64_t at = tga->pixels_end + 8, end = at + TABLES_MAX;

	while (walk_find_word(tga->view, &at, end, MARK_WORD)) {
		if (is_footer(tga, at - 8))
			return at - 8;
		at++;
	}
	return 0;
}

/* Whether the first len pixels' bytes, stored as they are, are like a picture's: neither all the same nor unlike each other. */
static bool starts_as_picture(const struct tga *tga, uint64_t row_len, uint64_t len)
{
	uint64_t at;
	const uint8_t *p;

	if (len > tga->pixels_end - tga->pixels)
		len = tga->pixels_end - tga->pixels;
	p = view_peek(tga->view, tga->pixels, (size_t)len);
	return p && memcmp(p, p + 1, (size_t)len - 1) != 0 &&
	       predictor_check_end(tga->view, tga->pixels, tga->pixels + len, row_len,
		       tga->pixel_len, &at) == PREDICTOR_CONTINUOUS;
}

/* Whether the codes are a picture's: most pixels are like the ones before, but not the same, as those are in one code. */
static bool are_codes(const struct tga *tga)
{
	return tga->steps >= PIXELS_MIN && tga->small_steps >= tga->steps / 2 &&
	       tga->no_steps < tga->steps / 8 * 7;
}

/* The verdict on a coded picture without a footer. whole: its codes give all pixels. */
static enum verdict check_codes(struct tga *tga, bool whole, struct finding *finding)
{
	uint64_t size = view_size(tga->view);

	if (!are_codes(tga))
		return verdict_because(CARVE_REJECT, finding,
			whole ? "no footer after %" PRIu64 : "no pixels up to %" PRIu64,
			tga->pixels_end);
	finding->length = tga->foreign_at ? tga->foreign_at : tga->pixels_end;
	if (tga->foreign_at)
		return verdict_because(CARVE_TRUNCATED, finding,
			"bytes unlike the picture's from %" PRIu64 " on", tga->foreign_at);
	if (whole)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no footer proves the end of the codes, at %" PRIu64, tga->pixels_end);
	if (view_ends_with_image(tga->view) && size - tga->pixels_end < CODE_MAX)
		return walk_cut(tga->view, finding, size + 1, size);
	return verdict_because(CARVE_TRUNCATED, finding, "no pixels at %" PRIu64, tga->pixels_end);
}

/* The same for one that is stored as it is. */
static enum verdict check_bare(struct tga *tga, uint64_t row_len, struct finding *finding)
{
	if (!starts_as_picture(tga, row_len, LOOK_LEN) &&
		!starts_as_picture(tga, row_len, LOOK_MORE))
		return verdict_because(
			CARVE_REJECT, finding, "no footer after %" PRIu64, tga->pixels_end);
	return stored_check_pixels(
		tga->view, finding, tga->pixels, tga->pixels_end, row_len, tga->pixel_len);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct tga tga = { .view = view };
	uint64_t footer, row_len;
	bool small, whole;

	if (!read_header(&tga))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	row_len = (uint64_t)tga.width * tga.pixel_len;
	tga.pixels_end = tga.pixels + row_len * tga.height;
	small = tga.width < SIDE_MIN || tga.height < SIDE_MIN ||
		(uint64_t)tga.width * tga.height < PIXELS_MIN;
	whole = tga.coded ? walk_codes(&tga) : tga.pixels_end <= view_size(view);
	footer = whole ? find_footer(&tga) : 0;
	if (!footer && small)
		return verdict_because(CARVE_REJECT, finding,
			whole ? "no footer after %" PRIu64 : "no pixels up to %" PRIu64,
			tga.pixels_end);
	if (!footer)
		return tga.coded ? check_codes(&tga, whole, finding)
				 : check_bare(&tga, row_len, finding);
	finding->length = footer + FOOTER_LEN;
	if (!tga.coded)
		view_unverified(view, tga.pixels, tga.pixels_end);
	return CARVE_COMPLETE;
}

const struct carver tga_carver = {
	.name = "tga",
	.summary = "TGA pictures, by their header, codes, pixels and footer",
	.check = check,
	.quick = true,
};
