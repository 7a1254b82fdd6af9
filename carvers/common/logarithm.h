/* Logarithms without floating point. */
#ifndef BURIN_CARVERS_COMMON_LOGARITHM_H
#define BURIN_CARVERS_COMMON_LOGARITHM_H

#include <stdint.h>

#define LOG_BIT 16 /* sixteenths of a bit */

/* log2 of x, which is not 0, in sixteenths. */
static inline int32_t log_16(uint32_t x)
{
	static const uint8_t part[16] = { 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15 };
	int top = 31 - __builtin_clz(x);
	uint32_t next = top >= 4 ? x >> (top - 4) & 15 : x << (4 - top) & 15;

	return top * LOG_BIT + part[next];
}

/* log2 of x, which is not 0, in 4096ths. */
static inline int32_t log_4096(uint32_t x)
{
	/* log2(1 + i/32), in 4096ths. */
	static const uint16_t part[33] = { 0, 182, 358, 530, 696, 858, 1016, 1169, 1319, 1465, 1607,
		1746, 1882, 2015, 2145, 2272, 2396, 2518, 2637, 2754, 2869, 2982, 3092, 3200, 3307,
		3412, 3514, 3615, 3715, 3812, 3908, 4003, 4096 };
	int top = 31 - __builtin_clz(x);
	uint32_t next = (uint32_t)((uint64_t)x << (31 - top)) << 1; /* after the highest bit */
	uint32_t i = next >> 27, over = next >> 11 & 0xffff;

	return top * 4096 + part[i] + (int32_t)((part[i + 1] - part[i]) * over >> 16);
}

#endif
