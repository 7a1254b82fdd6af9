/* Bits and prefix codes of WebP's lossless coding: the lowest bit of a byte first, codes from their
 * highest bit on. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_BITS_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_BITS_H

#include <stdbool.h>

#include "carver.h"

#define VP8L_FAST_BITS 8
#define VP8L_CODE_LEN_MAX 15

struct vp8l_bits {
	struct view *view;
	uint64_t at, end; /* the next byte to be read; behind the last */
	uint64_t bits;
	uint32_t count;  /* of bits that wait */
	uint64_t visits; /* pixels that were looked at */
	bool ended;      /* more bits were asked for than there are */
	bool tired;      /* too much to go on */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
};

struct vp8l_code {
	uint16_t counts[VP8L_CODE_LEN_MAX + 1]; /* of codes of each length */
	uint16_t fast[1 << VP8L_FAST_BITS]; /* by the next bits: length << 12 | symbol; 0: a longer
					       code */
	uint16_t *symbols;                  /* in order of their codes; owned */
	uint16_t only;                      /* the one symbol of a code without bits */
	bool single;
};

/* The next n bits, at most 24. Zeros behind the end. */
uint32_t vp8l_take(struct vp8l_bits *b, uint32_t n);

/* Reads a code for symbols below `alphabet`: false when it is none, or the data ends. */
bool vp8l_read_code(struct vp8l_bits *b, struct vp8l_code *code, uint32_t alphabet);

/* The next symbol. */
uint32_t vp8l_take_code(struct vp8l_bits *b, const struct vp8l_code *code);

#endif
