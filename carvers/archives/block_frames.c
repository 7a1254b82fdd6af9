/*
 * Blocks are decompressed one by one: if one is invalid, the file is valid up to its start. The
 * decoders give no closer offset, as they process whole blocks. If bytes in it can't be read, the lengths
 * of the blocks lead on to the frame's end, without decompressing any.
 *
 * A frame directly after another belongs to the same file. Only at a sector boundary it may be another
 * file: there it is taken for one if it is damaged.
 */
#include "block_frames.h"

#include <inttypes.h>

#include "bytes.h"
#include "walk.h"

#define SKIPPABLE 0x184d2a50
#define SKIPPABLE_HEADER_LEN 8
#define SEEK_MAGIC 0x8f92eab1

#define PLAIN_FEW 16 /* bytes at the end that need no proof */

struct frames_walk {
	struct view *view;
	struct finding *finding;
	const struct block_frames *kind;
	uint64_t valid_end; /* after the last valid header or block */
	bool unproven, dictionary;
	bool plain_end; /* a frame ends in bytes as they are, and without a checksum */
	bool unread;    /* the frame is not decompressed further, since bytes in it can't be read */
};

enum frame_end {
	FRAME_WHOLE, /* it ends at walk->valid_end */
	FRAME_NONE,  /* no frame after all */
	FRAME_CUT,
	FRAME_BROKEN,
	FRAME_REFUSED,
};

/* Whether a skippable frame that ends at `end` is the table of Zstandard's seekable format. */
static bool has_seek_table(struct view *view, uint64_t end)
{
	const uint8_t *p = view_peek(view, end - 4, 4);

	return p && le32(p) == SEEK_MAGIC;
}

/* The verdict on the whole frames before walk->valid_end, and those to skip from there to `at`. */
static enum verdict judge_whole(struct frames_walk *walk, uint64_t at)
{
	walk->finding->length = at;
	if (at > walk->valid_end + SKIPPABLE_HEADER_LEN + PLAIN_FEW &&
		!has_seek_table(walk->view, at))
		return verdict_because(CARVE_UNVERIFIED, walk->finding,
			"ends in a frame to skip, at %" PRIu64, walk->valid_end);
	if (walk->dictionary)
		return verdict_because(CARVE_UNVERIFIED, walk->finding,
			"needs a dictionary, so nothing was decompressed");
	if (walk->unproven)
		return verdict_because(CARVE_UNVERIFIED, walk->finding,
			"has no size, no checksum and no compressed block");
	if (walk->plain_end)
		return verdict_because(CARVE_UNVERIFIED, walk->finding,
			"ends in bytes as they are, without a checksum, before %" PRIu64, at);
	return CARVE_COMPLETE;
}

/* Returns the offset after the skippable frames at `at`. Nothing verifies what they contain. */
static uint64_t skip_frames(struct view *view, uint64_t at)
{
	const uint8_t *p;

	while ((p = view_peek(view, at, SKIPPABLE_HEADER_LEN)) && (le32(p) & ~15u) == SKIPPABLE &&
		le32(p + 4) <= view_size(view) - at - SKIPPABLE_HEADER_LEN) {
		uint32_t len = le32(p + 4);

		at += SKIPPABLE_HEADER_LEN + len;
		view_unverified(view, at - len, at);
	}
	return at;
}

/* The result for a frame whose block, up to `end`, ended or failed. */
static enum frame_end judge_block(
	struct frames_walk *walk, enum compressed_state state, uint64_t end)
{
	switch (state) {
	case COMPRESSED_BAD:
		return FRAME_BROKEN;
	case COMPRESSED_REFUSED:
		return FRAME_REFUSED;
	case COMPRESSED_DONE:
		walk->valid_end = end;
		return FRAME_WHOLE;
	default:
		return end > view_size(walk->view) ? FRAME_CUT : FRAME_BROKEN;
	}
}

/* Reads the header of the block at `at`, which has to be readable: zeros are a header, too. */
static bool read_block(struct frames_walk *walk, const struct block_frame *frame, uint64_t at,
	struct frame_block *block)
{
	uint64_t after;

	return walk->kind->read_block(walk->view, frame, at, block) &&
	       !walk_unread(walk->view, at, block->data, &after);
}

/* Decompresses the block, unless that can't be done: COMPRESSED_CUT if its lengths alone lead on. */
static enum compressed_state feed_block(struct frames_walk *walk, const struct block_frame *frame,
	const struct frame_block *block, struct compressed *stream)
{
	enum compressed_state state;
	uint64_t after;

	if (frame->dictionary || walk->unread)
		return COMPRESSED_CUT;
	state = compressed_feed(stream, block->end);
	if ((state == COMPRESSED_CUT && stream->end == block->end) ||
		(state == COMPRESSED_DONE && block->last))
		return state;
	walk->unread = walk_unread(walk->view, frame->blocks, block->end, &after);
	return walk->unread ? COMPRESSED_CUT : state;
}

