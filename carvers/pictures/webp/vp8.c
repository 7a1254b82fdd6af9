/*
 * VP8 (RFC 6386), key frames only.
 *
 *	frame: tag and size (10 bytes), a first part with the head and how each macroblock is
 *	       predicted, the lengths of further parts (3 bytes each, except the last), and
 *	       those parts: the coefficients of rows of macroblocks in turn
 *
 * Each part is a sequence of booleans, coded with the probability of each; any bytes decode to
 * something. But an encoder stops at the last macroblock, so a part is not the frame's if some of
 * its bytes are left then, or if they do not suffice; and zeros follow the last boolean, as in all of 89
 * real files. Pixels are not computed.
 */
#include "vp8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "vp8_follow.h"
#include "vp8_part.h"

#define PARTS 8
#define ACROSS_MAX 1024 /* macroblocks in a row */
#define PADDING 16      /* booleans after the last one; those past the data's end are zeros */
#define BOOL_WORK 2     /* units (view_work) for a boolean */
#define NONZERO VP8_SIDE

struct frame {
	struct vp8_part head, parts[PARTS];
	uint32_t part_count, across, down;
	bool segmented, can_skip;
	uint8_t segment_probs[3], skip_prob;
	uint8_t probs[VP8_TYPES][VP8_BANDS][VP8_CONTEXTS][VP8_TOKENS];
	uint8_t above_modes[ACROSS_MAX][4], left_modes[4];
	uint8_t above[ACROSS_MAX][NONZERO], left[NONZERO]; /* which blocks had coefficients */
};

static uint32_t read_bits(struct vp8_part *part, int n)
{
	uint32_t value = 0;

	while (n--)
		value = value << 1 | vp8_read_bool(part, 128);
	return value;
}

/* Skips `count` optional numbers of n bits and a sign. */
static void skip_optional(struct vp8_part *part, int count, int n)
{
	while (count--)
		if (read_bits(part, 1))
			read_bits(part, n + 1);
}

/* Section 9.3. */
static void read_segments(struct frame *frame)
{
	struct vp8_part *head = &frame->head;
	bool data;

	memset(frame->segment_probs, 255, sizeof(frame->segment_probs));
	if (!read_bits(head, 1))
		return;
	frame->segmented = read_bits(head, 1);
	data = read_bits(head, 1);
	if (data) {
		read_bits(head, 1);
		skip_optional(head, 4, 7);
		skip_optional(head, 4, 6);
	}
	for (int i = 0; frame->segmented && i < 3; i++)
		if (read_bits(head, 1))
			frame->segment_probs[i] = (uint8_t)read_bits(head, 8);
}

/* Sections 9.2 to 9.11. */
static void read_head(struct frame *frame)
{
	struct vp8_part *head = &frame->head;
	uint8_t *probs = &frame->probs[0][0][0][0];
	const uint8_t *update = &vp8_update_probs[0][0][0][0];

	read_bits(head, 2);
	read_segments(frame);
	read_bits(head, 1 + 6 + 3);
	if (read_bits(head, 1) && read_bits(head, 1))
		skip_optional(head, 8, 6);
	frame->part_count = 1u << read_bits(head, 2);
	read_bits(head, 7);
	skip_optional(head, 5, 4);
	read_bits(head, 1);
	memcpy(frame->probs, vp8_token_probs, sizeof(frame->probs));
	for (size_t i = 0; i < sizeof(frame->probs); i++)
		if (vp8_read_bool(head, update[i]))
			probs[i] = (uint8_t)read_bits(head, 8);
	frame->can_skip = read_bits(head, 1);
	if (frame->can_skip)
		frame->skip_prob = (uint8_t)read_bits(head, 8);
}

/* Reads the prediction mode of one block of 4 by 4 pixels. */
static uint8_t read_mode(struct vp8_part *head, const uint8_t *p)
{
	if (!vp8_read_bool(head, p[0]))
		return 0;
	if (!vp8_read_bool(head, p[1]))
		return 1;
	if (!vp8_read_bool(head, p[2]))
		return 2;
	if (!vp8_read_bool(head, p[3])) {
		if (!vp8_read_bool(head, p[4]))
			return 3;
		return vp8_read_bool(head, p[5]) ? 5 : 4;
	}
	if (!vp8_read_bool(head, p[6]))
		return 6;
	if (!vp8_read_bool(head, p[7]))
		return 7;
	return vp8_read_bool(head, p[8]) ? 9 : 8;
}

