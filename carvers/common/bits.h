/*
 * Bit buffers for the readers of coded data, one for each order of bits in a byte. A reader adds
 * the source: it pushes bytes when the buffer runs low (JPEG's removes stuffing then, others read a
 * window or a cursor), and decides what the end of the data means. Decoders spend much of their
 * time here, so all of it is inline.
 */
#ifndef BURIN_CARVERS_COMMON_BITS_H
#define BURIN_CARVERS_COMMON_BITS_H

#include <stdint.h>

/* The highest bit of a byte first: JPEG, MPEG, FLAC. */
struct msb_bits {
	uint64_t held; /* the next `count` bits at the top; below them zeros, or bits that follow */
	int count;     /* below 0: more were taken than pushed */
};

/* Adds a byte. The buffer holds at most 56 bits before. */
static inline void msb_push(struct msb_bits *bits, uint8_t byte)
{
	bits->held |= (uint64_t)byte << (56 - bits->count);
	bits->count += 8;
}

/* The next n bits, at most 32. */
static inline uint32_t msb_peek(const struct msb_bits *bits, int n)
{
	return n ? (uint32_t)(bits->held >> (64 - n)) : 0;
}

/* Drops n bits, at most 63. */
static inline void msb_skip(struct msb_bits *bits, int n)
{
	bits->held <<= n;
	bits->count -= n;
}

static inline uint32_t msb_take(struct msb_bits *bits, int n)
{
	uint32_t value = msb_peek(bits, n);

	msb_skip(bits, n);
	return value;
}

/* The lowest bit of a byte first: JPEG XL, WebP. */
struct lsb_bits {
	uint64_t held; /* the next `count` bits at the bottom; above them zeros */
	uint32_t count;
};

/* Adds a byte. The buffer holds at most 56 bits before. */
static inline void lsb_push(struct lsb_bits *bits, uint8_t byte)
{
	bits->held |= (uint64_t)byte << bits->count;
	bits->count += 8;
}

/* The next n bits, at most 32; zeros where there are no more. */
static inline uint32_t lsb_peek(const struct lsb_bits *bits, uint32_t n)
{
	return (uint32_t)(bits->held & ((UINT64_C(1) << n) - 1));
}

/* Drops n bits, at most `count` and 63. */
static inline void lsb_skip(struct lsb_bits *bits, uint32_t n)
{
	bits->held >>= n;
	bits->count -= n;
}

#endif
