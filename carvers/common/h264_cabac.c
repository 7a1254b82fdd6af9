/*
 * Elements of H.264's macroblocks by CABAC (ITU-T H.264, 9.3).
 */
#include "h264_decoder.h"

/* Longer codes than any valid number has: of motion, of a level. */
#define MVD_BITS_MAX 18
#define LEVEL_BITS_MAX 20
#define DELTA_MAX 52

static inline void read_byte(struct h264_decoder *d)
{
	d->cabac.value = d->cabac.value << 8 | h264_byte(&d->bits);
	d->cabac.ahead += 8;
}

static inline struct cabac *refill(struct h264_decoder *d)
{
	while (d->cabac.ahead < CABAC_AHEAD)
		read_byte(d);
	return &d->cabac;
}

static unsigned decode(struct h264_decoder *d, unsigned context)
{
	return cabac_bin(refill(d), &d->states[context]);
}

static unsigned bypass(struct h264_decoder *d)
{
	return cabac_bypass(refill(d));
}

bool h264_cabac_terminates(struct h264_decoder *d)
{
	return cabac_terminates(refill(d));
}

/* Begins with 9 bits (9.3.1.2), and what was looked at already. */
static void begin(struct h264_decoder *d)
{
	d->cabac = (struct cabac){ .ahead = -CABAC_BEGIN, .range = CABAC_RANGE };
	while (d->bits.bits.count >= 8) {
		d->cabac.value = d->cabac.value << 8 | h264_take(&d->bits, 8);
		d->cabac.ahead += 8;
	}
	refill(d);
}

void h264_cabac_open(struct h264_decoder *d)
{
	const int8_t(*table)[2] = h264_contexts[d->kind == H264_I ? 0 : 1 + d->cabac_init];
	int qp = (int)d->qp;

	for (unsigned i = 0; i < H264_CONTEXTS; i++) {
		int state = (table[i][0] * qp >> 4) + table[i][1];

		d->states[i] = cabac_state(state);
	}
	begin(d);
}

/* The last bit of the nine that were read ends the unit (9.3.1.2): zeros follow it in its byte. But x264 sets the byte's last
 * bit in some pictures. */
bool h264_cabac_ends(struct h264_decoder *d)
{
	int ahead;

	refill(d);
	while (!d->bits.missing && d->cabac.ahead < 48)
		read_byte(d);
	ahead = d->cabac.ahead - 8 * (int)d->bits.missing;
	return d->bits.missing && ahead >= 0 && ahead < 8 && d->bits.last >> ahead & 1 &&
	       (d->bits.last & ((1 << ahead) - 1)) < 2;
}

void h264_cabac_pcm(struct h264_decoder *d, unsigned len)
{
	unsigned held = (unsigned)d->cabac.ahead / 8;

	if (d->bits.missing)
		d->invalid = true;
	for (unsigned i = held; i < len && !d->bits.missing; i++)
		h264_byte(&d->bits);
	begin(d);
}

bool h264_cabac_skip(struct h264_decoder *d)
{
	unsigned context = d->kind == H264_B ? 24 : 11;

	context += d->left && d->left->kind != H264_SKIPPED;
	context += d->top && d->top->kind != H264_SKIPPED;
	return decode(d, context);
}

/* first: the context of the first bin; rest: of those after it. */
static void intra_type(
	struct h264_decoder *d, unsigned first, unsigned rest, bool alone, struct h264_type *type)
{
	unsigned number;

	if (!decode(d, first)) {
		h264_intra_type(0, type);
		return;
	}
	if (h264_cabac_terminates(d)) {
		h264_intra_type(25, type);
		return;
	}
	number = 1 + 12 * decode(d, rest);
	if (decode(d, rest + 1))
		number += 4 + 4 * decode(d, rest + 1 + alone);
	number += 2 * decode(d, rest + 2 + alone);
	number += decode(d, rest + 2 + 2 * alone);
	h264_intra_type(number, type);
}

static unsigned b_number(struct h264_decoder *d)
{
	unsigned first = 27, bits;

	first += d->left && d->left->kind != H264_SKIPPED && d->left->kind != H264_DIRECT;
	first += d->top && d->top->kind != H264_SKIPPED && d->top->kind != H264_DIRECT;
	if (!decode(d, first))
		return 0;
	if (!decode(d, 27 + 3))
		return 1 + decode(d, 27 + 5);
	bits = decode(d, 27 + 4) << 3;
	bits |= decode(d, 27 + 5) << 2;
	bits |= decode(d, 27 + 5) << 1;
	bits |= decode(d, 27 + 5);
	switch (bits) {
	case 13:
		return 23;
	case 14:
		return 11;
	case 15:
		return 22;
	}
	if (bits < 8)
		return bits + 3;
	bits = bits << 1 | decode(d, 27 + 5);
	return bits - 4;
}

