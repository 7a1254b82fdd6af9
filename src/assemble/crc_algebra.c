#include "assemble/crc_algebra.h"

#include <libdeflate.h>

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

/* Two words at a time: a font that breaks off has all of the image summed. */
static uint32_t sum_of_words(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;
	size_t i = 0;

	for (; len - i >= 8; i += 8) {
		uint64_t words = be64(bytes + i);

		sum += (uint32_t)words + (uint32_t)(words >> 32);
	}
	for (; i < len; i++)
		sum += (uint32_t)bytes[i] << (24 - i % 4 * 8);
	return sum;
}

uint32_t crc_of(enum crc_order order, uint8_t *bytes, size_t len)
{
	if (order == SUM_OF_WORDS)
		return sum_of_words(bytes, len);
	for (size_t i = 0; order == CRC_HIGHEST_FIRST && i < len; i++)
		bytes[i] = (uint8_t)(crc_reverse(bytes[i]) >> 24);
	return ~libdeflate_crc32(UINT32_MAX, bytes, len); /* which inverts before and after */
}