/* Reads the prediction mode of the macroblock in column x: section 11. True: block by block. */
static bool skip_modes(struct frame *frame, uint32_t x)
{
	struct vp8_part *head = &frame->head;
	uint8_t *above = frame->above_modes[x], *left = frame->left_modes;
	bool blocks = !vp8_read_bool(head, 145);

	for (int i = 0; blocks && i < 16; i++) {
		uint8_t mode = read_mode(head, vp8_mode_probs[above[i & 3]][left[i >> 2]]);

		above[i & 3] = left[i >> 2] = mode;
	}
	if (!blocks) {
		uint8_t mode = vp8_read_bool(head, 156) ? (vp8_read_bool(head, 128) ? 1 : 3)
							: (vp8_read_bool(head, 163) ? 2 : 0);

		memset(above, mode, 4);
		memset(left, mode, 4);
	}
	if (vp8_read_bool(head, 142) && vp8_read_bool(head, 114))
		vp8_read_bool(head, 183);
	return blocks;
}

uint32_t vp8_skip_value(struct vp8_part *part, const uint8_t *p)
{
	static const uint8_t extra[4][12] = { { 173, 148, 140 }, { 176, 155, 140, 135 },
		{ 180, 157, 141, 134, 130 },
		{ 254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129 } };
	uint32_t kind;

	if (!vp8_read_bool(part, p[3]))
		return vp8_read_bool(part, p[4]) ? 3 + vp8_read_bool(part, p[5]) : 2;
	if (!vp8_read_bool(part, p[6])) {
		if (!vp8_read_bool(part, p[7])) {
			vp8_read_bool(part, 159);
			return 5;
		}
		vp8_read_bool(part, 165);
		vp8_read_bool(part, 145);
		return 7;
	}
	kind = vp8_read_bool(part, p[8]) << 1;
	kind |= vp8_read_bool(part, p[9 + (kind >> 1)]);
	for (const uint8_t *prob = extra[kind]; *prob; prob++)
		vp8_read_bool(part, *prob);
	return 11;
}

/* Skips a block's coefficients from number n on: section 13. True: there are any. */
static bool skip_block(struct frame *frame, struct vp8_part *part, int type, int context, int n)
{
	static const uint8_t bands[17] = { 0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0 };
	const uint8_t *p = frame->probs[type][bands[n]][context];

	if (!vp8_read_bool(part, p[0]))
		return false;
	while (n < 16) {
		if (!vp8_read_bool(part, p[1])) {
			p = frame->probs[type][bands[++n]][0];
			continue;
		}
		context = 1;
		if (vp8_read_bool(part, p[2])) {
			vp8_skip_value(part, p);
			context = 2;
		}
		vp8_read_bool(part, 128);
		p = frame->probs[type][bands[++n]][context];
		if (n < 16 && !vp8_read_bool(part, p[0]))
			break;
	}
	return true;
}

/* Skips size by size blocks, and notes them for their neighbours from number `first` on. */
static void skip_blocks(struct frame *frame, struct vp8_part *part, uint8_t *above, int type,
	int first, int size, int n)
{
	for (int i = 0; i < size * size; i++) {
		uint8_t *over = &above[first + i % size], *beside = &frame->left[first + i / size];

		*over = *beside = skip_block(frame, part, type, *over + *beside, n);
	}
}

/* Reads what the head has of the macroblock in column x: VP8_SKIP, VP8_BLOCKS. */
static uint8_t read_macroblock(struct frame *frame, uint32_t x)
{
	uint8_t flags;

	if (frame->segmented)
		vp8_read_bool(&frame->head,
			frame->segment_probs[1 +
					     vp8_read_bool(&frame->head, frame->segment_probs[0])]);
	flags = frame->can_skip && vp8_read_bool(&frame->head, frame->skip_prob) ? VP8_SKIP : 0;
	return skip_modes(frame, x) ? flags | VP8_BLOCKS : flags;
}

static void skip_macroblock(struct frame *frame, struct vp8_part *part, uint32_t x)
{
	uint8_t *above = frame->above[x], flags = read_macroblock(frame, x);
	bool blocks = flags & VP8_BLOCKS;

	if (flags & VP8_SKIP) {
		/* Macroblocks without averages leave their context unchanged. */
		memset(above, 0, blocks ? NONZERO - 1 : NONZERO);
		memset(frame->left, 0, blocks ? NONZERO - 1 : NONZERO);
		return;
	}
	if (!blocks)
		skip_blocks(frame, part, above, 1, NONZERO - 1, 1, 0);
	skip_blocks(frame, part, above, blocks ? 3 : 0, 0, 4, blocks ? 0 : 1);
	skip_blocks(frame, part, above, 2, 4, 2, 0);
	skip_blocks(frame, part, above, 2, 6, 2, 0);
}

