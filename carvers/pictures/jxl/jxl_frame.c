/*
 * A frame's header and table of sections (ISO/IEC 18181-1, Annexes F and J). The number of sections
 * follows from the frame's size: a single one, or one for the whole frame, one for each group of
 * groups (LF), one for the coefficients, and one for each group and pass. The table has their
 * lengths, after a permutation if they are in another order.
 */
#include "jxl_frame.h"

#include <string.h>

#include "jxl_entropy.h"

#define PERMUTATION_CONTEXTS 8
#define ENTRY_BITS_MIN 12
/* Bytes that a frame may have besides its samples, such as splines; and for a sample, four times
 * its uncompressed size. */
#define SIDE_DATA_MAX (UINT64_C(1) << 24)
#define SAMPLE_MAX 16
#define KNOWN_FLAGS (JXL_NOISE | JXL_PATCHES | JXL_SPLINES | JXL_USE_LF | 128)

enum blend { REPLACE, ADD, BLEND, WEIGHTED_ADD, MULTIPLY };

static uint64_t div_up(uint64_t value, uint64_t by)
{
	return (value + by - 1) / by;
}

static void read_passes(struct jxl_bits *bits, struct jxl_frame *frame)
{
	static const struct jxl_choice counts[4] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 3, 4 } };
	static const struct jxl_choice smaller[4] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 3 } };
	static const struct jxl_choice passes[4] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 3, 0 } };
	uint32_t count;

	frame->pass_count = jxl_bits_u32(bits, counts);
	if (frame->pass_count == 1)
		return;
	count = jxl_bits_u32(bits, smaller);
	jxl_bits_expect(bits, count <= frame->pass_count);
	jxl_bits_read(bits, 2 * (frame->pass_count - 1));
	jxl_bits_read(bits, 2 * count);
	for (uint32_t i = 0; i < count; i++)
		jxl_bits_expect(bits, jxl_bits_u32(bits, passes) < frame->pass_count);
}

static int64_t from_even(uint32_t value)
{
	return value & 1 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
}

/* Reads the position of the frame in the picture. True: it does not cover the picture. */
static bool read_position(
	struct jxl_bits *bits, const struct jxl_image *image, struct jxl_frame *frame)
{
	static const struct jxl_choice places[4] = { { 8, 0 }, { 11, 256 }, { 14, 2304 },
		{ 30, 18688 } };
	bool shown = frame->type == JXL_REGULAR || frame->type == JXL_SKIP;
	int64_t x = 0, y = 0;

	frame->custom_size = jxl_bits_bool(bits);
	if (!frame->custom_size)
		return false;
	if (shown) {
		x = from_even(jxl_bits_u32(bits, places));
		y = from_even(jxl_bits_u32(bits, places));
	}
	frame->full_width = jxl_bits_u32(bits, places);
	frame->full_height = jxl_bits_u32(bits, places);
	jxl_bits_expect(bits, frame->full_width > 0 && frame->full_height > 0);
	return shown && (x > 0 || y > 0 || x + frame->full_width < image->width ||
				y + frame->full_height < image->height);
}

static enum blend read_blend(struct jxl_bits *bits, const struct jxl_image *image, bool partial)
{
	static const struct jxl_choice modes[4] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 2, 3 } };
	static const struct jxl_choice channels[4] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 3, 3 } };
	uint32_t mode = jxl_bits_u32(bits, modes);
	bool alpha = image->extra_count > 0 && (mode == BLEND || mode == WEIGHTED_ADD);

	jxl_bits_expect(bits, mode <= MULTIPLY);
	if (alpha)
		jxl_bits_expect(bits, jxl_bits_u32(bits, channels) < image->extra_count);
	if (alpha || mode == MULTIPLY)
		jxl_bits_bool(bits);
	if (mode != REPLACE || partial)
		jxl_bits_read(bits, 2);
	return (enum blend)mode;
}

/* Reads how and for how long the frame is shown; whether and how it is kept. */
static void read_use(
	struct jxl_bits *bits, const struct jxl_image *image, bool partial, struct jxl_frame *frame)
{
	static const struct jxl_choice durations[4] = { { 0, 0 }, { 0, 1 }, { 8, 0 }, { 32, 0 } };
	bool shown = frame->type == JXL_REGULAR || frame->type == JXL_SKIP;
	enum blend mode = REPLACE;
	uint32_t duration = 0, kept = 0;

