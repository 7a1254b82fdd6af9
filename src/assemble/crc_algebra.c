#include "assemble/crc_algebra.h"

#include <libdeflate.h>
#include <string.h>

#include "carvers/bytes.h"

#define ONE 0x80000000u
#define X_TO_8 0x00800000u

uint32_t crc_reverse(uint32_t value)
{
	value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
	value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
	value = (value >> 4 & 0x0f0f0f0f) | (value & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(value);
}

uint32_t crc_multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t bit = ONE; bit; bit >>= 1) {
		if (a & bit)
			product ^= b;
		b = crc_times_x(b);
	}
	return product;
}

static uint32_t power(uint32_t base, uint64_t exponent)
{
	uint32_t result = ONE;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = crc_multiply(result, base);
		base = crc_multiply(base, base);
	}
	return result;
}

uint32_t crc_zeros(uint64_t len)
{
	return power(X_TO_8, len);
}

uint32_t crc_zeros_undone(uint64_t len)
{
	return power(power(CRC_X_TO_MINUS_1, 8), len);
}

/* x^(8 * cluster), squared as often, is x^(2^32), which is x. */
static uint32_t root_of(uint32_t value, uint64_t cluster)
{
	for (uint64_t power = 8 * cluster; power >> 32 == 0; power *= 2)
		value = crc_multiply(value, value);
	return value;
}

void crc_root_init(struct crc_root *root, uint64_t cluster)
{
	for (unsigned part = 0; part < 4; part++) {
		uint32_t *table = root->table[part];

		table[0] = 0;
		for (uint32_t bit = 1; bit < 256; bit *= 2) {
			uint32_t of_bit = root_of(bit << 8 * part, cluster);

			for (uint32_t below = 0; below < bit; below++)
				table[bit + below] = table[below] ^ of_bit;
		}
	}
}

/* A font that breaks off has all of the image summed: even and odd bytes go to 16 bits each, which hold the sums of 256 of them, in a
 * loop that compilers turn into vector instructions. */
#define LANES 0x00ff00ff00ff00ffu
#define LANE_WORDS 256

/* Adds up to LANE_WORDS numbers of 8 bytes, of two words each. */
static uint32_t sum_of_lanes(const uint8_t *bytes, size_t count)
{
	uint64_t even = 0, odd = 0;
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t words = le64(bytes + 8 * i);

		even += words & LANES;
		odd += words >> 8 & LANES;
	}
	for (unsigned lane = 0; lane < 4; lane++) {
		unsigned shift = lane % 2 ? 8 : 24;

		sum += (uint32_t)(even >> 16 * lane & 0xffff) << shift;
		sum += (uint32_t)(odd >> 16 * lane & 0xffff) << (shift - 8);
	}
	return sum;
}

static uint32_t sum_of_words(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;
	size_t i = 0;

	while (len - i >= 8) {
		size_t count = (len - i) / 8 < LANE_WORDS ? (len - i) / 8 : LANE_WORDS;

		sum += sum_of_lanes(bytes + i, count);
		i += 8 * count;
	}
	for (; i < len; i++)
		sum += (uint32_t)bytes[i] << (24 - i % 4 * 8);
	return sum;
}

/* Reverses the bits of each byte. */
static void reverse_bytes(uint8_t *bytes, size_t len)
{
	size_t i = 0;

	for (; len - i >= 8; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, 8);
		word = (word >> 1 & 0x5555555555555555u) | (word & 0x5555555555555555u) << 1;
		word = (word >> 2 & 0x3333333333333333u) | (word & 0x3333333333333333u) << 2;
		word = (word >> 4 & 0x0f0f0f0f0f0f0f0fu) | (word & 0x0f0f0f0f0f0f0f0fu) << 4;
		memcpy(bytes + i, &word, 8);
	}
	for (; i < len; i++)
		bytes[i] = (uint8_t)(crc_reverse(bytes[i]) >> 24);
}

uint32_t crc_of(enum crc_order order, uint8_t *bytes, size_t len)
{
	if (order == SUM_OF_WORDS)
		return sum_of_words(bytes, len);
	if (order == CRC_HIGHEST_FIRST)
		reverse_bytes(bytes, len);
	return ~libdeflate_crc32(UINT32_MAX, bytes, len); /* which inverts before and after */
}
