/*
 * The entropy is Shannon's, of single bytes, with Miller's and Madow's correction: a small sample
 * of random bytes can't have each value equally often, and looks more orderly than it is.
 * Everything is computed in integers, so that no rounding differs between machines.
 */
#include "content_map/content.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Entropies here are in 1/65536 bits. */
#define BIT 65536
#define BITS(number) ((uint32_t)((number)*BIT))

/* Calibrated with files of some fifty types, programs, and sources. */
#define COMPRESSED_FROM BITS(7.2)
#define CODE_FROM BITS(4.0)

struct counts {
	uint16_t of[256];
};

/* c * log2(c) in 1/65536 bits. */
static uint32_t weights[CONTENT_SAMPLE_LEN + 1];
/* The low, middle and high bytes of the first 16, which have no more. */
#define WEIGHT_BYTES 3
static uint8_t small_weights[WEIGHT_BYTES][16];
#ifdef __x86_64__
static bool has_avx2; /* the processor has AVX2 */
#endif
/* Two bytes with which x86 instructions often begin share a bit here. */
static uint8_t x86_firsts[256], x86_seconds[256];
static uint8_t arm64_tops[256]; /* 1 for each of arm64_often */
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

const char *content_class_name(unsigned number)
{
	static const char *const names[CONTENT_CLASSES] = { "not_read", "unreadable", "zero",
		"text", "packed", "code", "other" };

	return number < CONTENT_CLASSES ? names[number] : NULL;
}

/* No counter of a table overflows its byte within this many bytes. */
#define COUNTED_AT_ONCE 512

/* Four tables, one for each quarter, so that equal bytes need not wait for each other. */
static void count_some(const uint8_t *bytes, size_t len, struct counts *counts)
{
	uint8_t tables[4][256] = { 0 };
	size_t quarter = len / 4;

	for (size_t i = 0; i < quarter; i++) {
		tables[0][bytes[i]]++;
		tables[1][bytes[i + quarter]]++;
		tables[2][bytes[i + 2 * quarter]]++;
		tables[3][bytes[i + 3 * quarter]]++;
	}
	for (size_t i = 4 * quarter; i < len; i++)
		tables[0][bytes[i]]++;
	for (unsigned value = 0; value < 256; value++)
		counts->of[value] =
			(uint16_t)(counts->of[value] + tables[0][value] + tables[1][value] +
				   tables[2][value] + tables[3][value]);
}

static void count_bytes(const uint8_t *sample, size_t len, struct counts *counts)
{
	*counts = (struct counts){ 0 };
	for (size_t at = 0; at < len; at += COUNTED_AT_ONCE) {
		size_t left = len - at;

		count_some(sample + at, left < COUNTED_AT_ONCE ? left : COUNTED_AT_ONCE, counts);
	}
}

/* The sum of the weights; at most the weight of all bytes in one counter. */
static uint32_t weigh_scalar(const struct counts *counts)
{
	uint32_t sum = 0;

	for (unsigned value = 0; value < 256; value += 4) {
		uint64_t four;

		memcpy(&four, counts->of + value, sizeof(four));
		sum += weights[four & 0xFFFF] + weights[four >> 16 & 0xFFFF] +
		       weights[four >> 32 & 0xFFFF] + weights[four >> 48];
	}
	return sum;
}

#ifdef __x86_64__
/* Most counters are small in a small sample. The weights of those below 16 are looked up 32 at a
 * time, one of their three bytes after another. */
__attribute__((target("avx2"))) static uint32_t weigh_avx2(const struct counts *counts)
{
	const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi8(15);
	__m256i sums[WEIGHT_BYTES] = { zero, zero, zero };
	uint64_t lanes[4];
	uint32_t sum = 0;

	for (unsigned value = 0; value < 256; value += 32) {
		const __m256i *at = (const __m256i *)(counts->of + value);
		__m256i numbers =
			_mm256_packus_epi16(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1));
		__m256i small = _mm256_cmpeq_epi8(_mm256_min_epu8(numbers, most), numbers);
		uint32_t large = ~(uint32_t)_mm256_movemask_epi8(small);

		numbers = _mm256_and_si256(numbers, small); /* the weight of zero is zero */
		for (unsigned k = 0; k < WEIGHT_BYTES; k++) {
			__m256i table = _mm256_broadcastsi128_si256(
				_mm_loadu_si128((const __m128i *)small_weights[k]));

			sums[k] = _mm256_add_epi64(sums[k],
				_mm256_sad_epu8(_mm256_shuffle_epi8(table, numbers), zero));
		}
		for (; large; large &= large - 1) {
			unsigned i = (unsigned)__builtin_ctz(large);

			/* packus alternates between eight of the first and eight of the second */
			i = (i & 7) | (i >> 4 & 1) << 3 | (i >> 3 & 1) << 4;
			sum += weights[counts->of[value + i]];
		}
	}
	for (unsigned k = 0; k < WEIGHT_BYTES; k++) {
		_mm256_storeu_si256((__m256i *)lanes, sums[k]);
		sum += (uint32_t)(lanes[0] + lanes[1] + lanes[2] + lanes[3]) << 8 * k;
	}
	return sum;
}

