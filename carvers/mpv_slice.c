/*
 * Slices of MPEG-1 video (ISO/IEC 11172-2, 2.4.2.6 to 2.4.2.8, and the codes of its annex B).
 *
 *	slice:      start code, whose last byte is its row, scale of quantisation, perhaps extra
 *	            bytes, macroblocks
 *	macroblock: distance from the one before, type, perhaps scale, motion vectors and the
 *	            pattern of its blocks; blocks
 *	block:      of an intra macroblock the difference of its mean; pairs of run and level, end
 *
 * Nothing tells how long a slice is: the next start code ends it. Where none follows, the codes
 * have to be read one by one up to the picture's last macroblock. They are read for their lengths;
 * what they mean does not matter but for places: of macroblocks in the picture and of coefficients
 * in a block, of which there are 64.
 */
#include "mpv_slice.h"

#include <stdbool.h>

#include "bytes.h"
#include "cursor.h"

#define SLICE_MOST (1 << 22) /* bytes; far more than a picture has */
#define STUFFING 34
#define ESCAPE 35

enum { QUANT = 1, FORWARD = 2, BACKWARD = 4, PATTERN = 8, INTRA = 16 };

/* One word of a prefix code: its bits, how many, what it stands for. */
struct word {
	uint16_t bits;
	uint8_t len;
	uint8_t value;
};

/* Table B.1: distances of macroblocks. */
static const struct word distances[] = { { 1, 1, 1 }, { 3, 3, 2 }, { 2, 3, 3 }, { 3, 4, 4 },
	{ 2, 4, 5 }, { 3, 5, 6 }, { 2, 5, 7 }, { 7, 7, 8 }, { 6, 7, 9 }, { 11, 8, 10 },
	{ 10, 8, 11 }, { 9, 8, 12 }, { 8, 8, 13 }, { 7, 8, 14 }, { 6, 8, 15 }, { 23, 10, 16 },
	{ 22, 10, 17 }, { 21, 10, 18 }, { 20, 10, 19 }, { 19, 10, 20 }, { 18, 10, 21 },
	{ 35, 11, 22 }, { 34, 11, 23 }, { 33, 11, 24 }, { 32, 11, 25 }, { 31, 11, 26 },
	{ 30, 11, 27 }, { 29, 11, 28 }, { 28, 11, 29 }, { 27, 11, 30 }, { 26, 11, 31 },
	{ 25, 11, 32 }, { 24, 11, 33 }, { 15, 11, STUFFING }, { 8, 11, ESCAPE }, { 0 } };

/* Tables B.2a to d: types of macroblocks, by the type of picture. */
static const struct word types[4][12] = {
	{ { 1, 1, INTRA }, { 1, 2, INTRA | QUANT } },
	{ { 1, 1, FORWARD | PATTERN }, { 1, 2, PATTERN }, { 1, 3, FORWARD }, { 3, 5, INTRA },
		{ 2, 5, FORWARD | PATTERN | QUANT }, { 1, 5, PATTERN | QUANT },
		{ 1, 6, INTRA | QUANT } },
	{ { 2, 2, FORWARD | BACKWARD }, { 3, 2, FORWARD | BACKWARD | PATTERN }, { 2, 3, BACKWARD },
		{ 3, 3, BACKWARD | PATTERN }, { 2, 4, FORWARD }, { 3, 4, FORWARD | PATTERN },
		{ 3, 5, INTRA }, { 2, 5, FORWARD | BACKWARD | PATTERN | QUANT },
		{ 3, 6, FORWARD | PATTERN | QUANT }, { 2, 6, BACKWARD | PATTERN | QUANT },
		{ 1, 6, INTRA | QUANT } },
	{ { 1, 1, INTRA } },
};

/* Table B.3: which of the six blocks are there. */
static const struct word patterns[] = { { 7, 3, 60 }, { 13, 4, 4 }, { 12, 4, 8 }, { 11, 4, 16 },
	{ 10, 4, 32 }, { 19, 5, 12 }, { 18, 5, 48 }, { 17, 5, 20 }, { 16, 5, 40 }, { 15, 5, 28 },
	{ 14, 5, 44 }, { 13, 5, 52 }, { 12, 5, 56 }, { 11, 5, 1 }, { 10, 5, 61 }, { 9, 5, 2 },
	{ 8, 5, 62 }, { 15, 6, 24 }, { 14, 6, 36 }, { 13, 6, 3 }, { 12, 6, 63 }, { 23, 7, 5 },
	{ 22, 7, 9 }, { 21, 7, 17 }, { 20, 7, 33 }, { 19, 7, 6 }, { 18, 7, 10 }, { 17, 7, 18 },
	{ 16, 7, 34 }, { 31, 8, 7 }, { 30, 8, 11 }, { 29, 8, 19 }, { 28, 8, 35 }, { 27, 8, 13 },
	{ 26, 8, 49 }, { 25, 8, 21 }, { 24, 8, 41 }, { 23, 8, 14 }, { 22, 8, 50 }, { 21, 8, 22 },
	{ 20, 8, 42 }, { 19, 8, 15 }, { 18, 8, 51 }, { 17, 8, 23 }, { 16, 8, 43 }, { 15, 8, 25 },
	{ 14, 8, 37 }, { 13, 8, 26 }, { 12, 8, 38 }, { 11, 8, 29 }, { 10, 8, 45 }, { 9, 8, 53 },
	{ 8, 8, 57 }, { 7, 8, 30 }, { 6, 8, 46 }, { 5, 8, 54 }, { 4, 8, 58 }, { 7, 9, 31 },
	{ 6, 9, 47 }, { 5, 9, 55 }, { 4, 9, 59 }, { 3, 9, 27 }, { 2, 9, 39 }, { 0 } };

