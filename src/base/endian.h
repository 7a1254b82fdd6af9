/* Numbers of any width, at any alignment, to read and to write: little-endian, but for endian_be*. Carvers,
 * which see nothing of src/, have readers of their own for both byte orders: carvers/bytes.h. */
#ifndef BURIN_BASE_ENDIAN_H
#define BURIN_BASE_ENDIAN_H

#include <stdint.h>

/* Reads width bytes, at most 8. */
static inline uint64_t endian_get(const uint8_t *bytes, unsigned width)
{
	uint64_t number = 0;

	while (width--)
		number = number << 8 | bytes[width];
	return number;
}

static inline uint32_t endian_u32(const uint8_t *bytes)
{
	return (uint32_t)endian_get(bytes, 4);
}

static inline uint64_t endian_u64(const uint8_t *bytes)
{
	return endian_get(bytes, 8);
}

/* Big-endian, both. */
static inline uint32_t endian_be32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static inline uint64_t endian_be64(const uint8_t *bytes)
{
	return (uint64_t)endian_be32(bytes) << 32 | endian_be32(bytes + 4);
}

/* Writes the number's low width bytes. */
static inline void endian_put(uint8_t *bytes, uint64_t number, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
}

#endif
