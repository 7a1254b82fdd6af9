/*
 * Canonical prefix codes whose words are read from the highest bit, as LHA, ARJ and RAR have them: shorter words are smaller,
 * and those of a length are in order of their symbols.
 */
#ifndef BURIN_CARVERS_COMMON_SYMBOL_CODE_H
#define BURIN_CARVERS_COMMON_SYMBOL_CODE_H

#include "cursor_bits.h"

#define SYMBOL_CODE_BITS 16 /* of a word, at most */
#define SYMBOL_CODE_MAX 510 /* symbols */
#define SYMBOL_CODE_FULL (UINT32_C(1) << SYMBOL_CODE_BITS)

struct symbol_code {
	uint16_t counts[SYMBOL_CODE_BITS + 1]; /* of each length */
	uint16_t symbols[SYMBOL_CODE_MAX];     /* in order of their words */
};

/* lens: of each symbol's word, 0: it has none. Returns how much of the room for words is taken: SYMBOL_CODE_FULL is all, and more is
 * invalid. */
uint32_t symbol_code_build(struct symbol_code *code, const uint8_t *lens, unsigned count);
/* The next symbol, or -1. */
int symbol_code_read(const struct symbol_code *code, struct cursor_bits *bits);

#endif
