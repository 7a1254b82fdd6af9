/* Carvers see no crypto library (sha1.c). */
#include "sha256.h"

#include <string.h>

#include "bytes.h"
#include "sha_padding.h"

static uint32_t rotate(uint32_t value, unsigned by)
{
	return value >> by | value << (32 - by);
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
	static const uint32_t constants[64] = { 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
		0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
		0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
		0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
		0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
		0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
		0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
		0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
		0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
		0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };
	uint32_t words[64], s[8];

	for (int i = 0; i < 16; i++)
		words[i] = be32(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
			   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, state, sizeof(s));
	/* Instead of moving the eight words each round counts them from another one. */
	for (unsigned i = 0; i < 64; i++) {
		uint32_t a = s[-i & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7],
			 *d = &s[(3 - i) & 7];
		uint32_t e = s[(4 - i) & 7], f = s[(5 - i) & 7], g = s[(6 - i) & 7];
		uint32_t *h = &s[(7 - i) & 7];

		*h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) +
		      constants[i] + words[i];
		*d += *h;
		*h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256_of_bytes(const uint8_t *bytes, size_t len, uint8_t digest[SHA256_LEN])
{
	uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
		0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	size_t whole = len / SHA_BLOCK_LEN * SHA_BLOCK_LEN, padded;
	uint8_t last[2 * SHA_BLOCK_LEN];

	for (size_t at = 0; at < whole; at += SHA_BLOCK_LEN)
		add_block(state, bytes + at);
	padded = sha_pad(last, bytes + whole, len - whole, len);
	for (size_t at = 0; at < padded; at += SHA_BLOCK_LEN)
		add_block(state, last + at);
	sha_put_digest(state, digest, SHA256_LEN);
}
