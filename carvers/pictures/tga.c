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
 * Version 1 has no footer, and a header that zeros and short numbers look like: such files are not carved. The footer is
 * the file's end: it has to be close after the pixels, and its places between them. Pixels stored as they are, which
 * nothing verifies, are declared (view_unverified).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "walk.h"

#define HEAD_LEN 18
#define FOOTER_LEN 26
#define MARK "TRUEVISION-XFILE.\0"
#define MARK_LEN 18
#define MARK_WORD "TRUE"
#define SIDE_MAX 32768
#define TABLES_MAX (UINT64_C(1) << 20) /* after the pixels */
#define EXTENSION_LEN 495

struct tga {
	struct view *view;
	uint32_t width, height, pixel_len;
	uint64_t pixels, pixels_end;
	bool coded;
};

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
	return kind == 2 ? bits == 15 || bits == 16 || bits == 24 || bits == 32
			 : bits == 8 || bits == 16;
}

/* Walks the codes. False: they are cut, or go on past the picture: tga->pixels_end is where. */
static bool walk_codes(struct tga *tga)
{
	struct cursor cursor = { .view = tga->view, .at = tga->pixels };
	uint64_t left = (uint64_t)tga->width * tga->height;

	tga->pixels_end = cursor.at;
	while (left) {
		int byte = cursor_next(&cursor);
		uint32_t count = ((uint32_t)byte & 127) + 1;

		if (byte < 0 || count > left)
			return false;
		cursor.at += (uint64_t)(byte & 128 ? 1 : count) * tga->pixel_len;
		if (cursor.at > view_size(tga->view))
			return false;
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

static enum verdict check(struct view *view, struct finding *finding)
{
	struct tga tga = { .view = view };
	uint64_t footer, row_len;

	if (!read_header(&tga))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	row_len = (uint64_t)tga.width * tga.pixel_len;
	tga.pixels_end = tga.pixels + row_len * tga.height;
	if (tga.coded ? !walk_codes(&tga) : tga.pixels_end > view_size(view))
		return verdict_because(
			CARVE_REJECT, finding, "no pixels up to %" PRIu64, tga.pixels_end);
	footer = find_footer(&tga);
	if (!footer)
		return verdict_because(
			CARVE_REJECT, finding, "no footer after %" PRIu64, tga.pixels_end);
	finding->length = footer + FOOTER_LEN;
	if (!tga.coded)
		view_unverified(view, tga.pixels, tga.pixels_end);
	return CARVE_COMPLETE;
}

const struct carver tga_carver = {
	.name = "tga",
	.summary = "TGA pictures with a footer, by their header, codes and footer",
	.check = check,
	.quick = true,
};