	if (shown) {
		mode = read_blend(bits, image, partial);
		for (uint32_t i = 0; i < image->extra_count && jxl_bits_ok(bits); i++)
			read_blend(bits, image, partial);
		if (image->animated)
			duration = jxl_bits_u32(bits, durations);
		if (image->animated && image->timecodes)
			jxl_bits_read(bits, 32);
		frame->last = jxl_bits_bool(bits);
	}
	frame->last = frame->last && frame->type == JXL_REGULAR;
	if (frame->type == JXL_LF || frame->last)
		return;
	kept = jxl_bits_read(bits, 2);
	if (frame->type == JXL_REFERENCE ||
		((duration == 0 || kept) && mode == REPLACE && !partial))
		jxl_bits_bool(bits);
}

static void read_filters(struct jxl_bits *bits, bool modular)
{
	unsigned rounds;

	if (jxl_bits_bool(bits))
		return;
	if (jxl_bits_bool(bits) && jxl_bits_bool(bits))
		jxl_bits_f16(bits, 6);
	rounds = jxl_bits_read(bits, 2);
	if (rounds) {
		if (!modular && jxl_bits_bool(bits))
			jxl_bits_f16(bits, 8);
		if (jxl_bits_bool(bits))
			jxl_bits_f16(bits, 5);
		if (jxl_bits_bool(bits))
			jxl_bits_f16(bits, modular ? 3 : 4);
		if (modular)
			jxl_bits_f16(bits, 1);
	}
	jxl_bits_extensions(bits);
}

static void read_upsampling(
	struct jxl_bits *bits, const struct jxl_image *image, struct jxl_frame *frame)
{
	frame->upsampling = 1u << jxl_bits_read(bits, 2);
	for (uint32_t i = 0; i < image->extra_count && jxl_bits_ok(bits); i++) {
		frame->extra_upsampling[i] = 1u << (jxl_bits_read(bits, 2) + image->extra_shift[i]);
		jxl_bits_expect(bits, frame->extra_upsampling[i] >= frame->upsampling &&
					      frame->extra_upsampling[i] <= 8);
	}
}

static void read_header(
	struct jxl_bits *bits, const struct jxl_image *image, struct jxl_frame *frame)
{
	bool partial = false;

	frame->type = jxl_bits_read(bits, 2);
	frame->modular = jxl_bits_bool(bits);
	frame->flags = jxl_bits_u64(bits);
	jxl_bits_expect(bits, !(frame->flags & ~(uint64_t)KNOWN_FLAGS));
	if (!image->xyb)
		frame->ycbcr = jxl_bits_bool(bits);
	if (!(frame->flags & JXL_USE_LF)) {
		for (unsigned i = 0; i < 3 && frame->ycbcr; i++)
			frame->chroma[i] = jxl_bits_read(bits, 2);
		read_upsampling(bits, image, frame);
	}
	if (frame->modular)
		frame->group_shift = jxl_bits_read(bits, 2);
	else if (image->xyb)
		jxl_bits_read(bits, 6);
	if (frame->type != JXL_REFERENCE)
		read_passes(bits, frame);
	if (frame->type == JXL_LF)
		frame->lf_level = jxl_bits_read(bits, 2) + 1;
	else
		partial = read_position(bits, image, frame);
	read_use(bits, image, partial, frame);
	jxl_bits_name(bits);
	read_filters(bits, frame->modular);
	jxl_bits_extensions(bits);
}

/* Computes the number of sections. */
static void count_sections(struct jxl_frame *frame)
{
	uint64_t lf = UINT64_C(1) << 3 * frame->lf_level, by_x = 8, by_y = 8;

	for (unsigned i = 0; i < 3; i++) {
		if (frame->chroma[i] == 1 || frame->chroma[i] == 2)
			by_x = 16;
		if (frame->chroma[i] == 1 || frame->chroma[i] == 3)
			by_y = 16;
	}
	frame->width = (uint32_t)div_up(div_up(frame->full_width, lf), frame->upsampling);
	frame->height = (uint32_t)div_up(div_up(frame->full_height, lf), frame->upsampling);
	frame->group_len = 128u << frame->group_shift;
	frame->group_count =
		div_up(frame->width, frame->group_len) * div_up(frame->height, frame->group_len);
	frame->lf_group_count = div_up(div_up(frame->width, by_x) * by_x / 8, frame->group_len) *
				div_up(div_up(frame->height, by_y) * by_y / 8, frame->group_len);
	if (frame->group_count == 1 && frame->pass_count == 1)
		frame->section_count = 1;
	else
		frame->section_count =
			2 + frame->lf_group_count + frame->group_count * frame->pass_count;
}

