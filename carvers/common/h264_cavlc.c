/*
 * Elements of H.264's macroblocks by Exp-Golomb codes and CAVLC (ITU-T H.264, 9.1 and 9.2).
 */
#include "h264_decoder.h"

#define LEVEL_PREFIX_MAX 25

void h264_cavlc_type(struct h264_decoder *d, struct h264_type *type)
{
	static const uint8_t intra[] = { [H264_P] = 5, [H264_B] = 23, [H264_I] = 0 };
	uint32_t number = h264_ue(&d->bits);
	bool valid;

	if (number >= intra[d->kind])
		valid = h264_intra_type(number - intra[d->kind], type);
	else if (d->kind == H264_P)
		valid = h264_p_type(number, type);
	else
		valid = h264_b_type(number, type);
	if (!valid)
		d->invalid = true;
}

static unsigned take_word(struct h264_decoder *d, const struct h264_word *word)
{
	uint32_t ahead = h264_peek(&d->bits, 16);

	for (; word->len; word++)
		if (ahead >> (16 - word->len) == word->bits) {
			h264_take(&d->bits, word->len);
			return word->value;
		}
	d->invalid = true;
	return 0;
}

/* The table for coeff_token, by the blocks around (9.2.1). */
static unsigned tokens_of(const struct h264_decoder *d, enum h264_block kind, int index)
{
	int base = kind == H264_CHROMA_AC ? index & ~3 : 0, side = kind == H264_CHROMA_AC ? 2 : 4;
	int x = (index - base) % side, y = (index - base) / side;
	const struct h264_mb *left = x ? d->now : d->left, *top = y ? d->now : d->top;
	unsigned count = 0;

	if (kind == H264_CHROMA_DC)
		return H264_DC_TOKENS;
	if (left)
		count += left->coded[base + side * y + (x ? x - 1 : side - 1)];
	if (top)
		count += top->coded[base + side * (y ? y - 1 : side - 1) + x];
	if (left && top)
		count = (count + 1) / 2;
	return count < 2 ? 0 : count < 4 ? 1 : count < 8 ? 2 : 3;
}

/* 9.2.2: the levels after `ones` of magnitude 1. */
static void take_levels(struct h264_decoder *d, unsigned total, unsigned ones)
{
	unsigned suffix_len = total > 10 && ones < 3;

	h264_take(&d->bits, (int)ones);
	for (unsigned i = ones; i < total; i++) {
		uint32_t ahead = h264_peek(&d->bits, 32);
		unsigned prefix = ahead ? (unsigned)__builtin_clz(ahead) : 32, len = suffix_len;
		int64_t code;

		if (prefix > LEVEL_PREFIX_MAX) {
			d->invalid = true;
			return;
		}
		h264_take(&d->bits, (int)prefix + 1);
		if (prefix == 14 && !suffix_len)
			len = 4;
		if (prefix >= 15)
			len = prefix - 3;
		code = (int64_t)(prefix < 15 ? prefix : 15) << suffix_len;
		code += h264_take(&d->bits, (int)len);
		if (prefix >= 15 && !suffix_len)
			code += 15;
		if (prefix >= 16)
			code += (INT64_C(1) << (prefix - 3)) - 4096;
		if (i == ones && ones < 3)
			code += 2;
		if (!suffix_len)
			suffix_len = 1;
		if ((code + 2) / 2 > 3 << (suffix_len - 1) && suffix_len < 6)
			suffix_len++;
	}
}

unsigned h264_cavlc_block(struct h264_decoder *d, enum h264_block kind, int index)
{
	unsigned max = kind == H264_CHROMA_DC                        ? 4
		       : kind == H264_AC16 || kind == H264_CHROMA_AC ? 15
								     : 16;
	unsigned token = take_word(d, h264_tokens[tokens_of(d, kind, index)]);
	unsigned total = token / 4, zeros = 0;

	if (total > max)
		d->invalid = true;
	if (!total || d->invalid)
		return 0;
	take_levels(d, total, token % 4);
	if (total < max && !d->invalid)
		zeros = take_word(d,
			kind == H264_CHROMA_DC ? h264_dc_zeros[total - 1] : h264_zeros[total - 1]);
	if (total + zeros > max)
		d->invalid = true;
	for (unsigned i = 1; i < total && zeros && !d->invalid; i++) {
		unsigned run = take_word(d, h264_runs[zeros < 7 ? zeros - 1 : 6]);

		if (run > zeros)
			d->invalid = true;
		else
			zeros -= run;
	}
	return total;
}
