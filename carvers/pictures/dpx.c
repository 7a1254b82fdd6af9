/*
 * Digital Moving-Picture Exchange (SMPTE 268M).
 *
 *	header: 'SDPX' (big-endian) or 'XPDS', place of the first element's pixels (4), version (8), length of the file
 *	        (4), ..., at 768: orientation, elements (2 each), width, height (4 each), 8 descriptions of 72 bytes
 *	description at 780: sign, ..., at 800: kind of values, transfer, colours, bits (1 each), packing, coding (2 each),
 *	        place (4), bytes after a line, after the picture (4 each)
 *
 * The header gives the length (ImageMagick's a wrong one), which has to have room for the elements' pixels. Nothing verifies these: such a file is
 * unverified, or truncated where they become something else.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "stored.h"

#define HEAD_MIN 816
#define ELEMENTS_MAX 8
#define SIDE_MAX (1u << 20)

#define MAGICK "ImageMagick"
#define MAGICK_SITE "https://imagemagick"

enum place { CREATOR = 160, PIXELS = 4, LENGTH = 16, IMAGE = 768, ELEMENT = 780 };

struct dpx {
	const uint8_t *p;
	bool big_endian;
	uint64_t row_len, pixel_len, pixels_len; /* of the first element; 0: unknown */
};

static uint32_t read32(const struct dpx *dpx, unsigned at)
{
	return dpx->big_endian ? be32(dpx->p + at) : le32(dpx->p + at);
}

static uint16_t read16(const struct dpx *dpx, unsigned at)
{
	return dpx->big_endian ? be16(dpx->p + at) : le16(dpx->p + at);
}

/* Values of a pixel by the description's kind; 0: unknown. */
static unsigned values_of(uint8_t kind)
{
	switch (kind) {
	case 1:
	case 2:
	case 3:
	case 4:
	case 6:
	case 7:
	case 8:
	case 9:
		return 1;
	case 50:
	case 102:
		return 3;
	case 51:
	case 52:
	case 103:
		return 4;
	case 100:
		return 2;
	}
	return 0;
}

/* The length of a row whose values are packed as ImageMagick does it; 0: not known. */
static uint64_t magick_row_len(uint64_t values, unsigned bits, uint16_t packing)
{
	switch (bits) {
	case 10:
		return packing ? (values + 2) / 3 * 4 : 0;
	case 12:
		return packing ? values * 2 : 0;
	case 8:
	case 16:
		return (values * bits + 31) / 32 * 4;
	}
	return 0;
}

/* ImageMagick counts 8 bits for each value, and no padding: of its files the length of the pixels, by their rows;
 * 0: another program's, or not known. */
static uint64_t read_magick(const struct dpx *dpx, uint64_t stated)
{
	uint32_t width = read32(dpx, IMAGE + 4), height = read32(dpx, IMAGE + 8);
	unsigned values = values_of(dpx->p[ELEMENT + 20]), bits = dpx->p[ELEMENT + 23];
	uint64_t row_len;

	if (!values || read16(dpx, ELEMENT + 26) || width > SIDE_MAX || height > SIDE_MAX ||
		stated != (uint64_t)width * values * height ||
		(memcmp(dpx->p + CREATOR, MAGICK, strlen(MAGICK)) != 0 &&
			memcmp(dpx->p + CREATOR, MAGICK_SITE, strlen(MAGICK_SITE)) != 0))
		return 0;
	row_len = magick_row_len((uint64_t)width * values, bits, read16(dpx, ELEMENT + 24));
	return row_len * height;
}

/* The rows' and pixels' lengths, where values are not coded. Writers differ in how they pad rows: `room` bytes of pixels tell,
 * if there are no more; 0: not known. */
static void read_element(struct dpx *dpx, uint64_t room)
{
	uint32_t width = read32(dpx, IMAGE + 4), height = read32(dpx, IMAGE + 8);
	unsigned values = values_of(dpx->p[ELEMENT + 20]), bits = dpx->p[ELEMENT + 23];
	uint16_t packing = read16(dpx, ELEMENT + 24), coding = read16(dpx, ELEMENT + 26);

	if (!values || coding || width > SIDE_MAX || height > SIDE_MAX)
		return;
	dpx->row_len = ((uint64_t)width * values * bits + 7) / 8;
	dpx->pixel_len = packing && bits == 10 ? 4 : (uint64_t)values * ((bits + 7u) / 8);
	if (room / height > dpx->row_len)
		dpx->row_len = room / height;
	dpx->pixels_len = dpx->row_len * height;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dpx dpx = { .p = view_peek(view, 0, HEAD_MIN) };
	uint64_t start, end, row_len, pixel_len, magick_len;
	uint32_t width, height;
	uint16_t elements;

	if (!dpx.p || (memcmp(dpx.p, "SDPX", 4) != 0 && memcmp(dpx.p, "XPDS", 4) != 0))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	dpx.big_endian = dpx.p[0] == 'S';
	start = read32(&dpx, PIXELS);
	end = read32(&dpx, LENGTH);
	elements = read16(&dpx, IMAGE + 2);
	width = read32(&dpx, IMAGE + 4);
	height = read32(&dpx, IMAGE + 8);
	if (start < HEAD_MIN || !elements || elements > ELEMENTS_MAX || !width || !height ||
		!dpx.p[ELEMENT + 23] || dpx.p[ELEMENT + 23] > 64)
		return verdict_because(
			CARVE_REJECT, finding, "no picture is described at %d", IMAGE);
	magick_len = elements == 1 && end > start ? read_magick(&dpx, end - start) : 0;
	if (magick_len)
		end = start + magick_len;
	read_element(&dpx, elements == 1 && end > start && end != UINT32_MAX ? end - start : 0);
	/* Some writers leave the length out. */
	if (end == UINT32_MAX || end < start)
		end = dpx.pixels_len && elements == 1 ? start + dpx.pixels_len : 0;
	if (!end || (dpx.pixels_len && dpx.pixels_len > end - start))
		return verdict_because(
			CARVE_REJECT, finding, "a length that is too short for the pixels");
	row_len = dpx.row_len ? dpx.row_len : 1;
	pixel_len = dpx.pixel_len ? dpx.pixel_len : 1;
	if (!dpx.pixels_len)
		return stored_check_data(view, finding, start, end);
	return stored_check_pixels(view, finding, start, end, row_len, pixel_len);
}

const struct carver dpx_carver = {
	.name = "dpx",
	.summary = "Digital Moving-Picture Exchange, by its header and pixels",
	.check = check,
};
