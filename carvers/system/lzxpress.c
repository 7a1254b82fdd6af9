/*
 * Each 64 KiB of output start with a table of their own: the lengths of 512 symbols' codes, 4 bits
 * each. Symbols up to 255 are bytes; the others have the bits of a match's distance and the start
 * of its length. Codes are read from words of 16 bits, of which the decoder reads two ahead, as the
 * encoder reserves them; longer lengths are bytes between the words. So the stream ends where the
 * decoder is when all output is there: the symbol 256 may follow, in the words already read.
 */
#include "lzxpress.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* Units of work (view_work) for a piece's table; a byte of output is one. */
#define TABLE_WORK 10000
#define SYMBOLS 512
#define TABLE_LEN (SYMBOLS / 2)
#define CODE_BITS 15
#define PIECE 65536 /* of output; also the maximum distance of a match */
#define WINDOW 4096 /* of input */

struct lzxpress {
	struct view *view;
	uint64_t at; /* the next byte of input */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	uint32_t bits;    /* the next ones, from the top */
	int extra;        /* how many more than 16 are valid */
	bool cut, marked; /* the end mark was there */
	uint64_t output_len;
	uint8_t *head; /* the first output */
	size_t head_len;
	uint8_t lens[SYMBOLS];
	uint16_t table[1 << CODE_BITS];
	uint8_t history[PIECE];
};

/* Reads the next len bytes; zeros past the view. */
static const uint8_t *read_bytes(struct lzxpress *lz, size_t len)
{
	static const uint8_t zeros[TABLE_LEN];
	uint64_t in = lz->at - lz->window_at;

	if (in > lz->window_len || lz->window_len - in < len) {
		uint64_t size = view_size(lz->view);
		size_t want =
			lz->at < size && size - lz->at < WINDOW ? (size_t)(size - lz->at) : WINDOW;

		lz->window =
			lz->at < size && want >= len ? view_peek(lz->view, lz->at, want) : NULL;
		lz->window_at = lz->at;
		lz->window_len = lz->window ? want : 0;
		in = 0;
	}
	if (!lz->window) {
		lz->cut = true;
		return zeros;
	}
	lz->at += len;
	return lz->window + in;
}

/* Reads the lengths of codes and makes the table: false when they are not a complete code. */
static bool read_table(struct lzxpress *lz)
{
	const uint8_t *p = read_bytes(lz, TABLE_LEN);
	uint32_t next = 0;

	for (int i = 0; i < SYMBOLS; i++)
		lz->lens[i] = p[i / 2] >> (i % 2 * 4) & 15;
	for (int len = 1; len <= CODE_BITS; len++) {
		for (int symbol = 0; symbol < SYMBOLS; symbol++) {
			uint32_t count = 1u << (CODE_BITS - len);

			if (lz->lens[symbol] != len)
				continue;
			if (next + count > 1u << CODE_BITS)
				return false;
			for (uint32_t i = 0; i < count; i++)
				lz->table[next + i] = (uint16_t)symbol;
			next += count;
		}
	}
	return next == 1u << CODE_BITS;
}

static void start_bits(struct lzxpress *lz)
{
	const uint8_t *p = read_bytes(lz, 4);

	lz->bits = (uint32_t)le16(p) << 16 | le16(p + 2);
	lz->extra = 16;
}

static void drop_bits(struct lzxpress *lz, int count)
{
	lz->bits = count < 32 ? lz->bits << count : 0;
	lz->extra -= count;
	if (lz->extra < 0) {
		lz->bits |= (uint32_t)le16(read_bytes(lz, 2)) << -lz->extra;
		lz->extra += 16;
	}
}

static void put_byte(struct lzxpress *lz, uint8_t byte)
{
	if (lz->output_len < lz->head_len)
		lz->head[lz->output_len] = byte;
	lz->history[lz->output_len++ % PIECE] = byte;
}

/* The rest of a match's length: false when it is impossible. */
static bool read_length(struct lzxpress *lz, uint64_t *len)
{
	if (*len == 15) {
		*len = *read_bytes(lz, 1);
		if (*len == 255) {
			*len = le16(read_bytes(lz, 2));
			if (*len == 0)
				*len = le32(read_bytes(lz, 4));
			if (*len < 15)
				return false;
			*len -= 15;
		}
		*len += 15;
	}
	*len += 3;
	return true;
}

/* Copies a match within the history. */
static bool copy_match(struct lzxpress *lz, uint32_t symbol, uint64_t limit)
{
	uint64_t len = symbol & 15;
	int distance_bits = symbol >> 4 & 15;
	uint32_t distance;

	if (!read_length(lz, &len))
		return false;
	distance = 1u << distance_bits;
	if (distance_bits)
		distance += lz->bits >> (32 - distance_bits);
	drop_bits(lz, distance_bits);
	if (distance > lz->output_len || len > limit - lz->output_len)
		return false;
	while (len--)
		put_byte(lz, lz->history[(lz->output_len - distance) % PIECE]);
	return true;
}

/* Decompresses up to the end of a piece. */
static enum lzxpress_state decompress_piece(struct lzxpress *lz, uint64_t limit)
{
	uint64_t piece_end = lz->output_len + PIECE < limit ? lz->output_len + PIECE : limit;

	if (!read_table(lz))
		return lz->cut ? LZXPRESS_CUT : LZXPRESS_BAD;
	start_bits(lz);
	while (lz->output_len < piece_end && !lz->cut) {
		uint32_t symbol = lz->table[lz->bits >> (32 - CODE_BITS)];

		drop_bits(lz, lz->lens[symbol]);
		if (symbol < 256)
			put_byte(lz, (uint8_t)symbol);
		else if (!copy_match(lz, symbol - 256, limit))
			return lz->cut ? LZXPRESS_CUT : LZXPRESS_BAD;
	}
	/* The end mark; its bits may be the first ones of another word. */
	if (lz->output_len == limit && !lz->cut) {
		lz->marked = lz->table[lz->bits >> (32 - CODE_BITS)] == 256;
		if (lz->marked)
			drop_bits(lz, lz->lens[256]);
	}
	return lz->cut ? LZXPRESS_CUT : LZXPRESS_DONE;
}

enum lzxpress_state lzxpress_walk(struct view *view, uint64_t at, uint64_t output_len,
	uint8_t *head, size_t head_len, uint64_t *end)
{
	struct lzxpress *lz = calloc(1, sizeof(*lz));
	enum lzxpress_state state = LZXPRESS_DONE;

	*end = at;
	if (!lz) {
		view_no_memory(view);
		return LZXPRESS_BAD;
	}
	lz->view = view;
	lz->at = at;
	lz->head = head;
	lz->head_len = head_len;
	while (state == LZXPRESS_DONE && lz->output_len < output_len) {
		uint64_t before = lz->output_len;

		state = decompress_piece(lz, output_len);
		if (!view_work(view, TABLE_WORK + lz->output_len - before))
			state = LZXPRESS_CUT;
		if (state == LZXPRESS_DONE || *end == at)
			*end = lz->at;
	}
	if (state == LZXPRESS_DONE && !lz->marked)
		state = LZXPRESS_UNMARKED;
	free(lz);
	return state;
}
