/* What a sum of bits is worth by which content goes on at a joint: how often wrong joints reach it was measured. */
#ifndef BURIN_CARVERS_COMMON_SEAM_BITS_H
#define BURIN_CARVERS_COMMON_SEAM_BITS_H

#include <stddef.h>
#include <stdint.h>

/* By a sum of at least this, pieces that do not belong together fit as well at most once in 2^bits times. */
struct seam_bits {
	int64_t sum;
	unsigned bits;
};

/* measured: in order of their sums. */
static inline unsigned seam_bits_of(const struct seam_bits *measured, size_t count, int64_t sum)
{
	unsigned bits = 0;

	for (size_t i = 0; i < count && sum >= measured[i].sum; i++)
		bits = measured[i].bits;
	return bits;
}

#endif
