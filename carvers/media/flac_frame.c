/*
 * A frame of FLAC (RFC 9639, 9): a header with a CRC-8, one subframe a channel, padding to a byte,
 * a CRC-16 of it all. Its length is not stored: the subframes have to be read bit by bit. A
 * subframe has a type and perhaps wasted bits, then
 *
 *	constant: a sample; verbatim: all of them;
 *	fixed, linear prediction: the first samples (as many as the predictor's order), of the
 *	        latter its coefficients, then the rest's differences in partitions of Rice codes.
 *
 * The samples themselves are not needed.
 */
#include "flac_frame.h"

#include "bits.h"
#include "cursor.h"
#include "crc16.h"
#include "walk.h"

/* Units of work (view_work) for a coded byte, which may hold eight samples. */
#define BYTE_WORK 5
#define HEADER_MAX 16
/* No sample's code has this many zeros: 32 bits with the smallest useful parameter. */
#define ZEROS_MAX (1u << 22)

struct flac_bits {
	struct cursor cursor; /* after the bytes in `buffer` */
	struct msb_bits buffer;
	bool over; /* the view ended */
};

struct flac_shape {
	uint32_t sample_count;
	unsigned channels, depth;
	unsigned side; /* the channel with one more bit; none: channels */
};

static __attribute__((noinline)) void fill_buffer(struct flac_bits *bits)
{
	struct msb_bits buffer = bits->buffer;

	while (buffer.count <= 56) {
		int byte = cursor_next(&bits->cursor);

		if (byte < 0)
			break;
		msb_push(&buffer, (uint8_t)byte);
	}
	bits->buffer = buffer;
}

/* The next count bits, at most 32. */
static uint32_t take_bits(struct flac_bits *bits, unsigned count)
{
	if (bits->buffer.count < (int)count)
		fill_buffer(bits);
	if (bits->buffer.count < (int)count) {
		bits->over = true;
		return 0;
	}
	return msb_take(&bits->buffer, (int)count);
}

static void skip_bits(struct flac_bits *bits, uint64_t count)
{
	for (; count && !bits->over; count -= count < 32 ? count : 32)
		take_bits(bits, count < 32 ? (unsigned)count : 32);
}

/* Takes zeros and the one that ends them. ZEROS_MAX: too many, or the view ended. */
static uint32_t take_zeros(struct flac_bits *bits)
{
	uint32_t zeros = 0;

	while (zeros < ZEROS_MAX) {
		if (!bits->buffer.count)
			fill_buffer(bits);
		if (!bits->buffer.count)
			break;
		if (bits->buffer.held) {
			int more = __builtin_clzll(bits->buffer.held);

			msb_skip(&bits->buffer, more);
			msb_skip(&bits->buffer, 1);
			return zeros + (unsigned)more;
		}
		zeros += (unsigned)bits->buffer.count;
		bits->buffer.count = 0;
	}
	bits->over |= zeros < ZEROS_MAX;
	return ZEROS_MAX;
}

static bool skip_partition(struct flac_bits *bits, unsigned width, uint32_t count)
{
	unsigned parameter = take_bits(bits, width);

	if (parameter == (1u << width) - 1) {
		skip_bits(bits, (uint64_t)take_bits(bits, 5) * count);
		return !bits->over;
	}
	while (count--) {
		if (take_zeros(bits) == ZEROS_MAX)
			return false;
		take_bits(bits, parameter);
	}
	return !bits->over;
}

static bool skip_residual(struct flac_bits *bits, const struct flac_shape *shape, unsigned order)
{
	unsigned method = take_bits(bits, 2), partitions = 1u << take_bits(bits, 4);
	uint32_t each = shape->sample_count / partitions;

	if (bits->over || method > 1 || shape->sample_count % partitions || each < order)
		return false;
	for (unsigned i = 0; i < partitions; i++)
		if (!skip_partition(bits, 4 + method, each - (i ? 0 : order)))
			return false;
	return true;
}

