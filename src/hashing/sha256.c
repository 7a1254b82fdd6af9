#include "hashing/sha256.h"

#include <assert.h>
#include <string.h>

#define BLOCK 64
#define LEN_AT 56 /* of a message, in its last block */

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))
#define SHA_BIT (1u << 29) /* of EBX, cpuid 7 */

bool sha256_can(void)
{
	unsigned eax, ebx = 0, ecx, edx;

	return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3") &&
	       __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx & SHA_BIT;
}

static const uint32_t constants[64] = { 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
	0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
	0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

/* One message. The instructions want its state as ABEF and CDGH. */
struct lane {
	__m128i abef, cdgh; /* before the block */
	__m128i a, c;       /* in it */
	__m128i words
		[4]; /* sixteen words, of which round r uses those of r % 4 and replaces them */
};

SHA_TARGET static inline void load_state(struct lane *lane, const uint32_t state[8])
{
	__m128i dcba = _mm_loadu_si128((const __m128i *)state);
	__m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);

	lane->abef = _mm_alignr_epi8(cdab, efgh, 8);
	lane->cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
}

SHA_TARGET static inline void store_state(const struct lane *lane, uint32_t state[8])
{
	__m128i feba = _mm_shuffle_epi32(lane->abef, 0x1b);
	__m128i dchg = _mm_shuffle_epi32(lane->cdgh, 0xb1);

	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

SHA_TARGET static inline void begin_block(struct lane *lane, const uint8_t *block)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

	lane->a = lane->abef;
	lane->c = lane->cdgh;
	for (int i = 0; i < 4; i++)
		lane->words[i] =
			_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), swap);
}

/* Four rounds, the fours numbered from 0 on. */
SHA_TARGET static inline void four_rounds(struct lane *lane, int four)
{
	__m128i *words = lane->words, *now = &words[four & 3], before = words[(four + 3) & 3], sum;

	if (four >= 4) {
		sum = _mm_sha256msg1_epu32(*now, words[(four + 1) & 3]);
		sum = _mm_add_epi32(sum, _mm_alignr_epi8(before, words[(four + 2) & 3], 4));
		*now = _mm_sha256msg2_epu32(sum, before);
	}
	sum = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(constants + 4 * four)));
	lane->c = _mm_sha256rnds2_epu32(lane->c, lane->a, sum);
	lane->a = _mm_sha256rnds2_epu32(lane->a, lane->c, _mm_shuffle_epi32(sum, 0x0e));
}

SHA_TARGET static inline void end_block(struct lane *lane)
{
	lane->abef = _mm_add_epi32(lane->abef, lane->a);
	lane->cdgh = _mm_add_epi32(lane->cdgh, lane->c);
}

SHA_TARGET static void add_blocks(struct sha256 *sha256, const uint8_t *bytes, size_t count)
{
	struct lane lane;

	load_state(&lane, sha256->state);
	for (; count; count--, bytes += BLOCK) {
		begin_block(&lane, bytes);
#pragma GCC unroll 16
		for (int four = 0; four < 16; four++)
			four_rounds(&lane, four);
		end_block(&lane);
	}
	store_state(&lane, sha256->state);
}

SHA_TARGET static void add_blocks_of_two(
	struct sha256 *const two[2], const uint8_t *const bytes[2], size_t count)
{
	struct lane one, other;

	load_state(&one, two[0]->state);
	load_state(&other, two[1]->state);
	for (size_t i = 0; i < count; i++) {
		begin_block(&one, bytes[0] + BLOCK * i);
		begin_block(&other, bytes[1] + BLOCK * i);
#pragma GCC unroll 16
		for (int four = 0; four < 16; four++) {
			four_rounds(&one, four);
			four_rounds(&other, four);
		}
		end_block(&one);
		end_block(&other);
	}
	store_state(&one, two[0]->state);
	store_state(&other, two[1]->state);
}

#else

bool sha256_can(void)
{
	return false;
}

static void add_blocks(struct sha256 *sha256, const uint8_t *bytes, size_t count)
{
	(void)sha256;
	(void)bytes;
	(void)count;
}

static void add_blocks_of_two(
	struct sha256 *const two[2], const uint8_t *const bytes[2], size_t count)
{
	(void)two;
	(void)bytes;
	(void)count;
}

#endif

void sha256_begin(struct sha256 *sha256)
{
	*sha256 = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *sha256, const void *bytes, size_t len)
{
	size_t held = sha256->len % BLOCK, more = held ? BLOCK - held : 0;
	const uint8_t *from = bytes;

	if (more > len)
		more = len;
	if (more)
		memcpy(sha256->rest + held, from, more);
	sha256->len += len;
	if (held && held + more == BLOCK)
		add_blocks(sha256, sha256->rest, 1);
	from += more;
	len -= more;
	add_blocks(sha256, from, len / BLOCK);
	if (len % BLOCK)
		memcpy(sha256->rest, from + len / BLOCK * BLOCK, len % BLOCK);
}

void sha256_add_two(struct sha256 *const two[2], const uint8_t *const bytes[2], size_t len)
{
	size_t both = two[0]->len % BLOCK || two[1]->len % BLOCK ? 0 : len / BLOCK * BLOCK;

	add_blocks_of_two(two, bytes, both / BLOCK);
	for (int i = 0; i < 2; i++) {
		two[i]->len += both;
		sha256_add(two[i], bytes[i] + both, len - both);
	}
}

static void put_big_endian(uint8_t *to, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(value >> 8 * (len - 1 - i));
}

void sha256_end(struct sha256 *sha256, uint8_t digest[SHA256_LEN])
{
	uint8_t end[2 * BLOCK] = { 0x80 };
	uint64_t bits = sha256->len * 8;
	size_t held = sha256->len % BLOCK, len = (held < LEN_AT ? BLOCK : 2 * BLOCK) - held;

	put_big_endian(end + len - 8, bits, 8);
	sha256_add(sha256, end, len);
	assert(sha256->len % BLOCK == 0);
	for (int i = 0; i < 8; i++)
		put_big_endian(digest + 4 * i, sha256->state[i], 4);
}
