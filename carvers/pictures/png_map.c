/*
 * Each chunk of a PNG has its length: after one whose CRC is wrong the next one is to be found where it
 * ends. Pictures have several IDAT chunks of the same length, or of one whose first two bytes are zeros,
 * and the last chunk, IEND, is the same in all of them.
 */
#include "png.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

/* The words of the map. */
enum { WORD_DATA, WORD_END };

static bool add(struct carve_table *table, uint64_t at, const uint8_t *bytes, size_t len,
	uint8_t word, uint64_t any)
{
	struct carve_anchor anchor = {
		.offset = at, .len = (uint8_t)len, .word = word, .word_at = 4, .any = any
	};

	memcpy(anchor.bytes, bytes, len);
	return table->add(table, &anchor);
}

/* What the next chunk after picture data may be; `data` is the length and type of the data before. */
static void expect_next(struct carve_table *table, uint64_t at, const uint8_t *data)
{
	static const uint8_t end[] = "\0\0\0\0IEND\xae\x42\x60\x82", other[] = "\0\0\0\0IDAT";

	add(table, at, data, 8, WORD_DATA, 0);
	add(table, at, end, 12, WORD_END, 0);
	add(table, at, other, 8, WORD_DATA, 3 << 2);
}

static bool read_chunks(struct view *view, struct carve_table *table)
{
	uint8_t data[9] = "\0\0\x20\0IDAT";
	uint64_t at = 8;

	for (;;) {
		const uint8_t *p = view_peek(view, at, 8);
		uint8_t head[8];
		uint32_t crc = 0;
		uint64_t end;
		bool is_data;

		if (!p)
			return true;
		memcpy(head, p, 8);
		is_data = memcmp(head + 4, "IDAT", 4) == 0;
		if (be32(head) > INT32_MAX)
			break;
		end = at + 12 + be32(head);
		if (!walk_crc32(view, at + 4, (uint64_t)be32(head) + 4, &crc))
			return true;
		p = view_peek(view, end - 4, 4);
		if (!p)
			return true;
		if (be32(p) != crc) {
			/* Its own head may be another file's. */
			expect_next(table, at, data);
			if (is_data)
				expect_next(table, end, head);
			return true;
		}
		if (is_data)
			memcpy(data, head, 8);
		if (is_data && !add(table, at, head, 8, WORD_DATA, 0))
			return true;
		at = end;
	}
	expect_next(table, at, data);
	return true;
}

const struct carve_map png_map = {
	.words = { { 4, false, "IDAT" }, { 4, false, "IEND" } },
	.common = true,
	.head = read_chunks,
};
