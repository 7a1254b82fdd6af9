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
#include <string.h>

#include "bytes.h"

#define HEAD_LEN 10
#define WINDOW_LEN 4096
#define PARTS 8
#define ACROSS_MAX 1024 /* macroblocks in a row */
#define SLACK 4         /* bytes of a part that may be left over */
#define OVERRUN 2       /* bytes that may be missing: the decoder reads ahead */
#define PADDING 16      /* booleans after the last one; those past the data's end are zeros */
#define BOOL_WORK 2     /* units (view_work) for a boolean */
#define NONZERO \
	9 /* blocks along a macroblock's side: 4 of brightness, 2 and 2 of colour, 1 of averages \
	   */

/* A part's decoder: RFC 6386, section 7. */
struct part {
	struct view *view;
	uint64_t at, end;
	uint32_t value, range, shifts;
	uint32_t missing; /* bytes read past the end */
	uint64_t bools;   /* read: thousands can take one byte */
	uint64_t window_at;
	size_t window_len;
	uint8_t window[WINDOW_LEN]; /* a copy: parts are read in turn, and a view shows one place
                                       at a time */
};

struct frame {
	struct part head, parts[PARTS];
	uint32_t part_count, across, down;
	bool segmented, can_skip;
	uint8_t segment_probs[3], skip_prob;
	uint8_t probs[VP8_TYPES][VP8_BANDS][VP8_CONTEXTS][VP8_TOKENS];
	uint8_t above_modes[ACROSS_MAX][4], left_modes[4];
	uint8_t above[ACROSS_MAX][NONZERO], left[NONZERO]; /* which blocks had coefficients */
};

/* Reads the bytes from part->at on into the window. False: there are none. */
static bool fill(struct part *part)
{
	size_t len =
		part->end - part->at < WINDOW_LEN ? (size_t)(part->end - part->at) : WINDOW_LEN;
	const uint8_t *p = len ? view_peek(part->view, part->at, len) : NULL;

	if (!p)
		return false;
	memcpy(part->window, p, len);
	part->window_at = part->at;
	part->window_len = len;
	return true;
}

static uint8_t next_byte(struct part *part)
{
	if (part->at >= part->window_at + part->window_len && !fill(part)) {
		part->missing++;
		return 0;
	}
	return part->window[part->at++ - part->window_at];
}

static void start(struct part *part, struct view *view, uint64_t at, uint64_t end)
{
	part->view = view;
	part->at = part->window_at = at;
	part->end = end;
	part->range = 255;
	part->value = (uint32_t)next_byte(part) << 8;
	part->value |= next_byte(part);
}

static uint32_t read_bool(struct part *part, uint8_t prob)
{
	uint32_t split = 1 + (((part->range - 1) * prob) >> 8), bit = part->value >= split << 8;
	uint32_t shift;

	if (bit) {
		part->range -= split;
		part->value -= split << 8;
	} else {
		part->range = split;
	}
	part->bools++;
	shift = (uint32_t)__builtin_clz(part->range) - 24; /* back to at least 128 */
	part->range <<= shift;
	part->value <<= shift;
	part->shifts += shift;
	if (part->shifts >= 8) {
		part->shifts -= 8;
		part->value |= (uint32_t)next_byte(part) << part->shifts;
	}
	return bit;
}

static uint32_t read_bits(struct part *part, int n)
{
	uint32_t value = 0;

	while (n--)
		value = value << 1 | read_bool(part, 128);
	return value;
}

/* Skips `count` optional numbers of n bits and a sign. */
static void skip_optional(struct part *part, int count, int n)
{
	while (count--)
		if (read_bits(part, 1))
			read_bits(part, n + 1);
}

/* Section 9.3. */
static void read_segments(struct frame *frame)
{
	struct part *head = &frame->head;
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
	struct part *head = &frame->head;
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
		if (read_bool(head, update[i]))
			probs[i] = (uint8_t)read_bits(head, 8);
	frame->can_skip = read_bits(head, 1);
	if (frame->can_skip)
		frame->skip_prob = (uint8_t)read_bits(head, 8);
}

/* Reads the prediction mode of one block of 4 by 4 pixels. */
static uint8_t read_mode(struct part *head, const uint8_t *p)
{
	if (!read_bool(head, p[0]))
		return 0;
	if (!read_bool(head, p[1]))
		return 1;
	if (!read_bool(head, p[2]))
		return 2;
	if (!read_bool(head, p[3])) {
		if (!read_bool(head, p[4]))
			return 3;
		return read_bool(head, p[5]) ? 5 : 4;
	}
	if (!read_bool(head, p[6]))
		return 6;
	if (!read_bool(head, p[7]))
		return 7;
	return read_bool(head, p[8]) ? 9 : 8;
}

/* Reads the prediction mode of the macroblock in column x: section 11. True: block by block. */
static bool skip_modes(struct frame *frame, uint32_t x)
{
	struct part *head = &frame->head;
	uint8_t *above = frame->above_modes[x], *left = frame->left_modes;
	bool blocks = !read_bool(head, 145);

	for (int i = 0; blocks && i < 16; i++) {
		uint8_t mode = read_mode(head, vp8_mode_probs[above[i & 3]][left[i >> 2]]);

		above[i & 3] = left[i >> 2] = mode;
	}
	if (!blocks) {
		uint8_t mode = read_bool(head, 156) ? (read_bool(head, 128) ? 1 : 3)
						    : (read_bool(head, 163) ? 2 : 0);

		memset(above, mode, 4);
		memset(left, mode, 4);
	}
	if (read_bool(head, 142) && read_bool(head, 114))
		read_bool(head, 183);
	return blocks;
}

