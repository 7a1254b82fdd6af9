/*
 * What belongs together in a document ([MS-DOC]). Its first bytes, the FIB, have the place of each table in another stream, and
 * how many characters each part of the text has. One table lists the pieces of the text (2.8.35), two have the places in the text
 * with which pages of formats begin (2.8.5, 2.8.6). Those pages, of 512 bytes, have the place of each paragraph: before it
 * the text has a mark that ends one, and it has none elsewhere. Another table has the places of fields (2.8.25), each of which
 * is a character of its own. Styles (2.9.271) and fonts (2.9.286) are as many items as their tables say, and fill them. The
 * properties of the document (2.7.2) have numbers that its summaries have, too ([MS-OLEPS] 2.21, [MS-OSHARED] 2.3.3.2).
 */
#include "ole_pages.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "logarithm.h"
#include "ole_word.h"
#include "walk.h"

#define PIECES_MAX 256
#define MARKS_MIN 4     /* of a text, to know how often it has one */
#define WORD_FIRST 0x9a /* place and length of the first table, */
#define WORD_TABLES 93  /* of those that all versions since 97 have */
#define PLACES_MAX 101  /* that a page of formats has */

enum {
	TEXT_BITS = 8,   /* of pieces as long as the text, */
	BORDER_BITS = 9, /* of a place with which a page of formats begins or ends, */
	FIELD_BITS = 5,  /* of a character of a field, */
	ITEM_BITS = 4,   /* of a table of items that goes on in another page, */
	TABLE_BITS = 6,  /* and of one that is where the FIB says, */
	TIME_BITS = 5,   /* of a minute of an hour, */
	NUMBER_BITS = 8, /* at most, of how many words and the like the document has, */
	MARK_BITS = 6,   /* at most, of one that ends a paragraph */
};

struct word {
	struct ole_pages *pages;
	struct ole_flat main, table, summaries[2];
	struct ole_text_piece *text;
	uint32_t text_count;
	uint64_t characters, marks; /* of the text */
};

static struct view *view_of(const struct word *word)
{
	return ole_flat_view(&word->main);
}

/* A table that the FIB refers to; false: it is not in its stream. */
static bool find_table(const struct word *word, unsigned field, uint32_t *at, uint32_t *len)
{
	*at = le32(word->main.bytes + field);
	*len = le32(word->main.bytes + field + 4);
	return *len && *at <= word->table.len && *len <= word->table.len - *at;
}

/* Something at a place of the main stream shows what is at one of the tables', or the other way. */
static void link_table(struct word *word, uint32_t main_at, uint32_t table_at, unsigned bits)
{
	if (table_at < word->table.len)
		ole_link_page(&word->main, main_at, ole_flat_page(&word->table, table_at), bits);
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool is_mark(const struct ole_text_piece *piece, const uint8_t *p)
{
	return ole_ends_paragraph(p[0]) && (!piece->is_wide || !p[1]);
}

static void count_marks(struct word *word, const struct ole_text_piece *piece)
{
	unsigned width = 1u + piece->is_wide;

	if (!view_work(view_of(word), (piece->to - piece->from) / 8))
		return;
	for (uint64_t at = piece->from; at + width <= piece->to; at += width) {
		word->characters++;
		word->marks += is_mark(piece, word->main.bytes + at);
	}
	ole_note_text(&word->main, (uint32_t)piece->from, (uint32_t)piece->to);
}

/* Reads the pieces of the text. Their last number of characters is that of all texts. */
static void read_text(struct word *word)
{
	uint32_t at, len, count = 0, sum = 0;
	bool has_more = false;
	const uint8_t *list;

	if (!find_table(word, WORD_PIECES, &at, &len))
		return;
	list = ole_word_pieces(word->table.bytes + at, len, &count);
	if (!list || !count || count > PIECES_MAX)
		return;
	word->text = calloc(count, sizeof(*word->text));
	if (!word->text) {
		view_no_memory(view_of(word));
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct ole_text_piece *piece = &word->text[i];

		if (!ole_word_piece(list, count, i, piece) || piece->to > word->main.len)
			return;
		count_marks(word, piece);
		word->text_count++;
	}
	for (int i = 0; i < WORD_COUNT; i++) {
		uint32_t some = le32(word->main.bytes + WORD_COUNTS + 4 * (size_t)i);

		sum += some;
		has_more |= i && some;
	}
	if (le32(list + 4 * (size_t)count) == sum + has_more)
		link_table(word, 0, (uint32_t)(list - word->table.bytes) + 4 * count, TEXT_BITS);
}

/* The piece of the text with the character before an offset; NULL: there is none. */
static const struct ole_text_piece *piece_before(const struct word *word, uint64_t offset)
{
	for (uint32_t i = 0; i < word->text_count; i++)
		if (offset > word->text[i].from && offset <= word->text[i].to)
			return &word->text[i];
	return NULL;
}

/* Where the character with this number is in the main stream; 0: nowhere. */
static uint64_t place_of_character(const struct word *word, uint32_t character)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < word->text_count; i++) {
		const struct ole_text_piece *piece = &word->text[i];
		uint64_t count = (piece->to - piece->from) >> piece->is_wide;

		if (character - first < count)
			return piece->from + ((character - first) << piece->is_wide);
		first += count;
	}
	return 0;
}

