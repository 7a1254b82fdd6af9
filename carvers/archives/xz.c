/*
 * xz (The .xz File Format 1.2.1).
 *
 *	file:   one stream or more, with zeros between them in multiples of four
 *	stream: header (magic, flags, CRC-32), blocks with checks, index, footer ('YZ')
 *
 * liblzma decompresses it and checks everything that can be checked. Another stream directly after
 * it belongs to the same file. Padding is accepted only if it is short and ends inside a sector,
 * since the zeros that a file system leaves after a file look the same.
 *
 * Damage. The decoder accepts foreign bytes until a distance points before the start of the output,
 * or a chunk's length does not match: the file is valid up to there. If bytes of a block can't be read, the
 * stream's end is where a footer leads back to an index whose blocks fill the stream.
 */
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "stream_chain.h"
#include "walk.h"

#define HEADER_LEN 12

static size_t starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint32_t want, crc = 0;

	if (!p || memcmp(p, "\xfd\x37zXZ\0", 6) != 0)
		return 0;
	want = le32(p + 8);
	return walk_crc32(view, at + 6, 2, &crc) && crc == want ? HEADER_LEN : 0;
}

#define FOOTER_LEN 12
#define INDEX_MAX VIEW_MAX_PEEK

/* A number of the index, seven bits a byte; 0, and *at past len, if it does not end. */
static uint64_t read_number(const uint8_t *p, size_t len, size_t *at)
{
	uint64_t number = 0;

	for (unsigned shift = 0; *at < len && shift < 63; shift += 7) {
		number |= (uint64_t)(p[*at] & 127) << shift;
		if (p[(*at)++] < 128)
			return number;
	}
	*at = len + 1;
	return 0;
}

/* How many bytes the index's blocks take, or 0 if it is not an index. */
static uint64_t blocks_len(struct view *view, uint64_t at, size_t len)
{
	const uint8_t *p = view_peek(view, at, len);
	uint64_t count, total = 0;
	uint32_t crc = 0;
	size_t i = 1;

	if (!p || p[0] || !walk_crc32(view, at, len - 4, &crc))
		return 0;
	p = view_peek(view, at, len);
	if (!p || le32(p + len - 4) != crc)
		return 0;
	for (count = read_number(p, len, &i); count && i < len; count--) {
		uint64_t block = read_number(p, len, &i);

		read_number(p, len, &i); /* what it decompresses to */
		if (block > INT64_MAX - total)
			return 0;
		total += (block + 3) & ~(uint64_t)3;
	}
	return count ? 0 : total;
}

/* Whether a footer at `footer` leads back over the index and blocks to the header at `at`. */
static bool leads_back(struct view *view, uint64_t at, uint64_t footer)
{
	const uint8_t *p = view_peek(view, footer, FOOTER_LEN);
	uint64_t index_len = p ? ((uint64_t)le32(p + 4) + 1) * 4 : 0, blocks;

	if (!p || index_len > INDEX_MAX || index_len > footer - at)
		return false;
	blocks = blocks_len(view, footer - index_len, (size_t)index_len);
	return blocks && blocks == footer - index_len - at - HEADER_LEN;
}

/* CRC-32 of the rest, length of the index, flags, 'YZ'. */
static bool is_footer(const uint8_t *p)
{
	return p[10] == 'Y' && p[11] == 'Z' && !p[8] && crc32(0, p + 4, 6) == le32(p);
}

/* All lengths in a stream are multiples of four. */
static uint64_t find_end(struct view *view, uint64_t at, uint64_t from)
{
	uint64_t footer = from + (at - from) % 4;
	const uint8_t *p;
	size_t len, i;

	while ((p = walk_window(view, footer, view_size(view), &len)) && len >= FOOTER_LEN) {
		for (i = 0; i + FOOTER_LEN <= len && !is_footer(p + i); i += 4)
			;
		footer += i;
		if (i + FOOTER_LEN > len)
			continue;
		if (leads_back(view, at, footer))
			return footer + FOOTER_LEN;
		footer += 4;
	}
	return 0;
}

static const struct stream_chain chain = {
	.format = COMPRESSED_XZ,
	.what = "xz",
	.starts = starts,
	.padding = 4,
	.sure_len = HEADER_LEN,
	.find_end = find_end,
	.extensions = { "xz", "txz", "cpio.xz", "svg.xz" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	return stream_chain_check(view, finding, &chain);
}

/* ---- files in pieces ------------------------------------------------------------------------ */

/* Where the word of a footer is in it: its flags, of which the second byte is the kind of check. */
#define WORD_AT 8

/* The footer of a file of one stream leads over the index to the header, which has the same flags. */
static bool read_tail(struct view *view, uint64_t at, struct carve_table *table)
{
	struct carve_anchor anchor = { .len = HEADER_LEN, .bytes = "\xfd\x37zXZ" };
	uint64_t footer = at - WORD_AT, index_len, blocks;
	const uint8_t *p = at < WORD_AT ? NULL : view_peek(view, footer, FOOTER_LEN);
	uint32_t crc;

	if (!p || !is_footer(p))
		return false;
	anchor.bytes[7] = p[9];
	crc = (uint32_t)crc32(0, anchor.bytes + 6, 2);
	for (int i = 0; i < 4; i++)
		anchor.bytes[8 + i] = (uint8_t)(crc >> 8 * i);
	index_len = ((uint64_t)le32(p + 4) + 1) * 4;
	if (index_len > INDEX_MAX || index_len > footer)
		return false;
	blocks = blocks_len(view, footer - index_len, (size_t)index_len);
	if (!blocks)
		return false;
	table->from = HEADER_LEN + blocks;
	table->at = table->from + index_len + WORD_AT;
	return table->add(table, &anchor);
}

static const struct carve_map xz_map = {
	.words = { { 6, false, "\xfd\x37zXZ" }, { 4, true, "\0\1YZ" }, { 4, true, "\0\4YZ" },
		{ 4, true, "\0\12YZ" } },
	.common = true,
	.tail = read_tail,
};

const struct carver xz_carver = {
	.name = "xz",
	.summary = "xz files, by decompressing all streams up to their checks and indexes",
	.check = check,
	.map = &xz_map,
};
