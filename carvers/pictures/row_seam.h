/*
 * Whether the rows of a picture go on where two pieces of its file meet. For decoders that give pixels row after row, by codes of
 * one or more pixels.
 */
#ifndef BURIN_CARVERS_PICTURES_ROW_SEAM_H
#define BURIN_CARVERS_PICTURES_ROW_SEAM_H

#include <stdint.h>

#define ROW_SEAM_COLOURS 3 /* bytes of a pixel */
#define ROW_SEAM_CODES 4096

struct row_seam {
	const uint8_t *colours; /* of `count` pixels */
	const uint16_t *codes;  /* of each, which code begins with it; ROW_SEAM_CODES: none does */
	uint64_t count;
	uint32_t width;
	uint64_t joint; /* the first pixel that a code after the joint gives, */
	uint64_t next;  /* and the first after the next one; UINT64_MAX: there is none */
};

/* The bits (struct carver). Takes no more work for a larger picture than for one of some ten thousand pixels. */
unsigned row_seam_bits(const struct row_seam *seam);

#endif
