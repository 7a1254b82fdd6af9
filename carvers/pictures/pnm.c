/*
 * Netpbm's pictures: PBM, PGM, PPM and PAM (netpbm.sourceforge.net/doc).
 *
 *	file:   'P' and a digit, width, height, maximum (not in PBM) as decimal numbers after blanks or
 *	        comments, one blank, pixels
 *	P1..P3: pixels are decimal numbers, too (in PBM single digits)
 *	P4:     a bit each, rows start with a byte; P5, P6: one byte a value, or two from a maximum of 256 on
 *	P7:     lines 'WIDTH n', 'HEIGHT n', 'DEPTH n', 'MAXVAL n', 'TUPLTYPE name' and 'ENDHDR'; as P5
 *
 * The header gives the length. Numbers are counted, and the last one ends the file; nothing verifies
 * stored pixels, so such a file is unverified, or truncated where they become something else. Some programs
 * write a line end after them, and blanks before it or an empty line after numbers.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "stored.h"
#include "walk.h"

#define SIDE_MAX 1000000
#define MAXIMUM_MAX 65535
#define DEPTH_MAX 64
#define COMMENT_MAX 4096

struct pnm {
	struct cursor cursor;
	int kind; /* the digit */
	uint32_t width, height, maximum, depth;
};

static bool is_blank(int byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Skips blanks and comments. False: there is neither. */
static bool skip_blanks(struct cursor *cursor)
{
	uint64_t start = cursor->at;

	for (;;) {
		int byte = cursor_peek(cursor);

		if (byte == '#') {
			uint64_t limit = cursor->at + COMMENT_MAX;

			while (byte >= 0 && byte != '\n' && byte != '\r' && cursor->at < limit)
				byte = cursor_next(cursor);
		} else if (is_blank(byte)) {
			cursor->at++;
		} else {
			return cursor->at > start;
		}
	}
}

/* Reads a decimal number up to max. False: there is none. */
static bool read_number(struct cursor *cursor, uint32_t max, uint32_t *number)
{
	uint64_t value;
	bool found = cursor_decimal(cursor, max, &value);

	*number = (uint32_t)value;
	return found;
}

static bool read_field(struct pnm *pnm, uint32_t max, uint32_t *number)
{
	return skip_blanks(&pnm->cursor) && read_number(&pnm->cursor, max, number) && *number;
}

/* The lines of a PAM's header. */
static bool read_pam(struct pnm *pnm)
{
	struct cursor *cursor = &pnm->cursor;
	const struct {
		const char *name;
		uint32_t max, *value;
	} fields[] = { { "WIDTH", SIDE_MAX, &pnm->width }, { "HEIGHT", SIDE_MAX, &pnm->height },
		{ "DEPTH", DEPTH_MAX, &pnm->depth }, { "MAXVAL", MAXIMUM_MAX, &pnm->maximum } };

	for (int lines = 0; lines < 64 && skip_blanks(cursor); lines++) {
		uint64_t start = cursor->at;

		if (cursor_at_text(cursor, "ENDHDR\n")) {
			cursor->at += 7;
			return pnm->width && pnm->height && pnm->depth && pnm->maximum;
		}
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields) && cursor->at == start; i++)
			if (cursor_at_text(cursor, fields[i].name)) {
				cursor->at += strlen(fields[i].name);
				if (!read_field(pnm, fields[i].max, fields[i].value))
					return false;
			}
		if (cursor->at == start && !cursor_at_text(cursor, "TUPLTYPE"))
			return false;
		while (cursor->at - start < 256 && cursor_peek(cursor) != '\n')
			cursor->at++;
	}
	return false;
}

static bool read_header(struct pnm *pnm)
{
	struct cursor *cursor = &pnm->cursor;

	if (cursor_next(cursor) != 'P')
		return false;
	pnm->kind = cursor_next(cursor) - '0';
	if (pnm->kind == 7)
		return read_pam(pnm);
	if (pnm->kind < 1 || pnm->kind > 6 || !read_field(pnm, SIDE_MAX, &pnm->width) ||
		!read_field(pnm, SIDE_MAX, &pnm->height))
		return false;
	pnm->depth = pnm->kind % 3 == 0 ? 3 : 1;
	pnm->maximum = 1;
	if (pnm->kind % 3 != 1 && !read_field(pnm, MAXIMUM_MAX, &pnm->maximum))
		return false;
	return is_blank(cursor_next(cursor));
}

