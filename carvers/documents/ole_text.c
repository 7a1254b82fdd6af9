/*
 * The text in documents and messages, where proof is asked for: nothing verifies it, but other files' bytes
 * between its own are seldom text.
 *
 * A document ([MS-DOC]) has its text in the main stream, where a table in another stream lists its pieces
 * (2.8.35), in characters of one or two bytes; and pages of 512 bytes with what its characters and paragraphs
 * look like, of which further tables (2.8.5, 2.8.6) have the numbers and the places in the text where they
 * begin and end. A message ([MS-OXMSG]) has a stream for each property, whose name ends with its type.
 */
#include "ole.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "ole_word.h"
#include "walk.h"

#define BAD_MAX 3            /* characters of a sector that text has not, and a document may have */
#define PIECES_MAX 1024      /* that are looked at */
#define TABLE_SLACK 2        /* bytes that may follow the last item of a table */
#define TABLE_MAX (1u << 20) /* bytes of a table */

enum {
	PROPERTY_LEN = 16,
	PROPERTY_FLAGS = 7,
	PROPERTY_IS_LIST = 0x1000,
};

/* Bit n: text has control n, a mark of a field, picture, note, line, page or cell. */
#define CONTROLS 0xc0387fbeu

static bool is_odd(uint32_t character)
{
	return character < 32 && !(CONTROLS >> character & 1);
}

static unsigned count_odd_narrow(const uint8_t *p, size_t len)
{
	unsigned count = 0;

	for (size_t i = 0; i < len; i++)
		count += is_odd(p[i]) || p[i] == 0x7f;
	return count;
}

/* Of characters of two bytes: also halves of pairs, and what is no character. */
static unsigned count_odd_wide(const uint8_t *p, size_t len)
{
	unsigned count = 0;

	for (size_t i = 0; i + 2 <= len; i += 2) {
		uint16_t unit = le16(p + i);
		bool high = unit >= 0xd800 && unit < 0xdc00, low = unit >= 0xdc00 && unit < 0xe000;
		bool paired = high && i + 4 <= len && le16(p + i + 2) >> 10 == 0xdc00 >> 10;

		if (paired)
			i += 2;
		count += is_odd(unit) || low || unit >= 0xfffe || (high && !paired && i + 4 <= len);
	}
	return count;
}

/* Counts the steps along a chain to a place in its stream: there may be many places. */
static bool can_go_to(struct ole *ole, uint64_t offset)
{
	return view_work(ole->view, offset >> ole->shift);
}

/* Looks at [from, to) of a stream, sector by sector. */
static void check_text(
	struct ole *ole, const struct ole_entry *entry, uint64_t from, uint64_t to, bool wide)
{
	struct ole_position position = { .entry = entry };
	uint8_t bytes[SECTOR];

	if (to > entry->len || !can_go_to(ole, from))
		return;
	while (from < to) {
		uint64_t at = ole_file_offset(ole, &position, from);
		size_t len = SECTOR - (size_t)(from % SECTOR);

		if (len > to - from)
			len = (size_t)(to - from);
		if (!at || !ole_read(ole, &position, from, bytes, len))
			return;
		if ((wide ? count_odd_wide : count_odd_narrow)(bytes, len) > BAD_MAX)
			ole_contradicts(ole, "no text in the sector", at);
		from += len;
	}
}

/* ---- documents ------------------------------------------------------------------------------ */

struct document {
	struct ole *ole;
	struct ole_entry main, tables[2];
	const struct ole_entry *table; /* that of them which is used */
	uint8_t fib[WORD_HEAD_LEN];
};

/* Reads what WORD_PIECES and the like refer to; NULL if it is not there. The caller frees it. */
static uint8_t *read_table(const struct document *document, unsigned field, uint32_t *len)
{
	struct ole_position position = { .entry = document->table };
	uint32_t at = le32(document->fib + field);
	uint8_t *bytes;

	*len = le32(document->fib + field + 4);
	if (!*len || *len > TABLE_MAX || *len > document->table->len)
		return NULL;
	bytes = malloc(*len);
	if (!bytes)
		view_no_memory(document->ole->view);
	else if (ole_read(document->ole, &position, at, bytes, *len))
		return bytes;
	free(bytes);
	return NULL;
}