/* Each number of a permutation is an index into the list of sections that remain, from which it
 * removes one. */
static bool read_permutation(struct jxl_bits *bits, struct jxl_frame *frame)
{
	struct jxl_code code = { 0 };
	uint64_t count = frame->section_count, len = 0, second = 0;
	uint32_t last = 0;
	unsigned context = jxl_bit_len((uint32_t)count);
	bool right =
		jxl_code_read(bits, PERMUTATION_CONTEXTS, &code) && jxl_code_begin(bits, &code, 0);

	if (right)
		len = jxl_code_next(bits, &code,
			context < PERMUTATION_CONTEXTS ? context : PERMUTATION_CONTEXTS - 1);
	right = right && len <= count;
	for (uint64_t i = 0; i < len && right && jxl_bits_ok(bits); i++) {
		context = jxl_bit_len(last);
		last = jxl_code_next(bits, &code,
			context < PERMUTATION_CONTEXTS ? context : PERMUTATION_CONTEXTS - 1);
		right = last < count - i;
		if (i == 0)
			frame->first = last;
		else if (i == 1)
			second = last;
	}
	frame->second = second + (second >= frame->first);
	if (right)
		jxl_code_end(bits, &code);
	jxl_code_free(&code);
	return right && jxl_bits_ok(bits);
}

/* How many bytes the samples of a frame can take. */
static uint64_t data_max(const struct jxl_image *image, const struct jxl_frame *frame)
{
	uint64_t samples = ((uint64_t)frame->width + 8) * ((uint64_t)frame->height + 8);
	uint64_t each = SAMPLE_MAX * (3 + (uint64_t)image->extra_count) * frame->pass_count;

	return samples < (UINT64_MAX - SIDE_DATA_MAX) / each - 1
		       ? SIDE_DATA_MAX + (samples + 1) * each - 1
		       : UINT64_MAX;
}

static const char *read_table(
	struct jxl_bits *bits, const struct jxl_image *image, struct jxl_frame *frame)
{
	static const struct jxl_choice lens[4] = { { 10, 0 }, { 14, 1024 }, { 22, 17408 },
		{ 30, 4211712 } };
	uint64_t room = bits->limit - jxl_bits_at(bits), total = 0;
	uint64_t most = data_max(image, frame);

	/* More than the available bytes can hold. */
	if (frame->section_count > room * 8 / ENTRY_BITS_MIN) {
		bits->cut = true;
		return "the table of sections is cut off";
	}
	frame->second = 1;
	frame->permuted = jxl_bits_bool(bits);
	if (frame->permuted && !read_permutation(bits, frame))
		return "an invalid permutation of sections";
	jxl_bits_align(bits);
	for (uint64_t i = 0; i < frame->section_count && jxl_bits_ok(bits); i++) {
		uint32_t len = jxl_bits_u32(bits, lens);

		if (i == frame->first) {
			frame->first_at = total;
			frame->first_len = len;
		}
		if (i == frame->second) {
			frame->second_at = total;
			frame->second_len = len;
		}
		if (len) {
			frame->last_at = total;
			frame->last_one = i;
		}
		total += len;
		if (total > most)
			return "more data than the frame can have";
	}
	jxl_bits_align(bits);
	if (!jxl_bits_ok(bits))
		return "an invalid table of sections";
	frame->at = jxl_bits_at(bits);
	frame->first_at += frame->at;
	frame->second_at += frame->at;
	frame->last_at += frame->at;
	frame->end = frame->at + total;
	/* The first section contains what the others are decoded with. */
	return frame->first_len ? NULL : "an empty section";
}

const char *jxl_frame_read(
	struct jxl_bits *bits, const struct jxl_image *image, bool preview, struct jxl_frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->upsampling = frame->pass_count = frame->group_shift = 1;
	frame->full_width = preview ? image->preview_width : image->width;
	frame->full_height = preview ? image->preview_height : image->height;
	for (uint32_t i = 0; i < image->extra_count; i++)
		frame->extra_upsampling[i] = 1u << image->extra_shift[i];
	if (jxl_bits_bool(bits))
		frame->last = true;
	else
		read_header(bits, image, frame);
	if (!jxl_bits_ok(bits))
		return "an invalid frame header";
	if (preview && (frame->type != JXL_REGULAR || frame->custom_size))
		return "an invalid preview";
	count_sections(frame);
	return read_table(bits, image, frame);
}
