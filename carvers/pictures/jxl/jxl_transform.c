/*
 * Transforms of the modular mode (ISO/IEC 18181-1, H.6). Decoders undo them after decoding, which
 * is not needed here; but they determine which channels are coded, and at what size. Colour
 * transforms do not change them; a palette replaces some and adds one at the start; squeezing
 * halves some and adds as many for the residuals.
 */
#include <string.h>

#include "jxl_modular.h"

#define SMALL_SIDE 8

static const struct jxl_choice begins[4] = { { 3, 0 }, { 6, 8 }, { 10, 72 }, { 13, 1096 } };

struct squeeze {
	bool horizontal, in_place;
	uint32_t begin, count;
};

static bool equal_sizes(const struct jxl_channels *channels, uint32_t begin, uint32_t count)
{
	const struct jxl_channel *first;

	if (count > channels->count || begin > channels->count - count)
		return false;
	first = &channels->list[begin];
	for (uint32_t i = 1; i < count; i++)
		if (first[i].width != first->width || first[i].height != first->height ||
			first[i].shift_x != first->shift_x || first[i].shift_y != first->shift_y)
			return false;
	return true;
}

static bool insert(struct jxl_channels *channels, uint32_t at, const struct jxl_channel *channel)
{
	struct jxl_channel *place = &channels->list[at];

	if (channels->count == JXL_CHANNELS_MAX)
		return false;
	memmove(place + 1, place, (channels->count - at) * sizeof(*place));
	*place = *channel;
	channels->count++;
	return true;
}

static void read_colours(struct jxl_bits *bits, const struct jxl_channels *channels)
{
	static const struct jxl_choice types[4] = { { 0, 6 }, { 2, 0 }, { 4, 2 }, { 6, 10 } };
	uint32_t begin = jxl_bits_u32(bits, begins);

	jxl_bits_expect(bits, jxl_bits_u32(bits, types) < 42 && equal_sizes(channels, begin, 3));
}

static enum jxl_outcome read_palette(struct jxl_bits *bits, struct jxl_channels *channels)
{
	static const struct jxl_choice counts[4] = { { 0, 1 }, { 0, 3 }, { 0, 4 }, { 13, 1 } };
	static const struct jxl_choice colours[4] = { { 8, 0 }, { 10, 256 }, { 12, 1280 },
		{ 16, 5376 } };
	static const struct jxl_choice deltas[4] = { { 0, 0 }, { 8, 1 }, { 10, 257 },
		{ 16, 1281 } };
	uint32_t begin = jxl_bits_u32(bits, begins), count = jxl_bits_u32(bits, counts);
	struct jxl_channel palette = { .shift_x = -1, .shift_y = -1, .height = count };
	struct jxl_channel *first = &channels->list[begin < JXL_CHANNELS_MAX ? begin : 0];

	palette.width = jxl_bits_u32(bits, colours);
	palette.width += jxl_bits_u32(bits, deltas);
	jxl_bits_expect(bits, jxl_bits_read(bits, 4) < 14);
	if (!jxl_bits_ok(bits) || !equal_sizes(channels, begin, count))
		return JXL_BROKEN;
	if (begin < channels->meta_count) {
		if (begin + count > channels->meta_count)
			return JXL_BROKEN;
		channels->meta_count += 2 - count;
	} else {
		channels->meta_count++;
	}
	memmove(first + 1, first + count, (channels->count - begin - count) * sizeof(*first));
	channels->count -= count - 1;
	return insert(channels, 0, &palette) ? JXL_VALID : JXL_UNKNOWN;
}

static void halve(uint32_t *side, uint32_t *rest, int8_t *shift)
{
	uint32_t half = *side / 2 + *side % 2;

	*rest = *side - half;
	*side = half;
	if (*shift >= 0)
		++*shift;
}

static enum jxl_outcome apply_squeeze(struct jxl_channels *channels, const struct squeeze *squeeze)
{
	uint32_t end = squeeze->begin + squeeze->count, at;