void h264_cabac_type(struct h264_decoder *d, struct h264_type *type)
{
	unsigned number;

	if (d->kind == H264_I) {
		number = 3;
		number += d->left && d->left->kind != H264_I_NXN;
		number += d->top && d->top->kind != H264_I_NXN;
		intra_type(d, number, 3 + 3, true, type);
	} else if (d->kind == H264_P) {
		if (decode(d, 14)) {
			intra_type(d, 17, 17 + 1, false, type);
			return;
		}
		if (decode(d, 15))
			h264_p_type(2 - decode(d, 17), type);
		else
			h264_p_type(3 * decode(d, 16), type);
	} else {
		number = b_number(d);
		if (number == 23)
			intra_type(d, 32, 32 + 1, false, type);
		else
			h264_b_type(number, type);
	}
}

unsigned h264_cabac_sub_type(struct h264_decoder *d)
{
	unsigned number = 3;

	if (d->kind == H264_P) {
		if (decode(d, 21))
			return 0;
		if (!decode(d, 22))
			return 1;
		return decode(d, 23) ? 2 : 3;
	}
	if (!decode(d, 36))
		return 0;
	if (!decode(d, 37))
		return 1 + decode(d, 39);
	if (decode(d, 38)) {
		if (decode(d, 39))
			return 11 + decode(d, 39);
		number += 4;
	}
	number += 2 * decode(d, 39);
	number += decode(d, 39);
	return number;
}

unsigned h264_cabac_ref(struct h264_decoder *d, int list, int x, int y)
{
	const struct h264_mb *left = x ? d->now : d->left, *top = y ? d->now : d->top;
	unsigned context = 0, ref = 0;

	if (left && left->refs[list] >> ((x ? x - 1 : 1) + 2 * y) & 1)
		context++;
	if (top && top->refs[list] >> (x + 2 * (y ? y - 1 : 1)) & 1)
		context += 2;
	while (decode(d, 54 + context)) {
		context = (context >> 2) + 4;
		if (++ref >= d->refs[list]) {
			d->invalid = true;
			return 0;
		}
	}
	return ref;
}

/* One component. Returns its magnitude, limited. */
static uint8_t mvd(struct h264_decoder *d, unsigned context, unsigned around)
{
	unsigned value = 1, bits = 3;

	if (!decode(d, context + (around > 2) + (around > 32)))
		return 0;
	context += 3;
	while (value < 9 && decode(d, context)) {
		if (value < 4)
			context++;
		value++;
	}
	if (value == 9) {
		while (bypass(d)) {
			value += 1u << bits++;
			if (bits > MVD_BITS_MAX) {
				d->invalid = true;
				return 0;
			}
		}
		while (bits--)
			value += bypass(d) << bits;
	}
	bypass(d);
	return (uint8_t)(value < 100 ? value : 100);
}

void h264_cabac_mvd(struct h264_decoder *d, int list, int x, int y, uint8_t vector[2])
{
	const struct h264_mb *left = x ? d->now : d->left, *top = y ? d->now : d->top;
	const uint8_t *a = left ? left->mvd[list][(x ? x - 1 : 3) + 4 * y] : NULL;
	const uint8_t *b = top ? top->mvd[list][x + 4 * (y ? y - 1 : 3)] : NULL;

	for (int i = 0; i < 2; i++)
		vector[i] = mvd(d, i ? 47 : 40, (a ? a[i] : 0u) + (b ? b[i] : 0u));
}

void h264_cabac_intra_mode(struct h264_decoder *d)
{
	if (decode(d, 68))
		return;
	for (int i = 0; i < 3; i++)
		decode(d, 69);
}

unsigned h264_cabac_chroma_mode(struct h264_decoder *d)
{
	unsigned context = 64;

	context += d->left && d->left->chroma_mode;
	context += d->top && d->top->chroma_mode;
	if (!decode(d, context))
		return 0;
	if (!decode(d, 64 + 3))
		return 1;
	return 2 + decode(d, 64 + 3);
}

