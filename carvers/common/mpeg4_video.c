/*
 * Pictures of MPEG-4 video (ISO/IEC 14496-2: 6.2.2 to 6.2.7 and 6.3.3 to 6.3.8; tables of annex B).
 *
 *	frame:      headers, each led by a start code (00 00 01 and a byte); pictures (B6)
 *	picture:    header; macroblocks, all of them; a zero bit, then ones up to a whole byte
 *	macroblock: whether it is coded, its type and the pattern of its blocks, perhaps a change of the
 *	            scale of quantisation, how it treats the two fields, motion vectors; blocks
 *	block:      of an intra macroblock perhaps its DC difference; words for run, level and
 *	            whether it is the last coefficient
 *	packet:     before some macroblocks a marker of many zeros, the macroblock's number, the scale
 *
 * Only lengths and positions matter: of macroblocks in the picture and of coefficients in a block,
 * of which there are 64. Vectors and levels are skipped. What a picture takes over from others is
 * which macroblocks were not coded: where the reference after a bidirectional picture leaves one
 * out, that has no bit for it.
 *
 * Not followed: shapes, static sprites, data partitioning, scalability, other than 8 bits,
 * complexity estimation, new prediction, reduced resolution, the studio profile, short headers.
 */
#include "mpeg4_video.h"

#include <string.h>

#include "cursor_bits.h"
#include "mpeg4_words.h"

#define BYTE_WORK 1   /* units of work (view_work) for a byte of a picture */
#define HEAD_MAX 4096 /* bytes of a layer's header: two matrices have 128 */
#define LAYER_LEN 256 /* and usually fewer than those */
#define NO_PICTURE_MAX 19
#define LONGEST 12 /* bits of a word */

enum code { LAYER_FIRST = 0x20, LAYER_LAST = 0x2f, PICTURE = 0xb6 };
enum kind { KIND_I, KIND_P, KIND_B, KIND_S };

/* Types of macroblocks; Q has its own scale. Bidirectional ones use none of the last three. */
enum type { INTER, INTER_Q, INTER_4, INTRA, INTRA_Q, STUFFING };
enum way { DIRECT, INTERPOLATED, BACKWARD, FORWARD };

#define TYPE(type, colour) ((type) << 2 | (colour))

/* Tables B.6 and B.7: type, and which of the two blocks of colour are coded. */
static const struct code_word intra_types[] = { { 1, 1, TYPE(INTRA, 0) }, { 1, 3, TYPE(INTRA, 1) },
	{ 2, 3, TYPE(INTRA, 2) }, { 3, 3, TYPE(INTRA, 3) }, { 1, 4, TYPE(INTRA_Q, 0) },
	{ 1, 6, TYPE(INTRA_Q, 1) }, { 2, 6, TYPE(INTRA_Q, 2) }, { 3, 6, TYPE(INTRA_Q, 3) },
	{ 1, 9, TYPE(STUFFING, 0) }, { 0 } };
static const struct code_word inter_types[] = { { 1, 1, TYPE(INTER, 0) },
	{ 3, 3, TYPE(INTER_Q, 0) }, { 2, 3, TYPE(INTER_4, 0) }, { 3, 4, TYPE(INTER, 1) },
	{ 2, 4, TYPE(INTER, 2) }, { 3, 5, TYPE(INTRA, 0) }, { 5, 6, TYPE(INTER, 3) },
	{ 4, 6, TYPE(INTRA_Q, 0) }, { 3, 7, TYPE(INTRA, 3) }, { 7, 7, TYPE(INTER_Q, 1) },
	{ 6, 7, TYPE(INTER_Q, 2) }, { 5, 7, TYPE(INTER_4, 1) }, { 4, 7, TYPE(INTER_4, 2) },
	{ 4, 8, TYPE(INTRA, 1) }, { 3, 8, TYPE(INTRA, 2) }, { 5, 8, TYPE(INTER_4, 3) },
	{ 5, 9, TYPE(INTER_Q, 3) }, { 4, 9, TYPE(INTRA_Q, 1) }, { 3, 9, TYPE(INTRA_Q, 2) },
	{ 2, 9, TYPE(INTRA_Q, 3) }, { 1, 9, TYPE(STUFFING, 0) }, { 0 } };

