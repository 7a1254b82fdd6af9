/*
 * The image header of JPEG XL (ISO/IEC 18181-1, Annex D), the ICC profile after it (Annex E), and
 * the zeros up to the next byte. The profile is coded; only its first two numbers are checked: its
 * length, and that of the commands that produce it.
 */
#include "jxl_header.h"

#include <string.h>

#include "jxl_entropy.h"

#define SIGNATURE 0x0aff
/* The most samples that a picture has in a channel: level 10 of the profile. */
#define AREA_MAX (UINT64_C(1) << 40)
#define PROFILE_MAX (UINT64_C(1) << 28)
#define PROFILE_CONTEXTS 41
#define PROFILE_HEAD 128

#define BIT(n) (UINT64_C(1) << (n))

/* The width, given its ratio to the height. */
static uint32_t by_ratio(uint32_t height, unsigned ratio)
{
	static const uint8_t ratios[8][2] = { { 0, 1 }, { 1, 1 }, { 12, 10 }, { 4, 3 }, { 3, 2 },
		{ 16, 9 }, { 5, 4 }, { 2, 1 } };

	return (uint32_t)((uint64_t)height * ratios[ratio][0] / ratios[ratio][1]);
}

/* Reads a side; if `small`, a multiple of eight. */
static uint32_t read_side(struct jxl_bits *bits, bool small)
{
	static const struct jxl_choice sides[4] = { { 9, 1 }, { 13, 1 }, { 18, 1 }, { 30, 1 } };

	return small ? 8 * (jxl_bits_read(bits, 5) + 1) : jxl_bits_u32(bits, sides);
}

static void read_size(struct jxl_bits *bits, uint32_t *width, uint32_t *height)
{
	bool small = jxl_bits_bool(bits);
	unsigned ratio;

	*height = read_side(bits, small);
	ratio = jxl_bits_read(bits, 3);
	*width = ratio ? by_ratio(*height, ratio) : read_side(bits, small);
	jxl_bits_expect(bits, *width > 0 && (uint64_t)*width * *height <= AREA_MAX);
}

static uint32_t read_preview_side(struct jxl_bits *bits, bool eights)
{
	static const struct jxl_choice by_eight[4] = { { 0, 16 }, { 0, 32 }, { 5, 1 }, { 9, 33 } };
	static const struct jxl_choice sides[4] = { { 6, 1 }, { 8, 65 }, { 10, 321 },
		{ 12, 1345 } };

	return eights ? 8 * jxl_bits_u32(bits, by_eight) : jxl_bits_u32(bits, sides);
}

static void read_preview(struct jxl_bits *bits, struct jxl_image *image)
{
	bool eights = jxl_bits_bool(bits);
	unsigned ratio;

	image->preview_height = read_preview_side(bits, eights);
	ratio = jxl_bits_read(bits, 3);
	image->preview_width =
		ratio ? by_ratio(image->preview_height, ratio) : read_preview_side(bits, eights);
	jxl_bits_expect(bits, image->preview_width > 0);
}

static void read_animation(struct jxl_bits *bits, struct jxl_image *image)
{
	static const struct jxl_choice ticks[4] = { { 0, 100 }, { 0, 1000 }, { 10, 1 }, { 30, 1 } };
	static const struct jxl_choice parts[4] = { { 0, 1 }, { 0, 1001 }, { 8, 1 }, { 10, 1 } };
	static const struct jxl_choice loops[4] = { { 0, 0 }, { 3, 0 }, { 16, 0 }, { 32, 0 } };

	image->animated = true;
	jxl_bits_u32(bits, ticks);
	jxl_bits_u32(bits, parts);
	jxl_bits_u32(bits, loops);
	image->timecodes = jxl_bits_bool(bits);
}

static void read_depth(struct jxl_bits *bits)
{
	static const struct jxl_choice whole[4] = { { 0, 8 }, { 0, 10 }, { 0, 12 }, { 6, 1 } };
	static const struct jxl_choice real[4] = { { 0, 32 }, { 0, 16 }, { 0, 24 }, { 6, 1 } };
	bool is_real = jxl_bits_bool(bits);
	uint32_t depth = jxl_bits_u32(bits, is_real ? real : whole), exponent;

	if (!is_real) {
		jxl_bits_expect(bits, depth <= 31);
		return;
	}
	exponent = jxl_bits_read(bits, 4) + 1;
	jxl_bits_expect(bits,
		exponent >= 2 && exponent <= 8 && depth >= exponent + 3 && depth <= exponent + 24);
}

/* Reads a channel besides colour: alpha, depth, a spot colour. Returns its downsampling shift. */
static uint8_t read_extra(struct jxl_bits *bits)
{
	static const struct jxl_choice shifts[4] = { { 0, 0 }, { 0, 3 }, { 0, 4 }, { 3, 1 } };
	static const struct jxl_choice filters[4] = { { 0, 1 }, { 2, 0 }, { 4, 3 }, { 8, 19 } };
	uint32_t type, shift;

	if (jxl_bits_bool(bits))
		return 0;
	type = jxl_bits_enum(bits, 0x7f | BIT(15) | BIT(16));
	read_depth(bits);
	shift = jxl_bits_u32(bits, shifts);
	jxl_bits_name(bits);
	if (type == 0)
		jxl_bits_bool(bits);
	else if (type == 2)
		jxl_bits_f16(bits, 4);
	else if (type == 5)
		jxl_bits_u32(bits, filters);
	return (uint8_t)shift;
}

static void read_xy(struct jxl_bits *bits, unsigned count)
{
	static const struct jxl_choice places[4] = { { 19, 0 }, { 19, 524288 }, { 20, 1048576 },
		{ 21, 2097152 } };

	for (unsigned i = 0; i < 2 * count; i++)
		jxl_bits_u32(bits, places);
}

