#include "symbol_code.h"

#include <string.h>

uint32_t symbol_code_build(struct symbol_code *code, const uint8_t *lens, unsigned count)
{
	uint16_t next[SYMBOL_CODE_BITS + 2] = { 0 };
	uint32_t used = 0;

	memset(code->counts, 0, sizeof(code->counts));
	for (unsigned i = 0; i < count; i++)
		code->counts[lens[i]] += lens[i] > 0;
	for (unsigned len = 1; len <= SYMBOL_CODE_BITS; len++) {
		next[len + 1] = next[len] + code->counts[len];
		used += (uint32_t)code->counts[len] << (SYMBOL_CODE_BITS - len);
	}
	for (unsigned i = 0; i < count; i++)
		if (lens[i])
			code->symbols[next[lens[i]]++] = (uint16_t)i;
	return used;
}

int symbol_code_read(const struct symbol_code *code, struct cursor_bits *bits)
{
	uint32_t next = cursor_bits_peek(bits, SYMBOL_CODE_BITS), first = 0, word = 0;
	unsigned index = 0;

	for (int len = 1; len <= SYMBOL_CODE_BITS; len++) {
		word |= next >> (SYMBOL_CODE_BITS - len) & 1;
		if (word - first < code->counts[len]) {
			msb_skip(&bits->buffer, len);
			return code->symbols[index + word - first];
		}
		index += code->counts[len];
		first = (first + code->counts[len]) << 1;
		word <<= 1;
	}
	return -1;
}