/* Table B.8: which of the four blocks of luminance of an intra macroblock are coded; of others the opposite. */
static const struct code_word patterns[] = { { 3, 2, 15 }, { 3, 4, 0 }, { 9, 4, 3 }, { 7, 4, 5 },
	{ 11, 4, 7 }, { 5, 4, 10 }, { 10, 4, 11 }, { 4, 4, 12 }, { 8, 4, 13 }, { 6, 4, 14 },
	{ 5, 5, 1 }, { 4, 5, 2 }, { 3, 5, 4 }, { 2, 5, 8 }, { 2, 6, 6 }, { 3, 6, 9 }, { 0 } };

/* Table B.12: motion, without its sign; of other than 0 only that it is. */
static const struct code_word motions[] = { { 1, 1, 0 }, { 1, 2, 1 }, { 1, 3, 1 }, { 1, 4, 1 },
	{ 3, 6, 1 }, { 5, 7, 1 }, { 4, 7, 1 }, { 3, 7, 1 }, { 11, 9, 1 }, { 10, 9, 1 }, { 9, 9, 1 },
	{ 17, 10, 1 }, { 16, 10, 1 }, { 15, 10, 1 }, { 14, 10, 1 }, { 13, 10, 1 }, { 12, 10, 1 },
	{ 11, 10, 1 }, { 10, 10, 1 }, { 9, 10, 1 }, { 8, 10, 1 }, { 7, 10, 1 }, { 6, 10, 1 },
	{ 5, 10, 1 }, { 4, 10, 1 }, { 7, 11, 1 }, { 6, 11, 1 }, { 5, 11, 1 }, { 4, 11, 1 },
	{ 3, 11, 1 }, { 2, 11, 1 }, { 3, 12, 1 }, { 2, 12, 1 }, { 0 } };

/* Tables B.13 and B.14: bits of a DC coefficient's difference, for luminance and for colour. With 8 bits a sample
 * there are no more than 9. */
static const struct code_word means[2][11] = {
	{ { 3, 2, 1 }, { 2, 2, 2 }, { 3, 3, 0 }, { 2, 3, 3 }, { 1, 3, 4 }, { 1, 4, 5 }, { 1, 5, 6 },
		{ 1, 6, 7 }, { 1, 7, 8 }, { 1, 8, 9 }, { 0 } },
	{ { 3, 2, 0 }, { 2, 2, 1 }, { 1, 2, 2 }, { 1, 3, 3 }, { 1, 4, 4 }, { 1, 5, 5 }, { 1, 6, 6 },
		{ 1, 7, 7 }, { 1, 8, 8 }, { 1, 9, 9 }, { 0 } },
};

/* Table B.33: bits of what a sprite's point moves by. */
static const struct code_word moves[] = { { 0, 2, 0 }, { 2, 3, 1 }, { 3, 3, 2 }, { 4, 3, 3 },
	{ 5, 3, 4 }, { 6, 3, 5 }, { 14, 4, 6 }, { 30, 5, 7 }, { 62, 6, 8 }, { 126, 7, 9 },
	{ 254, 8, 10 }, { 510, 9, 11 }, { 1022, 10, 12 }, { 2046, 11, 13 }, { 4094, 12, 14 },
	{ 0 } };

/* A picture that is read. */
struct picture {
	struct mpeg4_video *video;
	struct cursor_bits bits; /* up to its frame's end, or the view's */
	enum kind kind;
	uint8_t mean_limit; /* scales below it have their own code for DC */
	uint8_t quantiser;
	uint8_t vector_bits[2]; /* after a vector's word: forward, backward */
};

/* ---- bits ---------------------------------------------------------------------------------- */

static inline uint32_t peek(struct picture *picture, int count)
{
	return cursor_bits_peek(&picture->bits, count);
}

static inline uint32_t take(struct picture *picture, int count)
{
	return cursor_bits_take(&picture->bits, count);
}

static uint64_t bits_taken(const struct picture *picture)
{
	return cursor_bits_at(&picture->bits);
}

static bool ran_out(const struct picture *picture)
{
	return cursor_bits_ran_out(&picture->bits);
}

static int take_word(struct picture *picture, const struct code_word *words)
{
	return cursor_bits_take_word(&picture->bits, words, LONGEST);
}

/* How many bits numbers below count have; at least 1. */
static uint8_t bits_of(uint32_t count)
{
	uint8_t bits = 1;

	while (count > 1 && (count - 1) >> bits)
		bits++;
	return bits;
}

