/*
 * CRC-32 as arithmetic: a register is a polynomial over GF(2) modulo zlib's, with the lowest bit of a
 * byte first, so that a byte of zeros multiplies it by x^8, which can be undone, and the registers of
 * parts of some bytes add up (by exclusive or) to that of the whole. A CRC of the other order of bits
 * is the same after all bytes and the register were reversed.
 *
 * The polynomial is irreducible, so registers are the field of 2^32 elements, in which squaring is linear, and
 * 32 squarings change nothing. A cluster of 2^n bytes of zeros multiplies by x^(2^(n+3)): 32-(n+3) squarings of
 * everything make that an x, and what took a multiplication for each cluster takes a shift.
 */
#ifndef BURIN_ASSEMBLE_CRC_ALGEBRA_H
#define BURIN_ASSEMBLE_CRC_ALGEBRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order of a byte's bits: as zlib's CRC has it, or as Ogg's. Or no CRC, but the sum of big-endian words of four bytes:
 * zeros change nothing then, so that all that multiplies is 1, and registers are added modulo 2^32. */
enum crc_order { CRC_LOWEST_FIRST, CRC_HIGHEST_FIRST, SUM_OF_WORDS, CRC_ORDERS };

/* Takes registers to where a cluster of zeros multiplies them by x. Sums and products go to sums and
 * products. */
struct crc_root {
	uint32_t table[4][256];
};

uint32_t crc_reverse(uint32_t value);
/* The product of two registers. */
uint32_t crc_multiply(uint32_t a, uint32_t b);
/* What multiplies a register as len bytes of zeros do, or as if that many had not been there. */
uint32_t crc_zeros(uint64_t len);
uint32_t crc_zeros_undone(uint64_t len);
/* cluster: bytes, a power of two. */
void crc_root_init(struct crc_root *root, uint64_t cluster);
/* The register after len bytes, from 0 on. Reverses the bytes in place where their order asks for it. Of words the last
 * one may lack bytes, which count as zeros. */
uint32_t crc_of(enum crc_order order, uint8_t *bytes, size_t len);

static inline uint32_t crc_root_of(const struct crc_root *root, uint32_t value)
{
	return root->table[0][value & 255] ^ root->table[1][value >> 8 & 255] ^
	       root->table[2][value >> 16 & 255] ^ root->table[3][value >> 24];
}

/* The sum and the difference of two registers, their product, and one divided by x, by the order's arithmetic. */
static inline uint32_t order_plus(enum crc_order order, uint32_t a, uint32_t b)
{
	return order == SUM_OF_WORDS ? a + b : a ^ b;
}

static inline uint32_t order_minus(enum crc_order order, uint32_t a, uint32_t b)
{
	return order == SUM_OF_WORDS ? a - b : a ^ b;
}

static inline uint32_t order_times(enum crc_order order, uint32_t a, uint32_t b)
{
	return order == SUM_OF_WORDS ? a : crc_multiply(a, b);
}

#define CRC_POLYNOMIAL 0xedb88320u /* without x^32; the coefficient of x^0 is the highest bit */
#define CRC_X_TO_MINUS_1 0xdb710641u

static inline uint32_t crc_times_x(uint32_t value)
{
	return value >> 1 ^ (CRC_POLYNOMIAL & -(value & 1));
}

/* Divided by x. */
static inline uint32_t crc_over_x(uint32_t value)
{
	return value << 1 ^ (CRC_X_TO_MINUS_1 & -(value >> 31));
}

#endif
