/*
 * What belongs together in a workbook's stream ([MS-XLS]): a sheet's name has the offset of its first record (2.4.28), which has
 * those of its blocks of rows (2.4.144, in Excel 95 with two bytes less for rows); the last record of a block has how far before it its
 * rows begin (2.4.77). Every few
 * strings of a workbook there is one of which another record has the offset (2.4.100), and the list of strings has the number of cells that use one (2.4.265). In all workbooks that were looked at these are right, but where they are encrypted.
 */
#include "ole_pages.h"

#include <stdlib.h>

#include "bytes.h"
#include "ole_places.h"
#include "walk.h"

#define HEAD_LEN 4
#define RECORD_BITS 3 /* of a record that begins where the one before ends, */
#define PLACE_BITS 10 /* of one where an offset says, */
#define STRING_BITS 4 /* of a string where an offset says, */
#define ROWS_BITS 6   /* of rows where their block says */
#define NEXT_BITS 7   /* of a cell in the next column, */
#define ROW_BITS 4    /* or in the next row, */
#define COUNT_BITS 5  /* of as many cells with strings as their list says, */
#define COUNT_MIN 4   /* if these are more than a few */
#define FAR 64        /* bytes between such places */
#define POINTERS_MAX ((size_t)1 << 16)
#define STRING_HEAD 9 /* at most: characters, flags, formats, bytes after it */
#define ROW_HEAD 6    /* row, column and format, before a cell's value */

enum {
	FORMULA = 0x0006,
	END = 0x000a,
	NAME = 0x0018,
	NOTE = 0x001c,
	PASSWORD = 0x002f,
	CONTINUED = 0x003c,
	SHEET = 0x0085,
	CELLS_NUMBERS = 0x00bd,
	CELLS_EMPTY = 0x00be,
	BLOCK = 0x00d7,
	STRINGS = 0x00fc,
	CELL_STRING = 0x00fd,
	STRING_PLACES = 0x00ff,
	CELL_EMPTY = 0x0201,
	CELL_NUMBER = 0x0203,
	CELL_TEXT = 0x0204,
	RESULT = 0x0207,
	ROW = 0x0208,
	INDEX = 0x020b,
	CELL_INTEGER = 0x027e,
	BEGIN = 0x0809,
};

struct book {
	const struct ole_flat *flat;
	uint8_t *starts;  /* a bit for each record's offset */
	uint32_t end;     /* of the records */
	uint8_t *strings; /* the same for strings */
	uint32_t strings_at, strings_end;
	uint32_t strings_used, last_used; /* by cells; the last of these */
	uint32_t cell_at;                 /* the cell before in the same sheet; 0: none */
	uint16_t row, column;             /* of it, the last one if it has several */
	struct ole_pointer *pointers;
	size_t count, room;
	bool has_wrong[2]; /* offsets of sheets, and of blocks */
	bool is_encrypted, is_old;
};

static bool is_record(const struct book *book, uint32_t at, uint16_t type)
{
	return at < book->end && book->starts[at / 8] >> at % 8 & 1 &&
	       le16(book->flat->bytes + at) == type;
}

static void add_pointer(struct book *book, uint32_t from, uint32_t to, uint16_t type)
{
	struct ole_pointer *list;

	if (!is_record(book, to, type)) {
		book->has_wrong[type == BLOCK] = true;
		return;
	}
	list = walk_list_grow(ole_flat_view(book->flat), book->pointers, book->count, &book->room,
		POINTERS_MAX, sizeof(*list));
	if (!list)
		return;
	book->pointers = list;
	list[book->count++] = (struct ole_pointer){ from, to };
}

/* Marks all records, up to one that is impossible. */
static void mark_records(struct book *book)
{
	const struct ole_flat *flat = book->flat;
	uint32_t at = 0;

	while (at + HEAD_LEN <= flat->len) {
		const uint8_t *p = flat->bytes + at;
		size_t len = ole_excel_len(p);

		if (!len || len > flat->len - at)
			break;
		book->starts[at / 8] |= (uint8_t)(1 << at % 8);
		book->is_encrypted |= le16(p) == PASSWORD;
		at += (uint32_t)len;
	}
	book->end = at;
	book->is_old = flat->len >= 8 && le16(flat->bytes + 4) < 0x0600;
}

/* ---- strings -------------------------------------------------------------------------------- */

/* The length of a string with its head (2.5.293), which ends in the same record; 0: it is not one. */
static size_t string_len(const uint8_t *p)
{
	unsigned flags = p[2], formats_at = 3;
	size_t len = 3 + ((size_t)le16(p) << (flags & 1));

	if (flags & ~0x0du)
		return 0;
	if (flags & 8) {
		len += 2 + 4 * (size_t)le16(p + 3);
		formats_at = 5;
	}
	if (flags & 4)
		len += 4 + (size_t)le32(p + formats_at);
	return len;
}

/* Marks the strings of a record from its first one at `at` on, up to the first that goes on in another record. */
static void mark_strings(struct book *book, uint32_t at, uint32_t end)
{
	while (at + STRING_HEAD <= end) {
		size_t len = string_len(book->flat->bytes + at);

		if (!len)
			break;
		book->strings[at / 8] |= (uint8_t)(1 << at % 8);
		if (len > end - at)
			break;
		at += (uint32_t)len;
	}
}