/* ---- headers ------------------------------------------------------------------------------- */

static void skip_matrix(struct picture *layer)
{
	if (take(layer, 1))
		for (int i = 0; i < 64 && take(layer, 8); i++)
			;
}

/* Whether a layer's sprites are none, or global motion. */
static bool read_sprite(struct picture *layer, unsigned version)
{
	unsigned sprite = take(layer, version == 1 ? 1 : 2);

	if (sprite && sprite != 2)
		return false;
	layer->video->sprite = sprite;
	if (sprite) {
		layer->video->points = (uint8_t)take(layer, 6);
		take(layer, 2);
		layer->video->brightness = take(layer, 1);
	}
	return layer->video->points <= 4;
}

/* Reads the rest of a layer's header, from its size on. False: it is not followed. */
static bool read_layer_size(struct picture *layer, unsigned version)
{
	struct mpeg4_video *video = layer->video;
	uint32_t width, height;

	if (!take(layer, 1))
		return false;
	width = take(layer, 13);
	if (!take(layer, 1))
		return false;
	height = take(layer, 13);
	if (!take(layer, 1) || !width || !height)
		return false;
	video->width = (uint16_t)((width + 15) / 16);
	video->macroblocks = video->width * ((height + 15) / 16);
	video->interlaced = take(layer, 1);
	take(layer, 1);
	if (!read_sprite(layer, version) || video->macroblocks > MPEG4_MACROBLOCKS)
		return false;
	if (take(layer, 1)) /* other than 8 bits */
		return false;
	if (take(layer, 1)) {
		skip_matrix(layer);
		skip_matrix(layer);
	}
	if (version != 1)
		take(layer, 1); /* quarter samples */
	if (!take(layer, 1))    /* complexity estimation */
		return false;
	take(layer, 1);     /* no markers */
	if (take(layer, 1)) /* data partitioning */
		return false;
	if (version != 1 && take(layer, 2)) /* new prediction, reduced resolution */
		return false;
	return !take(layer, 1); /* scalability */
}

/* A layer's header before its size. */
static bool read_layer(struct picture *layer)
{
	struct mpeg4_video *video = layer->video;
	unsigned version = 1;
	uint32_t resolution;

	take(layer, 9);
	if (take(layer, 1)) {
		version = take(layer, 4);
		take(layer, 3);
	}
	if (take(layer, 4) == 15) /* the pixels' shape */
		take(layer, 16);
	if (take(layer, 1)) {
		take(layer, 3);
		if (take(layer, 1)) {
			take(layer, 32);
			take(layer, 32);
			take(layer, 15);
		}
	}
	if (take(layer, 2) || !take(layer, 1)) /* another shape than a rectangle; a marker */
		return false;
	resolution = take(layer, 16);
	video->time_bits = bits_of(resolution);
	if (!resolution || !take(layer, 1))
		return false;
	if (take(layer, 1))
		take(layer, video->time_bits);
	return read_layer_size(layer, version) && !ran_out(layer);
}

static struct picture open_bits(
	struct view *view, struct mpeg4_video *video, uint64_t at, uint64_t end)
{
	uint64_t size = view_size(view);

	return (struct picture){ .video = video,
		.bits = { .cursor = { .view = view, .at = at }, .end = end < size ? end : size } };
}

/* Reads the header of the layer at `at`. False: the video, of which pictures were decoded, has another. */
static bool set_layer(struct view *view, struct mpeg4_video *video, uint64_t at, uint64_t end)
{
	const struct mpeg4_video old = { .width = video->width,
		.macroblocks = video->macroblocks,
		.time_bits = video->time_bits,
		.points = video->points,
		.sprite = video->sprite,
		.interlaced = video->interlaced };
	struct picture layer =
		open_bits(view, video, at, end - at < HEAD_MAX ? end : at + HEAD_MAX);

	video->known = true;
	video->points = 0;
	video->brightness = false;
	video->unfollowed = !read_layer(&layer);
	if (video->pictures)
		return !video->unfollowed && old.width == video->width &&
		       old.macroblocks == video->macroblocks && old.time_bits == video->time_bits &&
		       old.points == video->points && old.sprite == video->sprite &&
		       old.interlaced == video->interlaced;
	if (!video->unfollowed)
		memset(video->skipped, 0, (video->macroblocks + 7) / 8);
	return true;
}

