/*
 * The entropy is Shannon's, of single bytes, with Miller's and Madow's correction: a small sample
 * of random bytes can't have each value equally often, and looks more orderly than it is. All is
 * done in whole numbers, so that no rounding differs between machines.
 */
#include "output/content.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* Entropies here are in 1/65536 bits. */
#define BIT 65536
#define BITS(number) ((uint32_t)((number)*BIT))

/* Calibrated with files of some fifty types, programs, and sources. */
#define PACKED_FROM BITS(7.2)
#define CODE_FROM BITS(4.0)

struct counts {
	uint16_t of[256];
};

/* c * log2(c) in 1/65536 bits. */
static uint32_t weights[CONTENT_SAMPLE_LEN + 1];
/* A bit for each two bytes that instructions of x86 often begin with; a byte for each that is often
 * the uppermost of an instruction of AArch64. */
static uint8_t x86_pairs[65536 / 8], arm64_tops[256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

const char *content_class_name(unsigned number)
{
	static const char *const names[CONTENT_CLASSES] = { "not_read", "unreadable", "zero",
		"text", "packed", "code", "other" };

	return number < CONTENT_CLASSES ? names[number] : NULL;
}

/* Several tables, so that equal bytes need not wait for each other. */
static void count_bytes(const uint8_t *sample, size_t len, struct counts *counts)
{
	struct counts tables[4] = { 0 };
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		uint64_t word;

		memcpy(&word, sample + i, sizeof(word));
		for (unsigned k = 0; k < 8; k++)
			tables[k % 4].of[(word >> 8 * k) & 0xFF]++;
	}
	for (; i < len; i++)
		tables[0].of[sample[i]]++;
	for (unsigned value = 0; value < 256; value++)
		counts->of[value] = (uint16_t)(tables[0].of[value] + tables[1].of[value] +
					       tables[2].of[value] + tables[3].of[value]);
}

static uint32_t measure(const struct counts *counts, size_t len)
{
	uint64_t sums[4] = { 0 }, bits;
	unsigned values = 0;

	for (unsigned value = 0; value < 256; value += 4)
		for (unsigned k = 0; k < 4; k++)
			sums[k] += weights[counts->of[value + k]];
	for (unsigned value = 0; value < 256; value++)
		values += counts->of[value] != 0;
	bits = (weights[len] - (sums[0] + sums[1] + sums[2] + sums[3])) / len;
	/* (values - 1) / (2 * len * ln 2) */
	bits += (uint64_t)(values - 1) * 47274 / len;
	return bits > 8 * BIT ? 8 * BIT : (uint32_t)bits;
}

static size_t sum_of(const struct counts *counts, unsigned from, unsigned to)
{
	size_t sum = 0;

	for (unsigned value = from; value <= to; value++)
		sum += counts->of[value];
	return sum;
}

/* UTF-8 beyond ASCII may be nearly all of it; of what no text holds there may be very little. */
static bool is_text(const uint8_t *sample, size_t len, const struct counts *counts)
{
	size_t plain = sum_of(counts, ' ', '~') + sum_of(counts, '\t', '\r');
	size_t tails = sum_of(counts, 0x80, 0xBF), leads = sum_of(counts, 0xC2, 0xF4);
	size_t fitting = 0;

	if (plain * 100 >= len * 97)
		return true;
	/* UTF-16: each second byte is zero, and the others are text. */
	if (counts->of[0] * 100u >= len * 40)
		return counts->of[0] * 100u <= len * 52 &&
		       (plain + counts->of[0]) * 100 >= len * 97;
	if ((plain + tails + leads) * 100 < len * 99 || leads * 4 < tails)
		return false;
	for (size_t i = 0; i + 1 < len; i++)
		fitting += sample[i] >= 0xC2 && (sample[i + 1] & 0xC0) == 0x80;
	return fitting * 10 >= leads * 9;
}

