#ifndef BURIN_BENCH_RANDOM_H
#define BURIN_BENCH_RANDOM_H

#include <stdint.h>

/* splitmix64: any seed will do. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t value = *state += 0x9e3779b97f4a7c15u;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

/* Below limit, which is more than 0. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)((random_next(state) >> 32) * limit >> 32);
}

/* At least 0 and below 1. */
static inline double random_share(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / (double)(1ull << 53);
}

#endif