static bool skip_points(struct picture *picture)
{
	for (int i = 0; i < 2 * picture->video->points; i++) {
		int len = take_word(picture, moves);

		if (len < 0)
			return false;
		take(picture, len);
		if (!take(picture, 1))
			return false;
	}
	return true;
}

static bool skip_time(struct picture *picture)
{
	while (take(picture, 1))
		if (ran_out(picture))
			return false;
	if (!take(picture, 1))
		return false;
	take(picture, picture->video->time_bits);
	return take(picture, 1);
}

static void read_mean_limit(struct picture *picture)
{
	static const uint8_t limits[8] = { 99, 13, 15, 17, 19, 21, 23, 0 };

	picture->mean_limit = limits[take(picture, 3)];
}

static bool read_vector_bits(struct picture *picture)
{
	for (int i = 0; i < 2; i++) {
		if (picture->kind == KIND_I || (i == 1 && picture->kind != KIND_B))
			continue;
		picture->vector_bits[i] = (uint8_t)take(picture, 3);
		if (!picture->vector_bits[i]--)
			return false;
	}
	return true;
}

/* Reads the header. *coded: whether macroblocks follow. */
static bool read_header(struct picture *picture, bool *coded)
{
	const struct mpeg4_video *video = picture->video;

	picture->kind = take(picture, 2);
	if (!skip_time(picture))
		return false;
	*coded = take(picture, 1);
	if (!*coded)
		return true;
	if (picture->kind == KIND_S && !video->sprite)
		return false;
	if (picture->kind == KIND_P || picture->kind == KIND_S)
		take(picture, 1); /* rounding */
	read_mean_limit(picture);
	if (video->interlaced)
		take(picture, 2);
	if (picture->kind == KIND_S) {
		if (!skip_points(picture))
			return false;
		if (video->brightness) /* how a change of brightness is coded is not followed */
			return false;
	}
	picture->quantiser = (uint8_t)take(picture, 5);
	return picture->quantiser && read_vector_bits(picture);
}

/* ---- macroblocks --------------------------------------------------------------------------- */

/* Takes a word for a coefficient: as in mpeg4_coefficients. */
static inline uint32_t take_coefficient(struct picture *picture, const uint16_t *table)
{
	uint32_t next = peek(picture, 13) >> 1; /* a sign may follow */
	uint32_t word = next >= 512   ? table[(next >> 5) - 16]
			: next >= 128 ? table[112 + (next >> 2) - 32]
				      : table[208 + next];

	msb_skip(&picture->bits.buffer, (int)(word >> 12));
	return word;
}

static unsigned run_of(uint32_t word)
{
	return word >> 5 & 63;
}

/* Takes what follows the escape. The run, with 64 for the last coefficient; -1: invalid. */
static int take_escaped(struct picture *picture, bool intra)
{
	unsigned last, level;
	uint32_t word;
	int run;

	if (peek(picture, 2) == 3) {
		word = take(picture, 9); /* 11, last, run */
		if (!take(picture, 1) || !take(picture, 12) || !take(picture, 1))
			return -1;
		return (int)(word & 127);
	}
	if (!take(picture, 1)) {
		word = take_coefficient(picture, mpeg4_coefficients[intra]); /* a higher level */
		run = (int)run_of(word);
	} else {
		take(picture, 1);
		word = take_coefficient(picture, mpeg4_coefficients[intra]); /* a longer run */
		last = word >> 11 & 1;
		level = word & 31;
		run = (int)run_of(word) + mpeg4_longest_runs[intra][last][level] + 1;
	}
	if (!(word & 31) || run > 63)
		return -1;
	take(picture, 1); /* the sign */
	return run | (int)(word >> 11 & 1) << 6;
}

/* Skips the coefficients of a block from the index-th on. */
static bool skip_coefficients(struct picture *picture, bool intra, unsigned index)
{
	for (;;) {
		uint32_t word = take_coefficient(picture, mpeg4_coefficients[intra]);
		unsigned run = run_of(word), last = word >> 11 & 1;

		if (!word)
			return false;
		if (word & 31) {
			msb_skip(&picture->bits.buffer, 1); /* the sign */
		} else {
			int escaped = take_escaped(picture, intra);

			if (escaped < 0)
				return false;
			run = (unsigned)escaped & 63;
			last = (unsigned)escaped >> 6;
		}
		index += run;
		if (index > 63)
			return false;
		index++;
		if (last)
			return true;
	}
}

