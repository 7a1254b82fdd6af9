/*
 * The tables of a compound file that may be laid out wrongly: the header is right; each part of the FAT, the directory and the
 * small streams' table counts as known if its bytes look like it (ole_chunk.c). From them follows which sector holds which part of
 * which stream, and of a document ([MS-DOC]) which pages of formats begin with which place in the text.
 */
#include "ole_places.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define HEADER_LEN 512
#define SECTORS_MAX ((uint32_t)1 << 20)
#define ENTRIES_MAX 4096
#define KNOWN_BITS 16 /* of a part of a table that counts as known */
#define TABLE_MAX (1u << 20)
#define TEXT_MAX 256 /* pieces */
#define ZEROED_BYTES 64

enum {
	EXCEL_PASSWORD = 0x2f,
};

/* ---- tables --------------------------------------------------------------------------------- */

static uint64_t sector_at(const struct ole_places *places, uint32_t sector)
{
	return ((uint64_t)sector + 1) << places->shift;
}

static uint32_t sector_len(const struct ole_places *places)
{
	return 1u << places->shift;
}

/* Room for count items of len bytes, all zero; NULL: there is not. */
static void *get_room(struct view *view, size_t count, size_t len)
{
	void *room;

	if (!view_work(view, count * len / ZEROED_BYTES))
		return NULL;
	room = calloc(count + 1, len);
	if (!room)
		view_no_memory(view);
	return room;
}

static bool read_header(struct ole_places *places, struct view *view)
{
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);

	if (!p)
		return false;
	places->shift = le16(p + 30);
	places->table_count = le32(p + 44);
	places->directory_start = le32(p + 48);
	places->cutoff = le32(p + 56);
	places->mini_start = le32(p + 60);
	places->mini_parts = le32(p + 64);
	if ((places->shift != 9 && places->shift != 12) || !places->table_count ||
		places->table_count > OLE_HEADER_TABLES)
		return false;
	places->sectors = places->table_count * (sector_len(places) / 4);
	for (uint32_t i = 0; i < places->table_count; i++) {
		places->tables[i] = le32(p + 76 + 4 * i);
		if (places->tables[i] >= places->sectors)
			return false;
	}
	return places->directory_start < places->sectors && places->cutoff == 4096;
}

/* The bytes of a sector's chunk with this number, from the layout. */
static const uint8_t *peek_chunk(
	const struct ole_places *places, struct view *view, uint32_t sector, uint32_t number)
{
	return view_peek(view, sector_at(places, sector) + (uint64_t)number * OLE_CHUNK, OLE_CHUNK);
}

/* Fills `next` from a chunk of a table. */
static void take_entries(uint32_t *next, const uint8_t *p)
{
	for (unsigned i = 0; i < OLE_CHUNK / 4; i++)
		next[i] = le32(p + 4 * i);
}

static void set_part(struct ole_places *places, uint32_t sector, enum ole_part_kind kind,
	uint32_t number, uint32_t entry)
{
	if (sector < places->sectors)
		places->parts[sector] = (struct ole_part){ (uint8_t)kind, number, entry };
}

/* How long the chains are from each entry on: each is followed once. */
static void measure_chains(const uint32_t *next, uint32_t *lens, uint8_t *pointed, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (next[i] < count)
			pointed[next[i]] = 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i, len, n = 0;

		for (; at < count && !lens[at]; at = next[at], n++)
			lens[at] = OLE_FREE;
		if (at < count)
			len = lens[at];
		else
			len = at == OLE_END ? 0 : at == OLE_UNKNOWN ? OLE_UNKNOWN : OLE_FREE;
		for (at = i; n; n--, at = next[at])
			lens[at] = len < count ? len + n : len;
	}
}

