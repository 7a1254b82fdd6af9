/*
 * Raw digital video, as camcorders record it (IEC 61834-2, SMPTE 314M).
 *
 *	frame: 10 sequences (525 lines) or 12 (625 lines), twice as many with 50 Mbit/s, each of 150 blocks of 80 bytes (dv_frame.c)
 *
 * Each block's three bytes are checked. The number of frames is not stored, and nothing verifies their data. A frame alone is
 * no file, as other files have such frames.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "dv_frame.h"
#include "walk.h"

/* The blocks of the sequence at `at` that follow one another as they should. */
static unsigned valid_blocks(struct view *view, uint64_t at, unsigned sequence)
{
	uint64_t room = at < view_size(view) ? view_size(view) - at : 0;
	unsigned count =
		room < DV_SEQUENCE_LEN ? (unsigned)(room / DV_BLOCK_LEN) : DV_SEQUENCE_BLOCKS;
	const uint8_t *p = count ? view_peek(view, at, (size_t)count * DV_BLOCK_LEN) : NULL;

	for (unsigned i = 0; p && i < count; i++, p += DV_BLOCK_LEN) {
		if (!dv_is_block(p, i, sequence))
			return i;
	}
	return p ? count : 0;
}

/* Whether a frame begins at `at`: how many sequences it has, or 0. */
static unsigned frame_sequences(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, DV_HEAD_LEN);

	return p ? dv_frame_sequences(p) : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view), frames = 0;
	unsigned count, valid;

	for (; (count = frame_sequences(view, at)); frames++) {
		if (at)
			view_part(view, at);
		/* With 50 Mbit/s the same sequences follow for a second channel, as a frame of its own. */
		for (unsigned sequence = 0; sequence < count; sequence++, at += DV_SEQUENCE_LEN) {
			valid = valid_blocks(view, at, sequence);
			if (valid == DV_SEQUENCE_BLOCKS)
				continue;
			at += (uint64_t)valid * DV_BLOCK_LEN;
			if (!frames)
				return verdict_because(CARVE_REJECT, finding,
					"not a whole frame: no block at %" PRIu64, at);
			if (at + DV_BLOCK_LEN > size)
				return walk_cut(view, finding, at + DV_BLOCK_LEN,
					view_ends_with_image(view) ? size : at);
			finding->length = at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "no block of a frame at %" PRIu64, at);
		}
	}
	if (frames < 2)
		return verdict_because(CARVE_REJECT, finding, "no second frame at %" PRIu64, at);
	return walk_uncounted(view, finding, 0, at, 0, "frame");
}

const struct carver dv_carver = {
	.name = "dv",
	.summary = "raw digital video (DV), by its blocks",
	.check = check,
	.quick = true,
};
