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

#endif
