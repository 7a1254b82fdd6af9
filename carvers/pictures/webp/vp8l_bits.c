/*
 * Prefix codes (RFC 9649, section 3.7.2): either one or two symbols, stored directly, or the length
 * of each symbol's code, which are themselves coded, by a code whose lengths are stored in a fixed
 * order. Codes are canonical. All of them have to be complete: every sequence of bits has a
 * meaning.
 */
#include "vp8l_bits.h"

#include <stdlib.h>
#include <string.h>

#include "walk.h"

#define LENGTH_CODES 19
#define ALPHABET_MAX (256 + 24 + 2048)

static void refill(struct vp8l_bits *b)
{
	while (b->count <= 48 && b->at < b->end) {
		if (b->at < b->window_at || b->at >= b->window_at + b->window_len) {
			b->window = walk_window(b->view, b->at, b->end, &b->window_len);
			b->window_at = b->at;
			if (!b->window) {
				b->window_len = 0;
				b->end = b->at;
				return;
			}
		}
		b->bits |= (uint64_t)b->window[b->at - b->window_at] << b->count;
		b->count += 8;
		b->at++;
	}
}

static void skip_bits(struct vp8l_bits *b, uint32_t n)
{
	if (n > b->count) {
		b->ended = true;
		b->bits = 0;
		b->count = 0;
		return;
	}
	b->bits >>= n;
	b->count -= n;
}

uint32_t vp8l_read(struct vp8l_bits *b, uint32_t n)
{
	uint32_t value;

	if (b->count < n)
		refill(b);
	value = (uint32_t)b->bits & ((1u << n) - 1);
	skip_bits(b, n);
	return value;
}

uint32_t vp8l_decode(struct vp8l_bits *b, const struct vp8l_code *code)
{
	uint32_t value = 0, first = 0, index = 0;
	uint16_t entry;

	if (code->single)
		return code->only;
	if (b->count < VP8L_CODE_LEN_MAX)
		refill(b);
	entry = code->fast[b->bits & ((1u << VP8L_FAST_BITS) - 1)];
	if (entry) {
		skip_bits(b, entry >> 12);
		return entry & 0xfff;
	}
	for (uint32_t len = 1; len <= VP8L_CODE_LEN_MAX; len++) {
		value |= (uint32_t)(b->bits >> (len - 1)) & 1;
		if (value - first < code->counts[len]) {
			skip_bits(b, len);
			return code->symbols[index + value - first];
		}
		index += code->counts[len];
		first = (first + code->counts[len]) << 1;
		value <<= 1;
	}
	b->ended = true; /* not for a complete code */
	return 0;
}

/* Enters a code into the fast table, at its bits in reverse. */
static void fill_fast(struct vp8l_code *code, uint32_t value, uint32_t len, uint16_t symbol)
{
	uint32_t turned = 0;

	for (uint32_t i = 0; i < len; i++)
		turned |= (value >> i & 1) << (len - 1 - i);
	for (uint32_t i = turned; i < 1u << VP8L_FAST_BITS; i += 1u << len)
		code->fast[i] = (uint16_t)(len << 12 | symbol);
}

/* Builds a code from its symbols' lengths. False when it is not complete. */
static bool build(struct vp8l_code *code, const uint8_t *lens, uint32_t alphabet)
{
	uint32_t used = 0, room = 0, value = 0, index = 0;

	for (uint32_t i = 0; i < alphabet; i++) {
		if (!lens[i])
			continue;
		code->counts[lens[i]]++;
		room += 1u << (VP8L_CODE_LEN_MAX - lens[i]);
		code->only = (uint16_t)i;
		used++;
	}
	code->single = used == 1;
	if (code->single)
		return true;
	if (room != 1u << VP8L_CODE_LEN_MAX)
		return false;
	code->symbols = calloc(used, sizeof(*code->symbols));
	if (!code->symbols)
		return false;
	for (uint32_t len = 1; len <= VP8L_CODE_LEN_MAX; len++, value <<= 1) {
		if (!code->counts[len])
			continue;
		for (uint32_t i = 0; i < alphabet; i++) {
			if (lens[i] != len)
				continue;
			code->symbols[index++] = (uint16_t)i;
			if (len <= VP8L_FAST_BITS)
				fill_fast(code, value, len, (uint16_t)i);
			value++;
		}
	}
	return true;
}

/* Reads the lengths of all symbols' codes, which are coded with `code`. */
static bool read_lens(
	struct vp8l_bits *b, const struct vp8l_code *code, uint8_t *lens, uint32_t alphabet)
{
	uint32_t most = alphabet, before = 8;

	if (vp8l_read(b, 1))
		most = 2 + vp8l_read(b, 2 + 2 * vp8l_read(b, 3));
	if (most > alphabet)
		return false;
	for (uint32_t i = 0; i < alphabet && most--;) {
		uint32_t symbol = vp8l_decode(b, code), count = 1, len = symbol;

		if (symbol == 16) {
			count = 3 + vp8l_read(b, 2);
			len = before;
		} else if (symbol > 16) {
			count = symbol == 17 ? 3 + vp8l_read(b, 3) : 11 + vp8l_read(b, 7);
			len = 0;
		} else if (symbol) {
			before = symbol;
		}
		if (count > alphabet - i || b->ended)
			return false;
		memset(lens + i, (int)len, count);
		i += count;
	}
	return true;
}

static bool read_simple(struct vp8l_bits *b, uint8_t *lens, uint32_t alphabet)
{
	uint32_t count = 1 + vp8l_read(b, 1), first = vp8l_read(b, vp8l_read(b, 1) ? 8 : 1), second;

	if (first >= alphabet)
		return false;
	lens[first] = 1;
	if (count == 2) {
		second = vp8l_read(b, 8);
		if (second >= alphabet)
			return false;
		lens[second] = 1;
	}
	return true;
}

bool vp8l_read_code(struct vp8l_bits *b, struct vp8l_code *code, uint32_t alphabet)
{
	static const uint8_t order[LENGTH_CODES] = { 17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10,
		11, 12, 13, 14, 15 };
	uint8_t lens[ALPHABET_MAX] = { 0 }, length_lens[LENGTH_CODES] = { 0 };
	struct vp8l_code lengths = { 0 };
	uint32_t count;
	bool valid;

	if (vp8l_read(b, 1))
		return read_simple(b, lens, alphabet) && !b->ended && build(code, lens, alphabet);
	count = 4 + vp8l_read(b, 4);
	for (uint32_t i = 0; i < count; i++)
		length_lens[order[i]] = (uint8_t)vp8l_read(b, 3);
	valid = build(&lengths, length_lens, LENGTH_CODES) &&
		read_lens(b, &lengths, lens, alphabet) && !b->ended;
	free(lengths.symbols);
	return valid && build(code, lens, alphabet);
}