	if (end > channels->count)
		return JXL_BROKEN;
	if (squeeze->begin < channels->meta_count) {
		if (end > channels->meta_count || !squeeze->in_place)
			return JXL_BROKEN;
		channels->meta_count += squeeze->count;
	}
	at = squeeze->in_place ? end : channels->count;
	for (uint32_t i = squeeze->begin; i < end; i++, at++) {
		struct jxl_channel *channel = &channels->list[i], rest;

		if (channel->shift_x > 30 || channel->shift_y > 30)
			return JXL_BROKEN;
		rest = *channel;
		if (squeeze->horizontal)
			halve(&channel->width, &rest.width, &channel->shift_x);
		else
			halve(&channel->height, &rest.height, &channel->shift_y);
		rest.shift_x = channel->shift_x;
		rest.shift_y = channel->shift_y;
		if (!insert(channels, at, &rest))
			return JXL_UNKNOWN;
	}
	return JXL_VALID;
}

/* The default squeezing: colour first, then all channels until they are small. */
static enum jxl_outcome squeeze_all(struct jxl_channels *channels)
{
	struct squeeze colour = { true, false, channels->meta_count + 1, 2 };
	struct squeeze all = { false, true, channels->meta_count,
		channels->count - channels->meta_count };
	const struct jxl_channel *first = &channels->list[channels->meta_count];
	enum jxl_outcome outcome = JXL_VALID;
	uint32_t sides[2];
	bool wide;

	if (channels->count == channels->meta_count)
		return JXL_BROKEN;
	sides[0] = first->height;
	sides[1] = first->width;
	wide = sides[1] > sides[0];
	if (all.count > 2 && first[1].width == first->width && first[1].height == first->height) {
		outcome = apply_squeeze(channels, &colour);
		colour.horizontal = false;
		if (outcome == JXL_VALID)
			outcome = apply_squeeze(channels, &colour);
	}
	all.horizontal = wide;
	while (outcome == JXL_VALID && (sides[0] > SMALL_SIDE || sides[1] > SMALL_SIDE)) {
		uint32_t *side = &sides[all.horizontal];

		if (*side > SMALL_SIDE) {
			*side = (*side + 1) / 2;
			outcome = apply_squeeze(channels, &all);
		}
		all.horizontal = !all.horizontal;
	}
	return outcome;
}

static enum jxl_outcome read_squeezes(struct jxl_bits *bits, struct jxl_channels *channels)
{
	static const struct jxl_choice counts[4] = { { 0, 0 }, { 4, 1 }, { 6, 9 }, { 8, 41 } };
	static const struct jxl_choice channel_counts[4] = { { 0, 1 }, { 0, 2 }, { 0, 3 },
		{ 4, 4 } };
	uint32_t count = jxl_bits_u32(bits, counts);
	enum jxl_outcome outcome = JXL_VALID;

	if (count == 0)
		return squeeze_all(channels);
	for (uint32_t i = 0; i < count && outcome == JXL_VALID && jxl_bits_ok(bits); i++) {
		struct squeeze squeeze;

		squeeze.horizontal = jxl_bits_bool(bits);
		squeeze.in_place = jxl_bits_bool(bits);
		squeeze.begin = jxl_bits_u32(bits, begins);
		squeeze.count = jxl_bits_u32(bits, channel_counts);
		outcome = apply_squeeze(channels, &squeeze);
	}
	return outcome;
}

enum jxl_outcome jxl_transforms_read(struct jxl_bits *bits, struct jxl_channels *channels)
{
	static const struct jxl_choice counts[4] = { { 0, 0 }, { 0, 1 }, { 4, 2 }, { 8, 18 } };
	enum { COLOURS, PALETTE, SQUEEZE };
	uint32_t count = jxl_bits_u32(bits, counts);
	enum jxl_outcome outcome = JXL_VALID;
	uint64_t moved;

	for (uint32_t i = 0; i < count && outcome == JXL_VALID; i++) {
		switch (jxl_bits_read(bits, 2)) {
		case COLOURS:
			read_colours(bits, channels);
			break;
		case PALETTE:
			outcome = read_palette(bits, channels);
			break;
		case SQUEEZE:
			outcome = read_squeezes(bits, channels);
			break;
		default:
			return JXL_BROKEN;
		}
		if (!jxl_bits_ok(bits))
			return JXL_BROKEN;
	}
	/* A few bytes move the list's channels many times. */
	moved = (uint64_t)channels->count * (channels->count / 4 + 4 * count);
	return view_work(bits->view, moved) ? outcome : JXL_UNKNOWN;
}