static uint32_t weigh(const struct counts *counts)
{
	return has_avx2 ? weigh_avx2(counts) : weigh_scalar(counts);
}
#else
static uint32_t weigh(const struct counts *counts)
{
	return weigh_scalar(counts);
}
#endif

static uint32_t entropy_of(const struct counts *counts, size_t len)
{
	uint32_t bits = (weights[len] - weigh(counts)) / (uint32_t)len;
	uint16_t values = 0;

	for (unsigned value = 0; value < 256; value++)
		values = (uint16_t)(values + (counts->of[value] != 0));
	/* (values - 1) / (2 * len * ln 2) */
	bits += (values - 1u) * 47274u / (uint32_t)len;
	return bits > 8 * BIT ? 8 * BIT : bits;
}

static size_t sum_of(const struct counts *counts, unsigned from, unsigned to)
{
	uint16_t sum = 0; /* narrow, so that many are added at once */

	for (unsigned value = from; value <= to; value++)
		sum = (uint16_t)(sum + counts->of[value]);
	return sum;
}

/* Nearly all of it may be UTF-8 beyond ASCII, but very little may be bytes that no text has. */
static bool is_text(const uint8_t *sample, size_t len, const struct counts *counts)
{
	size_t plain = sum_of(counts, ' ', '~') + sum_of(counts, '\t', '\r');
	size_t tails = sum_of(counts, 0x80, 0xBF), leads = sum_of(counts, 0xC2, 0xF4);
	size_t fitting = 0;

	if (plain * 100 >= len * 97)
		return true;
	/* UTF-16: every second byte is zero, and the rest is text. */
	if (counts->of[0] * 100u >= len * 40)
		return counts->of[0] * 100u <= len * 52 &&
		       (plain + counts->of[0]) * 100 >= len * 97;
	if ((plain + tails + leads) * 100 < len * 99 || leads * 4 < tails)
		return false;
	for (size_t i = 0; i + 1 < len; i++)
		fitting += sample[i] >= 0xC2 && (sample[i + 1] & 0xC0) == 0x80;
	return fitting * 10 >= leads * 9;
}

/* Pairs with which x86 instructions often begin; they are rare elsewhere. */
static const struct {
	const char *firsts, *seconds; /* bytes; none is zero */
} x86_pairs[] = {
	/* 64-bit operands: mov, lea, add, cmp, test, ... */
	{ "\x48\x49\x4C", "\x8B\x89\x8D\x83\x85\x39\x3B\x01\x29\x63\xC7\x31" },
	/* long jumps, conditional moves, widening moves, long no-ops */
	{ "\x0F", "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8A\x8B\x8C\x8D\x8E\x8F"
		  "\x40\x41\x42\x43\x44\x45\x46\x47\x48\x49\x4A\x4B\x4C\x4D\x4E\x4F"
		  "\xB6\xB7\xBE\xBF\x1F" },
	/* mov from the frame or the stack */
	{ "\x8B\x89", "\x45\x44\x4D\x55\x5D\x75\x7D\xEC\xE5\x4C\x54\x46" },
	/* add, cmp, sub with a small number */
	{ "\x83", "\xF8\xF9\xFA\xFB\xFC\xFD\xFE\xFF\xC0\xC1\xC2\xC3\xC4\xC5\xC6\xC7\xEC\x7D\x7C" },
	/* test of a register with itself */
	{ "\x85", "\xC0\xDB\xC9\xD2\xF6\xFF\xED" },
	{ "\xFF", "\x15\x25\x75" },
};
#define X86_PAIRS (sizeof(x86_pairs) / sizeof(*x86_pairs))

/* Frequent values of the highest byte of an AArch64 instruction. */
static const char arm64_often[] =
	"\x91\xF9\xA9\x94\x97\xB9\x52\xAA\xD2\x54\x17\x14\x34\x35\xB4\xB5\xD6\xF8\xEB"
	"\x71\xB8\x39\x90\xB0\xD0\xF0\x2A\x8B\xCB\xF1\x72\x38\xD5\x11\x51\xD1\x36\x37";

/* A call or jump with a 32-bit offset does not go far: the highest byte is all zeros or all ones.
 */
#define X86_BRANCHES "\xE8\xE9"

static bool is_x86_branch(const uint8_t *at)
{
	return (*at & 0xFE) == 0xE8 &&
	       ((at[4] == 0 && at[3] < 0x40) || (at[4] == 0xFF && at[3] >= 0xC0));
}