static void read_fat(struct ole_places *places, struct view *view)
{
	uint32_t each = sector_len(places) / OLE_CHUNK;

	for (uint32_t i = 0; i < places->sectors; i++)
		places->next[i] = OLE_UNKNOWN;
	for (uint32_t k = 0; k < places->table_count; k++)
		for (uint32_t n = 0; n < each; n++) {
			uint32_t base = (k * each + n) * (OLE_CHUNK / 4);
			const uint8_t *p = peek_chunk(places, view, places->tables[k], n);

			if (p && ole_fat_bits(places, p, base) >= KNOWN_BITS)
				take_entries(places->next + base, p);
		}
	measure_chains(places->next, places->lens, places->pointed, places->sectors);
	for (uint32_t i = 0; i < places->sectors; i++)
		if (places->next[i] == OLE_FREE)
			set_part(places, i, PART_FREE, 0, 0);
	for (uint32_t k = 0; k < places->table_count; k++)
		set_part(places, places->tables[k], PART_FAT, k, 0);
}

/* The sector after this one in a chain, in which it is number n; OLE_END: there is none, or it is not known. */
static uint32_t follow(const struct ole_places *places, uint32_t sector, uint32_t n)
{
	uint32_t next = sector < places->sectors ? places->next[sector] : OLE_END;

	return next < places->sectors && n < places->sectors ? next : OLE_END;
}

static bool has_sector(const struct ole_places *places, uint32_t sector)
{
	return sector < places->sectors;
}

static void read_directory(struct ole_places *places, struct view *view)
{
	uint32_t each = sector_len(places) / OLE_CHUNK, per_chunk = OLE_CHUNK / OLE_ENTRY_LEN,
		 n = 0;
	uint32_t sector = places->directory_start;

	for (; has_sector(places, sector); sector = follow(places, sector, n++)) {
		set_part(places, sector, PART_DIRECTORY, n, 0);
		for (uint32_t c = 0; c < each; c++) {
			uint32_t base = (n * each + c) * per_chunk;
			const uint8_t *p = peek_chunk(places, view, sector, c);

			if (base + per_chunk > ENTRIES_MAX)
				return;
			places->entry_count = base + per_chunk;
			if (!p || ole_directory_bits(places, p, base) < KNOWN_BITS)
				continue;
			for (uint32_t i = 0; i < per_chunk; i++)
				if (!ole_parse_entry(places->shift, p + (size_t)i * OLE_ENTRY_LEN,
					    &places->entries[base + i]))
					places->entries[base + i].type = 0;
		}
	}
	places->directory_count = n;
	for (uint32_t i = 0; i < places->entry_count; i++) {
		const struct ole_entry *entry = &places->entries[i];
		const uint32_t links[] = { entry->left, entry->right, entry->child };

		for (int k = 0; k < 3 && entry->type; k++)
			if (links[k] < places->entry_count)
				places->linked[links[k]] = 1;
	}
}

static int compare_begins(const void *a, const void *b)
{
	const struct ole_begin *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->entry < right->entry ? -1 : left->entry > right->entry;
}

/* So that a chunk of a table is compared only with the streams that begin in it. */
static void sort_begins(struct ole_places *places)
{
	for (uint32_t i = 0; i < places->entry_count; i++) {
		const struct ole_entry *entry = &places->entries[i];

		if ((entry->type == OLE_STREAM || entry->type == OLE_ROOT) && entry->len)
			places->begins[places->begin_count++] =
				(struct ole_begin){ entry->start, i };
	}
	qsort(places->begins, places->begin_count, sizeof(*places->begins), compare_begins);
}

static void read_mini_fat(struct ole_places *places, struct view *view)
{
	uint32_t each = sector_len(places) / OLE_CHUNK, n = 0;

	for (uint32_t sector = places->mini_start;
		has_sector(places, sector) && n < places->mini_parts;
		sector = follow(places, sector, n++)) {
		set_part(places, sector, PART_MINI_FAT, n, 0);
		for (uint32_t c = 0; c < each; c++) {
			uint32_t base = (n * each + c) * (OLE_CHUNK / 4);
			const uint8_t *p = peek_chunk(places, view, sector, c);

			if (p && base + OLE_CHUNK / 4 <= places->mini_count &&
				ole_mini_fat_bits(places, p, base) >= KNOWN_BITS)
				take_entries(places->mini_next + base, p);
		}
	}
	memset(places->mini_lens, 0, places->mini_count * sizeof(*places->mini_lens));
	measure_chains(
		places->mini_next, places->mini_lens, places->mini_pointed, places->mini_count);
}