/* ---- pages of formats ----------------------------------------------------------------------- */

/* Whether each place of a page of paragraphs is after a mark, and the text has no others between the first and the last. */
static bool is_marked(const struct word *word, const uint8_t *page, unsigned count)
{
	for (unsigned i = 1; i <= count; i++) {
		uint64_t to = le32(page + 4 * (size_t)i), from = le32(page + 4 * (size_t)(i - 1));
		const struct ole_text_piece *piece = piece_before(word, to);
		unsigned width;

		if (!piece || from >= to || from < piece->from)
			return false;
		width = 1u + piece->is_wide;
		if (to - from < width ||
			!view_work(view_of(word), (to - from) / 8 + word->text_count) ||
			!is_mark(piece, word->main.bytes + to - width))
			return false;
		for (uint64_t at = from; at + width < to; at += width)
			if (is_mark(piece, word->main.bytes + at))
				return false;
	}
	return true;
}

/* The marks of a page of paragraphs: each counts by how seldom the text has one, none if it is as far from the one before as that
 * from another, as in tables. */
static void link_marks(struct word *word, uint32_t page_at, unsigned count)
{
	const uint8_t *page = word->main.bytes + page_at;
	uint64_t gap = 0;
	unsigned bits;

	if (word->marks < MARKS_MIN || !is_marked(word, page, count))
		return;
	bits = (unsigned)log_16((uint32_t)(word->characters / word->marks)) / LOG_BIT;
	bits = bits < MARK_BITS ? bits : MARK_BITS;
	for (unsigned i = 1; i <= count; i++) {
		uint32_t to = le32(page + 4 * (size_t)i), from = le32(page + 4 * (size_t)(i - 1));
		const struct ole_text_piece *piece = piece_before(word, to);
		uint32_t at = to - 1u - piece->is_wide;

		if (to - from != gap)
			ole_link(&word->main, page_at, at, bits);
		gap = to - from;
		ole_note_mark(&word->main, at, piece->is_wide);
	}
}

/* The pages that a table lists: places, one more than pages, then their numbers. */
static void link_formats(struct word *word, unsigned field, bool is_paragraphs)
{
	uint32_t at, len, count, before = 0;

	if (!find_table(word, field, &at, &len) || len < 12 || len % 8 != 4)
		return;
	count = (len - 4) / 8;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *table = word->table.bytes + at;
		uint64_t page_at = (uint64_t)ole_word_page(table, count, i) * OLE_PAGE;
		uint32_t first = le32(table + 4 * (size_t)i),
			 last = le32(table + 4 * (size_t)i + 4);
		const uint8_t *page = word->main.bytes + page_at;
		unsigned places;

		if (page_at + OLE_PAGE > word->main.len)
			return;
		places = page[OLE_PAGE - 1];
		if (!places || places > PLACES_MAX || le32(page) != first ||
			le32(page + 4 * (size_t)places) != last)
			return;
		ole_note_formats(&word->main, (uint32_t)page_at, first, last);
		/* All documents begin at one of a few places. */
		if (i) {
			link_table(word, (uint32_t)page_at, at + 4 * i, BORDER_BITS);
			ole_link(&word->main, (uint32_t)page_at, before, BORDER_BITS);
		}
		link_table(word, (uint32_t)page_at, at + 4 * i + 4, BORDER_BITS);
		if (is_paragraphs)
			link_marks(word, (uint32_t)page_at, places);
		before = (uint32_t)page_at;
	}
}

/* ---- tables --------------------------------------------------------------------------------- */

/* The places of fields: one more number of characters than fields, then two bytes for each, with its character. */
static void link_fields(struct word *word)
{
	uint32_t at, len, count;

	if (!find_table(word, WORD_FIELDS, &at, &len) || len < 10 || len % 6 != 4)
		return;
	count = (len - 4) / 6;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *table = word->table.bytes + at;
		uint8_t kind = table[4 * (size_t)(count + 1) + 2 * (size_t)i] & 0x1f;
		uint64_t place = place_of_character(word, le32(table + 4 * (size_t)i));

		if (!place || kind < 0x13 || kind > 0x15 || word->main.bytes[place] != kind ||
			!view_work(view_of(word), word->text_count))
			return;
		link_table(word, (uint32_t)place, at + 4 * i, FIELD_BITS);
	}
}

