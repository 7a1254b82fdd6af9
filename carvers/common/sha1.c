/* Carvers see no crypto library; this is as slow as it is short, for small parts of files. */
#include "sha1.h"

#include <string.h>

#include "bytes.h"
#include "sha_padding.h"

static uint32_t rotate(uint32_t value, unsigned by)
{
	return value << by | value >> (32 - by);
}

static void add_block(uint32_t state[5], const uint8_t *block)
{
	static const uint32_t constants[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t words[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (int i = 0; i < 80; i++)
		words[i] =
			i < 16 ? be32(block + 4 * i)
			       : rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16],
					 1);
	for (int i = 0; i < 80; i++) {
		uint32_t mixed = i < 20   ? (b & c) | (~b & d)
				 : i < 40 ? b ^ c ^ d
				 : i < 60 ? (b & c) | (b & d) | (c & d)
					  : b ^ c ^ d;
		uint32_t next = rotate(a, 5) + mixed + e + constants[i / 20] + words[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

/* The last bytes, fewer than a block, with a mark and the length in bits. */
static void add_last(uint32_t state[5], const uint8_t *bytes, size_t len, uint64_t total)
{
	uint8_t last[2 * SHA_BLOCK_LEN];
	size_t padded = sha_pad(last, bytes, len, total);

	for (size_t i = 0; i < padded; i += SHA_BLOCK_LEN)
		add_block(state, last + i);
}

static const uint32_t start_state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
	0xc3d2e1f0 };

void sha1_of_bytes(const uint8_t *bytes, size_t len, uint8_t digest[SHA1_LEN])
{
	uint32_t state[5];
	size_t at = 0;

	memcpy(state, start_state, sizeof(state));
	for (; len - at >= SHA_BLOCK_LEN; at += SHA_BLOCK_LEN)
		add_block(state, bytes + at);
	add_last(state, bytes + at, len - at, len);
	sha_put_digest(state, digest, SHA1_LEN);
}

bool sha1_of_view(struct view *view, uint64_t start, uint64_t end, uint8_t digest[SHA1_LEN])
{
	uint32_t state[5];
	uint8_t rest[SHA_BLOCK_LEN] = { 0 };
	uint64_t at = start;
	const uint8_t *p;

	if (end > view_size(view) || !view_work(view, (end - start) / 2))
		return false;
	memcpy(state, start_state, sizeof(state));
	for (; end - at >= SHA_BLOCK_LEN; at += SHA_BLOCK_LEN) {
		p = view_peek(view, at, SHA_BLOCK_LEN);
		if (!p)
			return false;
		add_block(state, p);
	}
	p = at < end ? view_peek(view, at, (size_t)(end - at)) : rest;
	if (!p)
		return false;
	memcpy(rest, p, (size_t)(end - at));
	add_last(state, rest, (size_t)(end - at), end - start);
	sha_put_digest(state, digest, SHA1_LEN);
	return true;
}
