/*
 * Bits from a cursor on, a byte's highest bit first, and the words of prefix codes: for video.
 */
#ifndef BURIN_CARVERS_COMMON_CURSOR_BITS_H
#define BURIN_CARVERS_COMMON_CURSOR_BITS_H

#include <stdbool.h>

#include "bits.h"
#include "cursor.h"

struct cursor_bits {
	struct cursor cursor;
	uint64_t end; /* where the last byte ends; after it all bits are zeros */
	struct msb_bits buffer;
};

/* One word of a prefix code: its bits, how many, its value. The last of a code has a length of 0. */
struct code_word {
	uint16_t bits;
	uint8_t len;
	uint8_t value;
};

/* Takes bytes from the cursor until the buffer is full. */
void cursor_bits_fill(struct cursor_bits *bits);

/* The next `count` bits, at most 32. */
static inline uint32_t cursor_bits_peek(struct cursor_bits *bits, int count)
{
	if (bits->buffer.count < count)
		cursor_bits_fill(bits);
	return msb_peek(&bits->buffer, count);
}

static inline uint32_t cursor_bits_take(struct cursor_bits *bits, int count)
{
	uint32_t value = cursor_bits_peek(bits, count);

	msb_skip(&bits->buffer, count);
	return value;
}

/* The bit that is next: counted from where the cursor counts bytes. */
static inline uint64_t cursor_bits_at(const struct cursor_bits *bits)
{
	return bits->cursor.at * 8 - (unsigned)bits->buffer.count;
}

/* Whether more bits were taken than there are. */
static inline bool cursor_bits_ran_out(const struct cursor_bits *bits)
{
	return cursor_bits_at(bits) > bits->end * 8;
}

/* Takes the next word of a code: its value, or -1. longest: the bits of the longest word. */
int cursor_bits_take_word(struct cursor_bits *bits, const struct code_word *words, int longest);

#endif