/* Items with their length in two bytes, at even places, or in one. */
static size_t style_len(const uint8_t *p)
{
	return 2u + ((le16(p) + 1u) & ~1u);
}

static size_t font_len(const uint8_t *p)
{
	return 1u + p[0];
}

/* `count` items from an offset in a table on, that fill it exactly. */
static void link_items(struct word *word, unsigned field, uint32_t from, uint32_t count,
	size_t head_len, size_t (*len_of)(const uint8_t *p))
{
	uint32_t start, len, at, end;
	uint8_t *starts;

	if (!find_table(word, field, &start, &len) || from > len)
		return;
	end = start + len;
	starts = calloc(word->table.len / 8 + 1, 1);
	if (!starts) {
		view_no_memory(view_of(word));
		return;
	}
	for (at = start + from; count && at + head_len <= end; count--) {
		starts[at / 8] |= (uint8_t)(1 << at % 8);
		at += (uint32_t)len_of(word->table.bytes + at);
	}
	if (!count && at == end && view_work(view_of(word), len)) {
		link_table(word, field, start, TABLE_BITS);
		ole_link_records(&word->table, starts, end, head_len, len_of, ITEM_BITS);
	}
	free(starts);
}

static void link_tables(struct word *word)
{
	uint32_t at, len;
	const uint8_t *bytes = word->table.bytes;

	link_fields(word);
	if (find_table(word, WORD_STYLES, &at, &len) && len > 4)
		link_items(word, WORD_STYLES, 2u + le16(bytes + at), le16(bytes + at + 2), 2,
			style_len);
	if (find_table(word, WORD_FONTS, &at, &len) && len > 4)
		link_items(word, WORD_FONTS, 4, le16(bytes + at), 1, font_len);
}

/* ---- properties ----------------------------------------------------------------------------- */

enum {
	PROPERTIES_LEN = 60,
	DOCUMENT_CREATED = 20,
	DOCUMENT_SAVED = 24,
	DOCUMENT_WORDS = 38,
	DOCUMENT_CHARACTERS = 42,
	DOCUMENT_PARAGRAPHS = 48,
	DOCUMENT_LINES = 56,
	SUMMARY_CREATED = 12,
	SUMMARY_SAVED = 13,
	SUMMARY_WORDS = 15,
	SUMMARY_CHARACTERS = 16,
	MORE_LINES = 5,
	MORE_PARAGRAPHS = 6,
	TYPE_NUMBER = 3,
	TYPE_TIME = 64,
	SUMMARY_HEAD = 48, /* bytes up to the first section */
	SUMMARY_PROPERTIES = 64,
};

#define MINUTE ((uint64_t)600000000) /* of a time */

/* Where the value of a summary's property with this type is; 0: there is none. */
static uint32_t find_property(const struct ole_flat *summary, uint32_t id, uint32_t type)
{
	uint64_t section;
	uint32_t count;

	if (summary->len < SUMMARY_HEAD || le16(summary->bytes) != 0xfffe)
		return 0;
	section = le32(summary->bytes + 44);
	if (section > summary->len || summary->len - section < 8)
		return 0;
	count = le32(summary->bytes + section + 4);
	for (uint64_t i = 0, at = section + 8;
		i < count && i < SUMMARY_PROPERTIES && at + 8 <= summary->len; i++, at += 8) {
		uint64_t value = section + le32(summary->bytes + at + 4);

		if (le32(summary->bytes + at) == id && value + 12 <= summary->len &&
			le32(summary->bytes + value) == type)
			return (uint32_t)value + 4;
	}
	return 0;
}

struct same {
	uint16_t document;
	uint8_t summary;
};

/* Numbers that both have. */
static void link_numbers(struct word *word, const struct ole_flat *summary, uint32_t at,
	const struct same *same, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t other = find_property(summary, same[i].summary, TYPE_NUMBER);
		uint32_t number = le32(word->table.bytes + at + same[i].document);
		unsigned bits;

		if (!other || number < 2 || le32(summary->bytes + other) != number)
			continue;
		bits = (unsigned)log_16(number) / LOG_BIT;
		ole_link_page(&word->table, at + same[i].document, ole_flat_page(summary, other),
			bits < NUMBER_BITS ? bits : NUMBER_BITS);
	}
}