/* Pairs that instructions of x86 often begin with; they are rare elsewhere. */
static bool is_x86_pair(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0x48: /* 64-bit operands: mov, lea, add, cmp, test, ... */
	case 0x49:
	case 0x4C:
		return second == 0x8B || second == 0x89 || second == 0x8D || second == 0x83 ||
		       second == 0x85 || second == 0x39 || second == 0x3B || second == 0x01 ||
		       second == 0x29 || second == 0x63 || second == 0xC7 || second == 0x31;
	case 0x0F: /* jumps far, widening moves, long no-ops */
		return (second & 0xF0) == 0x80 || (second & 0xF6) == 0xB6 || second == 0x1F ||
		       (second & 0xF0) == 0x40;
	case 0x8B: /* mov from the frame or the stack */
	case 0x89:
		return second == 0x45 || second == 0x44 || second == 0x4D || second == 0x55 ||
		       second == 0x5D || second == 0x75 || second == 0x7D || second == 0xEC ||
		       second == 0xE5 || second == 0x4C || second == 0x54 || second == 0x46;
	case 0x83: /* add, cmp, sub with a small number */
		return (second & 0xF8) == 0xF8 || (second & 0xF8) == 0xC0 || second == 0xEC ||
		       second == 0x7D || second == 0x7C;
	case 0x85: /* test of a register with itself */
		return second == 0xC0 || second == 0xDB || second == 0xC9 || second == 0xD2 ||
		       second == 0xF6 || second == 0xFF || second == 0xED;
	case 0xFF:
		return second == 0x15 || second == 0x25 || second == 0x75;
	default:
		return false;
	}
}

/* A call or jump of four bytes does not go far: the uppermost is all zeros or all ones. */
static bool is_x86_branch(const uint8_t *at)
{
	return (*at == 0xE8 || *at == 0xE9) &&
	       ((at[4] == 0 && at[3] < 0x40) || (at[4] == 0xFF && at[3] >= 0xC0));
}

static size_t count_x86(const uint8_t *piece, size_t len)
{
	size_t found = 0;

	for (size_t i = 0; i + 1 < len; i++) {
		unsigned pair = (unsigned)piece[i] << 8 | piece[i + 1];

		found += x86_pairs[pair / 8] >> pair % 8 & 1;
	}
	for (size_t i = 0; i + 4 < len; i++)
		found += is_x86_branch(piece + i);
	return found;
}

static size_t count_arm64(const uint8_t *piece, size_t len)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= len; i += 4)
		found += arm64_tops[piece[i + 3]];
	return found;
}

/* Nearly every instruction of ARM is carried out always: the upper four bits are 14. */
static size_t count_arm(const uint8_t *piece, size_t len)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= len; i += 4)
		found += piece[i + 3] >> 4 == 14;
	return found;
}

/* Half of the pieces tell as much as all. */
static bool is_code(const uint8_t *sample, size_t len)
{
	size_t x86 = 0, arm64 = 0, arm = 0, seen = 0;

	for (size_t at = 0; at < len; at += 2 * CONTENT_PIECE_LEN) {
		size_t left = len - at;
		size_t piece_len = left < CONTENT_PIECE_LEN ? left : CONTENT_PIECE_LEN;

		x86 += count_x86(sample + at, piece_len);
		arm64 += count_arm64(sample + at, piece_len);
		arm += count_arm(sample + at, piece_len);
		seen += piece_len;
	}
	/* Of 64 bytes of x86, 4 pairs; of AArch64's words, 4 of 5; of ARM's, 2 of 3. */
	return x86 * 16 >= seen || arm64 * 5 >= seen || arm * 6 >= seen;
}

static void fill_tables(void)
{
	static const char tops[] = "\x91\xF9\xA9\x94\x97\xB9\x52\xAA\xD2\x54\x17\x14\x34\x35\xB4"
				   "\xB5\xD6\xF8\xEB\x71\xB8\x39\x90\xB0\xD0\xF0\x2A\x8B\xCB\xF1"
				   "\x72\x38\xD5\x11\x51\xD1\x36\x37";

	for (unsigned c = 2; c <= CONTENT_SAMPLE_LEN; c++)
		weights[c] = (uint32_t)lround(c * log2(c) * BIT);
	for (unsigned pair = 0; pair < 65536; pair++)
		if (is_x86_pair((uint8_t)(pair >> 8), (uint8_t)pair))
			x86_pairs[pair / 8] |= (uint8_t)(1 << pair % 8);
	for (size_t i = 0; i < sizeof(tops) - 1; i++)
		arm64_tops[(uint8_t)tops[i]] = 1;
}

enum content_class content_classify(const uint8_t *sample, size_t len, uint8_t *entropy)
{
	struct counts counts;
	uint32_t bits;

	pthread_once(&tables_once, fill_tables);
	count_bytes(sample, len, &counts);
	bits = measure(&counts, len);
	*entropy = bits >= 255 * (BIT / 32) ? 255 : (uint8_t)(bits / (BIT / 32));
	if (bits >= PACKED_FROM)
		return CONTENT_PACKED;
	if (is_text(sample, len, &counts))
		return CONTENT_TEXT;
	return bits >= CODE_FROM && is_code(sample, len) ? CONTENT_CODE : CONTENT_OTHER;
}
