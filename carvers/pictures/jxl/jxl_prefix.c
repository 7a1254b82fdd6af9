/*
 * Prefix codes of JPEG XL (ISO/IEC 18181-1, C.2.4), which are Brotli's (RFC 7932, 3.4 and 3.5):
 * either a list of up to four symbols, or the lengths of all codes, in a code of their own.
 */
#include "jxl_distribution.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH_SYMBOLS 18
#define REPEAT_LAST 16
#define REPEAT_ZERO 17
#define FULL (1 << PREFIX_CODE_LEN_MAX)
/* Chance makes two complete codes, the second described by the first, at most once in this many
 * bits. */
#define COMPLETE_PROOF 3

uint32_t jxl_prefix_next(struct jxl_bits *bits, const struct prefix_code *code)
{
	uint32_t symbol, len;

	jxl_bits_fill(bits, code->single ? 0 : PREFIX_CODE_LEN_MAX);
	symbol = prefix_code_find(code, &bits->held, &len);
	jxl_bits_read(bits, len);
	return symbol;
}

/* Reads a list of up to four symbols. Their codes have the lengths of one of five patterns. */
static bool read_listed(struct jxl_bits *bits, size_t alphabet, struct prefix_code *prefix)
{
	static const uint8_t patterns[5][4] = { { 1 }, { 1, 1 }, { 1, 2, 2 }, { 2, 2, 2, 2 },
		{ 1, 2, 3, 3 } };
	unsigned count = jxl_bits_read(bits, 2) + 1, pattern = count - 1;
	uint8_t *lens = calloc(alphabet, 1);
	uint32_t symbols[4];
	bool right = lens;

	if (!lens)
		view_no_memory(bits->view);
	for (unsigned i = 0; i < count && right; i++) {
		symbols[i] = jxl_bits_read(bits, jxl_bit_len((uint32_t)alphabet - 1));
		right = symbols[i] < alphabet && !lens[symbols[i]];
		if (right)
			lens[symbols[i]] = 1;
	}
	if (count == 4 && jxl_bits_bool(bits))
		pattern = 4;
	for (unsigned i = 0; i < count && right; i++)
		lens[symbols[i]] = patterns[pattern][i];
	right = right && prefix_code_build(bits->view, prefix, lens, alphabet);
	free(lens);
	return right;
}

/* Reads the code of the lengths. */
static bool read_length_code(struct jxl_bits *bits, unsigned skip, struct prefix_code *prefix)
{
	static const uint8_t order[LENGTH_SYMBOLS] = { 1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11,
		12, 13, 14, 15 };
	static const uint8_t two_bits[3] = { 0, 4, 3 };
	uint8_t lens[LENGTH_SYMBOLS] = { 0 };
	unsigned used = 0;
	int space = 32;

	for (unsigned i = skip; i < LENGTH_SYMBOLS && space > 0; i++) {
		unsigned len = jxl_bits_read(bits, 2);

		if (len < 3)
			len = two_bits[len];
		else if (!jxl_bits_bool(bits))
			len = 2;
		else
			len = jxl_bits_bool(bits) ? 5 : 1;
		lens[order[i]] = (uint8_t)len;
		if (len) {
			space -= 32 >> len;
			used++;
		}
	}
	return jxl_bits_ok(bits) && (used == 1 || space == 0) &&
	       prefix_code_build(bits->view, prefix, lens, LENGTH_SYMBOLS);
}

/* A length that is repeated: how often since another length came; repeats continue in base four or
 * eight. */
struct repeat {
	uint8_t len;
	uint32_t times;
};

static uint32_t repeat_more(struct jxl_bits *bits, struct repeat *repeat, uint8_t len, unsigned n)
{
	uint32_t before;

	if (repeat->len != len)
		repeat->times = 0;
	repeat->len = len;
	before = repeat->times;
	if (repeat->times)
		repeat->times = (repeat->times - 2) << n;
	repeat->times += jxl_bits_read(bits, n) + 3;
	return repeat->times - before;
}

static bool read_lengths(
	struct jxl_bits *bits, const struct prefix_code *code, size_t alphabet, uint8_t *lens)
{
	struct repeat repeat = { 0 };
	uint8_t last = 8;
	size_t at = 0;
	int64_t space = FULL;

	while (at < alphabet && space > 0 && jxl_bits_ok(bits)) {
		uint32_t symbol = jxl_prefix_next(bits, code), more = 1;
		uint8_t len = (uint8_t)symbol;

		if (symbol < REPEAT_LAST) {
			repeat.times = 0;
			if (len)
				last = len;
		} else {
			len = symbol == REPEAT_LAST ? last : 0;
			more = repeat_more(bits, &repeat, len, symbol - 14);
			if (more > alphabet - at)
				return false;
		}
		memset(lens + at, len, more);
		at += more;
		if (len)
			space -= (int64_t)more << (PREFIX_CODE_LEN_MAX - len);
	}
	return jxl_bits_ok(bits) && space == 0;
}

bool jxl_prefix_read(struct jxl_bits *bits, size_t alphabet, struct prefix_code *prefix)
{
	struct prefix_code code = { 0 };
	unsigned kind = alphabet > 1 ? jxl_bits_read(bits, 2) : 0;
	uint8_t *lens;
	bool right;

	if (kind == 1)
		return read_listed(bits, alphabet, prefix);
	lens = calloc(alphabet, 1);
	if (!lens)
		view_no_memory(bits->view);
	if (lens && alphabet == 1)
		lens[0] = 1;
	right = lens && (alphabet == 1 || (read_length_code(bits, kind, &code) &&
						  read_lengths(bits, &code, alphabet, lens)));
	right = right && prefix_code_build(bits->view, prefix, lens, alphabet);
	if (right && alphabet > 1)
		bits->proof += COMPLETE_PROOF;
	free(lens);
	prefix_code_free(&code);
	return right;
}
