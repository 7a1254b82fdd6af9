/*
 * The entries of an icon give the places of its images, and what begins there: the header of a bitmap of that size, or of a
 * PNG.
 */
#include "ico.h"

#include <string.h>

#include "bytes.h"
#include "dib.h"
#include "png.h"

#define WORD_LEN 8
#define WORD_AT 10 /* of a bitmap's word: after the height's lower half */
#define PNG_HEAD 24

/* The words of the map. */
enum { WORD_DATA, WORD_END, WORD_PNG, WORD_BITMAPS };

/* Of the words of bitmaps. */
static const uint16_t depths[] = { 32, 24, 8 };

enum { DEPTHS = sizeof(depths) / sizeof(*depths) };

static uint32_t side(uint8_t byte)
{
	return byte ? byte : 256;
}

/* Whether a bitmap of that depth may have the length, with a mask or without. */
static bool has_length(const uint8_t *entry, uint16_t bits)
{
	uint32_t width = side(entry[0]), height = side(entry[1]);
	uint64_t colours = bits <= 8 ? (uint64_t)4 << bits : 0;
	uint64_t least = DIB_HEADER_LEN + dib_row_len(width, bits) * height;
	uint64_t most = least + colours + dib_row_len(width, 1) * height;

	return le32(entry + 8) >= least && le32(entry + 8) <= most;
}

static bool add_bitmap(
	struct carve_table *table, const uint8_t *entry, uint64_t offset, uint8_t word)
{
	struct carve_anchor anchor = {
		.offset = offset, .len = WORD_AT + WORD_LEN, .word = word, .word_at = WORD_AT
	};
	uint32_t width = side(entry[0]), height = 2 * side(entry[1]);

	anchor.bytes[0] = DIB_HEADER_LEN;
	anchor.bytes[4] = (uint8_t)width;
	anchor.bytes[5] = (uint8_t)(width >> 8);
	anchor.bytes[8] = (uint8_t)height;
	anchor.bytes[9] = (uint8_t)(height >> 8);
	memcpy(anchor.bytes + WORD_AT, ico_map.words[word].bytes, WORD_LEN);
	return table->add(table, &anchor);
}

static bool add_png(struct carve_table *table, const uint8_t *entry, uint64_t offset)
{
	struct carve_anchor anchor = { .offset = offset, .len = PNG_HEAD, .word = WORD_PNG };
	uint32_t width = side(entry[0]), height = side(entry[1]);

	memcpy(anchor.bytes, ico_map.words[WORD_PNG].bytes, WORD_LEN);
	memcpy(anchor.bytes + WORD_LEN, "\0\0\0\15IHDR", 8);
	anchor.bytes[18] = (uint8_t)(width >> 8);
	anchor.bytes[19] = (uint8_t)width;
	anchor.bytes[22] = (uint8_t)(height >> 8);
	anchor.bytes[23] = (uint8_t)height;
	return table->add(table, &anchor);
}

/* Reads the next entry. False: there is none. */
static bool next_entry(struct view *view, uint32_t *number, uint32_t count, uint8_t *entry)
{
	const uint8_t *p = *number < count ? view_peek(view, ICO_HEAD_LEN + *number * ICO_ENTRY_LEN,
						     ICO_ENTRY_LEN)
					   : NULL;

	if (!p)
		return false;
	memcpy(entry, p, ICO_ENTRY_LEN);
	++*number;
	return true;
}

static bool read_head(struct view *view, struct carve_table *table)
{
	struct ico ico;
	uint8_t entry[ICO_ENTRY_LEN];
	uint32_t count, number = 0;

	if (!ico_read_head(view, 0, &ico, &count))
		return false;
	while (next_entry(view, &number, count, entry)) {
		uint64_t offset = le32(entry + 12), end = offset + le32(entry + 8);
		bool goes_on = true;

		if (offset < ICO_HEAD_LEN + (uint64_t)count * ICO_ENTRY_LEN || end == offset)
			return false;
		table->length = end > table->length ? end : table->length;
		for (uint8_t kind = 0; kind < DEPTHS && goes_on; kind++) {
			if (has_length(entry, depths[kind]))
				goes_on = add_bitmap(table, entry, offset, WORD_BITMAPS + kind);
		}
		if (!goes_on || !add_png(table, entry, offset))
			return true;
	}
	return number == count;
}

/* That of the first PNG that is not whole, in the order of the entries. */
static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct ico ico;
	uint8_t entry[ICO_ENTRY_LEN];
	uint32_t count, number = 0;

	if (!ico_read_head(view, 0, &ico, &count))
		return false;
	while (next_entry(view, &number, count, entry)) {
		uint64_t offset = le32(entry + 12);
		const uint8_t *p = view_peek(view, offset, PNG_HEAD);

		if (p && memcmp(p, ico_map.words[WORD_PNG].bytes, WORD_LEN) == 0 &&
			png_find_sum(view, offset, false, sum))
			return true;
	}
	return false;
}

const struct carve_map ico_map = {
	.words = { { 4, false, "IDAT" }, { 4, false, "IEND" },
		{ WORD_LEN, false, "\x89PNG\r\n\x1a\n" }, { WORD_LEN, false, "\0\0\1\0\40\0\0\0" },
		{ WORD_LEN, false, "\0\0\1\0\30\0\0\0" },
		{ WORD_LEN, false, "\0\0\1\0\10\0\0\0" } },
	.common = true,
	.head = read_head,
	.sum = find_sum,
};