/* ---- streams -------------------------------------------------------------------------------- */

static void place_small(struct ole_places *places, uint32_t entry)
{
	uint32_t n = 0, mini = places->entries[entry].start;
	uint64_t count = (places->entries[entry].len + 63) / 64;

	/* One that is in two chains is the first's. */
	for (; mini < places->mini_count && n < count && places->minis[mini].entry == OLE_UNKNOWN;
		n++) {
		places->minis[mini] = (struct ole_mini){ entry, n };
		mini = places->mini_next[mini];
	}
}

static void place_large(struct ole_places *places, uint32_t entry)
{
	uint32_t sector = places->entries[entry].start;

	for (uint32_t n = 0;
		has_sector(places, sector) && places->parts[sector].kind != PART_STREAM;
		sector = follow(places, sector, n++))
		set_part(places, sector, PART_STREAM, n, entry);
}

static void place_streams(struct ole_places *places)
{
	for (uint32_t i = 0; i < places->mini_count; i++)
		places->minis[i].entry = OLE_UNKNOWN;
	for (uint32_t i = 0; i < places->entry_count; i++) {
		const struct ole_entry *entry = &places->entries[i];

		places->content[i] = (uint8_t)ole_content_of(entry);
		if (entry->type == OLE_ROOT ||
			(entry->type == OLE_STREAM && entry->len >= places->cutoff))
			place_large(places, i);
		else if (entry->type == OLE_STREAM)
			place_small(places, i);
	}
}

/* Reads len bytes of a large stream at offset, as it is laid out. */
static bool read_stream(const struct ole_places *places, struct view *view, uint32_t entry,
	uint64_t offset, uint8_t *bytes, size_t len)
{
	uint32_t sector = places->entries[entry].start, n = 0;

	if (places->entries[entry].len < places->cutoff || offset > places->entries[entry].len ||
		len > places->entries[entry].len - offset)
		return false;
	while (len && has_sector(places, sector)) {
		uint64_t in = offset - ((uint64_t)n << places->shift);
		size_t some;
		const uint8_t *p;

		if (in < sector_len(places)) {
			some = sector_len(places) - (size_t)in;
			some = some < len ? some : len;
			p = view_peek(view, sector_at(places, sector) + in, some);
			if (!p)
				return false;
			memcpy(bytes, p, some);
			bytes += some;
			offset += some;
			len -= some;
		}
		sector = follow(places, sector, n++);
	}
	return len == 0;
}

/* ---- documents ------------------------------------------------------------------------------ */

/* The stream with this name in the root storage; if what is known of the directory does not lead to one, in any. */
static uint32_t find_entry(const struct ole_places *places, const char *name)
{
	uint32_t found = OLE_FREE;

	if (places->entry_count)
		found = ole_find_child(
			places->entries, places->entry_count, places->entries[0].child, name);
	for (uint32_t i = 0; found == OLE_FREE && i < places->entry_count; i++)
		if (places->entries[i].type == OLE_STREAM && ole_named(&places->entries[i], name))
			found = i;
	return found == OLE_FREE ? OLE_UNKNOWN : found;
}

/* What a field of the first bytes refers to in the table stream; NULL: it is not there. The caller frees it. */
static uint8_t *read_table(const struct ole_places *places, struct view *view, uint32_t table,
	const uint8_t *field, uint32_t *len)
{
	uint8_t *bytes;

	*len = le32(field + 4);
	if (!*len || *len > TABLE_MAX)
		return NULL;
	bytes = get_room(view, *len, 1);
	if (bytes && read_stream(places, view, table, le32(field), bytes, *len))
		return bytes;
	free(bytes);
	return NULL;
}

