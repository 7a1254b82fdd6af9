/*
 * X11's window dumps (X.Org, X11/XWDFile.h, version 7).
 *
 *	header: 25 integers of 4 bytes, mostly big-endian: its length with the window's name, 7, format (0: bits, 1: planes,
 *	        2: pixels), depth, width, height, first column, order of bytes, unit, order of bits, padding in bits, bits of a
 *	        pixel, length of a row, visual class, masks (3), bits of a colour, entries of the map, colours in the file,
 *	        the window's width, height, place (2), border
 *	then    the window's name, ended by a zero; colours of 12 bytes; rows
 *
 * The length of a row has to follow from width, bits and padding, and each colour has flags and its number. Nothing
 * verifies the rows.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "carver.h"
#include "stored.h"
#include "title.h"

#define HEAD_LEN 100
#define NAME_MAX_LEN 4096
#define COLOUR_LEN 12
#define COLOURS_MAX 65536
#define SIDE_MAX 65535

enum {
	HEADER_LEN,
	VERSION,
	FORMAT,
	DEPTH,
	WIDTH,
	HEIGHT,
	XOFFSET,
	BYTE_ORDER_AT,
	UNIT,
	BIT_ORDER,
	PAD,
	BITS,
	ROW,
	CLASS
};
enum { BITS_OF_COLOUR = 17, MAP_ENTRIES, COLOURS };

struct xwd {
	struct view *view;
	bool big;
	uint64_t colours_at, rows, end;
	uint32_t colours, row_len, pixel_len;
};

static bool is_unit(uint32_t bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool read_header(struct xwd *xwd)
{
	const uint8_t *p = view_peek(xwd->view, 0, HEAD_LEN);
	uint32_t n[COLOURS + 1];
	uint64_t row_bits;

	if (!p)
		return false;
	xwd->big = !p[0];
	for (int i = 0; i <= COLOURS; i++)
		n[i] = ordered32(xwd->big, p + 4 * i);
	if (n[HEADER_LEN] < HEAD_LEN || n[HEADER_LEN] > HEAD_LEN + NAME_MAX_LEN ||
		n[VERSION] != 7 || n[FORMAT] > 2 || !n[DEPTH] || n[DEPTH] > 32 || !n[WIDTH] ||
		n[WIDTH] > SIDE_MAX || !n[HEIGHT] || n[HEIGHT] > SIDE_MAX || n[XOFFSET] >= 64 ||
		n[BYTE_ORDER_AT] > 1 || n[BIT_ORDER] > 1 || !is_unit(n[UNIT]) || !is_unit(n[PAD]))
		return false;
	if (!n[BITS] || n[BITS] > 64 || n[CLASS] > 5 || n[BITS_OF_COLOUR] > 32 ||
		n[COLOURS] > COLOURS_MAX)
		return false;
	row_bits = (uint64_t)n[WIDTH] * (n[FORMAT] == 2 ? n[BITS] : 1) + n[XOFFSET];
	if (n[ROW] != (row_bits + n[PAD] - 1) / n[PAD] * n[PAD] / 8 && n[ROW] != (row_bits + 7) / 8)
		return false;
	xwd->colours_at = n[HEADER_LEN];
	xwd->colours = n[COLOURS];
	xwd->rows = xwd->colours_at + (uint64_t)xwd->colours * COLOUR_LEN;
	xwd->row_len = n[ROW];
	xwd->pixel_len = n[FORMAT] == 2 && n[BITS] > 8 ? n[BITS] / 8 : 1;
	xwd->end = xwd->rows + (uint64_t)n[ROW] * n[HEIGHT] * (n[FORMAT] == 1 ? n[DEPTH] : 1);
	return true;
}

/* Whether the name ends within the header; its title is then set. */
static bool read_name(const struct xwd *xwd, struct finding *finding)
{
	size_t len = (size_t)xwd->colours_at - HEAD_LEN;
	const uint8_t *p = len ? view_peek(xwd->view, HEAD_LEN, len) : NULL;

	if (!len)
		return true;
	if (!p || p[len - 1])
		return false;
	finding_set_title_latin1(finding, p, len);
	return true;
}

/* Whether the colours have flags (red, green, blue) and numbers that fit their count or, of direct colours, differ. */
static bool colours_valid(const struct xwd *xwd)
{
	for (uint32_t i = 0; i < xwd->colours; i++) {
		const uint8_t *p = view_peek(
			xwd->view, xwd->colours_at + (uint64_t)i * COLOUR_LEN, COLOUR_LEN);

		if (!p || p[10] > 7)
			return false;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct xwd xwd = { .view = view };

	if (!read_header(&xwd))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (!read_name(&xwd, finding))
		return verdict_because(CARVE_REJECT, finding, "no name at %d", HEAD_LEN);
	if (!colours_valid(&xwd)) {
		finding->title[0] = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no colours at %" PRIu64, xwd.colours_at);
	}
	if (xwd.rows >= view_size(view)) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no rows at %" PRIu64, xwd.rows);
	}
	return stored_check_pixels(view, finding, xwd.rows, xwd.end, xwd.row_len, xwd.pixel_len);
}

const struct carver xwd_carver = {
	.name = "xwd",
	.summary = "X11's window dumps, by their header",
	.check = check,
	.quick = true,
};
