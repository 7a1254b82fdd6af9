/*
 * The head of a TIFF gives the place of its first directory, mostly at the file's end. After the number of
 * entries that begins with one of two entries: what kind of picture it is, or its width.
 */
#include <string.h>

#include "tiff.h"
#include "tiff_ifd.h"

enum { ENTRIES_OF_ORDER = 3, ENTRY_LEN = 8, COUNT_LEN = 2 };

static bool read_head(struct view *view, struct carve_table *table)
{
	struct tiff tiff;

	if (!tiff_open(&tiff, view, 0, view_size(view)))
		return false;
	for (uint8_t i = 0; i < ENTRIES_OF_ORDER; i++) {
		uint8_t word = (uint8_t)(i + (tiff.big_endian ? ENTRIES_OF_ORDER : 0));
		struct carve_anchor anchor = { .offset = tiff.first_ifd,
			.len = COUNT_LEN + ENTRY_LEN,
			.any = 3,
			.word = word,
			.word_at = COUNT_LEN };

		memcpy(anchor.bytes + COUNT_LEN, tiff_map.words[word].bytes, ENTRY_LEN);
		if (!table->add(table, &anchor))
			return false;
	}
	return true;
}

const struct carve_map tiff_map = {
	.words = { { ENTRY_LEN, false, "\xfe\0\4\0\1\0\0\0" },
		{ ENTRY_LEN, false, "\0\1\3\0\1\0\0\0" }, { ENTRY_LEN, false, "\0\1\4\0\1\0\0\0" },
		{ ENTRY_LEN, false, "\0\xfe\0\4\0\0\0\1" },
		{ ENTRY_LEN, false, "\1\0\0\3\0\0\0\1" },
		{ ENTRY_LEN, false, "\1\0\0\4\0\0\0\1" } },
	.common = true,
	.head = read_head,
};