/* Pages of which a table says where each begins in the text. None, if it is not such a table. */
static void list_pages(struct ole_places *places, const uint8_t *table, uint32_t len)
{
	uint32_t count = len >= 12 && len % 8 == 4 ? (len - 4) / 8 : 0;

	for (uint32_t i = 0; i < count; i++)
		if (le32(table + 4 * i) >= le32(table + 4 * i + 4) ||
			ole_word_page(table, count, i) >= places->page_count)
			return;
	for (uint32_t i = 0; i < count; i++)
		places->pages[ole_word_page(table, count, i)] =
			(struct ole_format_page){ le32(table + 4 * i), le32(table + 4 * i + 4),
				true };
}

static void list_text(struct ole_places *places, const uint8_t *table, uint32_t len)
{
	uint64_t main_len = places->entries[places->word].len;
	uint32_t count = 0;
	const uint8_t *list = ole_word_pieces(table, len, &count);

	for (uint32_t i = 0; list && i < count && places->text_count < TEXT_MAX; i++) {
		struct ole_text_piece *piece = &places->text[places->text_count];

		if (!ole_word_piece(list, count, i, piece) || piece->to > main_len) {
			places->text_count = 0;
			return;
		}
		places->text_count++;
	}
}

/* Whether the content looks random ([MS-OFFCRYPTO] 2.3): by streams' names, or the second record of a workbook. */
static bool is_encrypted(const struct ole_places *places, struct view *view)
{
	static const char *const books[] = { "Workbook", "Book" };
	uint8_t head[4];

	if (find_entry(places, "EncryptedPackage") != OLE_UNKNOWN ||
		find_entry(places, "EncryptedSummary") != OLE_UNKNOWN)
		return true;
	for (int i = 0; i < 2; i++) {
		uint32_t book = find_entry(places, books[i]);

		if (book != OLE_UNKNOWN && read_stream(places, view, book, 0, head, 4) &&
			read_stream(places, view, book, 4 + (uint64_t)le16(head + 2), head, 4) &&
			le16(head) == EXCEL_PASSWORD)
			return true;
	}
	return false;
}

static void read_document(struct ole_places *places, struct view *view)
{
	uint8_t fib[WORD_HEAD_LEN];
	uint32_t tables, len;

	places->word = find_entry(places, "WordDocument");
	if (places->word == OLE_UNKNOWN ||
		!read_stream(places, view, places->word, 0, fib, sizeof(fib)) ||
		le16(fib) != WORD_MAGIC)
		return;
	places->is_encrypted |= (le16(fib + WORD_FLAGS) & WORD_ENCRYPTED) != 0;
	if (places->is_encrypted)
		return;
	tables = find_entry(places, le16(fib + WORD_FLAGS) & WORD_TABLE ? "1Table" : "0Table");
	if (tables == OLE_UNKNOWN)
		return;
	places->page_count = (uint32_t)(places->entries[places->word].len / OLE_CHUNK);
	places->pages = get_room(view, places->page_count, sizeof(*places->pages));
	places->text = get_room(view, TEXT_MAX, sizeof(*places->text));
	if (!places->pages || !places->text) {
		places->page_count = 0;
		return;
	}
	for (int i = 0; i < 3; i++) {
		static const uint16_t fields[] = { WORD_CHARACTERS, WORD_PARAGRAPHS, WORD_PIECES };
		uint8_t *table = read_table(places, view, tables, fib + fields[i], &len);

		if (table && fields[i] == WORD_PIECES)
			list_text(places, table, len);
		else if (table)
			list_pages(places, table, len);
		free(table);
	}
}

/* ---- all ------------------------------------------------------------------------------------ */

static void end(void *context)
{
	struct ole_places *places = context;

	free(places->next);
	free(places->lens);
	free(places->pointed);
	free(places->mini_pointed);
	free(places->linked);
	free(places->parts);
	free(places->entries);
	free(places->begins);
	free(places->content);
	free(places->mini_next);
	free(places->mini_lens);
	free(places->minis);
	free(places->text);
	free(places->pages);
	free(places);
}