static size_t count_x86(const uint8_t *snippet, size_t len)
{
	size_t found = 0;

	for (size_t i = 0; i + 1 < len; i++)
		found += (x86_firsts[snippet[i]] & x86_seconds[snippet[i + 1]]) != 0;
	for (size_t i = 0; i + 4 < len; i++)
		found += is_x86_branch(snippet + i);
	return found;
}

static size_t count_arm64(const uint8_t *snippet, size_t len)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= len; i += 4)
		found += arm64_tops[snippet[i + 3]];
	return found;
}

/* Nearly every ARM instruction is unconditional: the upper four bits are 14. */
static size_t count_arm(const uint8_t *snippet, size_t len)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= len; i += 4)
		found += snippet[i + 3] >> 4 == 14;
	return found;
}

/* Half of the snippets are as conclusive as all. */
#define SNIPPET_PAIR_LEN (2 * CONTENT_SNIPPET_LEN)

static size_t examined_len(size_t len)
{
	size_t rest = len % SNIPPET_PAIR_LEN;

	return len / SNIPPET_PAIR_LEN * CONTENT_SNIPPET_LEN +
	       (rest < CONTENT_SNIPPET_LEN ? rest : CONTENT_SNIPPET_LEN);
}

static bool finds(
	size_t (*count)(const uint8_t *, size_t), const uint8_t *sample, size_t len, size_t enough)
{
	size_t found = 0;

	for (size_t at = 0; at < len && found < enough; at += SNIPPET_PAIR_LEN) {
		size_t left = len - at;

		found +=
			count(sample + at, left < CONTENT_SNIPPET_LEN ? left : CONTENT_SNIPPET_LEN);
	}
	return found >= enough;
}

/* How many bytes of the sample are among these; zero ends them. */
static size_t occurrences(const struct counts *counts, const char *values)
{
	size_t sum = 0;

	for (; *values; values++)
		sum += counts->of[(uint8_t)*values];
	return sum;
}

/* Most blocks without code have too few of the bytes that matter, wherever they are. */
static bool may_be_x86(const struct counts *counts, size_t enough)
{
	size_t begins = occurrences(counts, X86_BRANCHES);

	for (size_t i = 0; i < X86_PAIRS; i++)
		begins += occurrences(counts, x86_pairs[i].firsts);
	return begins >= enough;
}

static bool is_code(const uint8_t *sample, size_t len, const struct counts *counts)
{
	size_t bytes = examined_len(len);
	/* Of 64 bytes of x86, 4 pairs; of AArch64's words, 4 of 5; of ARM's, 2 of 3. */
	size_t x86 = (bytes + 15) / 16, arm64 = (bytes + 4) / 5, arm = (bytes + 5) / 6;

	return (may_be_x86(counts, x86) && finds(count_x86, sample, len, x86)) ||
	       (occurrences(counts, arm64_often) >= arm64 &&
		       finds(count_arm64, sample, len, arm64)) ||
	       (sum_of(counts, 0xE0, 0xEF) >= arm && finds(count_arm, sample, len, arm));
}

static void fill_tables(void)
{
#ifdef __x86_64__
	has_avx2 = __builtin_cpu_supports("avx2");
#endif
	for (unsigned c = 2; c <= CONTENT_SAMPLE_LEN; c++)
		weights[c] = (uint32_t)lround(c * log2(c) * BIT);
	for (unsigned c = 0; c < 16; c++)
		for (unsigned k = 0; k < WEIGHT_BYTES; k++)
			small_weights[k][c] = (uint8_t)(weights[c] >> 8 * k);
	for (const char *top = arm64_often; *top; top++)
		arm64_tops[(uint8_t)*top] = 1;
	for (size_t i = 0; i < X86_PAIRS; i++) {
		for (const char *first = x86_pairs[i].firsts; *first; first++)
			x86_firsts[(uint8_t)*first] = (uint8_t)(1 << i);
		for (const char *second = x86_pairs[i].seconds; *second; second++)
			x86_seconds[(uint8_t)*second] |= (uint8_t)(1 << i);
	}
}

enum content_class content_classify(const uint8_t *sample, size_t len, uint8_t *entropy)
{
	struct counts counts;
	uint32_t bits;

	pthread_once(&tables_once, fill_tables);
	count_bytes(sample, len, &counts);
	bits = entropy_of(&counts, len);
	*entropy = bits >= 255 * (BIT / 32) ? 255 : (uint8_t)(bits / (BIT / 32));
	if (bits >= COMPRESSED_FROM)
		return CONTENT_COMPRESSED;
	if (is_text(sample, len, &counts))
		return CONTENT_TEXT;
	return bits >= CODE_FROM && is_code(sample, len, &counts) ? CONTENT_CODE : CONTENT_OTHER;
}
