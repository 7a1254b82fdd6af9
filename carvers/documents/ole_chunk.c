/*
 * Whether 512 bytes can be what a compound file has at a place, by what its tables show of it: a part of a table, whose entries
 * are possible and agree with the other tables; the end of a stream, which is filled up with zeros; the first bytes of well-known
 * streams; records, text or noise inside one. Bits are rough: what must be so and is not counts as much as can be, and what
 * seldom is so elsewhere counts by how seldom.
 */
#include "ole_places.h"

#include <string.h>

#include "bytes.h"
#include "plain_text.h"
#include "sorted.h"

#define NEVER (-60)
#define ODD (-12)
#define CHUNK_ENTRIES (OLE_CHUNK / 4)
#define SAMPLE_AT 192
#define SAMPLE_LEN 128  /* bytes of a chunk, from there on, by which its class is judged */
#define NOISE_VALUES 84 /* of these, and more, are different in noise: 101 +- 4 are */
#define EMPTY_TABLE 16
#define DIRECTORY_BITS 16 /* of a chunk of a directory */
#define SLACK_MAX 24
#define SLACK_SHORT 4
#define RECORDS_MAX 8
#define RECORDS_LEN 2048 /* bytes in which records begin, more often than not */
#define BAD_MAX 3

static int at_most(int value, int most)
{
	return value < most ? value : most;
}

/* ---- tables --------------------------------------------------------------------------------- */

static bool is_same_byte(const uint8_t *p, size_t len)
{
	return len < 2 || memcmp(p, p + 1, len - 1) == 0;
}

static bool is_listed(const struct ole_places *places, uint32_t sector)
{
	for (uint32_t k = 0; k < places->table_count; k++)
		if (places->tables[k] == sector)
			return true;
	return false;
}

/* What the entries of a table that name others name: the next one, one nearby, or one farther away. */
struct table_links {
	unsigned next, near, far;
};

#define NEAR 32 /* entries: where streams grow in turns, as Outlook's */

/* Counts them in a chunk of a table for `limit` sectors, which begins with number `base`. False: one is impossible. */
static bool count_links(const uint8_t *p, uint32_t base, uint32_t limit, struct table_links *links)
{
	*links = (struct table_links){ 0 };
	for (uint32_t i = 0; i < CHUNK_ENTRIES; i++) {
		uint32_t entry = le32(p + 4 * i);

		if (entry >= limit && entry < OLE_TABLE_OF_TABLES)
			return false;
		if (entry >= OLE_TABLE_OF_TABLES)
			continue;
		if (entry == base + i + 1)
			links->next++;
		else if (entry + NEAR >= base + i && entry <= base + i + NEAR)
			links->near++;
		else
			links->far++;
	}
	return true;
}

/* A chunk of a table while chains in it are followed. */
struct chains {
	const uint8_t *p;
	uint32_t base;
	uint64_t pointed[CHUNK_ENTRIES / 64], used[CHUNK_ENTRIES / 64]; /* inside chains; begins */
	bool meet; /* two chains go on with the same sector */
};

