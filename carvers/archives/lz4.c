/*
 * LZ4 (LZ4 Frame Format Description 1.6.1).
 *
 *	file:  frames, some of them skippable
 *	frame: 04 22 4D 18, flags, block size, [content size], [dictionary id], header checksum,
 *		blocks, a length of 0, [checksum]
 *	block: length (4 bytes, little-endian; the highest bit: not compressed), contents,
 *		[checksum]
 *
 * The blocks' lengths lead to the frame's end. liblz4 decompresses them and compares the checksums
 * of header, blocks and content. A frame that has only raw bytes and neither checksum nor size
 * could be a coincidence: such a file stays unverified.
 *
 * The legacy format (02 21 4C 18) has blocks of 8 MiB, the last one shorter, and no end:
 * lz4_legacy.c.
 */
#include "bytes.h"
#include "lz4_legacy.h"
#include "block_frames.h"

#define MAGIC 0x184d2204

enum lz4_flag { DICTIONARY = 1, CONTENT_CHECKSUM = 4, CONTENT_SIZE = 8, BLOCK_CHECKSUM = 16 };

static bool read_frame(struct view *view, struct block_frame *frame)
{
	const uint8_t *p = view_peek(view, frame->at, 7);
	uint8_t flags = p ? p[4] : 0, size = p ? p[5] : 0;

	if (!p || le32(p) != MAGIC || flags >> 6 != 1 || flags & 2 || size & 0x8f || size < 0x40)
		return false;
	frame->blocks =
		frame->at + 7 + (flags & CONTENT_SIZE ? 8 : 0) + (flags & DICTIONARY ? 4 : 0);
	frame->block_max = 1u << (8 + 2 * (size >> 4));
	frame->block_extra = flags & BLOCK_CHECKSUM ? 4 : 0;
	frame->end_extra = flags & CONTENT_CHECKSUM ? 4 : 0;
	frame->dictionary = flags & DICTIONARY;
	frame->unproven = !(flags & (CONTENT_CHECKSUM | CONTENT_SIZE | BLOCK_CHECKSUM));
	return true;
}

static bool read_block(
	struct view *view, const struct block_frame *frame, uint64_t at, struct frame_block *block)
{
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t len = p ? le32(p) & ~(1u << 31) : 0;

	if (!p || len > frame->block_max)
		return false;
	block->last = le32(p) == 0;
	/* Compressed, or the end: four zeros where they would occur only by chance. */
	block->coded = !(le32(p) >> 31);
	block->data = at + 4;
	block->end = block->data + len + (block->last ? 0 : frame->block_extra);
	return true;
}

static const struct block_frames frames = {
	.format = COMPRESSED_LZ4,
	.what = "LZ4",
	.read_frame = read_frame,
	.read_block = read_block,
	.extensions = { "lz4", "tar.lz4", "cpio.lz4", "svg.lz4" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 4);

	if (p && le32(p) == LZ4_LEGACY_MAGIC)
		return lz4_legacy_check(view, finding);
	return block_frames_check(view, finding, &frames);
}

const struct carver lz4_carver = {
	.name = "lz4",
	.summary = "LZ4 files, by decompressing all frames up to their checksums",
	.check = check,
};
