/*
 * A frame of FLAC (RFC 9639, 9): a header with a CRC-8, one subframe a channel, padding to a byte,
 * a CRC-16 of it all. Its length is not stored: the subframes have to be read bit by bit. A
 * subframe has a type and perhaps wasted bits, then
 *
 *	constant: a sample; verbatim: all of them;
 *	fixed, linear prediction: the first samples (as many as the predictor's order), of the
 *	        latter its coefficients, then the rest's differences in partitions of Rice codes.
 *
 * The samples themselves are only needed for their MD5; what is read is the same without them.
 */
#include "flac_frame.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "cursor.h"
#include "crc16.h"
#include "walk.h"

/* Units of work (view_work) for a coded byte, which may hold eight samples. */
#define BYTE_WORK 5
#define HEADER_MAX 16
#define SKIP_WINDOW 4096
/* No sample's code has this many zeros: 32 bits with the smallest useful parameter. */
#define ZEROS_MAX (1u << 22)
/* Units for a sample that is decoded: one, and for so many that it is predicted from one more. */
#define ORDER_WORK 8
#define ORDER_MAX 32

struct flac_bits {
	struct cursor cursor; /* after the bytes in `buffer` */
	struct msb_bits buffer;
	bool over; /* the view ended */
};

struct flac_shape {
	uint32_t sample_count;
	unsigned channels, depth;
	unsigned side; /* the channel with one more bit; none: channels */
	unsigned stereo;
};

/* How two channels are stored. */
enum { LEFT_SIDE = 8, SIDE_RIGHT = 9 }; /* else the middle and the side */

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

/* A number with a sign, of at most 33 bits. */
static int64_t take_signed(struct flac_bits *bits, unsigned count)
{
	uint64_t value = 0;

	if (!count)
		return 0;
	if (count > 32)
		value = (uint64_t)take_bits(bits, count - 32) << 32;
	value |= take_bits(bits, count < 32 ? count : 32);
	return (int64_t)(value << (64 - count)) >> (64 - count);
}

/* Numbers of as many bits each. values: NULL, or where they go. */
static void read_plain(struct flac_bits *bits, unsigned depth, uint32_t count, int64_t *values)
{
	if (!values)
		skip_bits(bits, (uint64_t)depth * count);
	for (uint32_t i = 0; values && i < count && !bits->over; i++)
		values[i] = take_signed(bits, depth);
}

static bool read_partition(struct flac_bits *bits, unsigned width, uint32_t count, int64_t *values)
{
	unsigned parameter = take_bits(bits, width);

	if (parameter == (1u << width) - 1) {
		read_plain(bits, take_bits(bits, 5), count, values);
		return !bits->over;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t high = take_zeros(bits), value;

		if (high == ZEROS_MAX)
			return false;
		value = high << parameter | take_bits(bits, parameter);
		if (values)
			values[i] = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
	}
	return !bits->over;
}

static bool read_residual(
	struct flac_bits *bits, const struct flac_shape *shape, unsigned order, int64_t *values)
{
	unsigned method = take_bits(bits, 2), partitions = 1u << take_bits(bits, 4);
	uint32_t each = shape->sample_count / partitions;

	if (bits->over || method > 1 || shape->sample_count % partitions || each < order)
		return false;
	for (unsigned i = 0; i < partitions; i++) {
		uint32_t from = i ? i * each : order, to = (i + 1) * each;

		if (!read_partition(bits, 4 + method, to - from, values ? values + from : NULL))
			return false;
	}
	return true;
}

static bool fits(int64_t value, unsigned depth)
{
	return value >= -((int64_t)1 << (depth - 1)) && value < (int64_t)1 << (depth - 1);
}

/* How samples follow from those before. */
struct predictor {
	unsigned order, shift;
	int64_t factors[ORDER_MAX]; /* that of the sample before first */
};

/* Adds what is predicted to the differences after the first samples. False: a sample has more than depth bits. */
static bool predict(
	const struct predictor *predictor, unsigned depth, uint32_t count, int64_t *values)
{
	for (uint32_t i = 0; i < count; i++) {
		int64_t sum = 0;

		for (unsigned k = 0; i >= predictor->order && k < predictor->order; k++)
			sum += predictor->factors[k] * values[i - 1 - k];
		if (values[i] > INT32_MAX * (int64_t)4 || values[i] < INT32_MIN * (int64_t)4)
			return false;
		values[i] += sum >> predictor->shift;
		if (!fits(values[i], depth))
			return false;
	}
	return true;
}

