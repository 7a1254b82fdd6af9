/* Integers from bytes, in either order, at any alignment. */
#ifndef BURIN_BYTES_H
#define BURIN_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static inline uint64_t be64(const uint8_t *p)
{
	return (uint64_t)be32(p) << 32 | be32(p + 4);
}

static inline uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t le32(const uint8_t *p)
{
	return (uint32_t)le16(p + 2) << 16 | le16(p);
}

static inline uint64_t le64(const uint8_t *p)
{
	return (uint64_t)le32(p + 4) << 32 | le32(p);
}

/* Reads LEB128: 7 bits a byte, the lowest first, and in all bytes but the last the top bit. Of the len bytes at p, at most 10.
 * Returns the number's length in bytes; 0: it does not end in these. */
static inline size_t leb128(const uint8_t *p, size_t len, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < len && i < 10; i++) {
		*value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80)
			return i + 1;
	}
	return 0;
}

/* Writes the lowest len bytes of value, at most 8. */
static inline void put_le(uint8_t *p, uint64_t value, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

/* For formats that exist in both byte orders. */
static inline uint16_t ordered16(bool big_endian, const uint8_t *p)
{
	return big_endian ? be16(p) : le16(p);
}

static inline uint32_t ordered32(bool big_endian, const uint8_t *p)
{
	return big_endian ? be32(p) : le32(p);
}

static inline uint64_t ordered64(bool big_endian, const uint8_t *p)
{
	return big_endian ? be64(p) : le64(p);
}

#endif