/* Offsets of strings, and how far after their record's beginning each is. */
static void link_strings(const struct book *book, uint32_t at, uint32_t len)
{
	const uint8_t *p = book->flat->bytes + at + HEAD_LEN;
	struct ole_pointer *pointers = calloc(len / 8 + 1, sizeof(*pointers));
	size_t count = 0;

	if (!pointers) {
		view_no_memory(ole_flat_view(book->flat));
		return;
	}
	for (uint32_t i = 2; i + 8 <= len; i += 8) {
		uint32_t to = le32(p + i);

		if (to < book->strings_end && to > book->strings_at &&
			book->strings[to / 8] >> to % 8 & 1)
			pointers[count++] = (struct ole_pointer){ at + HEAD_LEN + i, to };
	}
	ole_link_pointers(book->flat, pointers, count, STRING_BITS, 0);
	free(pointers);
}

/* ---- records -------------------------------------------------------------------------------- */

static bool is_cell(uint16_t type)
{
	return type == FORMULA || type == CELLS_NUMBERS || type == CELLS_EMPTY ||
	       type == CELL_STRING || type == CELL_EMPTY || type == CELL_NUMBER ||
	       type == CELL_TEXT || type == CELL_INTEGER;
}

/* What is seldom the same at the same place of other workbooks, but of those by the same template: cells and texts. */
static void note_own(const struct book *book, uint32_t at)
{
	const uint8_t *p = book->flat->bytes + at;
	uint16_t type = le16(p);

	if (is_cell(type) || type == NAME || type == NOTE || type == CONTINUED || type == STRINGS ||
		type == RESULT)
		ole_note_own(book->flat, at + HEAD_LEN, at + HEAD_LEN + le16(p + 2));
}

/* Cells are in order: in the next column, or in another row. */
static void look_at_cell(struct book *book, uint32_t at, uint16_t type, uint32_t len)
{
	const uint8_t *p = book->flat->bytes + at + HEAD_LEN;
	bool has_several = type == CELLS_NUMBERS || type == CELLS_EMPTY;
	uint16_t row = le16(p), column = le16(p + 2);

	if (book->cell_at && row == book->row && column == book->column + 1)
		ole_link(book->flat, at, book->cell_at, NEXT_BITS);
	else if (book->cell_at && row == book->row + 1)
		ole_link(book->flat, at, book->cell_at, ROW_BITS);
	book->cell_at = at;
	book->row = row;
	book->column = has_several ? le16(p + len - 2) : column;
	if (type == CELL_STRING) {
		book->strings_used++;
		book->last_used = at;
	}
}

static void look_at(struct book *book, uint32_t at)
{
	const uint8_t *p = book->flat->bytes + at;
	uint32_t len = le16(p + 2), rows;

	note_own(book, at);
	if (le16(p) == BEGIN || le16(p) == END)
		book->cell_at = 0;
	if (le16(p) == SHEET && len >= 4)
		add_pointer(book, at, le32(p + HEAD_LEN), BEGIN);
	if (book->is_encrypted)
		return;
	if (is_cell(le16(p)) && len >= ROW_HEAD)
		look_at_cell(book, at, le16(p), len);
	if (le16(p) == STRINGS && len > 8) {
		book->strings_at = at;
		book->strings_end = at + HEAD_LEN + len;
		mark_strings(book, at + HEAD_LEN + 8, book->strings_end);
	}
	if (le16(p) == STRING_PLACES)
		link_strings(book, at, len);
	if (le16(p) == INDEX)
		for (uint32_t i = book->is_old ? 12 : 16; i + 4 <= len; i += 4)
			add_pointer(book, at, le32(p + HEAD_LEN + i), BLOCK);
	if (le16(p) != BLOCK || len < 4)
		return;
	rows = at - le32(p + HEAD_LEN);
	if (rows < at && is_record(book, rows, ROW))
		ole_link(book->flat, at, rows, ROWS_BITS);
}

uint32_t ole_link_workbook(const struct ole_flat *flat)
{
	struct book book = { .flat = flat,
		.starts = calloc(flat->len / 8 + 1, 1),
		.strings = calloc(flat->len / 8 + 1, 1) };
	uint32_t last = 0, end = 0;

	if (!book.starts || !book.strings) {
		view_no_memory(ole_flat_view(flat));
		goto done;
	}
	mark_records(&book);
	for (uint32_t at = 0; at < book.end; at += (uint32_t)ole_excel_len(flat->bytes + at)) {
		look_at(&book, at);
		last = at;
	}
	if (book.strings_at && book.strings_used >= COUNT_MIN &&
		book.strings_used == le32(flat->bytes + book.strings_at + HEAD_LEN))
		ole_link(flat, book.last_used, book.strings_at, COUNT_BITS);
	ole_link_records(flat, book.starts, book.end, HEAD_LEN, ole_excel_len, RECORD_BITS);
	ole_link_records(
		flat, book.strings, book.strings_end, STRING_HEAD, string_len, RECORD_BITS);
	if (!book.has_wrong[0] && !book.has_wrong[1])
		ole_link_pointers(flat, book.pointers, book.count, PLACE_BITS, FAR);
	end = book.end && le16(flat->bytes + last) == END ? book.end : 0;
done:
	free(book.starts);
	free(book.strings);
	free(book.pointers);
	return end;
}
