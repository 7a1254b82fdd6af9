/*
 * Apache Parquet (apache/parquet-format).
 *
 *	file: 'PAR1', columns, description, length of the description (4 bytes, little-endian), 'PAR1'
 *
 * The description is a structure in Thrift's compact form: it begins with the version, field 1, a number (15, then
 * 02 or 04), and ends with a zero. It lists the groups of rows (field 4), each with columns (1), and of each column (3) the
 * compressed length (7) and the places of its pages (9) and dictionary (11); indexes of pages (4 to 7) follow the columns. The
 * last of these has to end where the description begins: then it proves the end, and otherwise it may be another file's, which it
 * certainly is where it begins far from there. Each column's pages have to fill it: a page is a structure of its kind (1), the
 * lengths of its data as they were and as they are (2, 3) and more, and the data. Nothing verifies these, which may be
 * compressed: files in them are named as embedded.
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

/* A structure that is read, level by level. */
struct thrift {
	struct cursor cursor;
	struct level levels[DEPTH_MAX];
	unsigned depth;
	/* NULL, or what a structure's end is told to, before it is left. */
	void (*leave)(struct thrift *thrift);
	void (*number)(struct thrift *thrift, uint64_t value);
	uint64_t last;   /* of the description: where the last column or index ends */
	uint64_t filled; /* where the last column ends whose pages were read */
	uint64_t
		wrong; /* a column that its pages do not fill, or that is not after the one before; 0: none */
};

/* Goes into a list or structure. False: too deep. */
static bool enter(struct thrift *thrift, unsigned type)
{
	struct level inner = { .is_list = type != THRIFT_STRUCT };

	if (thrift->depth + 1 == DEPTH_MAX)
		return false;
	if (inner.is_list) {
		int head = cursor_next(&thrift->cursor);

		if (head < 0)
			return false;
		inner.left = head >> 4 == 15 ? read_varint(&thrift->cursor) : (uint64_t)head >> 4;
		inner.type = head & 15;
	}
	thrift->levels[++thrift->depth] = inner;
	return true;
}

/* Reads a value of this type. False: there is none before `end`: a list may claim any number of them, which each take a byte. */
static bool read_value(struct thrift *thrift, unsigned type, uint64_t end)
{
	struct cursor *cursor = &thrift->cursor;
	uint64_t at = cursor->at, len;

	switch (type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE:
		/* In a list they are bytes. */
		cursor->at += thrift->levels[thrift->depth].is_list;
		return true;
	case THRIFT_BYTE:
		cursor->at++;
		return true;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		thrift->number(thrift, read_number(cursor));
		return cursor->at > at;
	case THRIFT_DOUBLE:
		cursor->at += 8;
		return true;
	case THRIFT_BINARY:
		len = read_varint(cursor);
		if (cursor->at == at || cursor->at > end || len > end - cursor->at)
			return false;
		cursor->at += len;
		return true;
	case THRIFT_LIST:
	case THRIFT_SET:
	case THRIFT_STRUCT:
		return enter(thrift, type);
	default:
		return false;
	}
}

/* Reads the structure at the cursor, which is after it then. False: there is none that ends before `end`. */
static bool read_structure(struct thrift *thrift, uint64_t end)
{
	struct cursor *cursor = &thrift->cursor;

	while (cursor->at < end) {
		struct level *in = &thrift->levels[thrift->depth];
		unsigned type = in->type;

		if (in->is_list && !in->left) {
			thrift->depth--;
			continue;
		}
		if (in->is_list) {
			in->left--;
		} else {
			int head = cursor_next(cursor);

			if (head < 0)
				return false;
			if (!head && !thrift->depth)
				return true;
			if (!head) {
				if (thrift->leave)
					thrift->leave(thrift);
				thrift->depth--;
				continue;
			}
			type = head & 15;
			in->field = head >> 4 ? in->field + ((uint32_t)head >> 4)
					      : (uint32_t)read_number(cursor);
		}
		if (!read_value(thrift, type, end))
			return false;
	}
	return false;
}

/* A page's description: the length of its data is field 3. */
static void note_page(struct thrift *thrift, uint64_t value)
{
	if (!thrift->depth && thrift->levels[0].field == 3)
		thrift->levels[0].len = value;
}

