/*
 * What belongs together in a compound file that was put together of pieces, in pages of 512 bytes: ole_pages.c reads the tables
 * and asks ole_excel_links.c and ole_powerpoint_links.c about streams of records.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_OLE_PAGES_H
#define BURIN_CARVERS_DOCUMENTS_OLE_PAGES_H

#include "ole.h"

#define OLE_PAGE ((uint32_t)512)

struct ole_pages;

/* A large stream, all of it at hand. */
struct ole_flat {
	struct ole_pages *pages;
	const uint8_t *bytes;
	uint32_t len;
	const uint32_t *places; /* the file's page that has each of the stream's pages */
};

struct view *ole_flat_view(const struct ole_flat *flat);

/* Notes that what the stream has at one offset shows what is at the other: if the latter's page came from elsewhere, it would be so
 * once in 2^bits times. */
void ole_link(const struct ole_flat *flat, uint32_t at, uint32_t other, unsigned bits);

/* The same of a page elsewhere in the file. */
void ole_link_page(const struct ole_flat *flat, uint32_t at, uint32_t page, unsigned bits);

/* The stream is a chain of records, which has a header of head_len bytes wherever bit n of `starts` is set, up to `end`; len gives how
 * far the next one is, or 0. Their headers link pages by `bits`. */
void ole_link_records(const struct ole_flat *flat, const uint8_t *starts, uint32_t end,
	size_t head_len, size_t (*len)(const uint8_t *p), unsigned bits);

/* Offsets in a stream that other places of it have. */
struct ole_pointer {
	uint32_t from, to;
};

/* Links pointers with their targets. Targets less than `far` bytes after another one are one with it, of which the pointer counts that is the
 * farthest; what is as far from the one before as another one counts nothing. Sorts them. */
void ole_link_pointers(const struct ole_flat *flat, struct ole_pointer *pointers, size_t count,
	unsigned bits, uint32_t far);

/* The stream's bytes [from, to) are seldom the same in other files, but in versions of this one. */
void ole_note_own(const struct ole_flat *flat, uint32_t from, uint32_t to);

/* Links what belongs together in the main stream of a workbook, or of a presentation, of which another stream, with its first byte on
 * that page, says where the last edit is; 0: that is not known. Returns where the records end. */
uint32_t ole_link_workbook(const struct ole_flat *flat);
uint32_t ole_link_presentation(const struct ole_flat *flat, uint32_t edit, uint32_t edit_page);

#endif