unsigned h264_cabac_pattern(struct h264_decoder *d)
{
	unsigned left = d->left ? d->left->pattern : 15, top = d->top ? d->top->pattern : 15;
	unsigned pattern = 0, context = 77;

	pattern |= decode(d, 73 + !(left & 2) + 2 * !(top & 4));
	pattern |= decode(d, 73 + !(pattern & 1) + 2 * !(top & 8)) << 1;
	pattern |= decode(d, 73 + !(left & 8) + 2 * !(pattern & 1)) << 2;
	pattern |= decode(d, 73 + !(pattern & 4) + 2 * !(pattern & 2)) << 3;
	context += (left >> 4 != 0) + 2 * (top >> 4 != 0);
	if (!decode(d, context))
		return pattern;
	context = 77 + 4 + (left >> 4 == 2) + 2 * (top >> 4 == 2);
	return pattern | (decode(d, context) ? 0x20 : 0x10);
}

bool h264_cabac_is_8x8(struct h264_decoder *d)
{
	return decode(d, 399 + (d->left && d->left->is_8x8) + (d->top && d->top->is_8x8));
}

int h264_cabac_delta(struct h264_decoder *d)
{
	unsigned context = d->had_delta;
	int value = 0;

	while (decode(d, 60 + context)) {
		context = 2 + (context >> 1);
		if (++value > DELTA_MAX) {
			d->invalid = true;
			return 0;
		}
	}
	if (value == DELTA_MAX - 1)
		d->invalid = true;
	return value & 1 ? value / 2 + 1 : -(value / 2);
}

/* Whether a neighbour's block is coded: of a macroblock that is not there as 9.3.3.1.1.9 infers. */
static unsigned coded(const struct h264_decoder *d, const struct h264_mb *mb, int index, int dc)
{
	if (!mb)
		return h264_is_intra(d->now);
	return dc >= 0 ? mb->dc >> dc & 1 : mb->coded[index] != 0;
}

static unsigned coded_around(const struct h264_decoder *d, enum h264_block kind, int index)
{
	int dc = kind == H264_DC16 ? 0 : kind == H264_CHROMA_DC ? 1 + index : -1;
	int base = 0, side = 4, x, y;
	const struct h264_mb *left, *top;

	if (kind == H264_CHROMA_AC) {
		base = index & ~3;
		side = 2;
	}
	x = dc >= 0 ? 0 : (index - base) % side;
	y = dc >= 0 ? 0 : (index - base) / side;
	left = x ? d->now : d->left;
	top = y ? d->now : d->top;
	return coded(d, left, base + side * y + (x ? x - 1 : side - 1), dc) +
	       2 * coded(d, top, base + side * (y ? y - 1 : side - 1) + x, dc);
}

static void levels(struct h264_decoder *d, enum h264_block kind, unsigned count)
{
	static const uint16_t firsts[] = { 227, 237, 247, 257, 266, 426 };
	unsigned first = firsts[kind], ones = 1, larger = 0;

	while (count--) {
		unsigned context = first + (larger ? 0 : ones), value = 1, bits = 0;
		unsigned limit = kind == H264_CHROMA_DC ? 3 : 4;

		if (decode(d, context)) {
			context = first + 5 + (larger < limit ? larger : limit);
			value = 2;
			while (value < 15 && decode(d, context))
				value++;
			if (value == 15) {
				while (bypass(d))
					if (++bits > LEVEL_BITS_MAX) {
						d->invalid = true;
						return;
					}
				while (bits--)
					bypass(d);
			}
			larger++;
		} else if (ones < 4) {
			ones++;
		}
		bypass(d);
	}
}

unsigned h264_cabac_block(struct h264_decoder *d, enum h264_block kind, int index)
{
	static const uint8_t flags[] = { 85, 89, 93, 97, 101 };
	static const uint8_t lens[] = { 16, 15, 16, 4, 15, 64 };
	static const uint16_t significants[2][6] = { { 105, 120, 134, 149, 152, 402 },
		{ 277, 292, 306, 321, 324, 436 } };
	static const uint16_t lasts[2][6] = { { 166, 181, 195, 210, 213, 417 },
		{ 338, 353, 367, 382, 385, 451 } };
	unsigned significant = significants[d->field][kind], last = lasts[d->field][kind];
	unsigned count = 0, i;

	if (kind != H264_8X8 && !decode(d, flags[kind] + coded_around(d, kind, index)))
		return 0;
	for (i = 0; i + 1 < lens[kind]; i++) {
		unsigned at = kind == H264_8X8         ? h264_significant_8x8[d->field][i]
			      : kind == H264_CHROMA_DC ? (i < 2 ? i : 2)
						       : i;

		if (!decode(d, significant + at))
			continue;
		count++;
		if (kind == H264_8X8)
			at = h264_last_8x8[i];
		if (decode(d, last + at))
			break;
	}
	if (i + 1 == lens[kind])
		count++;
	levels(d, kind, count);
	return 1;
}
