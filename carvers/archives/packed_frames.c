/*
 * Blocks are unpacked one by one, so that what breaks inside one leaves the file sound up to where
 * that one starts. The decoders themselves tell no nearer place: they look at whole blocks.
 */
#include "packed_frames.h"

#include <inttypes.h>

#include "bytes.h"
#include "walk.h"

#define SKIPPABLE 0x184d2a50
#define SKIPPABLE_HEADER_LEN 8

struct walk {
	struct view *view;
	struct finding *finding;
	const struct packed_frames *kind;
	uint64_t sound; /* behind the last thing that held */
	bool unproved, dictionary;
};

enum frame_end {
	FRAME_WHOLE, /* it ends at walk->sound */
	FRAME_NONE,  /* no frame after all */
	FRAME_CUT,
	FRAME_BROKEN,
	FRAME_REFUSED,
};

/* Behind the skippable frames at `at`. */
static uint64_t skip(struct view *view, uint64_t at)
{
	const uint8_t *p;

	while ((p = view_peek(view, at, SKIPPABLE_HEADER_LEN)) && (le32(p) & ~15u) == SKIPPABLE &&
		le32(p + 4) <= view_size(view) - at - SKIPPABLE_HEADER_LEN)
		at += SKIPPABLE_HEADER_LEN + le32(p + 4);
	return at;
}

/* What became of a piece that ends at `end`. */
static enum frame_end judge_piece(struct walk *walk, enum compressed_state state, uint64_t end)
{
	switch (state) {
	case COMPRESSED_BAD:
		return FRAME_BROKEN;
	case COMPRESSED_REFUSED:
		return FRAME_REFUSED;
	case COMPRESSED_DONE:
		walk->sound = end;
		return FRAME_WHOLE;
	default:
		return end > view_size(walk->view) ? FRAME_CUT : FRAME_BROKEN;
	}
}

/* Unpacks block after block. */
static enum frame_end walk_blocks(
	struct walk *walk, const struct packed_frame *frame, struct compressed *packed)
{
	struct view *view = walk->view;
	bool coded = false;
	struct packed_block block = { .end = frame->blocks };
	enum compressed_state state = COMPRESSED_CUT;

	while (!block.last) {
		uint64_t at = block.end;

		if (!walk->kind->read_block(view, frame, at, &block))
			return view_size(view) - at < 8 ? FRAME_CUT
			       : at > frame->blocks     ? FRAME_BROKEN
							: FRAME_NONE;
		walk->sound = block.data;
		if (block.last)
			block.end += frame->end_extra;
		state = frame->dictionary ? COMPRESSED_CUT
					  : compressed_feed(packed, view, block.end);
		if (block.end > view_size(view))
			return state == COMPRESSED_BAD ? FRAME_BROKEN : FRAME_CUT;
		if (!frame->dictionary && (state != COMPRESSED_CUT || packed->end != block.end) &&
			!(block.last && state == COMPRESSED_DONE))
			return judge_piece(walk, state, block.end);
		walk->sound = block.end;
		coded |= block.coded;
	}
	walk->unproved |= frame->unproved && !coded;
	walk->dictionary |= frame->dictionary;
	return frame->dictionary || state == COMPRESSED_DONE ? FRAME_WHOLE : FRAME_BROKEN;
}

static enum frame_end walk_frame(struct walk *walk, uint64_t at)
{
	struct packed_frame frame = { .at = at };
	struct compressed packed;
	enum frame_end end;

	if (!walk->kind->read_frame(walk->view, &frame))
		return FRAME_NONE;
	if (!compressed_open(&packed, walk->kind->format))
		return FRAME_REFUSED;
	packed.end = at;
	if (!frame.dictionary &&
		compressed_feed(&packed, walk->view, frame.blocks) == COMPRESSED_BAD)
		end = FRAME_NONE;
	else
		end = walk_blocks(walk, &frame, &packed);
	compressed_close(&packed);
	if (!walk->finding->extension && end != FRAME_NONE)
		walk->finding->extension = walk->kind->extensions[compressed_content(&packed)];
	return end;
}

static enum verdict judge(struct walk *walk, enum frame_end end, uint64_t at)
{
	struct view *view = walk->view;

	if (end == FRAME_CUT)
		return walk_cut(view, walk->finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : walk->sound);
	walk->finding->length = walk->sound;
	if (end == FRAME_REFUSED)
		return verdict_because(CARVE_UNVERIFIED, walk->finding,
			"unpacks to more than is checked, at %" PRIu64, walk->sound);
	return verdict_because(CARVE_TRUNCATED, walk->finding,
		"the %s frame at %" PRIu64 " breaks in what follows %" PRIu64, walk->kind->what, at,
		walk->sound);
}

enum verdict packed_frames_check(
	struct view *view, struct finding *finding, const struct packed_frames *frames)
{
	struct walk walk = { .view = view, .finding = finding, .kind = frames };
	uint64_t at = 0, next = skip(view, 0);
	enum frame_end end;

	for (;; at = walk.sound, next = skip(view, at)) {
		end = walk_frame(&walk, next);
		if (end != FRAME_WHOLE)
			break;
		if (next)
			view_part(view, next);
	}
	if (end != FRAME_NONE)
		return judge(&walk, end, next);
	if (!at)
		return verdict_because(
			CARVE_REJECT, finding, "no %s frame at %" PRIu64, frames->what, next);
	/* Nothing can be told of what stands in the skippable frames at the end. */
	finding->length = next;
	if (walk.dictionary)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"needs a dictionary, so that nothing was unpacked");
	if (walk.unproved)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"has neither size nor checksum nor anything coded");
	return CARVE_COMPLETE;
}