/* Table B.4: motion, without its sign. */
static const struct word motions[] = { { 1, 1, 0 }, { 1, 2, 1 }, { 1, 3, 2 }, { 1, 4, 3 },
	{ 3, 6, 4 }, { 5, 7, 5 }, { 4, 7, 6 }, { 3, 7, 7 }, { 11, 9, 8 }, { 10, 9, 9 },
	{ 9, 9, 10 }, { 17, 10, 11 }, { 16, 10, 12 }, { 15, 10, 13 }, { 14, 10, 14 },
	{ 13, 10, 15 }, { 12, 10, 16 }, { 0 } };

/* Tables B.5a and b: bits of a mean's difference, of luminance and of colour. */
static const struct word means[2][10] = {
	{ { 4, 3, 0 }, { 0, 2, 1 }, { 1, 2, 2 }, { 5, 3, 3 }, { 6, 3, 4 }, { 14, 4, 5 },
		{ 30, 5, 6 }, { 62, 6, 7 }, { 126, 7, 8 } },
	{ { 0, 2, 0 }, { 1, 2, 1 }, { 2, 2, 2 }, { 6, 3, 3 }, { 14, 4, 4 }, { 30, 5, 5 },
		{ 62, 6, 6 }, { 126, 7, 7 }, { 254, 8, 8 } },
};

struct slice {
	struct cursor cursor;
	uint64_t held; /* bits that were taken from the cursor, the next one on top */
	unsigned held_count;
	unsigned kind;              /* of picture: 1 to 4 */
	unsigned forward, backward; /* bits behind a vector's code */
	uint64_t end;               /* no byte behind it belongs to the slice */
};

/* Takes bytes from the cursor until there is room for none. */
static void fill(struct slice *slice)
{
	while (slice->held_count <= 56) {
		int byte = slice->cursor.at < slice->end ? cursor_peek(&slice->cursor) : 0;

		slice->cursor.at++;
		slice->held |= (uint64_t)(byte < 0 ? 0 : byte) << (56 - slice->held_count);
		slice->held_count += 8;
	}
}

/* The next `count` bits, at most 32; behind the end they are zeros. */
static uint32_t peek_bits(struct slice *slice, unsigned count)
{
	if (slice->held_count < count)
		fill(slice);
	return count ? (uint32_t)(slice->held >> (64 - count)) : 0;
}

static uint32_t take_bits(struct slice *slice, unsigned count)
{
	uint32_t bits = peek_bits(slice, count);

	slice->held <<= count;
	slice->held_count -= count;
	return bits;
}

/* Whether more was taken than there is. */
static bool ran_out(const struct slice *slice)
{
	return slice->cursor.at - slice->held_count / 8 > slice->end;
}

/* What the next word of a code stands for, or -1. */
static int take_word(struct slice *slice, const struct word *words)
{
	uint32_t bits = peek_bits(slice, 11);

	for (; words->len; words++)
		if (bits >> (11 - words->len) == words->bits) {
			take_bits(slice, words->len);
			return words->value;
		}
	return -1;
}

/* Tables B.5c to f, for words with six zeros and more in front of the first one: the runs, by the
 * bits that follow that one. */
static const uint8_t long_runs[6][16] = {
	{ 16, 5, 0, 2, 1, 15, 14, 4 },
	{ 0, 8, 4, 0, 2, 7, 21, 20, 0, 19, 18, 1, 3, 0, 6, 17 },
	{ 10, 9, 5, 3, 2, 1, 1, 0, 0, 0, 0, 26, 25, 24, 23, 22 },
	{ 0 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1 },
	{ 1, 1, 1, 1, 6, 16, 15, 14, 13, 12, 11, 31, 30, 29, 28, 27 },
};

#define BLOCK_END (-1)
#define NO_WORD (-2)