static bool skip_subframe(struct flac_bits *bits, const struct flac_shape *shape, unsigned depth)
{
	uint32_t head = take_bits(bits, 8);
	unsigned type = head >> 1, order;

	if (bits->over || head & 0x80)
		return false;
	if (head & 1) {
		uint32_t wasted = take_zeros(bits) + 1;

		if (wasted >= depth)
			return false;
		depth -= wasted;
	}
	if (type == 0) {
		skip_bits(bits, depth);
	} else if (type == 1) {
		skip_bits(bits, (uint64_t)depth * shape->sample_count);
	} else if (type >= 8 && type <= 12) {
		order = type - 8;
		skip_bits(bits, (uint64_t)order * depth);
		return order <= shape->sample_count && skip_residual(bits, shape, order);
	} else if (type >= 32) {
		unsigned precision;

		order = type - 31;
		skip_bits(bits, (uint64_t)order * depth);
		precision = take_bits(bits, 4) + 1;
		skip_bits(bits, 5 + (uint64_t)order * precision);
		return precision < 16 && order <= shape->sample_count &&
		       skip_residual(bits, shape, order);
	} else {
		return false;
	}
	return !bits->over;
}

static uint8_t crc8(const uint8_t *p, size_t len)
{
	unsigned crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc << 1 ^ (crc & 0x80 ? 0x107 : 0)) & 0xff;
	}
	return (uint8_t)crc;
}

/* Reads a number of up to 36 bits, coded like UTF-8; its length, or 0. */
static size_t read_number(const uint8_t *p, uint64_t *number)
{
	size_t len = 1;

	if (p[0] < 0x80) {
		*number = p[0];
		return 1;
	}
	while (len < 8 && p[0] << len & 0x80)
		len++;
	if (len < 2 || len > 7)
		return 0;
	*number = len == 7 ? 0 : p[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*number = *number << 6 | (p[i] & 0x3f);
	}
	return len;
}

/* The header's length, or 0 if it is invalid. */
static size_t read_header(
	const uint8_t *p, unsigned depth, struct flac_shape *shape, struct flac_frame *frame)
{
	static const uint8_t depths[8] = { 0, 8, 12, 0, 16, 20, 24, 32 };
	unsigned size = p[2] >> 4, rate = p[2] & 15, channels = p[3] >> 4;
	size_t len;

	if (p[0] != 0xff || (p[1] & 0xfe) != 0xf8 || !size || rate == 15 || channels > 10 ||
		p[3] & 1 || (p[3] >> 1 & 7) == 3)
		return 0;
	len = read_number(p + 4, &frame->number);
	if (!len)
		return 0;
	len += 4;
	frame->counts_samples = p[1] & 1;
	shape->depth = p[3] >> 1 & 7 ? depths[p[3] >> 1 & 7] : depth;
	shape->channels = channels < 8 ? channels + 1 : 2;
	shape->side = channels < 8 ? shape->channels : channels == 9 ? 0 : 1;
	if (size == 6)
		shape->sample_count = p[len] + 1u;
	else if (size == 7)
		shape->sample_count = (p[len] << 8 | p[len + 1]) + 1u;
	else
		shape->sample_count = size == 1  ? 192
				      : size < 6 ? 576u << (size - 2)
						 : 256u << (size - 8);
	len += size == 6 ? 1 : size == 7 ? 2 : 0;
	len += rate == 12 ? 1 : rate > 12 ? 2 : 0;
	frame->sample_count = shape->sample_count;
	return crc8(p, len) == p[len] ? len + 1 : 0;
}

enum flac_state flac_frame_read(
	struct view *view, uint64_t at, unsigned depth, struct flac_frame *frame)
{
	struct flac_bits bits = { .cursor = { .view = view } };
	uint64_t size = view_size(view);
	uint8_t head[HEADER_MAX + 1] = { 0 };
	struct flac_shape shape;
	size_t len;

	for (len = 0; len < HEADER_MAX && at + len < size; len++) {
		const uint8_t *p = view_peek(view, at + len, 1);

		if (!p)
			break;
		head[len] = *p;
	}
	len = read_header(head, depth, &shape, frame);
	if (!len || at + len > size)
		return at < size && size - at < HEADER_MAX ? FLAC_CUT : FLAC_NONE;
	bits.cursor.at = at + len;
	for (unsigned i = 0; i < shape.channels; i++) {
		uint64_t before = bits.cursor.at;
		bool valid = skip_subframe(&bits, &shape, shape.depth + (i == shape.side));

		if (!view_work(view, (bits.cursor.at - before) * BYTE_WORK))
			return FLAC_CUT;
		if (!valid)
			return bits.over ? FLAC_CUT : FLAC_CORRUPT;
	}
	frame->end = bits.cursor.at - (unsigned)bits.buffer.count / 8 + 2;
	if (frame->end > size)
		return FLAC_CUT;
	return crc16_holds(view, at, frame->end) ? FLAC_INTACT : FLAC_CORRUPT;
}
