/*
 * WebP's lossless coding (RFC 9649, section 3).
 *
 *	picture: 2F, size (14 bits each), 4 bits, transforms, the image
 *	image:   colour cache, (the picture's own: the group of codes of each tile), groups
 *	         of five prefix codes, then pixels: green, red, blue, alpha by a code each, or
 *	         a copy of earlier pixels, or one from the cache
 *
 * Transforms contain images of their own. Only the group numbers need the values of pixels; all
 * other images are decoded for their lengths. What can be invalid: prefix codes that are not
 * complete, copies from before the first pixel or past the last, and the picture's end, which has
 * to be its data's: bits after it are zeros, as encoders leave them.
 */
#include "vp8l.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vp8l_image.h"

#define GROUPS_MAX 8192
#define NEAR 120
#define VISITS \
	(48u << 20) /* pixels that are decoded at most; a hostile picture has pixels of no bits
                       at all */
#define KEPT_MAX (1u << 20) /* items of a transform */
#define SLACK 1             /* bytes after the last pixel */

/* The position of the pixel for a small distance code: the rows above in the high half, 8 minus its
 * column to the right in the low half. */
static const uint8_t near[NEAR] = {
	0x18,
	0x07,
	0x17,
	0x19,
	0x28,
	0x06,
	0x27,
	0x29,
	0x16,
	0x1a,
	0x26,
	0x2a,
	0x38,
	0x05,
	0x37,
	0x39,
	0x15,
	0x1b,
	0x36,
	0x3a,
	0x25,
	0x2b,
	0x48,
	0x04,
	0x47,
	0x49,
	0x14,
	0x1c,
	0x35,
	0x3b,
	0x46,
	0x4a,
	0x24,
	0x2c,
	0x58,
	0x45,
	0x4b,
	0x34,
	0x3c,
	0x03,
	0x57,
	0x59,
	0x13,
	0x1d,
	0x56,
	0x5a,
	0x23,
	0x2d,
	0x44,
	0x4c,
	0x55,
	0x5b,
	0x33,
	0x3d,
	0x68,
	0x02,
	0x67,
	0x69,
	0x12,
	0x1e,
	0x66,
	0x6a,
	0x22,
	0x2e,
	0x54,
	0x5c,
	0x43,
	0x4d,
	0x65,
	0x6b,
	0x32,
	0x3e,
	0x78,
	0x01,
	0x77,
	0x79,
	0x53,
	0x5d,
	0x11,
	0x1f,
	0x64,
	0x6c,
	0x42,
	0x4e,
	0x76,
	0x7a,
	0x21,
	0x2f,
	0x75,
	0x7b,
	0x31,
	0x3f,
	0x63,
	0x6d,
	0x52,
	0x5e,
	0x00,
	0x74,
	0x7c,
	0x41,
	0x4f,
	0x10,
	0x20,
	0x62,
	0x6e,
	0x30,
	0x73,
	0x7d,
	0x51,
	0x5f,
	0x40,
	0x72,
	0x7e,
	0x61,
	0x6f,
	0x50,
	0x71,
	0x7f,
	0x60,
	0x70,
};

static uint32_t tiles(uint32_t size, uint32_t bits)
{
	return (size + (1u << bits) - 1) >> bits;
}

uint32_t vp8l_read_length(struct vp8l_bits *b, uint32_t prefix)
{
	uint32_t extra = (prefix - 2) >> 1;

	if (prefix < 4)
		return prefix + 1;
	return ((2 + (prefix & 1)) << extra) + vp8l_read(b, extra) + 1;
}

uint64_t vp8l_read_distance(struct vp8l_bits *b, const struct vp8l_image *image, uint32_t prefix)
{
	uint32_t code = vp8l_read_length(b, prefix);
	int64_t distance;

	if (code > NEAR)
		return code - NEAR;
	distance = (int64_t)(near[code - 1] >> 4) * image->width + 8 - (near[code - 1] & 15);
	return distance < 1 ? 1 : (uint64_t)distance;
}

uint32_t vp8l_cache_place(const struct vp8l_image *image, uint32_t colour)
{
	return 0x1e35a7bdu * colour >> (32 - image->cache_bits);
}

static void keep_pixel(struct vp8l_image *image, uint64_t at, uint32_t colour)
{
	if (!image->pixels)
		return;
	image->pixels[at] = colour;
	if (image->cache_bits)
		image->cache[vp8l_cache_place(image, colour)] = colour;
}

