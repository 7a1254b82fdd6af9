/*
 * XPM 3, X11's pictures in the syntax of C ("XPM Manual", Le Hors).
 *
 *	comment:  the C comment "XPM", which begins the file; others may be between any two parts
 *	opening:  a declaration, such as static char *name[] =, up to a brace
 *	texts:    between quotes, without line ends, separated by commas:
 *	          width, height, number of colours, characters a pixel, which may be 0 (and a hot spot, and XPMEXT);
 *	          a text a colour: its characters, then pairs of a key and a colour;
 *	          a text a row of pixels; extensions
 *	end:      a brace, then nearly always a semicolon
 *
 * Each row has as many characters as the first text says, and each pixel is a colour's. The closing brace and a
 * semicolon prove the end; one line end after them belongs to the file. Where a text or the syntax is wrong, the valid part
 * ends after the last whole text. The title is the array's name.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "title.h"
#include "walk.h"

#define OPENING_MAX 4096
#define COMMENT_MAX 65536
#define TEXT_MAX 4096 /* of a colour, or the first text */
#define SIDE_MAX 65535
#define COLOURS_MAX 1000000
#define CHARACTERS_MAX 8
#define NAME_MAX 100

struct xpm {
	struct cursor cursor;
	uint32_t width, height, colours, characters;
	bool extended;
	uint64_t valid_end;    /* after the last whole text */
	uint8_t used[256 / 8]; /* the characters of all colours */
};

