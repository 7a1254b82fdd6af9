/* How SHA-1 and SHA-256 end (FIPS 180-4, 5.1.1): a bit after the message, zeros, and the message's length in bits. */
#ifndef BURIN_CARVERS_COMMON_SHA_PADDING_H
#define BURIN_CARVERS_COMMON_SHA_PADDING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHA_BLOCK_LEN ((size_t)64)
#define SHA_LENGTH_LEN 8

/* Fills in the last block, or the last two, of a message of `total` bytes, of which the last len, fewer than a block, are in `bytes`.
 * Returns how many bytes of `last` they have. */
static inline size_t sha_pad(
	uint8_t last[2 * SHA_BLOCK_LEN], const uint8_t *bytes, size_t len, uint64_t total)
{
	size_t padded =
		len + 1 + SHA_LENGTH_LEN <= SHA_BLOCK_LEN ? SHA_BLOCK_LEN : 2 * SHA_BLOCK_LEN;

	memset(last, 0, 2 * SHA_BLOCK_LEN);
	if (len)
		memcpy(last, bytes, len);
	last[len] = 0x80;
	for (int i = 0; i < SHA_LENGTH_LEN; i++)
		last[padded - 1 - (size_t)i] = (uint8_t)(total * 8 >> 8 * i);
	return padded;
}

/* The digest of len bytes: the state's words, highest byte first. */
static inline void sha_put_digest(const uint32_t *state, uint8_t *digest, int len)
{
	for (int i = 0; i < len; i++)
		digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

#endif
