/*
 * Slices of MPEG video (ISO/IEC 11172-2, 2.4.2.6 to 2.4.2.8; ISO/IEC 13818-2, 6.2.4 to 6.2.6).
 *
 *	slice:      start code, whose last byte is its row, scale of quantisation, perhaps extra
 *	            bytes, macroblocks
 *	macroblock: distance from the previous one, type, perhaps how its motion and its transform
 *	            treat the two fields, scale, motion vectors, the pattern of its blocks; blocks
 *	block:      of an intra macroblock its DC difference; pairs of run and level, end
 *
 * A slice's length is not stored: 23 zero bits or the picture's last macroblock end it. The code words are read one by one.
 * Only their lengths matter, and positions: of macroblocks in the picture and of coefficients in a block, of which there are
 * 64; and the DC coefficients, which are in their range. Pictures of more than 2,800 lines, and the scalable kinds of MPEG-2,
 * are not supported.
 */
#include "mpeg_es_slice.h"

#include <stdbool.h>

#include "bytes.h"
#include "mpeg_es_codes.h"

/* Units of work (view_work) for a byte of a slice. */
#define BYTE_WORK 5
#define SLICE_MAX (1 << 22) /* bytes; far more than a picture has */

enum picture_kind { KIND_INTRA = 1, KIND_P, KIND_B, KIND_DC };

#define FRAME 3 /* a picture's structure; 1 and 2 are fields */

/* How the motion of a macroblock is coded. */
enum { MOTION_FIELD = 1, MOTION_FRAME = 2, MOTION_16X8 = 2, MOTION_DUAL_PRIME = 3 };

struct mpeg_es_slice {
	struct cursor_bits bits;
	enum picture_kind kind;
	unsigned vector_bits[2]
			    [2]; /* bits after a vector's code: forward, backward; across, down */
	int32_t means[3];        /* the last DC coefficient of luminance and of both colours... */
	int32_t grey;            /* ...and what they begin with: half of their range */
	/* MPEG-2 */
	bool is_mpeg2;
	unsigned structure, chroma;
	bool frame_only; /* neither motion nor transform by fields */
	bool concealment, intra_table;
};

/* Takes run and level in full; the run. */
static unsigned take_escape(struct mpeg_es_slice *slice)
{
	unsigned run = cursor_bits_take(&slice->bits, 6);

	if (slice->is_mpeg2)
		cursor_bits_take(&slice->bits, 12);
	else if (!(cursor_bits_take(&slice->bits, 8) & 127))
		cursor_bits_take(&slice->bits, 8);
	return run;
}

static void reset_means(struct mpeg_es_slice *slice)
{
	for (int i = 0; i < 3; i++)
		slice->means[i] = slice->grey;
}

/* Takes the difference of a DC coefficient. False: that is not in its range. component: 0 is luminance. */
static bool take_mean(struct mpeg_es_slice *slice, unsigned component)
{
	int len = mpeg_es_take_mean(&slice->bits, component);
	int32_t *mean = &slice->means[component], value;

	if (len < 0)
		return false;
	value = (int32_t)cursor_bits_take(&slice->bits, len);
	if (len && !(value >> (len - 1)))
		value -= (1 << len) - 1;
	*mean += value;
	return *mean >= 0 && *mean < 2 * slice->grey;
}

static bool skip_block(struct mpeg_es_slice *slice, bool intra, unsigned component)
{
	unsigned coefficients = intra;

	if (intra && !take_mean(slice, component))
		return false;
	if (slice->kind == KIND_DC)
		return true;
	while (coefficients <= 64) {
		int run = mpeg_es_take_run(&slice->bits, intra && slice->intra_table
								 ? MPEG_ES_RUNS_INTRA
							 : coefficients ? MPEG_ES_RUNS
									: MPEG_ES_RUNS_FIRST);

		if (run < 0)
			return run == MPEG_ES_BLOCK_END;
		coefficients += 1 + (run == MPEG_ES_ESCAPE ? take_escape(slice) : (unsigned)run);
	}
	return false;
}

