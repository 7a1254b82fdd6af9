/* Bits and prefix codes of WebP's lossless coding: bits from the lowest of a byte up, codes from
 * their highest bit down. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_BITS_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_BITS_H

#include <stdbool.h>

#include "carver.h"
#include "prefix_code.h"

struct vp8l_bits {
	struct view *view;
	uint64_t at, end; /* the next byte to read; the end */
	struct lsb_bits buffer;
	uint64_t visits; /* pixels decoded */
	bool ended;      /* more bits were read than exist */
	bool exhausted;  /* too much work to continue */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	size_t window_most; /* bytes; 0: as many as can be */
};

/* Reads the next n bits, at most 24. Zeros after the end. */
uint32_t vp8l_read(struct vp8l_bits *b, uint32_t n);

/* Reads a code for symbols below `alphabet`. False when it is invalid, or the data ends. */
bool vp8l_read_code(struct vp8l_bits *b, struct prefix_code *code, uint32_t alphabet);

/* Reads the next symbol. */
uint32_t vp8l_decode(struct vp8l_bits *b, const struct prefix_code *code);

#endif