static const struct predictor fixed[] = {
	{ 0 },
	{ 1, 0, { 1 } },
	{ 2, 0, { 2, -1 } },
	{ 3, 0, { 3, -3, 1 } },
	{ 4, 0, { 4, -6, 4, -1 } },
};

/* A subframe of the channel with these samples, or, if values is NULL, past it. valid: cleared when its samples are not
 * right, which matters only to them. */
static bool read_subframe(struct flac_bits *bits, const struct flac_shape *shape, unsigned depth,
	int64_t *values, bool *valid)
{
	uint32_t head = take_bits(bits, 8), count = shape->sample_count, wasted = 0;
	struct predictor predictor = { 0 };
	unsigned type = head >> 1;

	if (bits->over || head & 0x80)
		return false;
	if (head & 1) {
		wasted = take_zeros(bits) + 1;
		if (wasted >= depth)
			return false;
		depth -= wasted;
	}
	if (type == 0) {
		read_plain(bits, depth, 1, values);
		for (uint32_t i = 1; values && i < count; i++)
			values[i] = values[0];
	} else if (type == 1) {
		read_plain(bits, depth, count, values);
	} else if (type >= 8 && type <= 12) {
		predictor = fixed[type - 8];
		if (predictor.order > count)
			return false;
		read_plain(bits, depth, predictor.order, values);
		if (!read_residual(bits, shape, predictor.order, values))
			return false;
	} else if (type >= 32) {
		unsigned precision;

		predictor.order = type - 31;
		if (predictor.order > count)
			return false;
		read_plain(bits, depth, predictor.order, values);
		precision = take_bits(bits, 4) + 1;
		predictor.shift = take_bits(bits, 5);
		read_plain(bits, precision, predictor.order, values ? predictor.factors : NULL);
		if (predictor.shift > 15) /* none shifts to the left */
			*valid = false;
		if (precision > 15 || !read_residual(bits, shape, predictor.order, values))
			return false;
	} else {
		return false;
	}
	if (bits->over)
		return false;
	if (values && *valid)
		*valid = predict(&predictor, depth, count, values);
	for (uint32_t i = 0; wasted && values && i < count; i++)
		values[i] *= (int64_t)1 << wasted;
	return true;
}

/* From what two channels are stored as to left and right. */
static void separate(const struct flac_shape *shape, struct flac_samples *samples)
{
	int64_t *first = samples->values, *second = first + samples->count;

	for (uint32_t i = 0; shape->stereo >= LEFT_SIDE && i < samples->count; i++) {
		int64_t middle = first[i] * 2 + (second[i] & 1);

		if (shape->stereo == LEFT_SIDE) {
			second[i] = first[i] - second[i];
		} else if (shape->stereo == SIDE_RIGHT) {
			first[i] += second[i];
		} else {
			first[i] = (middle + second[i]) >> 1;
			second[i] = (middle - second[i]) >> 1;
		}
	}
}

/* Room for a frame's samples. False: memory ran out, or the budget is spent. */
static bool get_room(
	struct view *view, const struct flac_shape *shape, struct flac_samples *samples)
{
	size_t count = (size_t)shape->channels * shape->sample_count;

	samples->channels = shape->channels;
	samples->count = shape->sample_count;
	samples->valid = true;
	if (!view_work(view, count * (1 + ORDER_MAX / ORDER_WORK)))
		return false;
	if (count <= samples->capacity)
		return true;
	free(samples->values);
	samples->values = malloc(count * sizeof(*samples->values));
	samples->capacity = samples->values ? count : 0;
	if (!samples->values)
		view_no_memory(view);
	return samples->values;
}

