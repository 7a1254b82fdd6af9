/* Bits and prefix codes of WebP's lossless coding: bits from the lowest of a byte up, codes from
 * their highest bit down. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_BITS_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_BITS_H

#include <stdbool.h>

#include "carver.h"

#define VP8L_FAST_BITS 8
#define VP8L_CODE_LEN_MAX 15

struct vp8l_bits {
	struct view *view;
	uint64_t at, end; /* the next byte to read; the end */
	uint64_t bits;
	uint32_t count;  /* of bits loaded */
	uint64_t visits; /* pixels decoded */
	bool ended;      /* more bits were read than exist */
	bool exhausted;  /* too much work to continue */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
};

struct vp8l_code {
	uint16_t counts[VP8L_CODE_LEN_MAX + 1]; /* number of codes of each length */
	uint16_t fast[1 << VP8L_FAST_BITS];     /* by the next bits: length << 12 | symbol; 0: a
                                               longer code */
	uint16_t *symbols;                      /* in order of their codes; owned */
	uint16_t only;                          /* the single symbol of a code without bits */
	bool single;
};

/* Reads the next n bits, at most 24. Zeros after the end. */
uint32_t vp8l_read(struct vp8l_bits *b, uint32_t n);

/* Reads a code for symbols below `alphabet`. False when it is invalid, or the data ends. */
bool vp8l_read_code(struct vp8l_bits *b, struct vp8l_code *code, uint32_t alphabet);

/* Reads the next symbol. */
uint32_t vp8l_decode(struct vp8l_bits *b, const struct vp8l_code *code);

#endif