/* Run and level: the run, BLOCK_END, or NO_WORD. */
static int take_run(struct slice *slice, bool first)
{
	static const uint8_t two[4] = { 0, 0, 4, 3 }, three[4] = { 7, 6, 1, 5 },
			     four[4] = { 2, 9, 0, 8 }, two_more[8] = { 13, 0, 12, 11, 3, 1, 0, 10 };
	uint32_t bits = peek_bits(slice, 17), rest;
	unsigned zeros = bits ? (unsigned)__builtin_clz(bits) - 15 : 17, more;

	rest = zeros < 15 ? bits >> (14 - zeros) & 3 : 0; /* two bits behind the first one */
	switch (zeros) {
	case 0:
		if (first)
			return (int)(take_bits(slice, 2), 0);
		return take_bits(slice, rest & 2 ? 3 : 2), rest & 2 ? 0 : BLOCK_END;
	case 1:
		take_bits(slice, rest & 2 ? 4 : 5);
		return rest & 2 ? 1 : rest & 1 ? 2 : 0;
	case 2:
		if (rest)
			return take_bits(slice, 6), two[rest];
		return two_more[take_bits(slice, 9) >> 1 & 7];
	case 3:
		return take_bits(slice, 7), three[rest];
	case 4:
		return take_bits(slice, 8), four[rest];
	case 5:
		take_bits(slice, 6);
		rest = take_bits(slice, 14);
		if (!(rest & 127))
			take_bits(slice, 8);
		return (int)(rest >> 8);
	default:
		if (zeros > 11)
			return NO_WORD;
		more = zeros == 6 ? 3 : 4;
		return long_runs[zeros - 6]
				[take_bits(slice, zeros + 1 + more + 1) >> 1 & ((1u << more) - 1)];
	}
}

static bool pass_block(struct slice *slice, bool intra, bool colour)
{
	unsigned coefficients = 0;
	int run;

	if (intra) {
		int bits = take_word(slice, means[colour]);

		if (bits < 0)
			return false;
		take_bits(slice, (unsigned)bits);
		coefficients = 1;
	}
	if (slice->kind == 4)
		return true;
	while ((run = take_run(slice, coefficients == 0)) >= 0) {
		coefficients += (unsigned)run + 1;
		if (coefficients > 64)
			return false;
	}
	return run == BLOCK_END;
}

static bool pass_vector(struct slice *slice, unsigned more)
{
	for (int i = 0; i < 2; i++) {
		int motion = take_word(slice, motions);

		if (motion < 0)
			return false;
		if (motion)
			take_bits(slice, 1 + more);
	}
	return true;
}

/* A macroblock behind its distance. */
static bool pass_macroblock(struct slice *slice)
{
	int type = take_word(slice, types[slice->kind - 1]), pattern = 0;

	if (type < 0)
		return false;
	if (type & QUANT && take_bits(slice, 5) == 0)
		return false;
	if ((type & FORWARD && !pass_vector(slice, slice->forward)) ||
		(type & BACKWARD && !pass_vector(slice, slice->backward)))
		return false;
	if (type & INTRA)
		pattern = 63;
	else if (type & PATTERN)
		pattern = take_word(slice, patterns);
	if (pattern < 0)
		return false;
	for (int i = 0; i < 6; i++)
		if (pattern >> (5 - i) & 1 && !pass_block(slice, type & INTRA, i >= 4))
			return false;
	return slice->kind != 4 || take_bits(slice, 1);
}

/* How far the next macroblock is from the last: 0 when no word tells. */
static uint32_t take_distance(struct slice *slice)
{
	uint32_t distance = 0;
	int word;

	while ((word = take_word(slice, distances)) >= STUFFING && !ran_out(slice))
		distance += word == ESCAPE ? 33 : 0;
	return word > 0 && word < STUFFING ? distance + (uint32_t)word : 0;
}

/* Reads what the picture's head tells: false when it is of no known type. */
static bool read_picture(struct slice *slice, uint64_t at)
{
	const uint8_t *p = view_peek(slice->cursor.view, at, 10);
	unsigned forward, backward;

	if (!p)
		return false;
	slice->kind = p[5] >> 3 & 7;
	/* Behind 29 bits: one and three of each vector. */
	forward = (p[7] & 3u) << 1 | p[8] >> 7;
	backward = p[8] >> 3 & 7u;
	slice->forward = forward - 1;
	slice->backward = backward - 1;
	return slice->kind >= 1 && slice->kind <= 4 &&
	       (slice->kind < 2 || slice->kind > 3 || forward) && (slice->kind != 3 || backward);
}

uint64_t mpv_slice_end(
	struct view *view, uint64_t picture, uint64_t slice_at, uint32_t width, uint32_t height)
{
	uint64_t size = view_size(view), last = (uint64_t)width * height - 1, place, bits;
	struct slice slice = { .cursor = { .view = view, .at = slice_at + 4 },
		.end = size - slice_at < SLICE_MOST ? size : slice_at + SLICE_MOST };
	const uint8_t *p = view_peek(view, slice_at, 4);

	if (!p || p[3] < 1 || p[3] > height)
		return 0;
	place = (uint64_t)(p[3] - 1) * width;
	if (!read_picture(&slice, picture) || take_bits(&slice, 5) == 0)
		return 0;
	while (take_bits(&slice, 1) && !ran_out(&slice))
		take_bits(&slice, 8);
	/* One before the row's first. */
	for (place--; place != last;) {
		uint32_t distance = take_distance(&slice);

		if (!distance || distance > last - place || !pass_macroblock(&slice))
			return 0;
		place += distance;
	}
	bits = slice.cursor.at * 8 - slice.held_count;
	return (bits + 7) / 8 <= slice.end ? (bits + 7) / 8 : 0;
}
