/*
 * Zstandard (RFC 8878).
 *
 *	file:  frames, some of them skippable
 *	frame: 28 B5 2F FD, descriptor, [window], [dictionary id], [content size], blocks,
 *		[checksum]
 *	block: 3 bytes, little-endian: last one (1 bit), type (2), length (21); then its
 *		contents
 *
 * The blocks' lengths lead to the frame's end. libzstd decompresses them, and compares the
 * content's size and checksum if the frame has them. A frame that has only raw bytes and neither
 * checksum nor size could be a coincidence: such a file stays unverified, as does one whose last block is raw, without a
 * checksum: nothing verifies its end. pzstd writes a skippable
 * frame before each other frame.
 *
 * Damage: block_frames.c. A frame that is invalid in its first block is accepted if that block
 * starts as the format requires.
 */
#include "bytes.h"
#include "block_frames.h"

#define MAGIC 0xfd2fb528
#define BLOCK_MAX 131072

enum { RAW, RLE, COMPRESSED };

static bool read_frame(struct view *view, struct block_frame *frame)
{
	static const uint8_t id_lens[] = { 0, 1, 2, 4 }, size_lens[] = { 0, 2, 4, 8 };
	const uint8_t *p = view_peek(view, frame->at, 6);
	uint8_t descriptor = p ? p[4] : 0;
	bool single = descriptor & 0x20;
	unsigned size_len = size_lens[descriptor >> 6];

	if (!p || le32(p) != MAGIC || descriptor & 8)
		return false;
	if (single && !size_len)
		size_len = 1;
	frame->blocks = frame->at + 5 + !single + id_lens[descriptor & 3] + size_len;
	frame->block_max = BLOCK_MAX;
	frame->end_extra = descriptor & 4 ? 4 : 0;
	frame->dictionary = descriptor & 3;
	frame->unproven = !size_len && !frame->end_extra;
	return true;
}

/* Whether the literals' header at p fits into a compressed block of len bytes. */
static bool literals_fit(const uint8_t *p, uint32_t len, bool first)
{
	unsigned type = p[0] & 3, format = p[0] >> 2 & 3;
	uint64_t bits = le32(p) | (uint64_t)p[4] << 32;
	uint32_t size, coded_len;

	if (type < 2) {
		size = format == 3   ? bits >> 4 & 0xfffff
		       : format == 1 ? bits >> 4 & 0xfff
				     : p[0] >> 3;
		coded_len = (type == 0 ? size : 1) + (format == 3 ? 3 : format == 1 ? 2 : 1);
	} else {
		unsigned width = format < 2 ? 10 : format == 2 ? 14 : 18;

		size = (uint32_t)(bits >> 4) & ((1u << width) - 1);
		coded_len = (uint32_t)(bits >> (4 + width)) & ((1u << width) - 1);
		coded_len += format < 2 ? 3 : format == 2 ? 4 : 5;
	}
	return size <= BLOCK_MAX && coded_len < len && !(type == 3 && first);
}

static bool read_block(
	struct view *view, const struct block_frame *frame, uint64_t at, struct frame_block *block)
{
	const uint8_t *p = view_peek(view, at, 3);
	uint32_t header = p ? le16(p) | (uint32_t)p[2] << 16 : 0, len = header >> 3;
	unsigned type = header >> 1 & 3;

	if (!p || type > COMPRESSED || len > frame->block_max)
		return false;
	block->last = header & 1;
	block->coded = type == COMPRESSED;
	block->data = at + 3;
	block->end = block->data + (type == RLE ? 1 : len);
	if (type != COMPRESSED)
		return true;
	p = view_peek(view, block->data, 5);
	return !p || literals_fit(p, len, at == frame->blocks);
}

static const struct block_frames frames = {
	.format = COMPRESSED_ZSTD,
	.what = "Zstandard",
	.read_frame = read_frame,
	.read_block = read_block,
	.extensions = { "zst", "tar.zst", "cpio.zst", "svg.zst" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	return block_frames_check(view, finding, &frames);
}

const struct carver zst_carver = {
	.name = "zst",
	.summary = "Zstandard files, by decompressing all frames up to their checksums",
	.check = check,
};
