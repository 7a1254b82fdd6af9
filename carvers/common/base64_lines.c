/*
 * Base64 is in lines of one width, the last one aside (RFC 2045, 6.8), or in one long line. Where clusters of another file lie in it
 * there are other characters; or, if the other bytes are base64 or words, lines of another width around the place: with lines of 76
 * characters the width fits by chance once in 77 or 78 times. Lines of another width are a program's own unless a
 * sector begins there.
 */
#include "base64_lines.h"

#include <string.h>

#include "base64.h"
#include "carver.h"
#include "hex.h"
#include "walk.h"

#define COUNT_LEAST 4          /* lines that show the width... */
#define LONG_LINE (2 * SECTOR) /* ...or one of so many bytes */
#define CHANCE_LEN 128         /* bytes of something else that are characters by chance */
#define DATA_LEAST 256         /* characters of a URI without which nothing is shown */
#define LINE_LEAST 40          /* of a line that begins data which no URI announces */
#define WINDOW ((size_t)65536)

void base64_lines_begin(struct base64_lines *lines, uint64_t at)
{
	*lines = (struct base64_lines){ .valid_end = at };
}

uint64_t base64_lines_break(const struct base64_lines *lines, uint64_t wrong_at)
{
	uint64_t from = lines->valid_end, sector;

	if (wrong_at > CHANCE_LEN && from < wrong_at - CHANCE_LEN)
		from = wrong_at - CHANCE_LEN;
	sector = (from + SECTOR - 1) / SECTOR * SECTOR;
	return sector <= wrong_at ? sector : 0;
}

bool base64_lines_add(struct base64_lines *lines, uint64_t at, size_t len, bool padded,
	uint64_t next, uint64_t *wrong_at, uint64_t *break_at)
{
	bool is_wrong = false;

	if (!lines->width)
		lines->width = len;
	if (!lines->is_irregular && (lines->was_last || len > lines->width)) {
		*wrong_at = lines->was_last ? at : at + lines->width;
		*break_at = base64_lines_break(lines, *wrong_at);
		is_wrong = *break_at && (lines->count >= COUNT_LEAST || lines->width >= LONG_LINE);
		lines->is_irregular = true;
	}
	lines->was_last = len < lines->width || padded;
	if (!lines->was_last) {
		lines->count++;
		lines->valid_end = len < LONG_LINE ? next : next - CHANCE_LEN / 2;
	}
	return !is_wrong;
}

/* ---- data in a text ------------------------------------------------------------------------ */

struct data {
	struct view *view;
	uint64_t end;
	const uint8_t *window;
	uint64_t from, to; /* bytes of the text in it */
};

/* The byte at `at`; -1: there is none. */
static int byte_at(struct data *data, uint64_t at)
{
	size_t len = data->end > at && data->end - at < WINDOW ? (size_t)(data->end - at) : WINDOW;

	if (at >= data->end)
		return -1;
	if (!data->window || at < data->from || at >= data->to) {
		data->window = view_peek(data->view, at, len);
		data->from = at;
		data->to = at + len;
	}
	return data->window ? data->window[at - data->from] : -1;
}

/* The bytes that stand for a line's end or blanks at `at`, an entity's among them. */
static unsigned blank_len(struct data *data, uint64_t at)
{
	int c = byte_at(data, at);

	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return 1;
	if (c != '&' || byte_at(data, at + 1) != '#')
		return 0;
	for (unsigned len = 3; len < 8; len++)
		if (byte_at(data, at + len) == ';')
			return len + 1;
	return 0;
}

/* Whether data may end before the byte c, or -1. Lines that no URI announces end with a line or with padding, too. */
static bool may_end(const struct base64_lines *lines, bool is_announced, bool padded, int c)
{
	if (c < 0 || strchr("\"'()<>\\&", c))
		return true;
	return !is_announced && (padded || strchr("]}-=", c) ||
					(lines->count < COUNT_LEAST && lines->width < LONG_LINE));
}

/* Reads the data at *at, up to its end. False: it is cut. */
static bool read_data(
	struct data *data, bool is_announced, uint64_t *at, uint64_t *from, uint64_t *to)
{
	uint64_t start = *at, line = *at;
	struct base64_lines lines;
	bool padded = false;
	unsigned blank;
	int c;

	base64_lines_begin(&lines, start);
	for (;;) {
		c = byte_at(data, *at);
		if (c >= 0 && (base64_digit((uint8_t)c) >= 0 || c == '=' || c == '%')) {
			padded = c == '=';
			++*at;
			continue;
		}
		blank = blank_len(data, *at);
		if (*at > line && !base64_lines_add(&lines, line, (size_t)(*at - line), padded,
					  *at + blank, to, from))
			return false;
		if (!blank)
			break;
		*at += blank;
		line = *at;
	}
	*to = *at;
	*from = base64_lines_break(&lines, *at);
	return may_end(&lines, is_announced, padded, c) || *at - start < DATA_LEAST || !*from;
}

/* Moves *at to the next line that may begin data. False: there is none. */
static bool find_line(struct data *data, uint64_t *at)
{
	uint64_t len;
	bool is_hex;
	int c;

	for (;;) {
		while (blank_len(data, *at))
			*at += blank_len(data, *at);
		is_hex = true;
		for (len = 0; (c = byte_at(data, *at + len)) >= 0 && base64_digit((uint8_t)c) >= 0;
			len++)
			is_hex = is_hex && hex_digit(c) >= 0;
		if (len >= LINE_LEAST && !is_hex && (c == '\n' || c == '\r'))
			return true;
		*at += len;
		while ((c = byte_at(data, *at)) >= 0 && c != '\n')
			++*at;
		if (c < 0)
			return false;
	}
}

/* Looks for data that no URI announces. */
static bool find_cut_lines(struct data *data, uint64_t *from, uint64_t *to)
{
	uint64_t at = 0;

	while (find_line(data, &at))
		if (!read_data(data, false, &at, from, to))
			return true;
	return false;
}

bool base64_find_cut(struct view *view, uint64_t end, uint64_t *from, uint64_t *to)
{
	static const char mark[] = ";base64,";
	struct data data = { .view = view, .end = end };
	uint64_t at = 0;

	while (byte_at(&data, at) >= 0) {
		size_t len = (size_t)(data.to - at);
		const uint8_t *p = data.window + (at - data.from);
		const uint8_t *found = memmem(p, len, mark, sizeof(mark) - 1);

		if (found) {
			at += (uint64_t)(found - p) + sizeof(mark) - 1;
			if (!read_data(&data, true, &at, from, to))
				return true;
		} else if (data.to == end) {
			break;
		} else {
			at = data.to - (sizeof(mark) - 2);
			data.window = NULL;
		}
	}
	return find_cut_lines(&data, from, to);
}
