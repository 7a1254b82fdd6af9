/*
 * Bits of Huffman-coded data, read through a view: bytes FF 00 count as FF, and a marker ends the
 * data. Decoding spends its time in these few lines, so they are inline and load eight bytes at
 * once where none of them is FF.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_BITS_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_BITS_H

#include "bytes.h"
#include "jpeg.h"

/* Bits from coded data. acc has the next `count` bits at its top; below them it may have some of
 * the bits that follow. */
struct bits {
	struct view *view;
	const uint8_t *window;
	uint64_t window_at, size;
	size_t pos, len;
	uint64_t acc;
	int count; /* below 0: more were used than exist */
	bool at_marker, at_end;
};

/* Makes n (1 or 2) bytes at pos readable. False when the view ends before them. */
bool bits_ensure(struct bits *b, size_t n);

/* Refills byte by byte, at the edges of windows and around FF. */
void bits_refill_slowly(struct bits *b);

static inline bool bits_have_ff(uint64_t word)
{
	uint64_t inverted = ~word;

	return (inverted - 0x0101010101010101u) & word & 0x8080808080808080u;
}

/* Loads at least 32 bits, unless the data ends. */
static inline void bits_refill(struct bits *b)
{
	if (b->count >= 32 || b->at_marker || b->at_end)
		return;
	if (b->pos + 8 <= b->len) {
		uint64_t word = be64(b->window + b->pos);

		if (!bits_have_ff(word)) {
			b->acc |= word >> b->count;
			b->pos += (size_t)(63 - b->count) >> 3;
			b->count |= 56;
			return;
		}
	}
	bits_refill_slowly(b);
}

static inline void bits_skip(struct bits *b, int n)
{
	b->acc <<= n;
	b->count -= n;
}

/* The next n bits, up to 16; refill before. */
static inline uint32_t bits_take(struct bits *b, int n)
{
	uint32_t value = n ? (uint32_t)(b->acc >> (64 - n)) : 0;

	bits_skip(b, n);
	return value;
}

static inline uint64_t bits_offset(const struct bits *b)
{
	return (b->window_at + b->pos) * 8 - (uint64_t)(b->count > 0 ? b->count : 0);
}

/* Decodes the next code: its value, or -1. After it at least 16 bits can still be taken, if the
 * data has them. */
static inline int bits_decode(struct bits *b, const struct jpeg_table *table)
{
	uint16_t entry;
	uint32_t code;

	bits_refill(b);
	entry = table->fast[b->acc >> (64 - JPEG_FAST_BITS)];
	if (entry) {
		bits_skip(b, entry >> 8);
		return entry & 0xff;
	}
	code = (uint32_t)(b->acc >> 48);
	for (int bits = JPEG_FAST_BITS + 1; bits <= 16; bits++) {
		if (code < table->limit[bits]) {
			bits_skip(b, bits);
			return table->values[(table->first[bits] + (int32_t)(code >> (16 - bits))) &
					     0xff];
		}
	}
	return -1;
}

/* The offset of the next whole byte. */
static inline uint64_t bits_byte_offset(const struct bits *b)
{
	return b->window_at + b->pos - (uint64_t)(b->count > 0 ? b->count / 8 : 0);
}

#endif