/* Decompresses block after block. */
static enum frame_end walk_blocks(
	struct frames_walk *walk, const struct block_frame *frame, struct compressed *stream)
{
	struct view *view = walk->view;
	bool coded = false;
	struct frame_block block = { .end = frame->blocks };
	enum compressed_state state = COMPRESSED_CUT;

	while (!block.last) {
		uint64_t at = block.end;

		if (!read_block(walk, frame, at, &block))
			return view_size(view) - at < 8 ? FRAME_CUT
			       : at > frame->blocks     ? FRAME_BROKEN
							: FRAME_NONE;
		walk->valid_end = block.data;
		if (block.last)
			block.end += frame->end_extra;
		state = feed_block(walk, frame, &block, stream);
		if (block.end > view_size(view))
			return state == COMPRESSED_BAD ? FRAME_BROKEN : FRAME_CUT;
		if (!frame->dictionary && !walk->unread &&
			(state != COMPRESSED_CUT || stream->end != block.end) &&
			!(block.last && state == COMPRESSED_DONE))
			return judge_block(walk, state, block.end);
		walk->valid_end = block.end;
		coded |= block.coded;
	}
	walk->unproven |= frame->unproven && !coded;
	walk->plain_end |= !block.coded && !frame->end_extra && !frame->block_extra &&
			   block.end - block.data > PLAIN_FEW;
	walk->dictionary |= frame->dictionary;
	if (walk->unread)
		view_unverified(view, frame->blocks, walk->valid_end);
	return frame->dictionary || walk->unread || state == COMPRESSED_DONE ? FRAME_WHOLE
									     : FRAME_BROKEN;
}

static enum frame_end walk_frame(struct frames_walk *walk, uint64_t at)
{
	struct block_frame frame = { .at = at };
	struct compressed stream;
	enum frame_end end;

	if (!walk->kind->read_frame(walk->view, &frame))
		return FRAME_NONE;
	if (!compressed_open(&stream, walk->view, walk->kind->format))
		return FRAME_REFUSED;
	stream.end = at;
	walk->unread = false;
	if (!frame.dictionary && compressed_feed(&stream, frame.blocks) == COMPRESSED_BAD)
		end = FRAME_NONE;
	else
		end = walk_blocks(walk, &frame, &stream);
	compressed_close(&stream);
	if (end == FRAME_WHOLE && !frame.dictionary && !walk->unread)
		view_proved(walk->view, at, walk->valid_end,
			compressed_checksum_bits(walk->view, walk->kind->format, at));
	if (!walk->finding->extension && end != FRAME_NONE)
		walk->finding->extension = walk->kind->extensions[compressed_content(&stream)];
	return end;
}

static enum verdict judge_damage(struct frames_walk *walk, enum frame_end end, uint64_t at)
{
	struct view *view = walk->view;

	if (end == FRAME_CUT)
		return walk_cut(view, walk->finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : walk->valid_end);
	walk->finding->length = walk->valid_end;
	if (end == FRAME_REFUSED)
		return verdict_because(CARVE_UNVERIFIED, walk->finding,
			"decompresses to more than burin checks, at %" PRIu64, walk->valid_end);
	return verdict_because(CARVE_TRUNCATED, walk->finding,
		"the %s frame at %" PRIu64 " is invalid after %" PRIu64, walk->kind->what, at,
		walk->valid_end);
}

enum verdict block_frames_check(
	struct view *view, struct finding *finding, const struct block_frames *frames)
{
	struct frames_walk walk = { .view = view, .finding = finding, .kind = frames };
	uint64_t at = 0, next = skip_frames(view, 0);
	enum frame_end end;

	for (;; at = walk.valid_end, next = skip_frames(view, at)) {
		end = walk_frame(&walk, next);
		if (end != FRAME_WHOLE)
			break;
		if (next)
			view_part(view, next);
	}
	if (end != FRAME_NONE && at && at % SECTOR == 0 && judge_whole(&walk, at) == CARVE_COMPLETE)
		return verdict_because(CARVE_COMPLETE, finding,
			"the damaged frame at the sector boundary at %" PRIu64
			" is taken for another file",
			at);
	if (end != FRAME_NONE)
		return judge_damage(&walk, end, next);
	if (!at)
		return verdict_because(
			CARVE_REJECT, finding, "no %s frame at %" PRIu64, frames->what, next);
	return judge_whole(&walk, next);
}