static void read_colour(struct jxl_bits *bits, struct jxl_image *image)
{
	enum { RGB, GREY, XYB, UNKNOWN, CUSTOM = 2 };
	uint32_t space;

	if (jxl_bits_bool(bits))
		return;
	image->profile = jxl_bits_bool(bits);
	space = jxl_bits_enum(bits, BIT(RGB) | BIT(GREY) | BIT(XYB) | BIT(UNKNOWN));
	image->grey = space == GREY;
	if (image->profile)
		return;
	jxl_bits_expect(bits, space != UNKNOWN);
	if (space != XYB && jxl_bits_enum(bits, BIT(1) | BIT(CUSTOM) | BIT(10) | BIT(11)) == CUSTOM)
		read_xy(bits, 1);
	if (space == RGB && jxl_bits_enum(bits, BIT(1) | BIT(CUSTOM) | BIT(9) | BIT(11)) == CUSTOM)
		read_xy(bits, 3);
	if (space != XYB) {
		if (jxl_bits_bool(bits))
			jxl_bits_expect(bits, jxl_bits_read(bits, 24) <= 10000000);
		else
			jxl_bits_enum(
				bits, BIT(1) | BIT(8) | BIT(13) | BIT(16) | BIT(17) | BIT(18));
	}
	jxl_bits_enum(bits, 0xf);
}

static void read_tone_mapping(struct jxl_bits *bits)
{
	if (jxl_bits_bool(bits))
		return;
	jxl_bits_f16(bits, 2);
	jxl_bits_bool(bits);
	jxl_bits_f16(bits, 1);
}

static void read_metadata(struct jxl_bits *bits, struct jxl_image *image)
{
	static const struct jxl_choice extras[4] = { { 0, 0 }, { 0, 1 }, { 4, 2 }, { 12, 1 } };
	bool more;

	image->xyb = true;
	if (jxl_bits_bool(bits))
		return;
	more = jxl_bits_bool(bits);
	if (more) {
		uint32_t width, height;

		jxl_bits_read(bits, 3);
		if (jxl_bits_bool(bits))
			read_size(bits, &width, &height);
		if (jxl_bits_bool(bits))
			read_preview(bits, image);
		if (jxl_bits_bool(bits))
			read_animation(bits, image);
	}
	read_depth(bits);
	jxl_bits_bool(bits);
	image->extra_count = jxl_bits_u32(bits, extras);
	jxl_bits_expect(bits, image->extra_count <= JXL_EXTRA_MAX);
	for (uint32_t i = 0; i < image->extra_count && jxl_bits_ok(bits); i++)
		image->extra_shift[i] = read_extra(bits);
	image->xyb = jxl_bits_bool(bits);
	read_colour(bits, image);
	if (more)
		read_tone_mapping(bits);
	jxl_bits_extensions(bits);
}

static void read_transform(struct jxl_bits *bits, const struct jxl_image *image)
{
	unsigned mask;

	if (jxl_bits_bool(bits))
		return;
	if (image->xyb && !jxl_bits_bool(bits))
		jxl_bits_f16(bits, 16);
	mask = jxl_bits_read(bits, 3);
	jxl_bits_f16(bits, (mask & 1 ? 15 : 0) + (mask & 2 ? 55 : 0) + (mask & 4 ? 210 : 0));
}

static bool is_letter(uint32_t byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_figure(uint32_t byte)
{
	return (byte >= '0' && byte <= '9') || byte == '.' || byte == ',';
}

/* The context of a profile's byte, which depends on the two before it. */
static size_t profile_context(uint64_t at, uint32_t last, uint32_t before)
{
	size_t near, far;

	if (at <= PROFILE_HEAD)
		return 0;
	if (is_letter(last))
		near = 0;
	else if (is_figure(last))
		near = 1;
	else if (last < 16)
		near = last < 2 ? 2 + last : 4;
	else
		near = last == 255 ? 6 : last > 240 ? 5 : 7;
	if (is_letter(before))
		far = 0;
	else if (is_figure(before))
		far = 1;
	else
		far = before < 16 ? 2 : before > 240 ? 3 : 4;
	return 1 + near + 8 * far;
}

/* Reads the profile, which cannot be more than 256 times as long as its input. */
static bool read_profile(struct jxl_bits *bits)
{
	uint64_t len = jxl_bits_u64(bits), at;
	uint32_t last = 0, before = 0;
	struct jxl_code code = { 0 };
	bool right = len > 0 && len <= PROFILE_MAX &&
		     jxl_code_read(bits, PROFILE_CONTEXTS, &code) && jxl_code_begin(bits, &code, 0);

	for (at = 0; at < len && right && jxl_bits_ok(bits); at++) {
		uint32_t byte = jxl_code_next(bits, &code, profile_context(at, last, before));

		right = byte < 256 && (at % 65536 || at / 256 <= jxl_bits_at(bits) - bits->start);
		before = last;
		last = byte;
	}
	if (right)
		jxl_code_end(bits, &code);
	jxl_code_free(&code);
	return right;
}

const char *jxl_header_read(struct jxl_bits *bits, struct jxl_image *image)
{
	memset(image, 0, sizeof(*image));
	if (jxl_bits_read(bits, 16) != SIGNATURE)
		return "no signature";
	read_size(bits, &image->width, &image->height);
	read_metadata(bits, image);
	read_transform(bits, image);
	if (!jxl_bits_ok(bits))
		return "an invalid image header";
	if (image->profile && !read_profile(bits))
		return "an invalid ICC profile";
	jxl_bits_align(bits);
	return jxl_bits_ok(bits) ? NULL : "the image header does not end";
}
