/* Hits as two numbers that don't depend on their order: the count, and a sum over (offset,
 * pattern). */
#ifndef BURIN_SCAN_HIT_TALLY_H
#define BURIN_SCAN_HIT_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define TALLY_INLINE static __host__ __device__ inline
#else
#define TALLY_INLINE static inline
#endif

struct hit_tally {
	uint64_t count, sum;
};

TALLY_INLINE void hit_tally_add(struct hit_tally *tally, uint64_t offset, uint32_t pattern)
{
	uint64_t mixed = offset * 0x9e3779b97f4a7c15u ^ (pattern + 1u) * 0xc2b2ae3d27d4eb4fu;

	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
	tally->count++;
	tally->sum += mixed ^ mixed >> 32;
}

static inline bool hit_tally_equal(struct hit_tally a, struct hit_tally b)
{
	return a.count == b.count && a.sum == b.sum;
}

/* The hits of a text, and those among them that start in its first part_len bytes. */
struct hit_tallies {
	uint64_t part_len;
	struct hit_tally part, all;
	/* Where hits come in order of offset and lens is set (bytes of each pattern): of those that
	 * start at one place, the longest. The last of them are `next_offset` and `next_pattern`
	 * until hit_tallies_finish. */
	const uint32_t *lens;
	struct hit_tally longest;
	uint64_t next_offset;
	uint32_t next_pattern;
	bool next;
};

static inline void hit_tallies_finish(struct hit_tallies *hits)
{
	if (hits->next)
		hit_tally_add(&hits->longest, hits->next_offset, hits->next_pattern);
	hits->next = false;
}

static inline void hit_tallies_longest(struct hit_tallies *hits, uint64_t offset, uint32_t pattern)
{
	if (hits->next && hits->next_offset == offset) {
		if (hits->lens[pattern] > hits->lens[hits->next_pattern])
			hits->next_pattern = pattern;
		return;
	}
	hit_tallies_finish(hits);
	hits->next_offset = offset;
	hits->next_pattern = pattern;
	hits->next = true;
}

static inline void hit_tallies_add(struct hit_tallies *hits, uint64_t offset, uint32_t pattern)
{
	hit_tally_add(&hits->all, offset, pattern);
	if (offset < hits->part_len)
		hit_tally_add(&hits->part, offset, pattern);
	if (hits->lens)
		hit_tallies_longest(hits, offset, pattern);
}

#endif
