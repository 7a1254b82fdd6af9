/*
 * NumPy's arrays (numpy.lib.format).
 *
 *	head:  93 'NUMPY', version 1 to 3, 0, length of the description (2 bytes, from version 2 on 4)
 *	description: {'descr': ..., 'fortran_order': False, 'shape': (3, 4), }, blanks, a line end
 *	data:  the elements as they are
 *
 * descr is a type, '<f8', or a list of fields, ('name', '<f8') or ('name', '<f8', (3,)). The length follows from
 * it and the shape; nothing verifies the data. Arrays of Python's objects are pickled: their length is not stored,
 * and they are rejected, as are fields in fields.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "stored.h"

#define DESCRIPTION_MAX 65536
#define DIMENSIONS_MAX 32
#define ELEMENT_MAX (UINT64_C(1) << 30)
#define DATA_MAX (UINT64_C(1) << 48)

struct npy {
	struct cursor cursor;
	uint64_t element_len, count, last; /* last: the innermost dimension */
	bool described, shaped, ordered;
};

static int skip_blanks(struct cursor *cursor)
{
	int byte;

	while ((byte = cursor_peek(cursor)) == ' ')
		cursor->at++;
	return byte;
}

/* Whether this byte follows blanks: then the cursor is past it. */
static bool take(struct cursor *cursor, int byte)
{
	if (skip_blanks(cursor) != byte)
		return false;
	cursor->at++;
	return true;
}

/* A tuple of numbers: their product, and the last one. */
static bool read_shape(struct cursor *cursor, uint64_t *product, uint64_t *last)
{
	uint64_t number;

	*product = *last = 1;
	if (!take(cursor, '('))
		return false;
	for (unsigned i = 0; !take(cursor, ')'); i++) {
		if (i == DIMENSIONS_MAX || !cursor_decimal(cursor, DATA_MAX, &number) ||
			(number && *product > DATA_MAX / number))
			return false;
		if (cursor_peek(cursor) == 'L') /* Python 2 */
			cursor->at++;
		*product *= number;
		*last = number;
		if (!take(cursor, ',') && skip_blanks(cursor) != ')')
			return false;
	}
	return true;
}

/* A type, such as '<f8' or '<M8[ns]': the length of an element. */
static bool read_type(struct cursor *cursor, uint64_t *len)
{
	int quote = skip_blanks(cursor), kind;

	if (quote != '\'' && quote != '"')
		return false;
	cursor->at++;
	if (!strchr("<>|=", cursor_peek(cursor)))
		return false;
	cursor->at++;
	kind = cursor_next(cursor);
	if (kind <= 0 || !strchr("?bBiufcmMSUVa", kind) ||
		!cursor_decimal(cursor, ELEMENT_MAX, len))
		return false;
	if (kind == 'U')
		*len *= 4;
	for (int i = 0; i < 16 && cursor_peek(cursor) != quote; i++)
		if (cursor_next(cursor) <= ' ' || (kind != 'm' && kind != 'M'))
			return false;
	return cursor_next(cursor) == quote;
}

/* A text between quotes. */
static bool skip_text(struct cursor *cursor)
{
	int quote = skip_blanks(cursor), byte;

	if (quote != '\'' && quote != '"')
		return false;
	cursor->at++;
	while ((byte = cursor_next(cursor)) != quote)
		if (byte < ' ')
			return false;
	return true;
}

/* One field of a list. */
static bool read_field(struct npy *npy)
{
	struct cursor *cursor = &npy->cursor;
	uint64_t len, count = 1, last;

	if (!take(cursor, '('))
		return false;
	if (take(cursor, '(')) { /* a title and a name */
		if (!skip_text(cursor) || !take(cursor, ',') || !skip_text(cursor) ||
			!take(cursor, ')'))
			return false;
	} else if (!skip_text(cursor)) {
		return false;
	}
	if (!take(cursor, ',') || !read_type(cursor, &len))
		return false;
	if (take(cursor, ',') && skip_blanks(cursor) == '(' && !read_shape(cursor, &count, &last))
		return false;
	if (!take(cursor, ')') || count > ELEMENT_MAX || len * count > ELEMENT_MAX)
		return false;
	npy->element_len += len * count;
	return npy->element_len <= ELEMENT_MAX;
}

static bool read_descr(struct npy *npy)
{
	struct cursor *cursor = &npy->cursor;

	npy->described = true;
	if (!take(cursor, '['))
		return read_type(cursor, &npy->element_len);
	while (!take(cursor, ']'))
		if (!read_field(npy) || (!take(cursor, ',') && skip_blanks(cursor) != ']'))
			return false;
	return true;
}

/* One of the description's three parts. */
static bool read_part(struct npy *npy)
{
	struct cursor *cursor = &npy->cursor;
	char name[16] = "";
	size_t len = 0;
	int byte;

	if (!take(cursor, '\''))
		return false;
	while ((byte = cursor_next(cursor)) != '\'') {
		if (byte <= 0 || len + 1 == sizeof(name))
			return false;
		name[len++] = (char)byte;
	}
	if (!take(cursor, ':'))
		return false;
	skip_blanks(cursor);
	if (strcmp(name, "descr") == 0)
		return read_descr(npy);
	if (strcmp(name, "shape") == 0) {
		npy->shaped = true;
		return read_shape(cursor, &npy->count, &npy->last);
	}
	npy->ordered = cursor_at_text(cursor, "True") || cursor_at_text(cursor, "False");
	cursor->at += cursor_peek(cursor) == 'T' ? 4 : 5;
	return npy->ordered && strcmp(name, "fortran_order") == 0;
}

/* Reads the description [at, end): blanks and a line end are its last bytes. */
static bool read_description(struct npy *npy, uint64_t end)
{
	struct cursor *cursor = &npy->cursor;

	if (!take(cursor, '{'))
		return false;
	while (!take(cursor, '}'))
		if (!read_part(npy) || (!take(cursor, ',') && skip_blanks(cursor) != '}'))
			return false;
	if (!npy->described || !npy->shaped || !npy->ordered)
		return false;
	while (cursor->at + 1 < end && cursor_peek(cursor) == ' ')
		cursor->at++;
	return cursor->at + 1 == end && cursor_peek(cursor) == '\n';
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct npy npy = { .cursor = { .view = view } };
	const uint8_t *p = view_peek(view, 0, 12);
	uint64_t start, end;
	unsigned version;

	if (!p || memcmp(p, "\x93NUMPY", 6) != 0 || !p[6] || p[6] > 3 || p[7])
		return verdict_because(CARVE_REJECT, finding, "no head at 0");
	version = p[6];
	npy.cursor.at = version == 1 ? 10 : 12;
	start = npy.cursor.at + (version == 1 ? le16(p + 8) : le32(p + 8));
	if (start > DESCRIPTION_MAX || !read_description(&npy, start))
		return verdict_because(
			CARVE_REJECT, finding, "no description at %" PRIu64, npy.cursor.at);
	if (npy.element_len && npy.count > DATA_MAX / npy.element_len)
		return verdict_because(
			CARVE_REJECT, finding, "an impossible shape at %" PRIu64, npy.cursor.at);
	end = start + npy.count * npy.element_len;
	if (end == start) {
		finding->length = end;
		return CARVE_COMPLETE;
	}
	if (npy.element_len > 64)
		return stored_check(view, finding, start, end);
	return stored_check_pixels(
		view, finding, start, end, npy.last * npy.element_len, npy.element_len);
}

const struct carver npy_carver = {
	.name = "npy",
	.summary = "NumPy's arrays, by their descriptions",
	.check = check,
};