/* Copies earlier pixels. Returns how many, 0 when there are not that many. */
static uint64_t copy(struct vp8l_bits *b, struct vp8l_image *image, const struct prefix_code *codes,
	uint32_t prefix, uint64_t at, uint64_t left)
{
	uint32_t len = vp8l_read_length(b, prefix);
	uint64_t distance = vp8l_read_distance(b, image, vp8l_decode(b, &codes[4]));

	if (distance > at || len > left)
		return 0;
	for (uint32_t i = 0; i < len && image->pixels; i++)
		keep_pixel(image, at + i, image->pixels[at + i - distance]);
	return len;
}

uint32_t vp8l_group_at(const struct vp8l_image *image, uint64_t at)
{
	uint32_t x, y;

	if (!image->groups)
		return 0;
	x = (uint32_t)(at % image->width) >> image->tile_bits;
	y = (uint32_t)(at / image->width) >> image->tile_bits;
	return image->groups[(uint64_t)y * tiles(image->width, image->tile_bits) + x];
}

uint64_t vp8l_read_command(
	struct vp8l_bits *b, struct vp8l_image *image, uint64_t at, uint64_t left)
{
	const struct prefix_code *codes = image->codes;
	uint32_t green, colour;

	codes += (size_t)vp8l_group_at(image, at) * VP8L_CODES;
	green = vp8l_decode(b, &codes[0]);
	image->is_literal = green < VP8L_LITERALS;
	image->is_copied = !image->is_literal && green < VP8L_LITERALS + VP8L_LENGTHS;
	if (green >= VP8L_LITERALS + VP8L_LENGTHS) {
		keep_pixel(image, at, image->cache[green - VP8L_LITERALS - VP8L_LENGTHS]);
		return 1;
	}
	if (image->is_copied)
		return copy(b, image, codes, green - VP8L_LITERALS, at, left);
	colour = vp8l_decode(b, &codes[1]) << 16 | green << 8;
	colour |= vp8l_decode(b, &codes[2]);
	colour |= vp8l_decode(b, &codes[3]) << 24;
	image->was_cached = image->pixels && image->cache_bits &&
			    image->cache[vp8l_cache_place(image, colour)] == colour;
	keep_pixel(image, at, colour);
	return 1;
}

static bool decode_pixels(struct vp8l_bits *b, struct vp8l_image *image)
{
	uint64_t count = (uint64_t)image->width * image->height, copied = 0;

	for (uint64_t at = 0; at < count && !b->ended;) {
		uint64_t len = vp8l_read_command(b, image, at, count - at);

		copied += len;
		if (++b->visits % VP8L_COMMANDS_STEP == 0) {
			if (!view_work(b->view, VP8L_COMMANDS_STEP * VP8L_COMMAND_WORK + copied))
				b->ended = true;
			copied = 0;
		}
		if (b->visits > VISITS) {
			b->exhausted = true;
			return false;
		}
		if (!len)
			return false;
		at += len;
	}
	return !b->ended;
}

/* Reads the prefix codes of all groups. */
static bool read_codes(struct vp8l_bits *b, struct vp8l_image *image)
{
	uint32_t cached = image->cache_bits ? 1u << image->cache_bits : 0;

	image->codes = calloc((size_t)image->group_count * VP8L_CODES, sizeof(*image->codes));
	if (!image->codes) {
		view_no_memory(b->view);
		return false;
	}
	for (uint32_t i = 0; i < image->group_count; i++) {
		struct prefix_code *codes = image->codes + (size_t)i * VP8L_CODES;

		if (!vp8l_read_code(b, &codes[0], VP8L_LITERALS + VP8L_LENGTHS + cached) ||
			!vp8l_read_code(b, &codes[1], VP8L_LITERALS) ||
			!vp8l_read_code(b, &codes[2], VP8L_LITERALS) ||
			!vp8l_read_code(b, &codes[3], VP8L_LITERALS) ||
			!vp8l_read_code(b, &codes[4], 40))
			return false;
	}
	return true;
}

static void free_codes(struct vp8l_image *image)
{
	for (uint32_t i = 0; image->codes && i < image->group_count * VP8L_CODES; i++)
		prefix_code_free(&image->codes[i]);
	free(image->codes);
}

/* Decodes an image that has no groups; keeps its pixels if there is room for them. */
static bool decode_image(struct vp8l_bits *b, uint32_t width, uint32_t height, uint32_t *pixels)
{
	struct vp8l_image image = {
		.width = width, .height = height, .pixels = pixels, .group_count = 1
	};
	bool valid;

	if (vp8l_read(b, 1)) {
		image.cache_bits = vp8l_read(b, 4);
		if (image.cache_bits < 1 || image.cache_bits > 11)
			return false;
	}
	valid = read_codes(b, &image) && decode_pixels(b, &image);
	free_codes(&image);
	return valid;
}

