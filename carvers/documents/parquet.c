/*
 * Apache Parquet (apache/parquet-format).
 *
 *	file: 'PAR1', columns, description, length of the description (4 bytes, little-endian), 'PAR1'
 *
 * The description is a structure in Thrift's compact form: it begins with the version, field 1, a number (15, then
 * 02 or 04), and ends with a zero. It lists the groups of rows (field 4), each with columns (1), and of each column (3) the
 * compressed length (7) and the places of its pages (9) and dictionary (11); indexes of pages (4 to 7) follow the columns. The
 * last of these has to end where the description begins: then it proves the end, and otherwise it may be another file's, which it
 * certainly is where it begins far from there. Nothing verifies the columns, whose pages may be compressed: these are named as
 * embedded.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "embedded.h"
#include "walk.h"

#define MARK "PAR1"
#define MARK_LEN 4
#define TAIL_LEN 8
#define DESCRIPTION_MIN 16
/* Bytes between the columns and the description: filters that it does not list. */
#define BETWEEN_MAX ((uint64_t)256 << 10)

/* Whether the mark at `at` ends the file that starts at 0: where its description starts, or 0. */
static uint64_t description(struct view *view, uint64_t at)
{
	const uint8_t *p = at >= MARK_LEN ? view_peek(view, at - MARK_LEN, MARK_LEN) : NULL;
	uint64_t len = p ? le32(p) : 0, start;

	if (len < DESCRIPTION_MIN || len + UINT64_C(2) * MARK_LEN > at)
		return 0;
	start = at - MARK_LEN - len;
	p = view_peek(view, start, 2);
	if (!p || p[0] != 0x15 || (p[1] != 2 && p[1] != 4))
		return 0;
	p = view_peek(view, at - MARK_LEN - 1, 1);
	return p && !*p ? start : 0;
}

/* Thrift's compact form: a structure has fields, each with the difference to the number of the last one and a type in a byte,
 * and ends with a zero; a list has its length and its type. */
enum thrift_type {
	THRIFT_STOP,
	THRIFT_TRUE,
	THRIFT_FALSE,
	THRIFT_BYTE,
	THRIFT_I16,
	THRIFT_I32,
	THRIFT_I64,
	THRIFT_DOUBLE,
	THRIFT_BINARY,
	THRIFT_LIST,
	THRIFT_SET,
	THRIFT_MAP,
	THRIFT_STRUCT
};

#define DEPTH_MAX 16

struct level {
	bool is_list;
	uint8_t type;                               /* of a list's elements */
	uint64_t left;                              /* of them */
	uint32_t field;                             /* of a structure: the last one's number */
	uint64_t len, pages, dictionary, index_end; /* what fields say; pages: of indexes, too */
};

static uint64_t read_varint(struct cursor *cursor)
{
	uint64_t value;

	return cursor_varint(cursor, &value) ? value : 0;
}

/* Numbers with signs: 0, -1, 1, -2, ... */
static uint64_t read_number(struct cursor *cursor)
{
	uint64_t value = read_varint(cursor);

	return value & 1 ? 0 : value >> 1;
}

/* Whether the levels lead to a chunk of a column. */
static bool in_chunk(const struct level *levels, unsigned depth)
{
	return depth >= 4 && levels[0].field == 4 && levels[2].field == 1;
}

/* Notes what a number says of a column (depth 5), or of its chunk. */
static void note_number(struct level *levels, unsigned depth, uint64_t value)
{
	struct level *in = &levels[depth];

	if (!in_chunk(levels, depth) || depth > 5 || value >= INT64_MAX)
		return;
	if (depth == 5 && levels[4].field == 3) {
		in->len = in->field == 7 ? value : in->len;
		in->pages = in->field == 9 ? value : in->pages;
		in->dictionary = in->field == 11 ? value : in->dictionary;
	} else if (depth == 4 && (in->field == 4 || in->field == 6)) {
		in->pages = value;
	} else if (depth == 4 && (in->field == 5 || in->field == 7) &&
		   in->pages + value > in->index_end) {
		in->index_end = in->pages + value;
	}
}