/* The text of the pieces that the table lists. */
static void read_pieces(const struct document *document)
{
	uint32_t len, count = 0;
	uint8_t *table = read_table(document, WORD_PIECES, &len);
	const uint8_t *list = table ? ole_word_pieces(table, len, &count) : NULL;

	for (uint32_t i = 0; list && i < count && i < PIECES_MAX; i++) {
		struct ole_text_piece piece;

		if (ole_word_piece(list, count, i, &piece) && piece.from <= INT32_MAX)
			check_text(document->ole, &document->main, piece.from, piece.to,
				piece.is_wide);
	}
	free(table);
}

/* Where a table is in the file, for saying that it is not a table. */
static uint64_t place_of_table(const struct document *document, unsigned field)
{
	struct ole_position position = { .entry = document->table };

	return ole_file_offset(document->ole, &position, le32(document->fib + field));
}

/* Whether a table says of `count` pages where each begins in the text, one more than pages, and a number of a page in the
 * main stream. */
static bool lists_pages(const struct document *document, const uint8_t *table, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t page = ole_word_page(table, count, i);

		if (le32(table + 4 * i) >= le32(table + 4 * i + 4) ||
			(page + 1) * SECTOR > document->main.len)
			return false;
	}
	return true;
}

/* The pages that a table lists. A page begins with its places in the text, and its last byte is their number. */
static void check_pages(const struct document *document, unsigned field)
{
	uint32_t len;
	uint8_t *table = read_table(document, field, &len);
	uint32_t count = table && len >= 12 ? (len - 4) / 8 : 0;

	if (!lists_pages(document, table, count)) {
		ole_contradicts(document->ole, "no table of pages on formats",
			place_of_table(document, field));
		count = 0;
	}
	for (uint32_t i = 0; i < count && i < PIECES_MAX; i++) {
		struct ole_position position = { .entry = &document->main };
		uint64_t at = (uint64_t)ole_word_page(table, count, i) * SECTOR;
		uint8_t page[SECTOR];
		unsigned last;

		if (!can_go_to(document->ole, at) ||
			!ole_read(document->ole, &position, at, page, SECTOR))
			break;
		last = 4u * page[SECTOR - 1];
		if (last > SECTOR - 8 || le32(page) != le32(table + 4 * i) ||
			le32(page + last) != le32(table + 4 * i + 4))
			ole_contradicts(document->ole, "no page on formats in the sector",
				ole_sector_at(document->ole, position.sector));
	}
	free(table);
}

/* Whether items, each with its length before it in `width` bytes, and at even places if that is two, fill a table from `at` on. Some
 * programs count fewer bytes of the last one. */
static bool fills_table(
	const uint8_t *table, uint32_t len, uint32_t at, uint32_t count, unsigned width)
{
	for (uint32_t i = 0; i < count; i++) {
		if (at + width > len)
			return false;
		at += width == 2 ? 2u + ((le16(table + at) + 1u) & ~1u) : 1u + table[at];
	}
	return at > len || len - at <= TABLE_SLACK;
}

/* The styles ([MS-DOC] 2.9.271): a head, with their number, then each. The fonts (2.9.286): their number, and no more bytes
 * for each than its own. */
static void check_styles_and_fonts(const struct document *document)
{
	uint32_t styles_len, fonts_len;
	uint8_t *styles = read_table(document, WORD_STYLES, &styles_len);
	uint8_t *fonts = read_table(document, WORD_FONTS, &fonts_len);

	if (styles && styles_len > 4 &&
		!fills_table(styles, styles_len, 2u + le16(styles), le16(styles + 2), 2))
		ole_contradicts(
			document->ole, "no table of styles", place_of_table(document, WORD_STYLES));
	if (fonts && fonts_len > 4 && !fills_table(fonts, fonts_len, 4, le16(fonts), 1))
		ole_contradicts(
			document->ole, "no table of fonts", place_of_table(document, WORD_FONTS));
	free(styles);
	free(fonts);
}