/* Reads the image with the group of each tile. */
static bool read_groups(struct vp8l_bits *b, struct vp8l_image *image)
{
	uint32_t across, down, *pixels;
	size_t count;
	bool valid = false;

	image->tile_bits = vp8l_read(b, 3) + 2;
	across = tiles(image->width, image->tile_bits);
	down = tiles(image->height, image->tile_bits);
	count = (size_t)across * down;
	pixels = calloc(count, sizeof(*pixels));
	image->groups = calloc(count, sizeof(*image->groups));
	if (!pixels || !image->groups)
		view_no_memory(b->view);
	else
		valid = decode_image(b, across, down, pixels);
	for (size_t i = 0; valid && i < count; i++) {
		image->groups[i] = (uint16_t)(pixels[i] >> 8);
		if (image->groups[i] >= image->group_count)
			image->group_count = image->groups[i] + 1u;
	}
	free(pixels);
	if (image->group_count > GROUPS_MAX)
		b->exhausted = true;
	return valid && !b->exhausted;
}

/* Reads the items of a transform: an image of that size. */
static bool read_items(struct vp8l_bits *b, const struct vp8l_image *image,
	struct vp8l_transform *transform, uint32_t width, uint32_t height)
{
	if (image->keeps_transforms) {
		if ((uint64_t)width * height > KEPT_MAX) {
			b->exhausted = true;
			return false;
		}
		transform->items = calloc((size_t)width * height, sizeof(*transform->items));
		if (!transform->items) {
			view_no_memory(b->view);
			return false;
		}
	}
	return decode_image(b, width, height, transform->items);
}

/* Reads the transforms. */
static bool read_transforms(struct vp8l_bits *b, struct vp8l_image *image)
{
	unsigned seen = 0;

	while (vp8l_read(b, 1) && !b->ended) {
		uint32_t type = vp8l_read(b, 2), bits, colours;
		struct vp8l_transform *transform = &image->transforms[image->transform_count];

		if (seen & 1u << type)
			return false;
		seen |= 1u << type;
		transform->type = type;
		image->transform_count++;
		if (type <= VP8L_CROSS_COLOUR) {
			bits = transform->bits = vp8l_read(b, 3) + 2;
			if (!read_items(b, image, transform, tiles(image->width, bits),
				    tiles(image->height, bits)))
				return false;
		} else if (type == VP8L_COLOURS) {
			colours = vp8l_read(b, 8) + 1;
			if (!read_items(b, image, transform, colours, 1))
				return false;
			bits = colours <= 2 ? 3 : colours <= 4 ? 2 : colours <= 16 ? 1 : 0;
			transform->bits = bits;
			image->width = tiles(image->width, bits);
			image->is_indexed = true;
		}
	}
	return !b->ended;
}

bool vp8l_read_head(struct vp8l_bits *b, struct vp8l_image *image, uint32_t width, uint32_t height)
{
	image->group_count = 1;
	image->width = width;
	image->height = height;
	if (!width) {
		vp8l_read(b, 8);
		image->width = vp8l_read(b, 14) + 1;
		image->height = vp8l_read(b, 14) + 1;
		vp8l_read(b, 4);
	}
	if (!read_transforms(b, image))
		return false;
	if (vp8l_read(b, 1)) {
		image->cache_bits = vp8l_read(b, 4);
		if (image->cache_bits < 1 || image->cache_bits > 11)
			return false;
	}
	return (!vp8l_read(b, 1) || read_groups(b, image)) && read_codes(b, image);
}

void vp8l_image_free(struct vp8l_image *image)
{
	free_codes(image);
	free(image->groups);
	for (uint32_t i = 0; i < image->transform_count; i++)
		free(image->transforms[i].items);
}

enum vp8l_state vp8l_end(struct vp8l_bits *b)
{
	uint64_t at = b->at - b->buffer.count / 8;

	if (b->end - at > SLACK)
		return VP8L_EARLY;
	return vp8l_read(b, (uint32_t)(8 * (b->end - b->at) + b->buffer.count)) ? VP8L_EARLY
										: VP8L_COMPLETE;
}

enum vp8l_state vp8l_check(struct view *view, uint64_t *at, uint64_t end)
{
	struct vp8l_bits b = { .view = view, .at = *at, .end = end };
	struct vp8l_image image = { 0 };
	bool valid = vp8l_read_head(&b, &image, 0, 0) && decode_pixels(&b, &image);

	vp8l_image_free(&image);
	if (b.exhausted)
		return VP8L_UNKNOWN;
	*at = b.at - b.buffer.count / 8;
	if (!valid)
		return b.ended ? VP8L_CUT : VP8L_BROKEN;
	return vp8l_end(&b);
}
