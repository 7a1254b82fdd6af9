/* Bits of bytes in memory, a byte's highest bit first: for frames of sound. */
#ifndef BURIN_CARVERS_COMMON_BYTE_BITS_H
#define BURIN_CARVERS_COMMON_BYTE_BITS_H

#include <stdint.h>

/* The 32 bits from bit `at` on; zeros from bit `end` on, but for the rest of its byte. */
static inline uint32_t byte_bits_peek(const uint8_t *bytes, uint64_t at, uint64_t end)
{
	uint64_t byte = at / 8, held = 0;

	for (int i = 0; i < 5; i++, byte++)
		held = held << 8 | (byte * 8 < end ? bytes[byte] : 0);
	return (uint32_t)(held >> (8 - at % 8));
}

#endif
