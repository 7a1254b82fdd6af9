/*
 * The self-correcting predictor (ISO/IEC 18181-1, H.5): four predictions, three of which are
 * corrected by the errors of their neighbours' predictions, weighted by the recent errors of each.
 * Samples have three more bits here. The arithmetic is that of the specification, so that the
 * results are the same as other decoders'; it wraps where hostile samples make numbers too large.
 */
#include "jxl_weighted.h"

#include <stdlib.h>
#include <string.h>

#define MORE_BITS 3
#define HALF_BELOW 3

void jxl_weighted_read(struct jxl_bits *bits, struct jxl_weighted *weighted)
{
	static const uint8_t factors[7] = { 16, 10, 7, 7, 7, 0, 0 };
	static const uint8_t weights[JXL_WEIGHTED] = { 13, 12, 12, 12 };
	bool usual = jxl_bits_bool(bits);

	memset(weighted, 0, sizeof(*weighted));
	for (unsigned i = 0; i < 7; i++)
		weighted->factors[i] = usual ? factors[i] : (int32_t)jxl_bits_read(bits, 5);
	for (unsigned i = 0; i < JXL_WEIGHTED; i++)
		weighted->weights[i] = usual ? weights[i] : jxl_bits_read(bits, 4);
}

void jxl_weighted_free(struct jxl_weighted *weighted)
{
	for (unsigned i = 0; i < JXL_WEIGHTED; i++) {
		free(weighted->errors[i]);
		weighted->errors[i] = NULL;
	}
	free(weighted->differences);
	weighted->differences = NULL;
}

bool jxl_weighted_begin(struct jxl_weighted *weighted, uint32_t width)
{
	size_t len = 2 * ((size_t)width + 2);
	bool right;

	jxl_weighted_free(weighted);
	weighted->width = width;
	weighted->differences = calloc(len, sizeof(*weighted->differences));
	right = weighted->differences;
	for (unsigned i = 0; i < JXL_WEIGHTED; i++) {
		weighted->errors[i] = calloc(len, sizeof(*weighted->errors[i]));
		right = right && weighted->errors[i];
	}
	return right;
}

static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static uint32_t weight(uint64_t error, uint32_t factor)
{
	unsigned len = 64 - (unsigned)__builtin_clzll(error + 1), shift = len > 6 ? len - 6 : 0;
	uint32_t by = (uint32_t)(error >> shift) + 1;

	return 4 + ((factor * ((1u << 24) / by)) >> shift);
}

/* The weighted average of the predictions. */
static int64_t average(const int64_t *guesses, uint32_t *weights)
{
	uint32_t sum = 0;
	unsigned shift;
	uint64_t total;

	for (unsigned i = 0; i < JXL_WEIGHTED; i++)
		sum += weights[i];
	shift = jxl_bit_len(sum) - 5;
	sum = 0;
	for (unsigned i = 0; i < JXL_WEIGHTED; i++) {
		weights[i] >>= shift;
		sum += weights[i];
	}
	total = (sum >> 1) - 1;
	for (unsigned i = 0; i < JXL_WEIGHTED; i++)
		total += (uint64_t)guesses[i] * weights[i];
	return times((int64_t)total, (1 << 24) / sum) >> 24;
}

static int64_t largest(int64_t a, int64_t b)
{
	return llabs(b) > llabs(a) ? b : a;
}

int64_t jxl_weighted_predict(struct jxl_weighted *weighted, uint32_t x, uint32_t y,
	const struct jxl_around *around, int32_t *error)
{
	uint32_t row = weighted->width + 2, here = y & 1 ? 0 : row, above = (y & 1 ? row : 0) + x;
	uint32_t right = x + 1 < weighted->width ? above + 1 : above, left = x ? above - 1 : above;
	const int32_t *differences = weighted->differences, *f = weighted->factors;
	int64_t n = around->n * 8, w = around->w * 8, ne = around->ne * 8, nw = around->nw * 8;
	int64_t nn = around->nn * 8, low, high;
	int64_t of_w = x ? differences[here + x - 1] : 0, of_n = differences[above];
	int64_t of_nw = differences[left], of_ne = differences[right];
	uint32_t weights[JXL_WEIGHTED];

	for (unsigned i = 0; i < JXL_WEIGHTED; i++) {
		const uint32_t *errors = weighted->errors[i];

		weights[i] = errors[above] + errors[right] + errors[left];
		weights[i] = weight(weights[i], weighted->weights[i]);
	}
	*error = (int32_t)largest(largest(largest(of_w, of_n), of_nw), of_ne);
	weighted->guesses[0] = w + ne - n;
	weighted->guesses[1] = n - (((of_w + of_n + of_ne) * f[0]) >> 5);
	weighted->guesses[2] = w - (((of_w + of_n + of_nw) * f[1]) >> 5);
	weighted->guesses[3] =
		n -
		((of_nw * f[2] + of_n * f[3] + of_ne * f[4] + (nn - n) * f[5] + (nw - w) * f[6]) >>
			5);
	weighted->guess = average(weighted->guesses, weights);
	if (((of_n ^ of_w) | (of_n ^ of_nw)) <= 0) {
		low = w < ne ? w : ne;
		low = low < n ? low : n;
		high = w > ne ? w : ne;
		high = high > n ? high : n;
		if (weighted->guess > high)
			weighted->guess = high;
		if (weighted->guess < low)
			weighted->guess = low;
	}
	return (weighted->guess + HALF_BELOW) >> MORE_BITS;
}

void jxl_weighted_learn(struct jxl_weighted *weighted, uint32_t x, uint32_t y, int32_t value)
{
	uint32_t row = weighted->width + 2, here = (y & 1 ? 0 : row) + x;
	uint32_t above = (y & 1 ? row : 0) + x;
	int64_t fine = (int64_t)value * 8;

	weighted->differences[here] = (int32_t)(weighted->guess - fine);
	for (unsigned i = 0; i < JXL_WEIGHTED; i++) {
		int64_t error = (llabs(weighted->guesses[i] - fine) + HALF_BELOW) >> MORE_BITS;

		weighted->errors[i][here] = (uint32_t)error;
		weighted->errors[i][above + 1] += (uint32_t)error;
	}
}
