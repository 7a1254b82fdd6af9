/*
 * Canonical prefix codes of at most 15 bits in data whose bytes are read from the lowest bit up, as
 * in WebP and JPEG XL (both took them from Brotli and deflate). Codes are read from their highest
 * bit down.
 */
#ifndef BURIN_CARVERS_COMMON_PREFIX_CODE_H
#define BURIN_CARVERS_COMMON_PREFIX_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "bits.h"
#include "carver.h"

#define PREFIX_CODE_LEN_MAX 15
#define PREFIX_CODE_FAST_BITS 8

struct prefix_code {
	uint16_t counts[PREFIX_CODE_LEN_MAX + 1];  /* number of codes of each length */
	uint16_t fast[1 << PREFIX_CODE_FAST_BITS]; /* by the next bits: length << 12 | symbol;
						      0: a longer code, or a larger symbol */
	uint16_t *symbols;                         /* in order of their codes; owned */
	uint16_t only;                             /* the single symbol of a code without bits */
	bool single;
};

/* Builds a code from the lengths of the codes of `count` symbols (at most 65,536), 0 for those
 * without. A single symbol takes no bits. *code is zero before. False when the code is not complete
 * (every sequence of bits must have a meaning), the check has to end (view_work), or out of memory
 * (view_no_memory). */
bool prefix_code_build(
	struct view *view, struct prefix_code *code, const uint8_t *lens, size_t count);

void prefix_code_free(struct prefix_code *code);

/* The symbol of a code that is longer than PREFIX_CODE_FAST_BITS; *len is its length. */
uint32_t prefix_code_find_long(
	const struct prefix_code *code, const struct lsb_bits *bits, uint32_t *len);

/* The symbol of the next code in bits, which holds PREFIX_CODE_LEN_MAX bits unless the data ends;
 * *len is its length, which the caller skips. */
static inline uint32_t prefix_code_find(
	const struct prefix_code *code, const struct lsb_bits *bits, uint32_t *len)
{
	uint16_t entry;

	*len = 0;
	if (code->single)
		return code->only;
	entry = code->fast[bits->held & ((1u << PREFIX_CODE_FAST_BITS) - 1)];
	if (!entry)
		return prefix_code_find_long(code, bits, len);
	*len = entry >> 12;
	return entry & 0xfff;
}

#endif
