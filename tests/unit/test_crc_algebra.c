/* CRC-32 as arithmetic: zeros and their undoing, sums of parts, and both orders of bits. */
#include <criterion/criterion.h>
#include <string.h>

#include "assemble/crc_algebra.h"

TestSuite(crc_algebra);

static const char text[] = "123456789";

Test(crc_algebra, registers_are_those_of_the_known_crcs)
{
	uint8_t bytes[9];
	uint32_t start = crc_multiply(UINT32_MAX, crc_zeros(9));

	memcpy(bytes, text, 9);
	cr_expect_eq(~(crc_of(CRC_LOWEST_FIRST, bytes, 9) ^ start), 0xcbf43926);
	/* As Ogg has it, from 0 on: CRC-32/CKSUM without the length, not inverted. */
	cr_expect_eq(crc_reverse(crc_of(CRC_HIGHEST_FIRST, bytes, 9)), 0x89a1897f);
}

/* Lengths around those that are summed at once. */
Test(crc_algebra, long_sums_are_those_of_each_byte)
{
	static const size_t lens[] = { 0, 1, 7, 8, 9, 2047, 2048, 2049, 2056, 4096, 5003 };
	uint8_t bytes[5003], reversed[5003];

	for (size_t n = 0; n < sizeof(lens) / sizeof(*lens); n++) {
		uint32_t sum = 0;

		for (size_t i = 0; i < lens[n]; i++) {
			bytes[i] = (uint8_t)(n % 2 ? 255 - i % 3 : i * i >> 3);
			reversed[i] = (uint8_t)(crc_reverse(bytes[i]) >> 24);
			sum += (uint32_t)bytes[i] << (24 - i % 4 * 8);
		}
		cr_expect_eq(crc_of(SUM_OF_WORDS, bytes, lens[n]), sum, "%zu", lens[n]);
		cr_expect_eq(crc_of(CRC_HIGHEST_FIRST, bytes, lens[n]),
			crc_of(CRC_LOWEST_FIRST, reversed, lens[n]), "%zu", lens[n]);
	}
}

Test(crc_algebra, parts_add_up)
{
	uint8_t bytes[9];
	uint32_t first, second;

	memcpy(bytes, text, 9);
	first = crc_of(CRC_LOWEST_FIRST, bytes, 4);
	second = crc_of(CRC_LOWEST_FIRST, bytes + 4, 5);
	cr_expect_eq(
		crc_of(CRC_LOWEST_FIRST, bytes, 9), crc_multiply(first, crc_zeros(5)) ^ second);
}

Test(crc_algebra, zeros_can_be_undone)
{
	static const uint64_t lens[] = { 0, 1, 511, 4096, 65536, (uint64_t)1 << 40 };
	uint32_t value = 0x12345678;

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		uint32_t after = crc_multiply(value, crc_zeros(lens[i]));

		cr_expect_eq(crc_multiply(after, crc_zeros_undone(lens[i])), value);
	}
}

Test(crc_algebra, a_cluster_becomes_a_bit)
{
	for (uint64_t size = 512; size <= 65536; size *= 2) {
		const uint32_t a = 0x12345678, b = 0x9abcdef0;
		struct crc_root root;
		uint32_t value;

		crc_root_init(&root, size);
		value = crc_root_of(&root, a);
		cr_expect_eq(
			crc_root_of(&root, crc_multiply(a, crc_zeros(size))), crc_times_x(value));
		cr_expect_eq(crc_over_x(crc_times_x(value)), value);
		cr_expect_eq(crc_root_of(&root, a ^ b), value ^ crc_root_of(&root, b));
		cr_expect_eq(crc_root_of(&root, crc_multiply(a, b)),
			crc_multiply(value, crc_root_of(&root, b)));
	}
}

Test(crc_algebra, words_add_up)
{
	uint8_t bytes[] = { 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 3, 1, 2 }, many[22];

	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = (uint8_t)(200 + i);
	for (size_t i = 0, sum = 0; i < sizeof(many); i += 4) {
		size_t left = sizeof(many) - i;

		for (size_t k = 0; k < 4 && k < left; k++)
			sum += (size_t)many[i + k] << (24 - 8 * k);
		cr_expect_eq(
			crc_of(SUM_OF_WORDS, many, left < 4 ? sizeof(many) : i + 4), (uint32_t)sum);
	}
	cr_expect_eq(crc_of(SUM_OF_WORDS, bytes, 8), 2);
	cr_expect_eq(crc_of(SUM_OF_WORDS, bytes, sizeof(bytes)), 0x01020002);
	cr_expect_eq(order_plus(SUM_OF_WORDS, UINT32_MAX, 3), 2);
	cr_expect_eq(order_minus(SUM_OF_WORDS, 2, 3), UINT32_MAX);
	cr_expect_eq(order_times(SUM_OF_WORDS, 7, 0x12345678), 7);
}