/* Skips the six blocks, of which the pattern has the first in the highest bit. */
static bool skip_blocks(struct picture *picture, bool intra, bool own_mean, unsigned pattern)
{
	for (unsigned i = 0; i < 6; i++) {
		if (intra && own_mean) {
			int len = take_word(picture, means[i > 3]);

			if (len < 0)
				return false;
			take(picture, len);
			if (len > 8 && !take(picture, 1))
				return false;
		}
		if (pattern >> (5 - i) & 1 &&
			!skip_coefficients(picture, intra, intra && own_mean ? 1 : 0))
			return false;
	}
	return true;
}

static bool skip_vector(struct picture *picture, int more_bits)
{
	for (int i = 0; i < 2; i++) {
		int motion = take_word(picture, motions);

		if (motion < 0)
			return false;
		if (motion)
			take(picture, 1 + more_bits);
	}
	return true;
}

static bool skip_vectors(struct picture *picture, int more_bits, unsigned count)
{
	while (count--)
		if (!skip_vector(picture, more_bits))
			return false;
	return true;
}

static void change_quantiser(struct picture *picture, int change)
{
	int quantiser = picture->quantiser + change;

	picture->quantiser = (uint8_t)(quantiser < 1 ? 1 : quantiser > 31 ? 31 : quantiser);
}

/* Skips a macroblock of a picture that is not bidirectional, after its type. */
static bool skip_typed(struct picture *picture, int value)
{
	static const int8_t changes[4] = { -1, -2, 1, 2 };
	const struct mpeg4_video *video = picture->video;
	enum type type = (enum type)(value >> 2);
	bool intra = type >= INTRA, warped = false, own_mean, fields = false;
	unsigned pattern = (unsigned)value & 3;
	int luminance;

	if (picture->kind == KIND_S && type <= INTER_Q)
		warped = take(picture, 1);
	if (intra)
		take(picture, 1); /* prediction of coefficients */
	luminance = take_word(picture, patterns);
	if (luminance < 0)
		return false;
	pattern |= (unsigned)(intra ? luminance : 15 - luminance) << 2;
	own_mean = picture->quantiser < picture->mean_limit;
	if (type == INTER_Q || type == INTRA_Q)
		change_quantiser(picture, changes[take(picture, 2)]);
	if (video->interlaced) {
		if (intra || pattern)
			take(picture, 1); /* the transform's kind */
		if (type <= INTER_Q && !warped && take(picture, 1)) {
			fields = true;
			take(picture, 2);
		}
	}
	if (!intra && !warped &&
		!skip_vectors(picture, picture->vector_bits[0],
			type == INTER_4 ? 4
			: fields        ? 2
					: 1))
		return false;
	return skip_blocks(picture, intra, own_mean, pattern);
}

/* How the fields of a bidirectional macroblock that is not direct are predicted. */
static bool take_fields(struct picture *picture, enum way way)
{
	bool fields = take(picture, 1);

	if (fields)
		take(picture, way == INTERPOLATED ? 4 : 2);
	return fields;
}

static bool skip_bidirectional(struct picture *picture)
{
	unsigned pattern = 0, count;
	enum way way = DIRECT;

	if (take(picture, 1))
		return true;
	pattern = !take(picture, 1);
	while (!take(picture, 1))
		if (++way > FORWARD)
			return false;
	if (pattern)
		pattern = take(picture, 6);
	if (way != DIRECT && pattern && take(picture, 1))
		change_quantiser(picture, take(picture, 1) ? 2 : -2);
	if (picture->video->interlaced && pattern)
		take(picture, 1);
	count = way != DIRECT && picture->video->interlaced && take_fields(picture, way) ? 2 : 1;
	if (way == DIRECT ? !skip_vector(picture, 0)
			  : (way != BACKWARD &&
				    !skip_vectors(picture, picture->vector_bits[0], count)) ||
				    (way != FORWARD &&
					    !skip_vectors(picture, picture->vector_bits[1], count)))
		return false;
	return skip_blocks(picture, false, false, pattern);
}

static void set_skipped(struct mpeg4_video *video, uint32_t number, bool skipped)
{
	uint8_t bit = (uint8_t)(1 << (number & 7));

	video->skipped[number / 8] = (uint8_t)(skipped ? video->skipped[number / 8] | bit
						       : video->skipped[number / 8] & ~bit);
}

