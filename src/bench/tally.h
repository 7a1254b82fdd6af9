/* Hits as two numbers that don't depend on their order: how many, and a sum over (offset, pattern).
 */
#ifndef BURIN_BENCH_TALLY_H
#define BURIN_BENCH_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct bench_tally {
	uint64_t count, sum;
};

static inline void bench_tally_add(struct bench_tally *tally, uint64_t offset, uint32_t pattern)
{
	uint64_t mixed = offset * 0x9e3779b97f4a7c15u ^ (pattern + 1u) * 0xc2b2ae3d27d4eb4fu;

	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
	tally->count++;
	tally->sum += mixed ^ mixed >> 32;
}

static inline bool bench_tally_equal(struct bench_tally a, struct bench_tally b)
{
	return a.count == b.count && a.sum == b.sum;
}

/* The hits of a text, and those among them that start in its first part_len bytes. */
struct bench_hits {
	uint64_t part_len;
	struct bench_tally part, all;
};

static inline void bench_hits_add(struct bench_hits *hits, uint64_t offset, uint32_t pattern)
{
	bench_tally_add(&hits->all, offset, pattern);
	if (offset < hits->part_len)
		bench_tally_add(&hits->part, offset, pattern);
}

#endif