/* Finds the further parts after the first. False: they are not all inside. */
static bool start_parts(struct frame *frame, struct view *view, uint64_t at, uint64_t end)
{
	uint64_t part = at + 3 * (frame->part_count - 1);

	for (uint32_t i = 0; i < frame->part_count; i++) {
		const uint8_t *p = view_peek(view, at + 3 * i, 3);
		uint64_t part_end = end;

		if (i + 1 < frame->part_count)
			part_end = p ? part + (le16(p) | (uint32_t)p[2] << 16) : end + 1;
		if (part_end > end)
			return false;
		vp8_start(&frame->parts[i], view, part, part_end);
		part = part_end;
	}
	return true;
}

/* The booleans read since the last call. */
static uint64_t take_bools(struct vp8_part *part)
{
	uint64_t bools = part->bools;

	part->bools = 0;
	return bools;
}

static bool skip_rows(struct frame *frame)
{
	for (uint32_t y = 0; y < frame->down; y++) {
		struct vp8_part *part = &frame->parts[y & (frame->part_count - 1)];

		memset(frame->left, 0, sizeof(frame->left));
		memset(frame->left_modes, 0, sizeof(frame->left_modes));
		for (uint32_t x = 0; x < frame->across; x++)
			skip_macroblock(frame, part, x);
		if (!view_work(
			    part->view, (take_bools(part) + take_bools(&frame->head)) * BOOL_WORK))
			return false;
		if (part->missing > VP8_OVERRUN || frame->head.missing > VP8_OVERRUN)
			return false;
	}
	return true;
}

bool vp8_is_padded(struct vp8_part *part)
{
	return read_bits(part, PADDING) == 0;
}

/* Reads the frame's head up to its macroblocks. False: there is none. */
static bool start_frame(
	struct frame *frame, struct view *view, uint64_t at, uint64_t end, uint64_t *first_end)
{
	const uint8_t *p = view_peek(view, at, VP8_HEAD_LEN);

	if (!p)
		return false;
	*first_end = at + VP8_HEAD_LEN + ((le16(p) | (uint32_t)p[2] << 16) >> 5);
	frame->across = ((le16(p + 6) & 0x3fffu) + 15) / 16;
	frame->down = ((le16(p + 8) & 0x3fffu) + 15) / 16;
	vp8_start(&frame->head, view, at + VP8_HEAD_LEN, *first_end < end ? *first_end : end);
	read_head(frame);
	return true;
}

/* Reads the rows of the head, without coefficients. */
static bool read_rows(struct frame *frame, struct vp8_modes *modes)
{
	for (uint32_t y = 0; y < frame->down; y++) {
		memset(frame->left_modes, 0, sizeof(frame->left_modes));
		modes->places[y] = frame->head.at;
		for (uint32_t x = 0; x < frame->across; x++)
			modes->items[(size_t)y * frame->across + x] = read_macroblock(frame, x);
		if (frame->head.missing > VP8_OVERRUN ||
			!view_work(frame->head.view, take_bools(&frame->head) * BOOL_WORK))
			return false;
	}
	return vp8_is_padded(&frame->head);
}

bool vp8_modes_read(struct view *view, uint64_t at, uint64_t end, struct vp8_modes *modes)
{
	struct frame frame = { 0 };

	*modes = (struct vp8_modes){ 0 };
	if (!start_frame(&frame, view, at, end, &modes->data) || modes->data > end ||
		frame.part_count != 1 || frame.across > VP8_FOLLOWED_MAX)
		return false;
	modes->across = frame.across;
	modes->count = frame.across * frame.down;
	modes->items = malloc(modes->count);
	modes->places = malloc(frame.down * sizeof(*modes->places));
	memcpy(modes->probs, frame.probs, sizeof(modes->probs));
	if (!modes->items || !modes->places)
		view_no_memory(view);
	else if (read_rows(&frame, modes))
		return true;
	else
		modes->is_wrong = true;
	vp8_modes_free(modes);
	return false;
}

void vp8_modes_free(struct vp8_modes *modes)
{
	free(modes->items);
	free(modes->places);
	modes->items = NULL;
	modes->places = NULL;
}

enum vp8_state vp8_check(struct view *view, uint64_t *at, uint64_t end)
{
	struct frame frame = { 0 };
	uint64_t first_end;

	if (!start_frame(&frame, view, *at, end, &first_end))
		return VP8_BROKEN;
	if (!start_parts(&frame, view, first_end, end) || !skip_rows(&frame))
		return VP8_BROKEN;
	for (uint32_t i = 0; i < frame.part_count; i++) {
		*at = frame.parts[i].at;
		if (frame.parts[i].end - *at > VP8_SLACK)
			return VP8_EARLY;
	}
	for (uint32_t i = 0; i < frame.part_count; i++) {
		*at = frame.parts[i].at;
		if (!vp8_is_padded(&frame.parts[i]))
			return VP8_UNPADDED;
	}
	return vp8_is_padded(&frame.head) ? VP8_WHOLE : VP8_UNPADDED;
}
