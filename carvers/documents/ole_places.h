/*
 * What a compound file's tables show of its places, in chunks of 512 bytes: ole_places.c reads the tables, ole_chunk.c judges
 * bytes by them.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_OLE_PLACES_H
#define BURIN_CARVERS_DOCUMENTS_OLE_PLACES_H

#include "ole.h"
#include "ole_word.h"

#define OLE_CHUNK 512
#define OLE_HEADER_TABLES 109
#define OLE_UNKNOWN 0xfffffffbu /* a sector's successor, or an owner */

enum ole_part_kind {
	PART_UNKNOWN,
	PART_FREE,
	PART_FAT,
	PART_DIRECTORY,
	PART_MINI_FAT,
	PART_STREAM,
};

/* What a sector holds. */
struct ole_part {
	uint8_t kind;
	uint32_t number; /* of the sector in its table or stream */
	uint32_t entry;  /* of a stream */
};

/* A small sector of the mini stream. */
struct ole_mini {
	uint32_t entry; /* OLE_UNKNOWN: not known, or free */
	uint32_t number;
};

/* What a stream's content looks like. */
enum ole_content {
	CONTENT_ANY,
	CONTENT_PLAIN, /* no noise */
	CONTENT_NOISE,
	CONTENT_PICTURES,
	CONTENT_SUMMARY, /* often mostly zeros */
	CONTENT_NARROW,  /* text */
	CONTENT_WIDE,
	CONTENT_EXCEL, /* records */
	CONTENT_POWERPOINT,
	CONTENT_WORD,
	CONTENT_PROPERTIES, /* of a message */
};

struct ole_format_page {
	uint32_t first, last; /* what it begins and ends with */
	bool is_listed;
};

/* Where a stream begins: a sector, or a small one. */
struct ole_begin {
	uint64_t start;
	uint32_t entry;
};

struct ole_places {
	unsigned shift;
	uint32_t table_count, tables[OLE_HEADER_TABLES], directory_start, mini_start, mini_parts,
		cutoff;
	uint32_t *next; /* of each sector; OLE_UNKNOWN */
	uint32_t *
		lens; /* sectors from there to the end of its chain; OLE_UNKNOWN; OLE_FREE: it has no end */
	uint32_t sectors;
	uint8_t *pointed, *mini_pointed; /* whether one is after another in a chain */
	uint8_t *linked;                 /* whether an entry links to this one */
	struct ole_part *parts;
	struct ole_entry *entries; /* of the directory; type 0: free, or not known */
	uint8_t *content;          /* of each */
	uint32_t entry_count, directory_count;
	struct ole_begin *begins; /* of entries, in order of start */
	uint32_t begin_count;
	uint32_t *mini_next, *mini_lens; /* the same */
	struct ole_mini *minis;
	uint32_t mini_count;
	bool is_encrypted;
	uint32_t word; /* entry of a document's main stream; or OLE_UNKNOWN */
	struct ole_text_piece *text;
	uint32_t text_count;
	struct ole_format_page *pages;
	uint32_t page_count;
};

/* By how many bits 512 bytes rather are this part of a table than others. base: the number of its first entry. */
int ole_fat_bits(const struct ole_places *places, const uint8_t *p, uint32_t base);
int ole_mini_fat_bits(const struct ole_places *places, const uint8_t *p, uint32_t base);
int ole_directory_bits(const struct ole_places *places, const uint8_t *p, uint32_t base);
/* The same of the first bytes of streams: 0, or 30 or more bytes that fit or do not fit one of that name. */
int ole_start_bits(const struct ole_entry *entry, const uint8_t *p);
/* The length of a record with its head, of a workbook (4 bytes) or a presentation (8 bytes), whose records that hold others end
 * with it; 0: it is not one. */
size_t ole_excel_len(const uint8_t *p);
size_t ole_powerpoint_len(const uint8_t *p);
/* What streams with this name hold. */
enum ole_content ole_content_of(const struct ole_entry *entry);
/* As ask in struct carve_places. */
void ole_ask(const void *context, uint64_t from, size_t count, const uint8_t *bytes, size_t len,
	int *bits);

#endif