static bool test(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void open_chains(struct chains *chains, const uint8_t *p, uint32_t base)
{
	*chains = (struct chains){ .p = p, .base = base };
	for (uint32_t i = 0; i < CHUNK_ENTRIES; i++) {
		uint32_t to = le32(p + 4 * i) - base;

		if (to >= CHUNK_ENTRIES)
			continue;
		/* Some writers leave zeros in free entries. */
		chains->meet |= le32(p + 4 * i) && test(chains->pointed, to);
		chains->pointed[to / 64] |= UINT64_C(1) << to % 64;
	}
}

/* By how much a chain that begins at `start`, in the chunk, and is to have `want` sectors agrees: it must not begin in the middle
 * of another one, nor end before. want 0: that is not known. */
static int chain_bits(struct chains *chains, uint32_t start, uint64_t want, bool is_exact)
{
	uint32_t sector = start - chains->base;
	uint64_t count = 0;

	if (test(chains->pointed, sector) || test(chains->used, sector))
		return ODD;
	chains->used[sector / 64] |= UINT64_C(1) << sector % 64;
	while (sector < CHUNK_ENTRIES && count <= CHUNK_ENTRIES) {
		sector = le32(chains->p + (size_t)4 * sector);
		if (sector >= OLE_TABLE_OF_TABLES)
			break;
		sector -= chains->base;
		count++;
	}
	if (sector == OLE_END)
		count++;
	else if (count > CHUNK_ENTRIES || sector >= OLE_TABLE_OF_TABLES)
		return 2 * ODD;
	else
		return 0;
	if (count == want || !want)
		return want ? 6 : 3;
	return count < want || is_exact ? 2 * ODD : -3;
}

/* The first stream that begins at `start` or after it, of those in order. */
static uint32_t first_begin(const struct ole_places *places, uint32_t start)
{
	return (uint32_t)sorted_first(places->begins, places->begin_count, sizeof(*places->begins),
		offsetof(struct ole_begin, start), start);
}

/* The same of all streams of the directory, as far as it is known, whose chains begin in the chunk. */
static int streams_bits(const struct ole_places *places, struct chains *chains, bool small)
{
	unsigned shift = small ? OLE_MINI_SHIFT : places->shift;
	int bits = 0;

	for (uint32_t i = first_begin(places, chains->base);
		i < places->begin_count && bits > NEVER &&
		places->begins[i].start - chains->base < CHUNK_ENTRIES;
		i++) {
		const struct ole_entry *entry = &places->entries[places->begins[i].entry];

		if ((entry->type == OLE_STREAM && entry->len < places->cutoff) == small)
			bits += chain_bits(chains, entry->start,
				(entry->len + (1u << shift) - 1) >> shift, false);
	}
	return bits;
}

int ole_fat_bits(const struct ole_places *places, const uint8_t *p, uint32_t base)
{
	struct chains chains;
	struct table_links links;
	int bits = 0;

	if (!count_links(p, base, places->sectors, &links) || links.next + links.near < links.far)
		return NEVER;
	open_chains(&chains, p, base);
	if (chains.meet)
		return NEVER;
	for (uint32_t i = 0; i < CHUNK_ENTRIES; i++) {
		uint32_t entry = le32(p + 4 * i);
		bool listed = is_listed(places, base + i);

		if (listed && entry != OLE_TABLE && entry != OLE_END)
			return NEVER;
		if (!listed && entry == OLE_TABLE)
			bits += 2 * ODD;
		bits += listed && entry == OLE_TABLE ? 20 : 0;
	}
	bits += at_most((int)(links.next + links.near / 2), 16);
	if (!bits && !links.far && le32(p) == OLE_FREE && is_same_byte(p, OLE_CHUNK))
		return EMPTY_TABLE; /* some writers add them */
	if (places->directory_start - base < CHUNK_ENTRIES)
		bits += chain_bits(&chains, places->directory_start, 0, false);
	if (places->mini_start - base < CHUNK_ENTRIES && places->mini_parts)
		bits += chain_bits(&chains, places->mini_start, places->mini_parts, true);
	bits += streams_bits(places, &chains, false);
	return base == 0 && le32(p) == OLE_FREE ? bits + ODD : bits;
}

int ole_mini_fat_bits(const struct ole_places *places, const uint8_t *p, uint32_t base)
{
	struct chains chains;
	struct table_links links;
	int bits;

	if (!count_links(p, base, places->mini_count, &links) ||
		links.next + links.near < links.far)
		return NEVER;
	open_chains(&chains, p, base);
	if (chains.meet)
		return NEVER;
	if (!links.next && !links.near && !links.far && le32(p) != OLE_END)
		return ODD;
	bits = 8 + at_most((int)(links.next + links.near / 2), 12);
	return bits + streams_bits(places, &chains, true);
}

/* Whether the name is one: as long as it says, without a zero inside. */
static bool is_name(const uint8_t *p)
{
	unsigned len = le16(p + 64);

	if (len < 4 || len > 64 || len % 2 || le16(p + len - 2))
		return false;
	for (unsigned i = 0; i + 2 < len; i += 2)
		if (!le16(p + i))
			return false;
	return true;
}

/* By how much a stream's chain in the FAT agrees with its entry. */
static int stream_bits(const struct ole_places *places, const struct ole_entry *entry)
{
	bool small = entry->type == OLE_STREAM && entry->len < places->cutoff;
	const uint32_t *lens = small ? places->mini_lens : places->lens;
	uint32_t count = small ? places->mini_count : places->sectors;
	unsigned shift = small ? OLE_MINI_SHIFT : places->shift;
	uint64_t want = (entry->len + (1u << shift) - 1) >> shift;

	if (!entry->len || !count)
		return 0;
	if (entry->start >= count || want > count)
		return 2 * ODD;
	if (lens[entry->start] == OLE_UNKNOWN)
		return 0;
	if (lens[entry->start] > count || lens[entry->start] < want ||
		(small ? places->mini_pointed : places->pointed)[entry->start])
		return 2 * ODD;
	return lens[entry->start] == want ? 6 : -3;
}

/* Whether the entry links to others of the directory, whose length is known if the FAT is. */
static bool has_links(const struct ole_places *places, const struct ole_entry *entry)
{
	const uint32_t links[] = { entry->left, entry->right, entry->child };

	for (int i = 0; i < 3; i++)
		if (links[i] != OLE_FREE && places->directory_count &&
			links[i] >= places->entry_count)
			return false;
	return true;
}

static int entry_bits(const struct ole_places *places, const uint8_t *p, uint32_t number)
{
	bool is_linked = number < places->entry_count && places->linked[number];
	struct ole_entry entry;

	if (!ole_parse_entry(places->shift, p, &entry) || (!number && entry.type != OLE_ROOT))
		return NEVER;
	if (!entry.type) {
		for (unsigned i = 0; i < 68; i++)
			if (p[i])
				return -1;
		if (is_linked || (entry.left != OLE_FREE && entry.left) || le32(p + 116) + 1 >= 2)
			return ODD;
		return 1;
	}
	if (!is_name(p) || p[67] > 1 || (number && entry.type == OLE_ROOT) ||
		!has_links(places, &entry))
		return 3 * ODD;
	return (number ? 4 : 20) + (is_linked ? 4 : 0) +
	       (entry.type == OLE_STORAGE ? 0 : stream_bits(places, &entry));
}

int ole_directory_bits(const struct ole_places *places, const uint8_t *p, uint32_t base)
{
	int bits = DIRECTORY_BITS;

	for (unsigned i = 0; i < OLE_CHUNK / OLE_ENTRY_LEN; i++)
		bits += entry_bits(places, p + (size_t)i * OLE_ENTRY_LEN, base + i);
	return bits < NEVER ? NEVER : bits;
}

/* ---- content -------------------------------------------------------------------------------- */

static bool ends_with_type(const struct ole_entry *entry, char last)
{
	static const char start[] = "__substg1.0_";
	const uint16_t *type = entry->name + sizeof(start) - 1 + 4;

	return ole_starts_with(entry, start) && type[0] == '0' && type[1] == '0' &&
	       type[2] == '1' && type[3] == (uint16_t)last;
}

enum ole_content ole_content_of(const struct ole_entry *entry)
{
	static const struct {
		const char *name;
		enum ole_content content;
	} names[] = { { "WordDocument", CONTENT_WORD }, { "1Table", CONTENT_PLAIN },
		{ "0Table", CONTENT_PLAIN }, { "Workbook", CONTENT_EXCEL },
		{ "Book", CONTENT_EXCEL }, { "PowerPoint Document", CONTENT_POWERPOINT },
		{ "\5SummaryInformation", CONTENT_SUMMARY },
		{ "\5DocumentSummaryInformation", CONTENT_SUMMARY },
		{ "__properties_version1.0", CONTENT_PROPERTIES }, { "Pictures", CONTENT_PICTURES },
		{ "Data", CONTENT_PICTURES }, { "EncryptedPackage", CONTENT_NOISE } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ole_named(entry, names[i].name))
			return names[i].content;
	return ends_with_type(entry, 'F')   ? CONTENT_WIDE
	       : ends_with_type(entry, 'E') ? CONTENT_NARROW
					    : CONTENT_ANY;
}

/* How many different bytes a chunk has, and whether all are printed or white. */
static unsigned count_values(const uint8_t *p, size_t len, bool *is_text)
{
	uint64_t seen[4] = { 0 };
	unsigned count = 0;

	*is_text = true;
	for (size_t i = 0; i < len; i++) {
		seen[p[i] / 64] |= UINT64_C(1) << p[i] % 64;
		*is_text &= plain_text_byte(p[i]);
	}
	for (int i = 0; i < 4; i++)
		count += (unsigned)__builtin_popcountll(seen[i]);
	return count;
}

static unsigned count_odd(const uint8_t *p, size_t len, bool wide)
{
	unsigned count = 0;

	for (size_t i = 0; i + 1 + wide <= len; i += 1 + (size_t)wide) {
		unsigned unit = wide ? le16(p + i) : p[i];

		count += (unit < 32 && !(0xc0387fbeu >> unit & 1)) ||
			 (wide && ((unit >= 0xdc00 && unit < 0xf8ff) || unit >= 0xfffe)) ||
			 (!wide && unit == 0x7f);
	}
	return count;
}

static int text_bits(const uint8_t *p, size_t len, bool wide)
{
	unsigned odd = count_odd(p, len, wide), high = 0;

	if (len < 16)
		return odd ? -4 : 1;
	if (odd > BAD_MAX)
		return 3 * ODD;
	for (size_t i = 1; wide && i < len; i += 2)
		high += p[i] == p[1];
	/* Text in characters of two bytes is seldom met by chance. */
	return wide && high * 4 > len / 2 * 3 ? at_most((int)len / 32, 10) : 1;
}

/* Types of properties ([MS-OXCDATA] 2.11.1). */
static bool is_property(const uint8_t *p)
{
	static const uint16_t types[] = { 1, 2, 3, 4, 5, 6, 7, 0x0a, 0x0b, 0x0d, 0x14, 0x1e, 0x1f,
		0x40, 0x48, 0xfb, 0xfd, 0xfe, 0x102 };
	bool is_known = false;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		is_known |= (le16(p) & ~0x1000u) == types[i];
	return is_known && le32(p + 4) <= 7;
}

/* The first bytes of streams. */
int ole_start_bits(const struct ole_entry *entry, const uint8_t *p)
{
	static const struct {
		const char *name;
		const char *start;
		uint8_t at, len;
	} starts[] = {
		{ "WordDocument", "\xa5", 1, 1 },
		{ "Workbook", "\x09\x08", 0, 2 },
		{ "Book", "\x09\x08", 0, 2 },
		{ "\5SummaryInformation", "\xfe\xff", 0, 2 },
		{ "\5DocumentSummaryInformation", "\xfe\xff", 0, 2 },
		{ "\1CompObj", "\1\0\xfe\xff", 0, 4 },
		{ "\1Ole", "\1\0\0\2", 0, 4 },
		{ "Current User", "\xf6\x0f", 2, 2 },
		{ "VisioDocument", "Visio (TM) Drawing\r\n", 0, 20 },
		{ "__substg1.0_10090102", "LZFu", 8, 4 },
		{ "EncryptionInfo", "\0", 1, 1 },
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (ole_named(entry, starts[i].name))
			return memcmp(p + starts[i].at, starts[i].start, starts[i].len) == 0
				       ? at_most(8 * starts[i].len, 30)
				       : 3 * ODD;
	return 0;
}

/* What follows a stream's end in its last sector. */
static int slack_bits(const uint8_t *p, size_t len)
{
	if (!len)
		return 0;
	if (!is_same_byte(p, len))
		return at_most((int)len, 8) * -1;
	return p[0] == 0 || p[0] == 0xff ? at_most((int)len / 2, SLACK_MAX) : -2;
}

/* A chunk, and what was found of it. */
struct look {
	const uint8_t *p;
	unsigned values; /* 0: not counted yet */
	bool is_text, is_wide, is_same;
};

static void look_at(struct look *look)
{
	unsigned zeros[2] = { 0, 0 };

	if (look->values)
		return;
	look->is_same = is_same_byte(look->p, OLE_CHUNK);
	look->values = count_values(look->p + SAMPLE_AT, SAMPLE_LEN, &look->is_text);
	for (size_t i = 0; i < SAMPLE_LEN; i++)
		zeros[i & 1] += !look->p[SAMPLE_AT + i];
	look->is_wide = zeros[1] > SAMPLE_LEN / 8 * 3 && zeros[0] < SAMPLE_LEN / 8;
}

/* By how much bytes inside a stream are more often its own than others', in eighths of a bit: chunks of a cluster depend on one
 * another. Images hold much noise, text and zeros. */
static int class_bits(const struct ole_places *places, enum ole_content content, struct look *look)
{
	look_at(look);
	if (content != CONTENT_NOISE && (content == CONTENT_PICTURES || places->is_encrypted))
		return look->is_same ? -4 : look->is_text ? -4 : 3;
	if (look->values > NOISE_VALUES)
		return content == CONTENT_NOISE ? 8 : content == CONTENT_ANY ? -4 : -8;
	if (content == CONTENT_NOISE)
		return -20;
	if (look->is_same)
		return content == CONTENT_SUMMARY ? 2 : -4;
	if (look->is_text)
		return content == CONTENT_WORD ? 2 : content == CONTENT_ANY ? -3 : -6;
	return look->is_wide ? 8 : 5;
}

static int content_bits(
	const struct ole_places *places, enum ole_content content, struct look *look, int *eighths)
{
	if (content == CONTENT_WIDE || content == CONTENT_NARROW)
		return text_bits(look->p, OLE_CHUNK, content == CONTENT_WIDE);
	*eighths += class_bits(places, content, look);
	return 0;
}

/* What the tables of a document show of 512 bytes of its main stream. */
static int word_bits(
	const struct ole_places *places, struct look *look, uint64_t offset, int *eighths)
{
	const uint8_t *p = look->p;
	bool is_known = false;
	int bits = 0;

	if (offset / OLE_CHUNK < places->page_count &&
		places->pages[offset / OLE_CHUNK].is_listed) {
		const struct ole_format_page *page = &places->pages[offset / OLE_CHUNK];
		unsigned last = 4u * p[OLE_CHUNK - 1];

		return last && last <= OLE_CHUNK - 8 && le32(p) == page->first &&
				       le32(p + last) == page->last
			       ? 50
			       : NEVER;
	}
	for (uint32_t i = 0; i < places->text_count; i++) {
		const struct ole_text_piece *piece = &places->text[i];
		uint64_t from = piece->from > offset ? piece->from : offset;
		uint64_t to = piece->to < offset + OLE_CHUNK ? piece->to : offset + OLE_CHUNK;

		if (from >= to)
			continue;
		is_known = true;
		bits += text_bits(p + (from - offset), (size_t)(to - from), piece->is_wide);
	}
	return is_known ? bits : content_bits(places, CONTENT_WORD, look, eighths);
}

/* ---- records -------------------------------------------------------------------------------- */

size_t ole_excel_len(const uint8_t *p)
{
	unsigned type = le16(p), len = le16(p + 2);

	if (len > 8224 || !type || (type > 0x63 && type < 0x7d) || type == 0x61 || type == 0x62)
		return 0;
	if ((type == 0x208 && len != 16) || (type == 0x203 && len != 14) ||
		(type == 0x27e && len != 10) || (type == 0xfd && len != 10) ||
		(type == 0x201 && len != 6) || (type == 0xe0 && len != 20 && len != 16) ||
		(type == 0x0a && len))
		return 0;
	return type < 0x500 || (type >= 0x800 && type < 0x900) || (type >= 0x1000 && type < 0x1100)
		       ? 4 + (size_t)len
		       : 0;
}

size_t ole_powerpoint_len(const uint8_t *p)
{
	unsigned type = le16(p + 2), version = p[0] & 15;
	uint32_t len = le32(p + 4);

	if ((version > 4 && version != 15) || len > 0xffffff ||
		!((type >= 1000 && type < 0x3000) || (type >= 0xf000 && type < 0xf200)))
		return 0;
	return version == 15 ? 8 : 8 + (size_t)len;
}

/* Whether records go through bytes: from any of the first ones on, at least some, and to the end. */
static int record_bits(const uint8_t *p, size_t len, bool is_excel)
{
	size_t head = is_excel ? 4 : 8;
	unsigned best = 0;

	for (size_t start = 0; start + head <= len && start < 2048; start++) {
		size_t at = start;
		unsigned count = 0;

		while (at + head <= len && count < 64) {
			size_t some = (is_excel ? ole_excel_len : ole_powerpoint_len)(p + at);

			if (!some)
				break;
			at += some;
			count++;
		}
		if ((at + head > len || count == 64) && count > best)
			best = count;
		if (best >= RECORDS_MAX)
			break;
	}
	return best >= 4 ? at_most((int)best, 8) : best || len < RECORDS_LEN ? 0 : -2;
}

/* ---- places --------------------------------------------------------------------------------- */

/* A part of the mini stream. */
static int mini_bits(const struct ole_places *places, const uint8_t *p, uint64_t offset)
{
	int bits = 0;

	for (unsigned i = 0; i < OLE_CHUNK / 64; i++, p += 64) {
		uint64_t number = offset / 64 + i;
		const struct ole_mini *mini;
		const struct ole_entry *entry;
		enum ole_content content;
		uint64_t left;
		size_t len;

		if (number >= places->mini_count || places->minis[number].entry == OLE_UNKNOWN)
			continue;
		mini = &places->minis[number];
		entry = &places->entries[mini->entry];
		content = places->content[mini->entry];
		left = entry->len - (uint64_t)mini->number * 64;
		len = left < 64 ? (size_t)left : 64;
		if (mini->number == 0)
			bits += len >= 24 ? ole_start_bits(entry, p) : 0;
		if (content == CONTENT_WIDE || content == CONTENT_NARROW)
			bits += text_bits(p, len, content == CONTENT_WIDE);
		if (content == CONTENT_PROPERTIES)
			for (size_t k = mini->number ? 0 : 32; k + 16 <= len; k += 16)
				bits += is_property(p + k) ? 6 : entry->len % 16 ? 0 : ODD;
		bits += slack_bits(p + len, 64 - len) / SLACK_SHORT;
	}
	return bits;
}

/* A chunk of a stream. */
static int stream_chunk_bits(const struct ole_places *places, const struct ole_part *part,
	struct look *look, uint64_t in, int *eighths)
{
	const uint8_t *p = look->p;
	const struct ole_entry *entry = &places->entries[part->entry];
	uint64_t offset = ((uint64_t)part->number << places->shift) + in;
	enum ole_content content = places->content[part->entry];
	int bits = 0;

	if (entry->type == OLE_ROOT) {
		*eighths += class_bits(places, CONTENT_ANY, look);
		return mini_bits(places, p, offset);
	}
	if (offset >= entry->len)
		return 0;
	if (!offset)
		bits += ole_start_bits(entry, p);
	if (entry->len - offset < OLE_CHUNK) {
		size_t used = (size_t)(entry->len - offset);

		bits += slack_bits(p + used, OLE_CHUNK - used);
		if (content == CONTENT_WIDE || content == CONTENT_NARROW)
			bits += text_bits(p, used, content == CONTENT_WIDE);
		return bits;
	}
	if (part->entry == places->word && places->page_count)
		return bits + word_bits(places, look, offset, eighths);
	if (content == CONTENT_PROPERTIES || content == CONTENT_EXCEL ||
		content == CONTENT_POWERPOINT)
		content = CONTENT_ANY;
	return bits + content_bits(places, content, look, eighths);
}

static const struct ole_part *part_at(const struct ole_places *places, uint64_t at)
{
	uint64_t sector = (at >> places->shift) - 1;

	return at >> places->shift && sector < places->sectors ? &places->parts[sector] : NULL;
}

static int chunk_bits(const struct ole_places *places, uint64_t at, struct look *look, int *eighths)
{
	const uint8_t *p = look->p;
	uint64_t in = at & ((UINT64_C(1) << places->shift) - 1);
	const struct ole_part *part = part_at(places, at);
	uint32_t number, each = 1u << (places->shift - 9);

	if (!part)
		return 0;
	number = part->number * each + (uint32_t)(in / OLE_CHUNK);
	switch (part->kind) {
	case PART_FAT:
		return ole_fat_bits(places, p, number * CHUNK_ENTRIES);
	case PART_DIRECTORY:
		return ole_directory_bits(places, p, number * (OLE_CHUNK / OLE_ENTRY_LEN));
	case PART_MINI_FAT:
		return ole_mini_fat_bits(places, p, number * CHUNK_ENTRIES);
	case PART_STREAM:
		return stream_chunk_bits(places, part, look, in, eighths);
	default:
		return 0;
	}
}

/* What was found of all chunks at once, as records. */
struct records_found {
	bool is_known[2];
	int bits[2];
};

/* Records in one stream, as far as its chunks follow one another. */
static int run_bits(const struct ole_places *places, uint64_t at, const uint8_t *p, size_t len,
	struct records_found *found)
{
	int bits = 0;

	for (size_t from = 0, to; from < len; from = to) {
		const struct ole_part *part = part_at(places, at + from);
		enum ole_content content = part && part->kind == PART_STREAM
						   ? places->content[part->entry]
						   : CONTENT_ANY;
		bool is_excel = content == CONTENT_EXCEL, is_all;

		for (to = from + OLE_CHUNK; to < len; to += OLE_CHUNK) {
			const struct ole_part *other = part_at(places, at + to);

			if (!part || !other || other->kind != part->kind ||
				other->entry != part->entry ||
				(other->number != part->number + 1 && other != part))
				break;
			part = other;
		}
		if (!is_excel && (content != CONTENT_POWERPOINT || places->is_encrypted))
			continue;
		is_all = !from && to >= len;
		if (!is_all || !found->is_known[is_excel]) {
			int some = record_bits(p + from, to - from, is_excel);

			bits += some;
			if (is_all)
				found->bits[is_excel] = some;
			found->is_known[is_excel] |= is_all;
		} else {
			bits += found->bits[is_excel];
		}
	}
	return bits;
}

#define CHUNKS_MAX (VIEW_MAX_PEEK / OLE_CHUNK)

void ole_ask(const void *context, uint64_t from, size_t count, const uint8_t *bytes, size_t len,
	int *bits)
{
	const struct ole_places *places = context;
	struct look looks[CHUNKS_MAX];
	struct records_found found = { 0 };
	size_t chunks = len / OLE_CHUNK < CHUNKS_MAX ? len / OLE_CHUNK : CHUNKS_MAX;

	for (size_t i = 0; i < chunks; i++)
		looks[i] = (struct look){ .p = bytes + i * OLE_CHUNK };
	for (size_t n = 0; n < count; n++) {
		uint64_t at = from + n * len;
		int eighths = 0;

		bits[n] = run_bits(places, at, bytes, len, &found);
		for (size_t i = 0; i < chunks; i++)
			bits[n] += chunk_bits(places, at + i * OLE_CHUNK, &looks[i], &eighths);
		bits[n] = 8 * bits[n] + eighths;
	}
}
