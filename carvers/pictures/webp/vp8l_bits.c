/*
 * Prefix codes (RFC 9649, section 3.7.2): either one or two symbols, stored directly, or the length
 * of each symbol's code, which are themselves coded, by a code whose lengths are stored in a fixed
 * order. Codes are canonical. All of them have to be complete: every sequence of bits has a
 * meaning.
 */
#include "vp8l_bits.h"

#include <string.h>

#include "walk.h"

#define LENGTH_CODES 19
#define ALPHABET_MAX (256 + 24 + 2048)

static void refill(struct vp8l_bits *b)
{
	while (b->buffer.count <= 48 && b->at < b->end) {
		if (b->at < b->window_at || b->at >= b->window_at + b->window_len) {
			uint64_t left = b->end - b->at;

			if (b->window_most && left > b->window_most)
				left = b->window_most;
			b->window = walk_window(b->view, b->at, b->at + left, &b->window_len);
			b->window_at = b->at;
			if (!b->window) {
				b->window_len = 0;
				b->end = b->at;
				return;
			}
		}
		lsb_push(&b->buffer, b->window[b->at - b->window_at]);
		b->at++;
	}
}

static void skip_bits(struct vp8l_bits *b, uint32_t n)
{
	if (n > b->buffer.count) {
		b->ended = true;
		b->buffer.held = 0;
		b->buffer.count = 0;
		return;
	}
	lsb_skip(&b->buffer, n);
}

uint32_t vp8l_read(struct vp8l_bits *b, uint32_t n)
{
	uint32_t value;

	if (b->buffer.count < n)
		refill(b);
	value = lsb_peek(&b->buffer, n);
	skip_bits(b, n);
	return value;
}

uint32_t vp8l_decode(struct vp8l_bits *b, const struct prefix_code *code)
{
	uint32_t symbol, len;

	if (b->buffer.count < PREFIX_CODE_LEN_MAX)
		refill(b);
	symbol = prefix_code_find(code, &b->buffer, &len);
	skip_bits(b, len);
	return symbol;
}

/* Reads the lengths of all symbols' codes, which are coded with `code`. */
static bool read_lens(
	struct vp8l_bits *b, const struct prefix_code *code, uint8_t *lens, uint32_t alphabet)
{
	uint32_t left = alphabet, before = 8;

	if (vp8l_read(b, 1))
		left = 2 + vp8l_read(b, 2 + 2 * vp8l_read(b, 3));
	if (left > alphabet)
		return false;
	for (uint32_t i = 0; i < alphabet && left--;) {
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

bool vp8l_read_code(struct vp8l_bits *b, struct prefix_code *code, uint32_t alphabet)
{
	static const uint8_t order[LENGTH_CODES] = { 17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10,
		11, 12, 13, 14, 15 };
	uint8_t lens[ALPHABET_MAX] = { 0 }, length_lens[LENGTH_CODES] = { 0 };
	struct prefix_code lengths = { 0 };
	uint32_t count;
	bool valid;

	if (vp8l_read(b, 1))
		return read_simple(b, lens, alphabet) && !b->ended &&
		       prefix_code_build(b->view, code, lens, alphabet);
	count = 4 + vp8l_read(b, 4);
	for (uint32_t i = 0; i < count; i++)
		length_lens[order[i]] = (uint8_t)vp8l_read(b, 3);
	valid = prefix_code_build(b->view, &lengths, length_lens, LENGTH_CODES) &&
		read_lens(b, &lengths, lens, alphabet) && !b->ended;
	prefix_code_free(&lengths);
	return valid && prefix_code_build(b->view, code, lens, alphabet);
}