static bool skip_vector(struct mpeg_es_slice *slice, const unsigned vector_bits[2], bool dual_prime)
{
	for (int i = 0; i < 2; i++) {
		int motion = mpeg_es_take_motion(&slice->bits);

		if (motion < 0)
			return false;
		if (motion)
			cursor_bits_take(&slice->bits, 1 + vector_bits[i]);
		/* The other field's differs by -1, 0 or 1. */
		if (dual_prime && cursor_bits_take(&slice->bits, 1))
			cursor_bits_take(&slice->bits, 1);
	}
	return true;
}

/* Skips the vectors of one direction: one or two, each with a bit for its field if it points into
 * one. */
static bool skip_vectors(
	struct mpeg_es_slice *slice, const unsigned vector_bits[2], unsigned motion)
{
	bool frame = slice->structure == FRAME, dual_prime = motion == MOTION_DUAL_PRIME;
	unsigned count = motion == (frame ? MOTION_FIELD : MOTION_16X8) ? 2 : 1;
	bool selected = !dual_prime && !(frame && motion == MOTION_FRAME);

	for (unsigned i = 0; i < count; i++) {
		if (selected)
			cursor_bits_take(&slice->bits, 1);
		if (!skip_vector(slice, vector_bits, dual_prime))
			return false;
	}
	return true;
}

/* Takes how the motion is coded: 0 if impossible. */
static unsigned take_motion_kind(struct mpeg_es_slice *slice, int type)
{
	if (slice->structure != FRAME)
		return type & MB_INTRA ? MOTION_FIELD : cursor_bits_take(&slice->bits, 2);
	return slice->frame_only || type & MB_INTRA ? MOTION_FRAME
						    : cursor_bits_take(&slice->bits, 2);
}

static bool skip_motion(struct mpeg_es_slice *slice, int type, unsigned motion)
{
	bool concealed = type & MB_INTRA && slice->concealment;

	if ((type & MB_FORWARD || concealed) && !skip_vectors(slice, slice->vector_bits[0], motion))
		return false;
	if (type & MB_BACKWARD && !skip_vectors(slice, slice->vector_bits[1], motion))
		return false;
	return !concealed || cursor_bits_take(&slice->bits, 1);
}

static bool skip_blocks(struct mpeg_es_slice *slice, int type)
{
	unsigned count = slice->chroma == 3 ? 12 : slice->chroma == 2 ? 8 : 6;
	bool intra = type & MB_INTRA;
	int pattern = 0;

	if (!intra)
		reset_means(slice);
	if (intra) {
		pattern = (1 << count) - 1;
	} else if (type & MB_PATTERN) {
		pattern = mpeg_es_take_pattern(&slice->bits);
		/* In MPEG-1 a macroblock with a pattern has at least one block. */
		if (pattern < 0 || (pattern == 0 && slice->chroma == 1))
			return false;
		pattern = pattern << (count - 6) | (int)cursor_bits_take(&slice->bits, count - 6);
	}
	for (unsigned i = 0; i < count; i++)
		if (pattern >> (count - 1 - i) & 1 &&
			!skip_block(slice, intra, i < 4 ? 0 : 1 + (i & 1)))
			return false;
	return true;
}

/* Skips a macroblock after its distance. */
static bool skip_macroblock(struct mpeg_es_slice *slice)
{
	int type = mpeg_es_take_type(&slice->bits, slice->kind);
	unsigned motion = MOTION_FRAME;

	if (type < 0)
		return false;
	if (type & (MB_FORWARD | MB_BACKWARD | MB_INTRA))
		motion = take_motion_kind(slice, type);
	if (!motion)
		return false;
	/* The transform's kind. */
	if (!slice->frame_only && slice->structure == FRAME && type & (MB_INTRA | MB_PATTERN))
		cursor_bits_take(&slice->bits, 1);
	if (type & MB_QUANT && cursor_bits_take(&slice->bits, 5) == 0)
		return false;
	return skip_motion(slice, type, motion) && skip_blocks(slice, type) &&
	       (slice->kind != KIND_DC || cursor_bits_take(&slice->bits, 1));
}

