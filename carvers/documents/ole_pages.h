/*
 * What belongs together in a compound file that was put together of pieces, in pages of 512 bytes: ole_pages.c reads the tables
 * and asks ole_excel_links.c and ole_powerpoint_links.c about streams of records, ole_word_links.c about documents and
 * ole_message_links.c about messages.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_OLE_PAGES_H
#define BURIN_CARVERS_DOCUMENTS_OLE_PAGES_H

#include "ole.h"

#define OLE_PAGE_SHIFT 9
#define OLE_PAGE (1u << OLE_PAGE_SHIFT)

struct ole_pages;
struct view *ole_pages_view(const struct ole_pages *pages);

/* A stream, all of it at hand. */
struct ole_flat {
	struct ole_pages *pages;
	const uint8_t *bytes; /* up to the end of its last part */
	uint32_t len;
	unsigned shift;         /* of the length of its parts */
	const uint32_t *places; /* where each part is in the file */
};

static inline struct view *ole_flat_view(const struct ole_flat *flat)
{
	return ole_pages_view(flat->pages);
}
/* Where a byte of it is in the file; the page. */
uint32_t ole_flat_place(const struct ole_flat *flat, uint32_t at);
static inline uint32_t ole_flat_page(const struct ole_flat *flat, uint32_t at)
{
	return ole_flat_place(flat, at) / OLE_PAGE;
}

/* The directory: type 0: unused. */
const struct ole_entry *ole_pages_entries(const struct ole_pages *pages, uint32_t *count);
/* The page with this entry. */
uint32_t ole_page_of_entry(const struct ole_pages *pages, uint32_t entry);
/* Reads a stream; the caller drops it. False: it is too long, or not all there. */
bool ole_flatten(struct ole_pages *pages, uint32_t entry, struct ole_flat *flat);
void ole_drop_flat(struct ole_flat *flat);

/* Notes that what the stream has at one offset shows what is at the other: if the latter's page came from elsewhere, it would be so
 * once in 2^bits times. */
void ole_link(const struct ole_flat *flat, uint32_t at, uint32_t other, unsigned bits);

/* The same of a page elsewhere in the file. */
void ole_link_page(const struct ole_flat *flat, uint32_t at, uint32_t page, unsigned bits);

/* The stream's byte at an offset ends a paragraph of its text, of two bytes a character or one: as what could be in its page must. */
void ole_note_mark(const struct ole_flat *flat, uint32_t at, bool is_wide);
/* Whether a character is one that does, or ends a cell or a section. */
bool ole_ends_paragraph(uint8_t character);

/* The stream's page at an offset says what text looks like, between two places in it, that tables have, too. */
void ole_note_formats(const struct ole_flat *flat, uint32_t at, uint32_t from, uint32_t to);

/* From an offset on, but not from 0, the stream is not used, and filled with zeros, as far as it is. */
void ole_note_zeros(const struct ole_flat *flat, uint32_t from);

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

/* The stream's bytes [from, to) are seldom the same in other files, but in versions of this one: at the same place of a page; or
 * anywhere, as text is. */
void ole_note_own(const struct ole_flat *flat, uint32_t from, uint32_t to);
void ole_note_text(const struct ole_flat *flat, uint32_t from, uint32_t to);
/* When the file was created, or the like. */
void ole_note_time(struct ole_pages *pages, uint64_t time);

/* Links what belongs together in the main stream of a workbook, or of a presentation, of which another stream, with its first byte on
 * that page, says where the last edit is; 0: that is not known. Returns where the records end. */
uint32_t ole_link_workbook(const struct ole_flat *flat);
uint32_t ole_link_presentation(const struct ole_flat *flat, uint32_t edit, uint32_t edit_page);

/* Notes what summaries show, and links what belongs together in a document, and in a message and its attachments. */
void ole_link_document(struct ole_pages *pages);
void ole_link_message(struct ole_pages *pages);

#endif
