/*
 * Slices of MPEG video (ISO/IEC 11172-2, 2.4.2.6 to 2.4.2.8; ISO/IEC 13818-2, 6.2.4 to 6.2.6).
 *
 *	slice:      start code, whose last byte is its row, scale of quantisation, perhaps extra
 *	            bytes, macroblocks
 *	macroblock: distance from the one before, type, perhaps how its motion and its transform
 *	            take the two fields, scale, motion vectors, the pattern of its blocks; blocks
 *	block:      of an intra macroblock the difference of its mean; pairs of run and level, end
 *
 * Nothing tells how long a slice is: the next start code ends it. Where none follows, the words
 * have to be read one by one up to the picture's last macroblock. They are read for their lengths;
 * what they mean does not matter but for places: of macroblocks in the picture and of coefficients
 * in a block, of which there are 64. Pictures of more than 2,800 lines, and the scalable kinds of
 * MPEG-2, are not known here.
 */
#include "mpv_slice.h"

#include <stdbool.h>

#include "bytes.h"
#include "mpv_codes.h"

#define SLICE_MOST (1 << 22) /* bytes; far more than a picture has */

enum kind { KIND_INTRA = 1, KIND_P, KIND_B, KIND_DC };

#define FRAME 3 /* a picture's structure; 1 and 2 are fields */

/* How the motion of a macroblock is told. */
enum { MOTION_FIELD = 1, MOTION_FRAME = 2, MOTION_16X8 = 2, MOTION_DUAL_PRIME = 3 };

struct slice {
	struct mpv_bits bits;
	enum kind kind;
	unsigned more[2][2]; /* bits behind a vector's code: forward, backward; across, down */
	/* MPEG-2 */
	bool second;
	unsigned structure, chroma;
	bool frame_only; /* neither motion nor transform by fields */
	bool concealment, intra_table;
};

/* Run and level in full; the run. */
static unsigned take_escape(struct slice *slice)
{
	unsigned run = mpv_take(&slice->bits, 6);

	if (slice->second)
		mpv_take(&slice->bits, 12);
	else if (!(mpv_take(&slice->bits, 8) & 127))
		mpv_take(&slice->bits, 8);
	return run;
}

static bool pass_block(struct slice *slice, bool intra, bool colour)
{
	unsigned coefficients = 0;

	if (intra) {
		int bits = mpv_take_mean(&slice->bits, colour);

		if (bits < 0)
			return false;
		mpv_take(&slice->bits, (unsigned)bits);
		coefficients = 1;
	}
	if (slice->kind == KIND_DC)
		return true;
	while (coefficients <= 64) {
		int run = mpv_take_run(&slice->bits, intra && slice->intra_table ? MPV_RUNS_INTRA
						     : coefficients              ? MPV_RUNS
										 : MPV_RUNS_FIRST);

		if (run < 0)
			return run == MPV_BLOCK_END;
		coefficients += 1 + (run == MPV_ESCAPE ? take_escape(slice) : (unsigned)run);
	}
	return false;
}

static bool pass_vector(struct slice *slice, const unsigned more[2], bool dual_prime)
{
	for (int i = 0; i < 2; i++) {
		int motion = mpv_take_motion(&slice->bits);

		if (motion < 0)
			return false;
		if (motion)
			mpv_take(&slice->bits, 1 + more[i]);
		/* The other field's differs by -1, 0 or 1. */
		if (dual_prime && mpv_take(&slice->bits, 1))
			mpv_take(&slice->bits, 1);
	}
	return true;
}

/* The vectors of one direction: one or two, with a bit for its field where it points into one. */
static bool pass_vectors(struct slice *slice, const unsigned more[2], unsigned motion)
{
	bool frame = slice->structure == FRAME, dual_prime = motion == MOTION_DUAL_PRIME;
	unsigned count = motion == (frame ? MOTION_FIELD : MOTION_16X8) ? 2 : 1;
	bool selected = !dual_prime && !(frame && motion == MOTION_FRAME);

	for (unsigned i = 0; i < count; i++) {
		if (selected)
			mpv_take(&slice->bits, 1);
		if (!pass_vector(slice, more, dual_prime))
			return false;
	}
	return true;
}

/* How the motion is told: 0 when it is impossible. */
static unsigned take_motion_kind(struct slice *slice, int type)
{
	if (slice->structure != FRAME)
		return type & MPV_INTRA ? MOTION_FIELD : mpv_take(&slice->bits, 2);
	return slice->frame_only || type & MPV_INTRA ? MOTION_FRAME : mpv_take(&slice->bits, 2);
}

static bool pass_motion(struct slice *slice, int type, unsigned motion)
{
	bool concealed = type & MPV_INTRA && slice->concealment;

	if ((type & MPV_FORWARD || concealed) && !pass_vectors(slice, slice->more[0], motion))
		return false;
	if (type & MPV_BACKWARD && !pass_vectors(slice, slice->more[1], motion))
		return false;
	return !concealed || mpv_take(&slice->bits, 1);
}

