/*
 * CRC-32 as arithmetic: a register is a polynomial over GF(2) modulo zlib's, with the lowest bit of a
 * byte first, so that a byte of zeros multiplies it by x^8, which can be undone, and the registers of
 * parts of some bytes add up (by exclusive or) to that of the whole. A CRC of the other order of bits
 * is the same after all bytes and the register were reversed.
 */
#ifndef BURIN_ASSEMBLE_CRC_ALGEBRA_H
#define BURIN_ASSEMBLE_CRC_ALGEBRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order of a byte's bits: as zlib's CRC has it, or as Ogg's. */
enum crc_order { CRC_LOWEST_FIRST, CRC_HIGHEST_FIRST, CRC_ORDERS };

/* Multiplication by a constant. */
struct crc_factor {
	uint32_t table[4][256];
};

uint32_t crc_reverse(uint32_t value);
/* The product of two registers. */
uint32_t crc_multiply(uint32_t a, uint32_t b);
/* What multiplies a register as len bytes of zeros do, or as if that many had not been there. */
uint32_t crc_zeros(uint64_t len);
uint32_t crc_zeros_undone(uint64_t len);
void crc_factor_init(struct crc_factor *factor, uint32_t value);
/* The register after len bytes, from 0 on. Reverses the bytes in place where their order asks for it. */
uint32_t crc_of(enum crc_order order, uint8_t *bytes, size_t len);

static inline uint32_t crc_by_factor(const struct crc_factor *factor, uint32_t value)
{
	return factor->table[0][value & 255] ^ factor->table[1][value >> 8 & 255] ^
	       factor->table[2][value >> 16 & 255] ^ factor->table[3][value >> 24];
}

#endif
