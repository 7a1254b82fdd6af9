/*
 * Raw digital video, as camcorders record it (IEC 61834-2, SMPTE 314M).
 *
 *	frame:    10 sequences (525 lines) or 12 (625 lines), twice as many with 50 Mbit/s, each of 150 blocks of 80 bytes
 *	sequence: a header, 2 blocks of subcode, 3 of the video's auxiliary data; then 9 times a block of audio and 15 of video
 *	block:    kind in the highest 3 bits, the sequence's number in the highest 4 bits of the second byte, the number among the
 *	          blocks of its kind; data. In the first header of a frame the highest bit of the fourth byte says which
 *
 * Each block's three bytes are checked. The number of frames is not stored, and nothing verifies their data. A frame alone is
 * no file, as other files have such frames.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "walk.h"

#define BLOCK_LEN 80
#define SEQUENCE_BLOCKS 150
#define SEQUENCE_LEN (SEQUENCE_BLOCKS * BLOCK_LEN)

enum { HEADER, SUBCODE, AUXILIARY, AUDIO, VIDEO };

/* The kind and number of the block with the index in a sequence. */
static unsigned kind_of(unsigned index, unsigned *number)
{
	if (index < 6) {
		*number = index == 0 ? 0 : index < 3 ? index - 1 : index - 3;
		return index == 0 ? HEADER : index < 3 ? SUBCODE : AUXILIARY;
	}
	*number =
		(index - 6) % 16 ? (index - 6) / 16 * 15 + (index - 6) % 16 - 1 : (index - 6) / 16;
	return (index - 6) % 16 ? VIDEO : AUDIO;
}

/* The blocks of the sequence at `at` that follow one another as they should. */
static unsigned valid_blocks(struct view *view, uint64_t at, unsigned sequence)
{
	uint64_t room = at < view_size(view) ? view_size(view) - at : 0;
	unsigned count = room < SEQUENCE_LEN ? (unsigned)(room / BLOCK_LEN) : SEQUENCE_BLOCKS;
	const uint8_t *p = count ? view_peek(view, at, (size_t)count * BLOCK_LEN) : NULL;

	for (unsigned i = 0; p && i < count; i++, p += BLOCK_LEN) {
		unsigned number, kind = kind_of(i, &number);

		if ((unsigned)p[0] >> 5 != kind || (unsigned)p[1] >> 4 != sequence ||
			p[2] != number)
			return i;
	}
	return p ? count : 0;
}

/* Whether a frame begins at `at`: how many sequences it has, or 0. */
static unsigned frame_sequences(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 8);

	if (!p || p[0] != 0x1f || (p[1] & 0xf7) != 7 || p[2] || (p[5] & 0xf8) != 0x78)
		return 0;
	return p[3] & 0x80 ? 12 : 10;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view), frames = 0;
	unsigned count, valid;

	for (; (count = frame_sequences(view, at)); frames++) {
		if (at)
			view_part(view, at);
		/* With 50 Mbit/s the same sequences follow for a second channel, as a frame of its own. */
		for (unsigned sequence = 0; sequence < count; sequence++, at += SEQUENCE_LEN) {
			valid = valid_blocks(view, at, sequence);
			if (valid == SEQUENCE_BLOCKS)
				continue;
			at += (uint64_t)valid * BLOCK_LEN;
			if (!frames)
				return verdict_because(CARVE_REJECT, finding,
					"not a whole frame: no block at %" PRIu64, at);
			if (at + BLOCK_LEN > size)
				return walk_cut(view, finding, at + BLOCK_LEN,
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