static bool pass_blocks(struct slice *slice, int type)
{
	unsigned count = slice->chroma == 3 ? 12 : slice->chroma == 2 ? 8 : 6;
	bool intra = type & MPV_INTRA;
	int pattern = 0;

	if (intra) {
		pattern = (1 << count) - 1;
	} else if (type & MPV_PATTERN) {
		pattern = mpv_take_pattern(&slice->bits);
		/* All of MPEG-1 have blocks that say that they have. */
		if (pattern < 0 || (pattern == 0 && slice->chroma == 1))
			return false;
		pattern = pattern << (count - 6) | (int)mpv_take(&slice->bits, count - 6);
	}
	for (unsigned i = 0; i < count; i++)
		if (pattern >> (count - 1 - i) & 1 && !pass_block(slice, intra, i >= 4))
			return false;
	return true;
}

/* A macroblock behind its distance. */
static bool pass_macroblock(struct slice *slice)
{
	int type = mpv_take_type(&slice->bits, slice->kind);
	unsigned motion = MOTION_FRAME;

	if (type < 0)
		return false;
	if (type & (MPV_FORWARD | MPV_BACKWARD | MPV_INTRA))
		motion = take_motion_kind(slice, type);
	if (!motion)
		return false;
	/* The transform's kind. */
	if (!slice->frame_only && slice->structure == FRAME && type & (MPV_INTRA | MPV_PATTERN))
		mpv_take(&slice->bits, 1);
	if (type & MPV_QUANT && mpv_take(&slice->bits, 5) == 0)
		return false;
	return pass_motion(slice, type, motion) && pass_blocks(slice, type) &&
	       (slice->kind != KIND_DC || mpv_take(&slice->bits, 1));
}

/* What the picture's head tells: false when it is of no known type. */
static bool read_head(struct slice *slice, const struct mpv_picture *picture)
{
	const uint8_t *p = view_peek(slice->bits.cursor.view, picture->head, 10);
	unsigned forward, backward;

	if (!p)
		return false;
	slice->kind = p[5] >> 3 & 7;
	/* Behind 29 bits: one and three of each direction. */
	forward = (p[7] & 3u) << 1 | p[8] >> 7;
	backward = p[8] >> 3 & 7u;
	slice->more[0][0] = slice->more[0][1] = forward - 1;
	slice->more[1][0] = slice->more[1][1] = backward - 1;
	slice->structure = FRAME;
	slice->frame_only = true;
	slice->chroma = 1;
	if ((slice->kind == KIND_P || slice->kind == KIND_B) && !forward)
		return false;
	return slice->kind >= KIND_INTRA && slice->kind <= KIND_DC &&
	       (slice->kind != KIND_B || backward);
}

/* What the picture's coding extension tells. */
static bool read_coding(struct slice *slice, const struct mpv_picture *picture)
{
	const uint8_t *p = view_peek(slice->bits.cursor.view, picture->coding, 9);

	if (!p || slice->kind == KIND_DC || picture->chroma < 1 || picture->chroma > 3)
		return false;
	slice->second = true;
	slice->more[0][0] = (p[4] & 15u) - 1;
	slice->more[0][1] = (p[5] >> 4) - 1u;
	slice->more[1][0] = (p[5] & 15u) - 1;
	slice->more[1][1] = (p[6] >> 4) - 1u;
	slice->structure = p[6] & 3;
	slice->chroma = picture->chroma;
	slice->frame_only = p[7] & 0x40;
	slice->concealment = p[7] & 0x20;
	slice->intra_table = p[7] & 8;
	/* 15 says that there are none of this direction. */
	for (int i = 0; i < 4; i++)
		if (slice->more[i / 2][i % 2] > 14)
			return false;
	return slice->structure != 0;
}

uint64_t mpv_slice_end(struct view *view, const struct mpv_picture *picture, uint64_t at)
{
	uint64_t size = view_size(view), last, place, bits;
	struct slice slice = { .bits = { .cursor = { .view = view, .at = at + 4 },
				       .end = size - at < SLICE_MOST ? size : at + SLICE_MOST } };
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t row = p ? p[3] : 0, height = picture->height;

	if (!read_head(&slice, picture) || (picture->coding && !read_coding(&slice, picture)))
		return 0;
	if (slice.structure != FRAME)
		height /= 2;
	if (row < 1 || row > height || mpv_take(&slice.bits, 5) == 0)
		return 0;
	while (mpv_take(&slice.bits, 1) && !mpv_ran_out(&slice.bits))
		mpv_take(&slice.bits, 8);
	last = (uint64_t)picture->width * height - 1;
	/* One before the row's first. */
	for (place = (uint64_t)(row - 1) * picture->width - 1; place != last;) {
		uint32_t distance = mpv_take_distance(&slice.bits);

		if (!distance || distance > last - place || !pass_macroblock(&slice))
			return 0;
		place += distance;
	}
	bits = slice.bits.cursor.at * 8 - slice.bits.held_count;
	return (bits + 7) / 8 <= slice.bits.end ? (bits + 7) / 8 : 0;
}
