/*
 * Bits of Huffman-coded data, read through a view: bytes FF 00 count as FF, and a marker ends the
 * data. Decoding spends its time in these few lines, so they are inline and load eight bytes at
 * once where none of them is FF.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_BITS_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_BITS_H

#include "bits.h"
#include "bytes.h"
#include "jpeg.h"

/* Units of work (view_work) for a byte of coded data, besides the one that its peek counts: it is
 * decoded in about 26 ns. */
#define JPEG_BYTE_WORK 5

struct jpeg_bits {
	struct view *view;
	const uint8_t *window;
	uint64_t window_at, size;
	size_t pos, len;
	struct msb_bits buffer; /* its count below 0: more were used than exist */
	bool at_marker, at_end;
};

/* Makes n (1 or 2) bytes at pos readable. False when the view ends before them. */
bool jpeg_bits_ensure(struct jpeg_bits *b, size_t n);

/* Refills byte by byte, at the edges of windows and around FF. */
void jpeg_bits_refill_slowly(struct jpeg_bits *b);

static inline bool jpeg_bits_have_ff(uint64_t word)
{
	uint64_t inverted = ~word;

	return (inverted - 0x0101010101010101u) & word & 0x8080808080808080u;
}

/* Loads at least 32 bits, unless the data ends. */
static inline void jpeg_bits_refill(struct jpeg_bits *b)
{
	if (b->buffer.count >= 32 || b->at_marker || b->at_end)
		return;
	if (b->pos + 8 <= b->len) {
		uint64_t word = be64(b->window + b->pos);

		if (!jpeg_bits_have_ff(word)) {
			b->buffer.held |= word >> b->buffer.count;
			b->pos += (size_t)(63 - b->buffer.count) >> 3;
			b->buffer.count |= 56;
			return;
		}
	}
	jpeg_bits_refill_slowly(b);
}

/* The next n bits, up to 16; refill before. */
static inline uint32_t jpeg_bits_take(struct jpeg_bits *b, int n)
{
	return msb_take(&b->buffer, n);
}

static inline uint64_t jpeg_bits_offset(const struct jpeg_bits *b)
{
	return (b->window_at + b->pos) * 8 - (uint64_t)(b->buffer.count > 0 ? b->buffer.count : 0);
}

/* Decodes the next code: its value, or -1. After it at least 16 bits can still be taken, if the
 * data has them. */
static inline int jpeg_bits_decode(struct jpeg_bits *b, const struct jpeg_table *table)
{
	uint16_t entry;
	uint32_t code;

	jpeg_bits_refill(b);
	entry = table->fast[b->buffer.held >> (64 - JPEG_FAST_BITS)];
	if (entry) {
		msb_skip(&b->buffer, entry >> 8);
		return entry & 0xff;
	}
	code = (uint32_t)(b->buffer.held >> 48);
	for (int bits = JPEG_FAST_BITS + 1; bits <= 16; bits++) {
		if (code < table->limit[bits]) {
			msb_skip(&b->buffer, bits);
			return table->values[(table->first[bits] + (int32_t)(code >> (16 - bits))) &
					     0xff];
		}
	}
	return -1;
}

/* The offset of the next whole byte. */
static inline uint64_t jpeg_bits_byte_offset(const struct jpeg_bits *b)
{
	return b->window_at + b->pos - (uint64_t)(b->buffer.count > 0 ? b->buffer.count / 8 : 0);
}

#endif
