/* What documents of Word have in their first bytes, and how their tables begin ([MS-DOC]). */
#ifndef BURIN_CARVERS_DOCUMENTS_OLE_WORD_H
#define BURIN_CARVERS_DOCUMENTS_OLE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* Of the main stream. Most are the offset in the table stream, and the length, of a table. */
enum ole_word_field {
	WORD_MAGIC = 0xa5ec, /* in its first two bytes */
	WORD_FLAGS = 0x0a,
	WORD_ENCRYPTED = 0x100, /* flags: */
	WORD_TABLE = 0x200,     /* the tables are in 1Table, not in 0Table */
	WORD_USED = 0x40,       /* bytes of the main stream */
	WORD_COUNTS =
		0x4c, /* characters of the text, notes, headers, macros, comments, endnotes, boxes, and their headers */
	WORD_COUNT = 8,
	WORD_STYLES = 0xa2,
	WORD_CHARACTERS = 0xfa,  /* pages on what characters look like, */
	WORD_PARAGRAPHS = 0x102, /* and paragraphs */
	WORD_FONTS = 0x112,
	WORD_FIELDS = 0x11a,
	WORD_PROPERTIES = 0x192,
	WORD_PIECES = 0x1a2,
	WORD_HEAD_LEN = 0x1aa, /* all versions since 97 have that */
	WORD_NARROW = 0x40000000,
	WORD_PAGE_MASK = 0x3fffff,
};

/* A piece of the text. */
struct ole_text_piece {
	uint64_t from, to; /* in the main stream */
	bool is_wide;
};

/* The list of the text's pieces (2.8.35) in its table, after lists of changes: *count of them. NULL: it is not such a table. */
static inline const uint8_t *ole_word_pieces(const uint8_t *table, uint32_t len, uint32_t *count)
{
	uint64_t at = 0;

	while (at + 5 <= len && table[at] == 1)
		at += 3u + le16(table + at + 1);
	if (at + 5 > len || table[at] != 2 || le32(table + at + 1) > len - at - 5)
		return NULL;
	*count = le32(table + at + 1) < 16 ? 0 : (le32(table + at + 1) - 4) / 12;
	return table + at + 5;
}

/* Piece i of `count`. False: it has no characters. */
static inline bool ole_word_piece(
	const uint8_t *list, uint32_t count, uint32_t i, struct ole_text_piece *piece)
{
	uint32_t from = le32(list + 4 * (size_t)i), to = le32(list + 4 * (size_t)i + 4);
	uint32_t place = le32(list + 4 * ((size_t)count + 1) + 8 * (size_t)i + 2);

	piece->is_wide = !(place & WORD_NARROW);
	piece->from = piece->is_wide ? place : (place & (WORD_NARROW - 1)) / 2;
	piece->to = piece->from + ((uint64_t)(to - from) << piece->is_wide);
	return from < to;
}

/* The page, of 512 bytes of the main stream, with number i of `count` in a table of pages (2.8.5, 2.8.6). */
static inline uint32_t ole_word_page(const uint8_t *table, uint32_t count, uint32_t i)
{
	return le32(table + 4 * ((size_t)count + 1) + 4 * (size_t)i) & WORD_PAGE_MASK;
}

#endif