static bool is_skipped(const struct mpeg4_video *video, uint32_t number)
{
	return video->skipped[number / 8] >> (number & 7) & 1;
}

static bool skip_macroblock(struct picture *picture, uint32_t number)
{
	bool inter = picture->kind != KIND_I;
	int value;

	if (picture->kind == KIND_B)
		return is_skipped(picture->video, number) || skip_bidirectional(picture);
	do {
		bool skipped = inter && take(picture, 1);

		/* What follows a sprite's motion counts as coded. */
		set_skipped(picture->video, number, skipped && picture->kind == KIND_P);
		if (skipped)
			return true;
		value = take_word(picture, inter ? inter_types : intra_types);
		if (value < 0 || ran_out(picture))
			return false;
	} while (value == TYPE(STUFFING, 0));
	return skip_typed(picture, value);
}

/* ---- packets ------------------------------------------------------------------------------- */

/* Bits from here to the next whole byte; 8 where one begins. */
static int bits_to_byte(const struct picture *picture)
{
	int over = picture->bits.buffer.count & 7;

	return over ? over : 8;
}

/* Whether a zero bit and ones up to a whole byte follow. */
static bool at_stuffing(struct picture *picture)
{
	int len = bits_to_byte(picture);

	return peek(picture, len) == (1U << (len - 1)) - 1;
}

/* The zeros of a packet's marker, before its one. */
static int marker_zeros(const struct picture *picture)
{
	int zeros = 16 + picture->vector_bits[0];

	if (picture->kind == KIND_I)
		return 16;
	if (picture->kind != KIND_B)
		return zeros;
	if (picture->vector_bits[1] > picture->vector_bits[0])
		zeros = 16 + picture->vector_bits[1];
	return zeros > 17 ? zeros : 17;
}

static bool at_marker(struct picture *picture)
{
	int zeros = marker_zeros(picture), len = bits_to_byte(picture);

	if (peek(picture, 8) & 0x80 || !at_stuffing(picture))
		return false;
	/* 8 and 24 bits at most. */
	return (peek(picture, len + zeros + 1) & ((2U << zeros) - 1)) == 1;
}

/* Reads a packet's header. The number of its first macroblock, or one that no picture has. */
static uint32_t read_packet(struct picture *picture)
{
	const struct mpeg4_video *video = picture->video;
	uint32_t number;

	take(picture, bits_to_byte(picture));
	take(picture, marker_zeros(picture) + 1);
	number = take(picture, bits_of(video->macroblocks));
	picture->quantiser = (uint8_t)take(picture, 5);
	if (!picture->quantiser)
		return UINT32_MAX;
	if (!take(picture, 1)) /* no copy of the picture's header */
		return number;
	if (!skip_time(picture) || take(picture, 2) != picture->kind)
		return UINT32_MAX;
	read_mean_limit(picture);
	if (picture->kind == KIND_S && !skip_points(picture))
		return UINT32_MAX;
	return read_vector_bits(picture) ? number : UINT32_MAX;
}

/* Skips all macroblocks. */
static bool skip_macroblocks(struct picture *picture)
{
	struct mpeg4_video *video = picture->video;

	for (uint32_t number = 0; number < video->macroblocks; number++) {
		if (at_marker(picture)) {
			uint32_t next = read_packet(picture);

			if (next < number || next >= video->macroblocks)
				return false;
			for (; number < next; number++)
				if (picture->kind != KIND_B || !is_skipped(video, number))
					return false;
		}
		if (!skip_macroblock(picture, number) || ran_out(picture))
			return false;
	}
	return true;
}

/* Skips stuffing that looks like macroblocks. */
static void skip_stuffing(struct picture *picture)
{
	int len = picture->kind == KIND_I ? 9 : 10;

	while (picture->kind != KIND_B && peek(picture, len) == 1 && !ran_out(picture))
		take(picture, len);
}

/* ---- frames -------------------------------------------------------------------------------- */

static uint64_t place_of(const struct picture *picture)
{
	uint64_t at = bits_taken(picture) / 8;

	return at < picture->bits.end ? at : picture->bits.end;
}

/* Where all of a frame is not in the view, what is missing is no fault. */
static enum mpeg4_result fault_of(const struct picture *picture, uint64_t to)
{
	return ran_out(picture) && picture->bits.end < to ? MPEG4_CUT : MPEG4_INVALID;
}