void flac_samples_free(struct flac_samples *samples)
{
	free(samples->values);
	*samples = (struct flac_samples){ 0 };
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
	shape->side = channels < 8 ? shape->channels : channels == SIDE_RIGHT ? 0 : 1;
	shape->stereo = channels;
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

/* Reads a frame's header. The first bytes of a subframe follow it. */
static enum flac_state read_head(struct view *view, uint64_t at, unsigned depth,
	struct flac_shape *shape, struct flac_frame *frame)
{
	uint64_t size = view_size(view);
	uint8_t head[HEADER_MAX + 1] = { 0 };
	size_t len;

	for (len = 0; len < HEADER_MAX && at + len < size; len++) {
		const uint8_t *p = view_peek(view, at + len, 1);

		if (!p)
			break;
		head[len] = *p;
	}
	frame->head_len = 0;
	len = read_header(head, depth, shape, frame);
	if (!len || at + len > size)
		return at < size && size - at < HEADER_MAX ? FLAC_CUT : FLAC_NONE;
	frame->head_len = len;
	return FLAC_INTACT;
}

enum flac_state flac_frame_read(struct view *view, uint64_t at, unsigned depth,
	struct flac_frame *frame, struct flac_samples *samples)
{
	struct flac_bits bits = { .cursor = { .view = view } };
	uint64_t size = view_size(view);
	struct flac_shape shape;
	enum flac_state state = read_head(view, at, depth, &shape, frame);

	if (state != FLAC_INTACT)
		return state;
	bits.cursor.at = at + frame->head_len;
	if (samples && !get_room(view, &shape, samples))
		return FLAC_CUT;
	for (unsigned i = 0; i < shape.channels; i++) {
		uint64_t before = bits.cursor.at;
		int64_t *values = samples ? samples->values + (size_t)i * shape.sample_count : NULL;
		bool decodes = true;
		bool valid = read_subframe(
			&bits, &shape, shape.depth + (i == shape.side), values, &decodes);

		if (!view_work(view, (bits.cursor.at - before) * BYTE_WORK))
			return FLAC_CUT;
		if (!valid)
			return bits.over ? FLAC_CUT : FLAC_CORRUPT;
		if (samples)
			samples->valid &= decodes;
	}
	if (samples && samples->valid)
		separate(&shape, samples);
	frame->end = bits.cursor.at - (unsigned)bits.buffer.count / 8 + 2;
	if (frame->end > size)
		return FLAC_CUT;
	return crc16_holds(view, at, frame->end) ? FLAC_INTACT : FLAC_CORRUPT;
}

/* Whether `next` follows a frame that ends where it begins. */
static bool follows(struct view *view, uint64_t at, const struct flac_frame *frame, uint64_t end,
	const struct flac_frame *next)
{
	return next->counts_samples == frame->counts_samples &&
	       next->number - frame->number == (frame->counts_samples ? frame->sample_count : 1) &&
	       crc16_holds(view, at, end);
}

enum flac_state flac_frame_skip(
	struct view *view, uint64_t at, unsigned depth, uint64_t most, struct flac_frame *frame)
{
	struct flac_shape shape;
	enum flac_state state = read_head(view, at, depth, &shape, frame);
	uint64_t size = view_size(view), end = at + most + 2, from;
	uint8_t sync;

	if (state != FLAC_INTACT)
		return state;
	sync = frame->counts_samples ? 0xf9 : 0xf8;
	end = end < size ? end : size;
	for (from = at + frame->head_len; from + 2 <= end; from += SKIP_WINDOW) {
		size_t len = end - from < SKIP_WINDOW + 1 ? (size_t)(end - from) : SKIP_WINDOW + 1;
		const uint8_t *p = view_peek(view, from, len), *found;

		for (size_t i = 0; p && i + 1 < len; i++) {
			struct flac_frame next;

			found = memchr(p + i, 0xff, len - 1 - i);
			if (!found)
				break;
			i = (size_t)(found - p);
			if (found[1] != sync)
				continue;
			if (read_head(view, from + i, depth, &shape, &next) == FLAC_INTACT &&
				follows(view, at, frame, from + i, &next)) {
				frame->end = from + i;
				return FLAC_INTACT;
			}
			p = view_peek(view, from, len);
		}
		if (!p)
			return FLAC_CUT;
	}
	return end == size ? FLAC_CUT : FLAC_CORRUPT;
}