static void check_document(const struct document *document)
{
	const uint8_t *fib = document->fib;

	if (le16(fib) != WORD_MAGIC || le16(fib + 2) < 0xc1 ||
		le16(fib + WORD_FLAGS) & WORD_ENCRYPTED)
		return;
	check_styles_and_fonts(document);
	check_pages(document, WORD_CHARACTERS);
	check_pages(document, WORD_PARAGRAPHS);
	read_pieces(document);
}

/* ---- all files ------------------------------------------------------------------------------ */

/* A message's list of properties ([MS-OXMSG] 2.4): a head, of which there are three lengths, then 16 bytes for each, with a type
 * ([MS-OXCDATA] 2.11.1) and flags. */
static void check_list(struct ole *ole, const struct ole_entry *entry)
{
	static const uint16_t types[] = { 1, 2, 3, 4, 5, 6, 7, 0x0a, 0x0b, 0x0d, 0x14, 0x1e, 0x1f,
		0x40, 0x48, 0xfb, 0xfd, 0xfe, 0x102 };
	struct ole_position position = { .entry = entry };
	uint8_t bytes[PROPERTY_LEN];

	for (uint64_t at = entry->len % PROPERTY_LEN ? 24 : 32; at + PROPERTY_LEN <= entry->len;
		at += PROPERTY_LEN) {
		uint64_t place = ole_file_offset(ole, &position, at);
		bool is_known = false;

		if (!ole_read(ole, &position, at, bytes, PROPERTY_LEN))
			return;
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
			is_known |= (le16(bytes) & ~PROPERTY_IS_LIST) == types[i];
		if (is_known && le32(bytes + 4) <= PROPERTY_FLAGS)
			continue;
		ole_contradicts(ole, "no property of a message", place);
		return;
	}
}

/* A message's stream with text, or its list of properties. */
void ole_check_property(struct ole *ole, const struct ole_entry *entry)
{
	static const char start[] = "__substg1.0_";
	const uint16_t *type = entry->name + sizeof(start) - 1 + 4;

	if (ole_named(entry, "__properties_version1.0"))
		check_list(ole, entry);
	if (!ole_starts_with(entry, start) || type[0] != '0' || type[1] != '0' || type[2] != '1')
		return;
	if (type[3] == 'E' || type[3] == 'F')
		check_text(ole, entry, 0, entry->len, type[3] == 'F');
}

static bool visit(void *context, const struct ole_entry *entry)
{
	struct document *document = context;

	if (ole_named(entry, "WordDocument"))
		document->main = *entry;
	else if (ole_named(entry, "0Table"))
		document->tables[0] = *entry;
	else if (ole_named(entry, "1Table"))
		document->tables[1] = *entry;
	return true;
}

void ole_check_documents(struct ole *ole, const struct ole_entry *root)
{
	struct document document = { .ole = ole };
	struct ole_position position = { .entry = &document.main };

	ole_each_in_root(ole, root, visit, &document);
	if (document.main.type != OLE_STREAM ||
		!ole_read(ole, &position, 0, document.fib, WORD_HEAD_LEN))
		return;
	document.table = &document.tables[!!(le16(document.fib + WORD_FLAGS) & WORD_TABLE)];
	if (document.table->type == OLE_STREAM)
		check_document(&document);
}

void ole_check_text(struct ole *ole, const struct ole_entry *root)
{
	struct ole_entry entry;

	for (uint32_t i = 0; i < ole_entry_count(ole); i++)
		if (ole_read_entry(ole, i, &entry) && entry.type == OLE_STREAM)
			ole_check_property(ole, &entry);
	ole_check_documents(ole, root);
}