/* Times that both have, the one in local time. Two that are the same count once. */
static void link_times(struct word *word, const struct ole_flat *summary, uint32_t at)
{
	static const struct same same[] = { { DOCUMENT_CREATED, SUMMARY_CREATED },
		{ DOCUMENT_SAVED, SUMMARY_SAVED } };
	uint32_t before = 0;

	for (size_t i = 0; i < 2; i++) {
		uint32_t time = le32(word->table.bytes + at + same[i].document);
		uint32_t place = find_property(summary, same[i].summary, TYPE_TIME);

		if (time && time != before && place &&
			le64(summary->bytes + place) / MINUTE % 60 == (time & 63))
			ole_link_page(&word->table, at + same[i].document,
				ole_flat_page(summary, place), TIME_BITS);
		before = time;
	}
}

static void link_properties(struct word *word)
{
	static const struct same numbers[] = { { DOCUMENT_WORDS, SUMMARY_WORDS },
		{ DOCUMENT_CHARACTERS, SUMMARY_CHARACTERS } };
	static const struct same more[] = { { DOCUMENT_LINES, MORE_LINES },
		{ DOCUMENT_PARAGRAPHS, MORE_PARAGRAPHS } };
	const struct ole_flat *summary = &word->summaries[0];
	uint32_t at, len;

	if (!find_table(word, WORD_PROPERTIES, &at, &len) || len < PROPERTIES_LEN)
		return;
	link_times(word, summary, at);
	link_numbers(word, summary, at, numbers, 2);
	link_numbers(word, &word->summaries[1], at, more, 2);
}

/* Where the last of a summary's sections ends, of which there are two at most; 0: that is not known. */
static uint32_t end_of_sections(const struct ole_flat *summary)
{
	uint64_t end = 0;

	if (summary->len < 2 * SUMMARY_HEAD || le16(summary->bytes) != 0xfffe)
		return 0;
	for (uint32_t i = 0; i < 2 && i < le32(summary->bytes + 24); i++) {
		uint64_t at = le32(summary->bytes + 44 + 20 * (size_t)i);

		if (at + 4 > summary->len || at + le32(summary->bytes + at) > summary->len)
			return 0;
		if (at + le32(summary->bytes + at) > end)
			end = at + le32(summary->bytes + at);
	}
	return (uint32_t)end;
}

/* Of any file. */
static void look_at_summaries(struct word *word)
{
	const struct ole_flat *summary = &word->summaries[0];
	uint32_t created = find_property(summary, SUMMARY_CREATED, TYPE_TIME);

	if (created)
		ole_note_time(word->pages, le64(summary->bytes + created));
	for (int i = 0; i < 2; i++)
		ole_note_zeros(&word->summaries[i], end_of_sections(&word->summaries[i]));
}

/* What follows the text and its formats in the main stream, and the last of the tables. */
static void note_unused(const struct word *word)
{
	const uint8_t *fib = word->main.bytes;
	uint64_t end = 0;

	for (size_t at = WORD_FIRST; at + 8 <= 2 * OLE_PAGE && at < WORD_FIRST + 8 * WORD_TABLES;
		at += 8) {
		uint64_t table_end = (uint64_t)le32(fib + at) + le32(fib + at + 4);

		if (le32(fib + at + 4) && table_end <= word->table.len && table_end > end)
			end = table_end;
	}
	ole_note_zeros(&word->table, (uint32_t)end);
	if (le32(fib + WORD_USED) >= 2 * OLE_PAGE)
		ole_note_zeros(&word->main, le32(fib + WORD_USED));
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool flatten(struct word *word, const char *name, struct ole_flat *flat)
{
	uint32_t count, i;
	const struct ole_entry *entries = ole_pages_entries(word->pages, &count);

	i = count ? ole_find_child(entries, count, entries[0].child, name) : OLE_FREE;
	return i != OLE_FREE && ole_flatten(word->pages, i, flat);
}

static void link_word(struct word *word)
{
	read_text(word);
	link_formats(word, WORD_CHARACTERS, false);
	link_formats(word, WORD_PARAGRAPHS, true);
	link_tables(word);
	link_properties(word);
	note_unused(word);
}

void ole_link_document(struct ole_pages *pages)
{
	struct word word = { .pages = pages };
	uint16_t flags = WORD_ENCRYPTED;

	flatten(&word, "\5SummaryInformation", &word.summaries[0]);
	flatten(&word, "\5DocumentSummaryInformation", &word.summaries[1]);
	look_at_summaries(&word);
	if (flatten(&word, "WordDocument", &word.main) && word.main.len >= 2 * OLE_PAGE &&
		le16(word.main.bytes) == WORD_MAGIC)
		flags = le16(word.main.bytes + WORD_FLAGS);
	if (!(flags & WORD_ENCRYPTED) &&
		flatten(&word, flags & WORD_TABLE ? "1Table" : "0Table", &word.table))
		link_word(&word);
	free(word.text);
	ole_drop_flat(&word.main);
	ole_drop_flat(&word.table);
	for (int i = 0; i < 2; i++)
		ole_drop_flat(&word.summaries[i]);
}