/* The next value of a picture in text. */
static bool read_value(struct pnm *pnm)
{
	uint32_t value;
	int byte;

	skip_blanks(&pnm->cursor);
	if (pnm->kind != 1)
		return read_number(&pnm->cursor, pnm->maximum, &value);
	byte = cursor_next(&pnm->cursor);
	return byte == '0' || byte == '1';
}

static enum verdict check_text(struct pnm *pnm, struct finding *finding)
{
	struct cursor *cursor = &pnm->cursor;
	uint64_t count = (uint64_t)pnm->width * pnm->height * pnm->depth, end = cursor->at, i;

	for (i = 0; i < count && read_value(pnm); i++)
		end = cursor->at;
	if (i == count) {
		while (cursor_at_text(cursor, " \n") || cursor_at_text(cursor, " \r") ||
			cursor_at_text(cursor, "  "))
			cursor->at++;
		if (cursor_at_text(cursor, "\r\n"))
			cursor->at += 2;
		else if (is_blank(cursor_peek(cursor)))
			cursor->at++;
		if (cursor_at_text(cursor, "\n"))
			cursor->at++;
		finding->length = cursor->at;
		return CARVE_COMPLETE;
	}
	if (i < pnm->depth || cursor_peek(cursor) >= 0) {
		finding->length = i ? end : 0;
		return verdict_because(i ? CARVE_TRUNCATED : CARVE_REJECT, finding,
			"no value of a pixel at %" PRIu64, end);
	}
	return walk_cut(cursor->view, finding, view_size(cursor->view) + 1, end);
}

/* Bytes of a stored pixel, at least 1. */
static uint32_t pixel_len_of(const struct pnm *pnm)
{
	return pnm->kind == 4 ? 1 : pnm->depth * (pnm->maximum > 255 ? 2u : 1u);
}

static uint64_t row_len_of(const struct pnm *pnm)
{
	return pnm->kind == 4 ? (pnm->width + 7) / 8 : (uint64_t)pnm->width * pixel_len_of(pnm);
}

static enum verdict check_stored(struct pnm *pnm, struct finding *finding)
{
	uint64_t pixel_len = pixel_len_of(pnm), row_len = row_len_of(pnm);
	uint64_t start = pnm->cursor.at, end = start + row_len * pnm->height;
	enum verdict verdict =
		stored_check_pixels(pnm->cursor.view, finding, start, end, row_len, pixel_len);

	pnm->cursor.at = end;
	cursor_forget(&pnm->cursor);
	if (verdict == CARVE_UNVERIFIED && cursor_peek(&pnm->cursor) == '\n')
		finding->length++;
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	static const char *const extensions[] = { "pbm", "pgm", "ppm" };
	struct pnm pnm = { .cursor = { .view = view } };

	if (!read_header(&pnm))
		return verdict_because(
			CARVE_REJECT, finding, "no header up to %" PRIu64, pnm.cursor.at);
	finding->extension = pnm.kind == 7 ? "pam" : extensions[(pnm.kind - 1) % 3];
	return pnm.kind <= 3 ? check_text(&pnm, finding) : check_stored(&pnm, finding);
}

static bool describe(struct view *view, struct carve_stored *stored)
{
	struct pnm pnm = { .cursor = { .view = view } };
	uint64_t row_len;

	if (!read_header(&pnm) || pnm.kind <= 3)
		return false;
	row_len = row_len_of(&pnm);
	*stored = (struct carve_stored){ .from = pnm.cursor.at,
		.to = pnm.cursor.at + row_len * pnm.height,
		.length = pnm.cursor.at + row_len * pnm.height,
		.row_len = (uint32_t)row_len,
		.sample_len = 1,
		.channels = (uint8_t)pixel_len_of(&pnm) };
	return row_len <= UINT32_MAX;
}

const struct carver pnm_carver = {
	.name = "pnm",
	.summary = "PBM, PGM, PPM and PAM pictures, by their headers and numbers",
	.check = check,
	.quick = true,
	.stored = describe,
};
