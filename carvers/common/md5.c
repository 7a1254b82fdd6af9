/*
 * The carvers have no library of hashes: those of src/hashing are for what burin writes.
 */
#include "md5.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

/* floor(2^32 * |sin(i + 1)|). */
static const uint32_t sines[64] = { 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf,
	0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
	0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51,
	0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6,
	0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
	0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8,
	0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
	0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82,
	0xbd3af235, 0x2ad7d2bb, 0xeb86d391 };

static const uint8_t turns[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 },
	{ 6, 10, 15, 21 } };

static void add_block(uint32_t state[4], const uint8_t *p)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

	for (unsigned i = 0; i < 64; i++) {
		unsigned round = i / 16, word, turn = turns[round][i % 4];
		uint32_t mixed;

		if (round == 0) {
			mixed = (b & c) | (~b & d);
			word = i;
		} else if (round == 1) {
			mixed = (d & b) | (~d & c);
			word = (5 * i + 1) % 16;
		} else if (round == 2) {
			mixed = b ^ c ^ d;
			word = (3 * i + 5) % 16;
		} else {
			mixed = c ^ (b | ~d);
			word = 7 * i % 16;
		}
		mixed += a + sines[i] + le32(p + 4 * (size_t)word);
		a = d;
		d = c;
		c = b;
		b += mixed << turn | mixed >> (32 - turn);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

static void add_block_md4(uint32_t state[4], const uint8_t *p)
{
	static const uint8_t words[3][16] = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
						      15 },
		{ 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15 },
		{ 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15 } };
	static const uint8_t md4_turns[3][4] = { { 3, 7, 11, 19 }, { 3, 5, 9, 13 },
		{ 3, 9, 11, 15 } };
	static const uint32_t constants[3] = { 0, 0x5a827999, 0x6ed9eba1 };
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

	for (unsigned i = 0; i < 48; i++) {
		unsigned round = i / 16, turn = md4_turns[round][i % 4];
		uint32_t mixed = round == 0   ? (b & c) | (~b & d)
				 : round == 1 ? (b & c) | (b & d) | (c & d)
					      : b ^ c ^ d;

		mixed += a + constants[round] + le32(p + 4 * (size_t)words[round][i % 16]);
		a = d;
		d = c;
		c = b;
		b = mixed << turn | mixed >> (32 - turn);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

static void start(struct md5 *md5, void (*block)(uint32_t state[4], const uint8_t *block))
{
	*md5 = (struct md5){ .add_block = block,
		.state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } };
}

void md5_start(struct md5 *md5)
{
	start(md5, add_block);
}

void md4_start(struct md5 *md4)
{
	start(md4, add_block_md4);
}

void md5_add(struct md5 *md5, const uint8_t *bytes, size_t len)
{
	size_t held = md5->len % sizeof(md5->block);

	md5->len += len;
	while (held + len >= sizeof(md5->block)) {
		size_t part = sizeof(md5->block) - held;

		if (held)
			memcpy(md5->block + held, bytes, part);
		md5->add_block(md5->state, held ? md5->block : bytes);
		bytes += part;
		len -= part;
		held = 0;
	}
	if (len)
		memcpy(md5->block + held, bytes, len);
}

bool md5_add_view(struct md5 *md5, struct view *view, uint64_t start, uint64_t end)
{
	const uint8_t *p;
	size_t len;

	if (end > view_size(view))
		return false;
	for (; start < end; start += len) {
		p = walk_window(view, start, end, &len);
		if (!p)
			return false;
		md5_add(md5, p, len);
	}
	return true;
}

void md5_end(struct md5 *md5, uint8_t digest[MD5_LEN])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t bits = md5->len * 8;
	uint8_t tail[8];

	for (int i = 0; i < 8; i++)
		tail[i] = (uint8_t)(bits >> 8 * i);
	md5_add(md5, padding, 1 + (119 - md5->len % 64) % 64);
	md5_add(md5, tail, sizeof(tail));
	for (int i = 0; i < MD5_LEN; i++)
		digest[i] = (uint8_t)(md5->state[i / 4] >> 8 * (i % 4));
}