/* Where the column, or the index of a chunk, ends, whose structure is over. */
static uint64_t end_of(const struct level *levels, unsigned depth)
{
	const struct level *in = &levels[depth];

	if (!in_chunk(levels, depth) || depth > 5)
		return 0;
	if (depth == 4)
		return in->index_end;
	return levels[4].field == 3
		       ? in->len + (in->dictionary && in->dictionary < in->pages ? in->dictionary
										 : in->pages)
		       : 0;
}

/* Goes into a list or structure. False: too deep. */
static bool enter(struct cursor *cursor, struct level *levels, unsigned *depth, unsigned type)
{
	struct level inner = { .is_list = type != THRIFT_STRUCT };

	if (*depth + 1 == DEPTH_MAX)
		return false;
	if (inner.is_list) {
		int head = cursor_next(cursor);

		if (head < 0)
			return false;
		inner.left = head >> 4 == 15 ? read_varint(cursor) : (uint64_t)head >> 4;
		inner.type = head & 15;
	}
	levels[++*depth] = inner;
	return true;
}

/* Where the last column or index ends by the description at [start, end); 0: it is invalid. */
static uint64_t columns_end(struct view *view, uint64_t start, uint64_t end)
{
	struct cursor cursor = { .view = view, .at = start };
	struct level levels[DEPTH_MAX] = { 0 };
	uint64_t last = 0, value;
	unsigned depth = 0, type;

	while (cursor.at < end) {
		struct level *in = &levels[depth];

		if (in->is_list && !in->left) {
			depth--;
			continue;
		}
		if (in->is_list) {
			in->left--;
			type = in->type;
		} else {
			int head = cursor_next(&cursor);

			if (head < 0)
				return 0;
			if (!head && !depth)
				return cursor.at == end ? last : 0;
			if (!head) {
				value = end_of(levels, depth--);
				last = value > last ? value : last;
				continue;
			}
			type = head & 15;
			in->field = head >> 4 ? in->field + ((uint32_t)head >> 4)
					      : (uint32_t)read_number(&cursor);
		}
		switch (type) {
		case THRIFT_TRUE:
		case THRIFT_FALSE:
			/* In a list they are bytes. */
			cursor.at += in->is_list;
			break;
		case THRIFT_BYTE:
			cursor.at++;
			break;
		case THRIFT_I16:
		case THRIFT_I32:
		case THRIFT_I64:
			note_number(levels, depth, read_number(&cursor));
			break;
		case THRIFT_DOUBLE:
			cursor.at += 8;
			break;
		case THRIFT_BINARY:
			value = read_varint(&cursor);
			if (value > end - cursor.at)
				return 0;
			cursor.at += value;
			break;
		case THRIFT_LIST:
		case THRIFT_SET:
		case THRIFT_STRUCT:
			if (!enter(&cursor, levels, &depth, type))
				return 0;
			break;
		default:
			return 0;
		}
	}
	return 0;
}

/* Whether the columns end (0: that is not known) where the description at `start` can't be theirs. */
static bool is_far(uint64_t columns, uint64_t start)
{
	return columns && (columns > start ? columns - start : start - columns) > BETWEEN_MAX;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, MARK_LEN + 1);
	uint64_t at = MARK_LEN, size = view_size(view), start, columns;

	/* The first column begins with a page's description: field 1, its kind (0 or 2, doubled). */
	if (!p || memcmp(p, MARK, MARK_LEN) != 0 || p[MARK_LEN] != 0x15)
		return verdict_because(CARVE_REJECT, finding, "no column at 4");
	while (walk_find_word(view, &at, size, MARK)) {
		start = description(view, at);
		at += MARK_LEN;
		if (start) {
			columns = columns_end(view, start, at - MARK_LEN - MARK_LEN);
			if (is_far(columns, start)) {
				finding->length = MARK_LEN;
				return verdict_because(CARVE_TRUNCATED, finding,
					"another file's description at %" PRIu64, start);
			}
			embedded_find_all(
				view, MARK_LEN, columns && columns < start ? columns : start);
			view_unverified(view, MARK_LEN, start);
			finding->length = at;
			if (columns == start)
				return CARVE_COMPLETE;
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the description at %" PRIu64 " lists columns up to %" PRIu64,
				start, columns);
		}
	}
	finding->length = MARK_LEN;
	return verdict_because(CARVE_TRUNCATED, finding, "no description before %" PRIu64, at);
}

const struct carver parquet_carver = {
	.name = "parquet",
	.summary = "Apache Parquet, by its description",
	.check = check,
};