static bool get_rooms(struct ole_places *places, struct view *view)
{
	if (places->sectors > SECTORS_MAX)
		return false;
	/* Each of these sectors is in the FAT. */
	places->mini_count = places->mini_parts < places->sectors
				     ? places->mini_parts * (sector_len(places) / 4)
				     : 0;
	if (places->mini_count > SECTORS_MAX)
		places->mini_count = 0;
	places->next = get_room(view, places->sectors, sizeof(*places->next));
	places->lens = get_room(view, places->sectors, sizeof(*places->lens));
	places->pointed = get_room(view, places->sectors, 1);
	places->mini_pointed = get_room(view, places->mini_count, 1);
	places->linked = get_room(view, ENTRIES_MAX, 1);
	places->parts = get_room(view, places->sectors, sizeof(*places->parts));
	places->entries = get_room(view, ENTRIES_MAX, sizeof(*places->entries));
	places->begins = get_room(view, ENTRIES_MAX, sizeof(*places->begins));
	places->content = get_room(view, ENTRIES_MAX, 1);
	places->mini_next = get_room(view, places->mini_count, sizeof(*places->mini_next));
	places->mini_lens = get_room(view, places->mini_count, sizeof(*places->mini_lens));
	places->minis = get_room(view, places->mini_count, sizeof(*places->minis));
	for (uint32_t i = 0; places->mini_next && places->mini_lens && i < places->mini_count; i++)
		places->mini_next[i] = places->mini_lens[i] = OLE_UNKNOWN;
	return places->pointed && places->mini_pointed && places->linked && places->next &&
	       places->lens && places->parts && places->entries && places->begins &&
	       places->content && places->mini_next && places->mini_lens && places->minis;
}

static void add_to_hash(uint64_t *hash, uint64_t value)
{
	*hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
	*hash ^= *hash >> 29;
}

/* What is known, as a number. */
static uint64_t hash_of(const struct ole_places *places)
{
	uint64_t hash = 1 + places->is_encrypted;

	for (uint32_t i = 0; i < places->sectors; i++)
		add_to_hash(&hash, places->next[i]);
	for (uint32_t i = 0; i < places->entry_count; i++)
		if (places->entries[i].type) {
			add_to_hash(&hash, i + ((uint64_t)places->entries[i].start << 32));
			add_to_hash(&hash, places->entries[i].len);
		}
	for (uint32_t i = 0; i < places->mini_count; i++)
		add_to_hash(&hash, places->mini_next[i]);
	for (uint32_t i = 0; i < places->page_count; i++)
		add_to_hash(&hash, places->pages[i].first);
	for (uint32_t i = 0; i < places->text_count; i++)
		add_to_hash(&hash, places->text[i].from);
	return hash;
}

/* The file ends after the last sector in use. */
static uint64_t length_of(const struct ole_places *places, bool *is_whole)
{
	uint32_t last = places->sectors, least = places->directory_start;

	for (uint32_t k = 0; k < places->table_count; k++)
		least = places->tables[k] > least ? places->tables[k] : least;
	*is_whole = true;
	for (uint32_t i = 0; i < places->sectors; i++)
		*is_whole &= places->next[i] != OLE_UNKNOWN;
	while (last && (places->next[last - 1] == OLE_FREE || places->next[last - 1] == 0 ||
			       places->next[last - 1] == OLE_UNKNOWN))
		last--;
	return sector_at(places, last > least + 1 ? last : least + 1);
}

static void *begin(struct view *view, uint64_t *length, bool *is_whole, uint64_t *known)
{
	struct ole_places *places = calloc(1, sizeof(*places));

	if (!places) {
		view_no_memory(view);
		return NULL;
	}
	if (!read_header(places, view) || !get_rooms(places, view)) {
		end(places);
		return NULL;
	}
	read_fat(places, view);
	read_directory(places, view);
	sort_begins(places);
	read_mini_fat(places, view);
	place_streams(places);
	places->is_encrypted = is_encrypted(places, view);
	read_document(places, view);
	*length = length_of(places, is_whole);
	*known = hash_of(places);
	return places;
}

const struct carve_places ole_places = { .begin = begin, .ask = ole_ask, .end = end };