/* Reads the picture whose start code is before *at, in a frame that ends at `to`. */
static enum mpeg4_result read_picture(
	struct view *view, struct mpeg4_video *video, uint64_t to, uint64_t *at, uint64_t *count)
{
	struct picture picture = open_bits(view, video, *at, to);
	uint64_t from = *at;
	bool coded = false, valid;

	valid = read_header(&picture, &coded) && (!coded || skip_macroblocks(&picture));
	*at = place_of(&picture);
	if (!view_work(view, (*at - from) * BYTE_WORK + video->macroblocks / 4 + 64))
		return MPEG4_UNKNOWN;
	if (!valid || ran_out(&picture)) {
		if (valid || !video->brightness || picture.kind != KIND_S)
			return fault_of(&picture, to);
		return MPEG4_UNKNOWN;
	}
	video->pictures++;
	if (coded) {
		*count += video->macroblocks;
		skip_stuffing(&picture);
	}
	valid = at_stuffing(&picture);
	take(&picture, bits_to_byte(&picture));
	*at = place_of(&picture);
	if (picture.bits.end < to && ran_out(&picture))
		return MPEG4_CUT;
	return valid && !ran_out(&picture) ? MPEG4_EXACT : MPEG4_LOOSE;
}

/* The code of the start code at `at`; -1: there is none. */
static int start_code(struct view *view, uint64_t at, uint64_t to)
{
	const uint8_t *p = to - at >= 4 ? view_peek(view, at, 4) : NULL;

	return p && p[0] == 0 && p[1] == 0 && p[2] == 1 ? p[3] : -1;
}

/* The next start code in [at, to), or to. */
static uint64_t next_start(struct view *view, uint64_t at, uint64_t to)
{
	struct cursor cursor = { .view = view, .at = at };
	uint32_t last = UINT32_MAX;
	int byte;

	while (cursor.at < to && (byte = cursor_next(&cursor)) >= 0) {
		last = last << 8 | (uint32_t)byte;
		if ((last & 0xffffff) == 1)
			return cursor.at - 3;
	}
	return to;
}

void mpeg4_read_headers(struct view *view, struct mpeg4_video *video, uint64_t from, uint64_t to)
{
	if (to > view_size(view))
		to = view_size(view);
	for (uint64_t at = next_start(view, from, to); at < to; at = next_start(view, at + 3, to)) {
		int code = start_code(view, at, to);

		if (code >= LAYER_FIRST && code <= LAYER_LAST)
			set_layer(view, video, at + 4, to);
	}
}

/* What a frame is in which no picture begins at `at`: some writers have a byte or two for one that is left out. */
static enum mpeg4_result without_picture(
	const struct mpeg4_video *video, uint64_t from, uint64_t to, uint64_t end)
{
	if (end < to)
		return MPEG4_CUT;
	return (video->pictures || !video->known) && to - from > NO_PICTURE_MAX ? MPEG4_INVALID
										: MPEG4_UNKNOWN;
}

enum mpeg4_result mpeg4_read_frame(struct view *view, struct mpeg4_video *video, uint64_t from,
	uint64_t to, uint64_t *at, uint64_t *count)
{
	uint64_t size = view_size(view), end = to < size ? to : size;
	enum mpeg4_result result = MPEG4_UNKNOWN;

	*count = 0;
	for (*at = from; *at < end;) {
		int code = start_code(view, *at, end);

		if (code < 0 && end - *at < 4 && end < to)
			return MPEG4_CUT;
		if (code < 0)
			return result == MPEG4_EXACT ? MPEG4_LOOSE
						     : without_picture(video, from, to, to);
		if (code >= LAYER_FIRST && code <= LAYER_LAST &&
			!set_layer(view, video, *at + 4, end))
			return end < to && end - *at < LAYER_LEN ? MPEG4_CUT : MPEG4_INVALID;
		if (code != PICTURE) {
			*at = next_start(view, *at + 3, end);
			continue;
		}
		*at += 4;
		if (!video->known)
			return MPEG4_INVALID;
		if (video->unfollowed)
			return MPEG4_UNKNOWN;
		result = read_picture(view, video, to, at, count);
		if (result != MPEG4_EXACT)
			return result;
	}
	return result == MPEG4_UNKNOWN ? without_picture(video, from, to, end)
	       : end < to              ? MPEG4_CUT
				       : result;
}