/* Reads the picture's header: false if its type is not known. */
static bool read_picture_header(struct mpeg_es_slice *slice, const struct mpeg_es_picture *picture)
{
	const uint8_t *p = view_peek(slice->bits.cursor.view, picture->head, 10);
	unsigned forward, backward;

	if (!p)
		return false;
	slice->kind = p[5] >> 3 & 7;
	/* After 29 bits: one and three for each direction. */
	forward = (p[7] & 3u) << 1 | p[8] >> 7;
	backward = p[8] >> 3 & 7u;
	slice->vector_bits[0][0] = slice->vector_bits[0][1] = forward - 1;
	slice->vector_bits[1][0] = slice->vector_bits[1][1] = backward - 1;
	slice->structure = FRAME;
	slice->frame_only = true;
	slice->chroma = 1;
	slice->grey = 128;
	if ((slice->kind == KIND_P || slice->kind == KIND_B) && !forward)
		return false;
	return slice->kind >= KIND_INTRA && slice->kind <= KIND_DC &&
	       (slice->kind != KIND_B || backward);
}

/* Reads the picture's coding extension. */
static bool read_coding_extension(
	struct mpeg_es_slice *slice, const struct mpeg_es_picture *picture)
{
	const uint8_t *p = view_peek(slice->bits.cursor.view, picture->coding, 9);

	if (!p || slice->kind == KIND_DC || picture->chroma < 1 || picture->chroma > 3)
		return false;
	slice->is_mpeg2 = true;
	slice->vector_bits[0][0] = (p[4] & 15u) - 1;
	slice->vector_bits[0][1] = (p[5] >> 4) - 1u;
	slice->vector_bits[1][0] = (p[5] & 15u) - 1;
	slice->vector_bits[1][1] = (p[6] >> 4) - 1u;
	slice->structure = p[6] & 3;
	slice->chroma = picture->chroma;
	slice->grey = 128 << (p[6] >> 2 & 3);
	slice->frame_only = p[7] & 0x40;
	slice->concealment = p[7] & 0x20;
	slice->intra_table = p[7] & 8;
	/* 15 means that there are none in this direction. */
	for (int i = 0; i < 4; i++)
		if (slice->vector_bits[i / 2][i % 2] > 14)
			return false;
	return slice->structure != 0;
}

/* Reads the macroblocks of a slice in this row. False: a code is invalid. Else result->last is the last macroblock. */
static bool read_macroblocks(struct mpeg_es_slice *slice, const struct mpeg_es_picture *picture,
	uint32_t row, uint64_t count, struct mpeg_es_slice_result *result)
{
	/* The position before the row's first. */
	uint64_t place = (uint64_t)(row - 1) * picture->width - 1;
	bool is_first = true;

	reset_means(slice);
	do {
		uint32_t distance;

		result->valid = cursor_bits_at(&slice->bits) / 8;
		distance = mpeg_es_take_distance(&slice->bits);
		if (distance > 1)
			reset_means(slice);
		if (!distance || distance > count - 1 - place)
			return false;
		place += distance;
		if (is_first)
			result->first = place;
		if (!skip_macroblock(slice) || cursor_bits_ran_out(&slice->bits))
			return false;
		is_first = false;
	} while (place != count - 1 && cursor_bits_peek(&slice->bits, 23));
	result->last = place;
	result->is_last = place == count - 1;
	return true;
}

bool mpeg_es_read_slice(struct view *view, const struct mpeg_es_picture *picture, uint64_t at,
	uint64_t limit, struct mpeg_es_slice_result *result)
{
	struct mpeg_es_slice slice = { .bits = { .cursor = { .view = view, .at = at + 4 },
					       .end = limit - at < SLICE_MAX ? limit
									     : at + SLICE_MAX } };
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t row = p ? p[3] : 0, height = picture->height;
	bool valid;

	*result = (struct mpeg_es_slice_result){ .valid = at };
	if (!read_picture_header(&slice, picture) ||
		(picture->coding && !read_coding_extension(&slice, picture)))
		return false;
	if (slice.structure != FRAME)
		height /= 2;
	if (row < 1 || row > height || cursor_bits_take(&slice.bits, 5) == 0)
		return false;
	while (cursor_bits_take(&slice.bits, 1) && !cursor_bits_ran_out(&slice.bits))
		cursor_bits_take(&slice.bits, 8);
	valid = read_macroblocks(&slice, picture, row, (uint64_t)picture->width * height, result);
	result->end = (cursor_bits_at(&slice.bits) + 7) / 8;
	return view_work(view, (result->end - at) * BYTE_WORK) && valid;
}