/* Skips a value above 1: section 13.2. */
static void skip_value(struct part *part, const uint8_t *p)
{
	static const uint8_t extra[4][12] = { { 173, 148, 140 }, { 176, 155, 140, 135 },
		{ 180, 157, 141, 134, 130 },
		{ 254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129 } };
	uint32_t kind;

	if (!read_bool(part, p[3])) {
		if (read_bool(part, p[4]))
			read_bool(part, p[5]);
		return;
	}
	if (!read_bool(part, p[6])) {
		if (!read_bool(part, p[7])) {
			read_bool(part, 159);
		} else {
			read_bool(part, 165);
			read_bool(part, 145);
		}
		return;
	}
	kind = read_bool(part, p[8]) << 1;
	kind |= read_bool(part, p[9 + (kind >> 1)]);
	for (const uint8_t *prob = extra[kind]; *prob; prob++)
		read_bool(part, *prob);
}

/* Skips a block's coefficients from number n on: section 13. True: there are any. */
static bool skip_block(struct frame *frame, struct part *part, int type, int context, int n)
{
	static const uint8_t bands[17] = { 0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0 };
	const uint8_t *p = frame->probs[type][bands[n]][context];

	if (!read_bool(part, p[0]))
		return false;
	while (n < 16) {
		if (!read_bool(part, p[1])) {
			p = frame->probs[type][bands[++n]][0];
			continue;
		}
		context = 1;
		if (read_bool(part, p[2])) {
			skip_value(part, p);
			context = 2;
		}
		read_bool(part, 128);
		p = frame->probs[type][bands[++n]][context];
		if (n < 16 && !read_bool(part, p[0]))
			break;
	}
	return true;
}

/* Skips size by size blocks, and notes them for their neighbours from number `first` on. */
static void skip_blocks(struct frame *frame, struct part *part, uint8_t *above, int type, int first,
	int size, int n)
{
	for (int i = 0; i < size * size; i++) {
		uint8_t *over = &above[first + i % size], *beside = &frame->left[first + i / size];

		*over = *beside = skip_block(frame, part, type, *over + *beside, n);
	}
}

static void skip_macroblock(struct frame *frame, struct part *part, uint32_t x)
{
	uint8_t *above = frame->above[x];
	bool skip, blocks;

	if (frame->segmented)
		read_bool(&frame->head,
			frame->segment_probs[1 + read_bool(&frame->head, frame->segment_probs[0])]);
	skip = frame->can_skip && read_bool(&frame->head, frame->skip_prob);
	blocks = skip_modes(frame, x);
	if (skip) {
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
		start(&frame->parts[i], view, part, part_end);
		part = part_end;
	}
	return true;
}

/* The booleans read since the last call. */
static uint64_t take_bools(struct part *part)
{
	uint64_t bools = part->bools;

	part->bools = 0;
	return bools;
}

static bool skip_rows(struct frame *frame)
{
	for (uint32_t y = 0; y < frame->down; y++) {
		struct part *part = &frame->parts[y & (frame->part_count - 1)];

		memset(frame->left, 0, sizeof(frame->left));
		memset(frame->left_modes, 0, sizeof(frame->left_modes));
		for (uint32_t x = 0; x < frame->across; x++)
			skip_macroblock(frame, part, x);
		if (!view_work(
			    part->view, (take_bools(part) + take_bools(&frame->head)) * BOOL_WORK))
			return false;
		if (part->missing > OVERRUN || frame->head.missing > OVERRUN)
			return false;
	}
	return true;
}

/* Whether zeros follow the last boolean, as encoders write them to get it out: libwebp at least nine, libvpx 32. */
static bool is_padded(struct part *part)
{
	return read_bits(part, PADDING) == 0;
}

enum vp8_state vp8_check(struct view *view, uint64_t *at, uint64_t end)
{
	const uint8_t *p = view_peek(view, *at, HEAD_LEN);
	struct frame frame = { 0 };
	uint64_t first_end;

	if (!p)
		return VP8_BROKEN;
	first_end = *at + HEAD_LEN + ((le16(p) | (uint32_t)p[2] << 16) >> 5);
	frame.across = ((le16(p + 6) & 0x3fffu) + 15) / 16;
	frame.down = ((le16(p + 8) & 0x3fffu) + 15) / 16;
	start(&frame.head, view, *at + HEAD_LEN, first_end < end ? first_end : end);
	read_head(&frame);
	if (!start_parts(&frame, view, first_end, end) || !skip_rows(&frame))
		return VP8_BROKEN;
	for (uint32_t i = 0; i < frame.part_count; i++) {
		*at = frame.parts[i].at;
		if (frame.parts[i].end - *at > SLACK)
			return VP8_EARLY;
	}
	for (uint32_t i = 0; i < frame.part_count; i++) {
		*at = frame.parts[i].at;
		if (!is_padded(&frame.parts[i]))
			return VP8_UNPADDED;
	}
	return is_padded(&frame.head) ? VP8_WHOLE : VP8_UNPADDED;
}
