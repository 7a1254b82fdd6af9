/*
 * Slices of MPEG video (ISO/IEC 11172-2, 2.4.2.6 to 2.4.2.8; ISO/IEC 13818-2, 6.2.4 to 6.2.6).
 *
 *	slice:      start code, whose last byte is its row, scale of quantisation, perhaps extra
 *	            bytes, macroblocks
 *	macroblock: distance from the previous one, type, perhaps how its motion and its transform
 *	            treat the two fields, scale, motion vectors, the pattern of its blocks; blocks
 *	block:      of an intra macroblock its DC difference; pairs of run and level, end
 *
 * A slice's length is not stored: the next start code ends it. If none follows, the code words have
 * to be read one by one up to the picture's last macroblock. Only their lengths matter, and
 * positions: of macroblocks in the picture and of coefficients in a block, of which there are 64.
 * Pictures of more than 2,800 lines, and the scalable kinds of MPEG-2, are not supported.
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

static bool skip_block(struct mpeg_es_slice *slice, bool intra, bool colour)
{
	unsigned coefficients = 0;

	if (intra) {
		int bits = mpeg_es_take_mean(&slice->bits, colour);

		if (bits < 0)
			return false;
		cursor_bits_take(&slice->bits, bits);
		coefficients = 1;
	}
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
		if (pattern >> (count - 1 - i) & 1 && !skip_block(slice, intra, i >= 4))
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
	slice->frame_only = p[7] & 0x40;
	slice->concealment = p[7] & 0x20;
	slice->intra_table = p[7] & 8;
	/* 15 means that there are none in this direction. */
	for (int i = 0; i < 4; i++)
		if (slice->vector_bits[i / 2][i % 2] > 14)
			return false;
	return slice->structure != 0;
}

/* Reads the slice at `at`; *used is where its reading stopped. */
static uint64_t read_slice(
	struct view *view, const struct mpeg_es_picture *picture, uint64_t at, uint64_t *used)
{
	uint64_t size = view_size(view), last, place, bits;
	struct mpeg_es_slice slice = { .bits = { .cursor = { .view = view, .at = at + 4 },
					       .end = size - at < SLICE_MAX ? size
									    : at + SLICE_MAX } };
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t row = p ? p[3] : 0, height = picture->height;

	if (!read_picture_header(&slice, picture) ||
		(picture->coding && !read_coding_extension(&slice, picture)))
		return 0;
	if (slice.structure != FRAME)
		height /= 2;
	if (row < 1 || row > height || cursor_bits_take(&slice.bits, 5) == 0)
		return 0;
	while (cursor_bits_take(&slice.bits, 1) && !cursor_bits_ran_out(&slice.bits))
		cursor_bits_take(&slice.bits, 8);
	last = (uint64_t)picture->width * height - 1;
	/* The position before the row's first. */
	for (place = (uint64_t)(row - 1) * picture->width - 1; place != last;) {
		uint32_t distance = mpeg_es_take_distance(&slice.bits);

		if (!distance || distance > last - place || !skip_macroblock(&slice)) {
			*used = slice.bits.cursor.at;
			return 0;
		}
		place += distance;
	}
	*used = slice.bits.cursor.at;
	bits = cursor_bits_at(&slice.bits);
	return (bits + 7) / 8 <= slice.bits.end ? (bits + 7) / 8 : 0;
}

uint64_t mpeg_es_slice_end(struct view *view, const struct mpeg_es_picture *picture, uint64_t at)
{
	uint64_t used = at, end = read_slice(view, picture, at, &used);

	return view_work(view, (used - at) * BYTE_WORK) ? end : 0;
}
