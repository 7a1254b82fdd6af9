/* Base64 (RFC 4648, 4). */
#ifndef BURIN_CARVERS_COMMON_BASE64_H
#define BURIN_CARVERS_COMMON_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a character; -1: it is not of base64. */
static inline int base64_digit(uint8_t byte)
{
	if (byte >= 'A' && byte <= 'Z')
		return byte - 'A';
	if (byte >= 'a' && byte <= 'z')
		return byte - 'a' + 26;
	if (byte >= '0' && byte <= '9')
		return byte - '0' + 52;
	return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* The bits of characters, of which the lowest `count`, fewer than 8, are not used yet. */
struct base64_bits {
	uint32_t bits;
	unsigned count;
};

/* Adds a character's value (6 bits, perhaps of another alphabet). True: *byte is the next byte. */
static inline bool base64_add(struct base64_bits *bits, int digit, uint8_t *byte)
{
	bits->bits = bits->bits << 6 | (uint32_t)digit;
	bits->count += 6;
	if (bits->count < 8)
		return false;
	bits->count -= 8;
	*byte = (uint8_t)(bits->bits >> bits->count);
	return true;
}

/* Whether the bytes are characters, at least one, and at most two `=` after them. */
static inline bool base64_text(const uint8_t *bytes, size_t len)
{
	size_t digits = 0;

	while (digits < len && base64_digit(bytes[digits]) >= 0)
		digits++;
	for (size_t i = digits; i < len; i++)
		if (bytes[i] != '=')
			return false;
	return digits && len - digits <= 2;
}

#endif
