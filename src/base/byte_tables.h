/* Tables of a byte for each of the 256 values of a byte, looked up for 64 bytes at once: AVX-512 with VBMI. */
#ifndef BURIN_BASE_BYTE_TABLES_H
#define BURIN_BASE_BYTE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
#include <immintrin.h>

#define BYTE_TABLES_TARGET "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt"

/* Whether this processor has all of these. */
static inline bool byte_tables_can(void)
{
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

struct byte_table {
	__m512i quarters[4];
};

__attribute__((target(BYTE_TABLES_TARGET))) static inline struct byte_table byte_table_load(
	const uint8_t bytes[256])
{
	struct byte_table table;

	for (int i = 0; i < 4; i++)
		table.quarters[i] = _mm512_loadu_si512(bytes + 64 * i);
	return table;
}

/* high: _mm512_movepi8_mask(bytes), which several tables can share. */
__attribute__((target(BYTE_TABLES_TARGET))) static inline __m512i byte_table_look_up(
	const struct byte_table *table, __m512i bytes, __mmask64 high)
{
	__m512i below = _mm512_permutex2var_epi8(table->quarters[0], bytes, table->quarters[1]);
	__m512i above = _mm512_permutex2var_epi8(table->quarters[2], bytes, table->quarters[3]);

	return _mm512_mask_mov_epi8(below, high, above);
}

#endif

#endif
