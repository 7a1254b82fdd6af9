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
#include <lzma.h>
#include <string.h>

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

/* How many bytes the index's blocks take, or 0 if it is not an index. */
static uint64_t blocks_len(struct view *view, uint64_t at, size_t len)
{
	const uint8_t *p = view_peek(view, at, len);
	/* A block has two numbers of at least a byte each. */
	uint64_t memory = lzma_index_memusage(1, len / 2), total;
	lzma_index *index;
	lzma_ret ret;
	size_t used = 0;

	if (!p)
		return 0;
	ret = lzma_index_buffer_decode(&index, &memory, NULL, p, &used, len);
	if (ret == LZMA_MEM_ERROR)
		view_no_memory(view);
	if (ret != LZMA_OK)
		return 0;
	total = lzma_index_total_size(index);
	lzma_index_end(index, NULL);
	return used == len ? total : 0;
}

/* Reads a footer and the index before it, which begins at `least` or later; *blocks: bytes of its blocks. */
static bool read_footer(struct view *view, uint64_t least, uint64_t footer,
	lzma_stream_flags *flags, uint64_t *blocks)
{
	const uint8_t *p = view_peek(view, footer, FOOTER_LEN);
	uint64_t index_len;

	if (!p || lzma_stream_footer_decode(flags, p) != LZMA_OK)
		return false;
	index_len = flags->backward_size;
	if (index_len > INDEX_MAX || index_len > footer - least)
		return false;
	*blocks = blocks_len(view, footer - index_len, (size_t)index_len);
	return *blocks != 0;
}

/* Whether a footer at `footer` leads back over the index and blocks to the header at `at`. */
static bool leads_back(struct view *view, uint64_t at, uint64_t footer)
{
	lzma_stream_flags flags;
	uint64_t blocks;

	return read_footer(view, at, footer, &flags, &blocks) &&
	       blocks == footer - flags.backward_size - at - HEADER_LEN;
}

/* All lengths in a stream are multiples of four. */
static uint64_t find_end(struct view *view, uint64_t at, uint64_t from)
{
	uint64_t footer = from + (at - from) % 4;
	lzma_stream_flags flags;
	const uint8_t *p;
	size_t len, i;

	while ((p = walk_window(view, footer, view_size(view), &len)) && len >= FOOTER_LEN) {
		for (i = 0; i + FOOTER_LEN <= len &&
			    lzma_stream_footer_decode(&flags, p + i) != LZMA_OK;
			i += 4)
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
	struct carve_anchor anchor = { .len = HEADER_LEN };
	lzma_stream_flags flags;
	uint64_t blocks;

	if (at < WORD_AT || !read_footer(view, 0, at - WORD_AT, &flags, &blocks) ||
		lzma_stream_header_encode(&flags, anchor.bytes) != LZMA_OK)
		return false;
	table->from = HEADER_LEN + blocks;
	table->at = table->from + flags.backward_size + WORD_AT;
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