/* Whether pages, each a description and data, fill [at, end). */
static bool pages_fill(struct view *view, uint64_t at, uint64_t end)
{
	while (at < end) {
		struct thrift page = { .cursor = { .view = view, .at = at }, .number = note_page };

		if (!read_structure(&page, end) || !page.levels[0].len ||
			page.levels[0].len > end - page.cursor.at)
			return false;
		at = page.cursor.at + page.levels[0].len;
	}
	return at == end;
}

/* Whether the levels lead to a chunk of a column. */
static bool in_chunk(const struct thrift *thrift)
{
	return thrift->depth >= 4 && thrift->depth <= 5 && thrift->levels[0].field == 4 &&
	       thrift->levels[2].field == 1;
}

/* Notes what a number says of a column (depth 5), or of its chunk. */
static void note_number(struct thrift *thrift, uint64_t value)
{
	struct level *in = &thrift->levels[thrift->depth];

	if (!in_chunk(thrift) || value >= INT64_MAX)
		return;
	if (thrift->depth == 5 && thrift->levels[4].field == 3) {
		in->len = in->field == 7 ? value : in->len;
		in->pages = in->field == 9 ? value : in->pages;
		in->dictionary = in->field == 11 ? value : in->dictionary;
	} else if (thrift->depth == 4 && (in->field == 4 || in->field == 6)) {
		in->pages = value;
	} else if (thrift->depth == 4 && (in->field == 5 || in->field == 7) &&
		   in->pages + value > in->index_end) {
		in->index_end = in->pages + value;
	}
}

/* Notes where the column, or the index of a chunk, ends, whose structure is over, and whether its pages fill it. */
static void leave_structure(struct thrift *thrift)
{
	const struct level *in = &thrift->levels[thrift->depth];
	uint64_t start, end = in->index_end;

	if (!in_chunk(thrift))
		return;
	if (thrift->depth == 5 && thrift->levels[4].field == 3) {
		start = in->dictionary && in->dictionary < in->pages ? in->dictionary : in->pages;
		end = in->len + start;
		/* So no page is read twice. */
		if (!thrift->wrong &&
			(start < thrift->filled || !pages_fill(thrift->cursor.view, start, end)))
			thrift->wrong = start ? start : 1;
		thrift->filled = end;
		cursor_forget(&thrift->cursor);
	} else if (thrift->depth == 5) {
		return;
	}
	thrift->last = end > thrift->last ? end : thrift->last;
}

/* Where the last column or index ends by the description at [start, end); 0: it is invalid. *wrong: a column that its pages do
 * not fill, or 0. */
static uint64_t columns_end(struct view *view, uint64_t start, uint64_t end, uint64_t *wrong)
{
	struct thrift thrift = { .cursor = { .view = view, .at = start },
		.leave = leave_structure,
		.number = note_number };
	bool whole = read_structure(&thrift, end) && thrift.cursor.at == end;

	*wrong = thrift.wrong;
	return whole ? thrift.last : 0;
}

/* Whether the columns end (0: that is not known) where the description at `start` can't be theirs. */
static bool is_far(uint64_t columns, uint64_t start)
{
	return columns && (columns > start ? columns - start : start - columns) > BETWEEN_MAX;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, MARK_LEN + 1);
	uint64_t at = MARK_LEN, size = view_size(view), start, columns, wrong;

	/* The first column begins with a page's description: field 1, its kind (0 or 2, doubled). */
	if (!p || memcmp(p, MARK, MARK_LEN) != 0 || p[MARK_LEN] != 0x15)
		return verdict_because(CARVE_REJECT, finding, "no column at 4");
	while (walk_find_word(view, &at, size, MARK)) {
		start = description(view, at);
		at += MARK_LEN;
		if (start) {
			columns = columns_end(view, start, at - MARK_LEN - MARK_LEN, &wrong);
			if (is_far(columns, start)) {
				finding->length = MARK_LEN;
				return verdict_because(CARVE_TRUNCATED, finding,
					"another file's description at %" PRIu64, start);
			}
			embedded_find_all(
				view, MARK_LEN, columns && columns < start ? columns : start);
			view_unverified(view, MARK_LEN, start);
			finding->length = at;
			if (columns == start && wrong)
				return verdict_because(CARVE_UNVERIFIED, finding,
					"pages do not fill the column at %" PRIu64, wrong);
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