static bool is_blank(int byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Skips blanks and comments. False: a comment does not end. */
static bool skip_blanks(struct cursor *cursor)
{
	int byte;

	while (is_blank(byte = cursor_peek(cursor)) || byte == '/') {
		uint64_t end = cursor->at + COMMENT_MAX;

		if (byte == '/') {
			if (!cursor_at_text(cursor, "/*"))
				return false;
			cursor->at += 2;
			while (!cursor_at_text(cursor, "*/"))
				if (cursor->at == end || cursor_next(cursor) <= 0)
					return false;
			cursor->at++;
		}
		cursor->at++;
	}
	return true;
}

/* Reads the declaration and its brace; the array's name becomes the title. */
static bool read_opening(struct xpm *xpm, struct finding *finding)
{
	struct cursor *cursor = &xpm->cursor;
	uint64_t end = cursor->at + OPENING_MAX;
	char name[NAME_MAX];
	size_t len = 0;
	bool word = false, named = false;
	int byte;

	while (cursor->at < end && skip_blanks(cursor) && (byte = cursor_next(cursor)) != '{') {
		bool letter = byte == '_' || (byte >= '0' && byte <= '9') ||
			      ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');

		/* Some programs write the file's path for a name. */
		if (!letter && byte < 0x80 && (byte <= 0 || !strchr("*[]=-.:\\/()+~#&@$!%", byte)))
			return false;
		named |= byte == '[';
		if (letter && !named && len < NAME_MAX) {
			if (!word)
				len = 0;
			name[len++] = (char)byte;
		}
		word = letter && !is_blank(cursor_peek(cursor));
	}
	if (cursor->at > end || !named)
		return false;
	finding_set_title(finding, (const uint8_t *)name, len);
	return true;
}

/* Moves the cursor past the quote that begins the next text; `first`: no comma precedes it. */
static bool open_text(struct xpm *xpm, bool first)
{
	struct cursor *cursor = &xpm->cursor;

	if (!skip_blanks(cursor) || (!first && cursor_next(cursor) != ','))
		return false;
	return skip_blanks(cursor) && cursor_next(cursor) == '"';
}

static bool close_text(struct xpm *xpm)
{
	if (cursor_next(&xpm->cursor) != '"')
		return false;
	xpm->valid_end = xpm->cursor.at;
	return true;
}

/* Moves the cursor to the text's end. False: it has a control character, or is too long. */
static bool skip_text(struct cursor *cursor)
{
	uint64_t end = cursor->at + TEXT_MAX;
	int byte;

	while ((byte = cursor_peek(cursor)) != '"') {
		if ((byte < ' ' && byte != '\t') || byte == 0x7f || cursor->at == end)
			return false;
		cursor->at++;
	}
	return true;
}

static bool read_number(struct cursor *cursor, uint32_t max, uint32_t *number)
{
	uint64_t value;
	bool found;
	int byte;

	while ((byte = cursor_peek(cursor)) == ' ' || byte == '\t')
		cursor->at++;
	found = cursor_decimal(cursor, max, &value);
	*number = (uint32_t)value;
	return found;
}

/* The first text. */
static bool read_values(struct xpm *xpm)
{
	struct cursor *cursor = &xpm->cursor;

	if (!open_text(xpm, true) || !read_number(cursor, SIDE_MAX, &xpm->width) ||
		!read_number(cursor, SIDE_MAX, &xpm->height) ||
		!read_number(cursor, COLOURS_MAX, &xpm->colours) ||
		!read_number(cursor, CHARACTERS_MAX, &xpm->characters) || !xpm->width ||
		!xpm->height || !xpm->colours)
		return false;
	while (cursor_peek(cursor) == ' ')
		cursor->at++;
	for (uint32_t i = 0; i < 48 && cursor_peek(cursor) != '"'; i++) {
		int byte = cursor_next(cursor);

		if (byte == 'X')
			xpm->extended = true;
		if (byte <= 0 || !strchr(" \t0123456789-XPMEXT", byte))
			return false;
	}
	return close_text(xpm);
}

/* A colour: its characters, blanks, one of the keys m, g, g4, c, s and more. */
static bool read_colour(struct xpm *xpm)
{
	struct cursor *cursor = &xpm->cursor;
	int byte;

	if (!open_text(xpm, false))
		return false;
	for (uint32_t i = 0; i < xpm->characters; i++) {
		byte = cursor_next(cursor);
		if (byte < ' ' || byte == '"')
			return false;
		xpm->used[byte / 8] |= (uint8_t)(1 << byte % 8);
	}
	if (!is_blank(cursor_peek(cursor)))
		return false;
	while ((byte = cursor_peek(cursor)) == ' ' || byte == '\t')
		cursor->at++;
	return byte > 0 && strchr("mgcs", byte) && skip_text(cursor) && close_text(xpm);
}

static bool read_row(struct xpm *xpm)
{
	uint64_t len = (uint64_t)xpm->width * xpm->characters;

	if (!open_text(xpm, false))
		return false;
	for (uint64_t i = 0; i < len; i++) {
		int byte = cursor_next(&xpm->cursor);

		if (byte < 0 || !(xpm->used[byte / 8] >> byte % 8 & 1))
			return false;
	}
	return close_text(xpm);
}

/* Texts of extensions, and the brace. */
static bool read_end(struct xpm *xpm)
{
	struct cursor *cursor = &xpm->cursor;

	for (;;) {
		if (!skip_blanks(cursor))
			return false;
		if (cursor_peek(cursor) == ',') {
			cursor->at++;
			if (!skip_blanks(cursor))
				return false;
		}
		if (cursor_peek(cursor) != '"')
			break;
		cursor->at++;
		if (!xpm->extended || !skip_text(cursor) || !close_text(xpm))
			return false;
	}
	return cursor_next(cursor) == '}';
}

static bool walk(struct xpm *xpm)
{
	for (uint32_t i = 0; i < xpm->colours; i++)
		if (!read_colour(xpm))
			return false;
	for (uint32_t i = 0; i < xpm->height; i++)
		if (!read_row(xpm))
			return false;
	return read_end(xpm);
}

/* Reads on after the brace. *end: of the file, with a line end after the semicolon. False: there is no semicolon. */
static bool read_semicolon(struct cursor *cursor, uint64_t *end)
{
	*end = cursor->at;
	if (!skip_blanks(cursor) || cursor_peek(cursor) != ';')
		return false;
	*end = ++cursor->at;
	if (cursor_peek(cursor) == '\r')
		cursor->at++;
	if (cursor_peek(cursor) == '\n')
		*end = cursor->at + 1;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct xpm xpm = { .cursor = { .view = view } };
	uint64_t first;

	if (!cursor_at_text(&xpm.cursor, "/* XPM */"))
		return verdict_because(CARVE_REJECT, finding, "no comment XPM at 0");
	view_fill_unreadable(view, ' ');
	if (!read_opening(&xpm, finding) || !read_values(&xpm)) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding,
			"neither an array nor its first text at %" PRIu64, xpm.cursor.at);
	}
	first = xpm.valid_end;
	if (walk(&xpm)) {
		if (read_semicolon(&xpm.cursor, &finding->length))
			return CARVE_COMPLETE;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no semicolon after the brace before %" PRIu64, finding->length);
	}
	if (xpm.valid_end == first) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no colour at %" PRIu64, first);
	}
	if (xpm.cursor.at >= view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, xpm.valid_end);
	finding->length = xpm.valid_end;
	return verdict_because(CARVE_TRUNCATED, finding,
		"neither a colour, a row nor the end at %" PRIu64, xpm.valid_end);
}

const struct carver xpm_carver = {
	.name = "xpm",
	.summary = "XPM pictures, by their texts",
	.check = check,
	.quick = true,
};
