/*
 * A ZIP archive's directory gives the place of each member's local header, and most of what is in it.
 * So wherever its parts are in an image, they are found by their headers, from the end record back.
 */
#include "zip.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

/* The words of the map. */
enum { WORD_LOCAL, WORD_CENTRAL, WORD_END };

/* In a local header. */
enum { NAME_AT = 30, NAME_MAX = 24 };

#define ENTRIES_MAX 65536

/* The header's bytes that need not be those of the directory's entry. */
#define ANY_VERSION ((uint64_t)3 << 4)
#define ANY_CRC_AND_SIZES ((uint64_t)0xfff << 14)
#define ANY_EXTRA_LEN ((uint64_t)3 << 28)

/* What the local header of the entry at p must be, with the first bytes of its name. */
static struct carve_anchor expect_header(const uint8_t *p, uint64_t offset, size_t name_len)
{
	struct carve_anchor anchor = { .offset = offset, .word = WORD_LOCAL };
	bool streamed = le16(p + 8) & ZIP_STREAMED;

	memcpy(anchor.bytes, "PK\3\4", 4);
	memcpy(anchor.bytes + 6, p + 8, 22); /* from the flags to the length of the name */
	memcpy(anchor.bytes + NAME_AT, p + ZIP_CENTRAL_LEN, name_len);
	anchor.len = (uint8_t)(NAME_AT + name_len);
	anchor.any = ANY_VERSION | ANY_EXTRA_LEN;
	if (streamed || le32(p + 20) == UINT32_MAX || le32(p + 24) == UINT32_MAX)
		anchor.any |= ANY_CRC_AND_SIZES;
	return anchor;
}

/* Adds the header of the entry at `at`; *next is after it. */
static bool add_entry(struct view *view, uint64_t at, struct carve_table *table, uint64_t *next)
{
	struct zip_member member;
	struct carve_anchor anchor;
	const uint8_t *p = view_peek(view, at, ZIP_CENTRAL_LEN);
	size_t name_len;

	if (!p || le32(p) != ZIP_CENTRAL || !zip_read_entry(view, at, &member, next))
		return false;
	name_len = member.name_len < NAME_MAX ? member.name_len : NAME_MAX;
	p = view_peek(view, at, ZIP_CENTRAL_LEN + name_len);
	if (!p)
		return false;
	anchor = expect_header(p, member.at, name_len);
	return table->add(table, &anchor);
}

/* Where the directory is, by its end records. */
struct place {
	uint64_t offset, len, count;
	uint64_t records_len; /* ZIP64's, between it and the end record */
};

/* By the ZIP64 records before the end record at `at`, if they are there. */
static void read_wide_place(struct view *view, uint64_t at, struct place *place)
{
	uint64_t records_len = ZIP_END64_LEN + ZIP_LOCATOR64_LEN;
	const uint8_t *p = at < records_len ? NULL : view_peek(view, at - records_len, records_len);

	if (!p || le32(p) != ZIP_END64 || le32(p + ZIP_END64_LEN) != ZIP_LOCATOR64)
		return;
	place->records_len = records_len;
	place->count = le64(p + 32);
	place->len = le64(p + 40);
	place->offset = le64(p + 48);
}

/* The first entry in [from, at) from which entries follow one another up to `at`, which is at if there
 * is none: the directory itself may be in pieces. */
static uint64_t first_entry(struct view *view, uint64_t from, uint64_t at)
{
	struct zip_member member;

	while (walk_find_word(view, &from, at, "PK\1\2")) {
		uint64_t entry = from, next;
		const uint8_t *p = view_peek(view, entry, 4);

		while (p && entry < at && le32(p) == ZIP_CENTRAL &&
			zip_read_entry(view, entry, &member, &next)) {
			entry = next;
			p = view_peek(view, entry, 4);
		}
		if (entry == at)
			return from;
		from = entry > from ? entry : from + 1;
	}
	return at;
}

/* Reads the directory before the end record at `at`, or what remains of it there. */
static bool read_tail(struct view *view, uint64_t at, struct carve_table *table)
{
	struct carve_anchor start = { .word = WORD_CENTRAL, .len = 4, .bytes = "PK\1\2" };
	const uint8_t *p = view_peek(view, at, ZIP_END_LEN);
	struct place place;
	uint64_t end, entry, comment_len;

	if (!p || le32(p + 4))
		return false; /* of a split archive */
	place = (struct place){ le32(p + 16), le32(p + 12), le16(p + 10), 0 };
	comment_len = le16(p + 20);
	read_wide_place(view, at, &place);
	if (!place.count || place.len > at || place.len / ZIP_CENTRAL_LEN < place.count ||
		place.offset > INT64_MAX)
		return false;
	end = at - place.records_len;
	entry = first_entry(view, end < place.len ? 0 : end - place.len, end);
	table->at = place.offset + place.len + place.records_len;
	table->from = table->at - (at - entry);
	table->length = table->at + ZIP_END_LEN + comment_len;
	start.offset = place.offset;
	if (table->from > start.offset && !table->add(table, &start))
		return false;
	for (uint64_t i = 0; i < ENTRIES_MAX && entry < end; i++)
		if (!add_entry(view, entry, table, &entry))
			return false;
	return true;
}

/* The first stored data from sum->from on with another CRC: where a piece may end. */
static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct zip_member member = { 0 };
	const char *problem;

	for (const uint8_t *p; (p = view_peek(view, member.at, 4)) && le32(p) == ZIP_LOCAL;
		member = (struct zip_member){ .at = member.end }) {
		uint64_t output = 0;

		if (zip_read_header(view, &member, &problem) != ZIP_FOUND ||
			zip_find_end(view, &member, &output) != ZIP_FOUND)
			return false;
		if (member.method != ZIP_STORED || !member.wrong_crc || member.data < sum->from)
			continue;
		*sum = (struct carve_sum){ .from = member.data,
			.to = member.data + member.data_len,
			.before = UINT32_MAX,
			.after = ~member.crc };
		if (!(member.flags & ZIP_STREAMED)) {
			sum->next_count = 2;
			sum->next[0] = (struct carve_anchor){
				.offset = sum->to, .word = WORD_LOCAL, .len = 4, .bytes = "PK\3\4"
			};
			sum->next[1] = (struct carve_anchor){
				.offset = sum->to, .word = WORD_CENTRAL, .len = 4, .bytes = "PK\1\2"
			};
		}
		return true;
	}
	return false;
}

const struct carve_map zip_map = {
	.words = { { 4, false, "PK\3\4" }, { 4, false, "PK\1\2" }, { 4, true, "PK\5\6" } },
	.tail = read_tail,
	.sum = find_sum,
};
