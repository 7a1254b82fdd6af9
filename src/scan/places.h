/*
 * What teddy and grams have in common: they look at all places of a part of the text without a branch, which sets a bit for
 * each that passes, and go through the bits afterwards. A branch at each that passes would be predicted wrongly, as they come
 * at random, one in some 30 to 100 bytes; that costs more than the look itself.
 */
#ifndef BURIN_SCAN_PLACES_H
#define BURIN_SCAN_PLACES_H

#include <stddef.h>
#include <stdint.h>

enum {
	PLACES_PART = 4096, /* at most that are looked at together */
	PLACES_FEW = 2,     /* of 64, so many pass at most, as a rule */
};

/* Lists the numbers of the bits that are set in these words, which are PLACES_PART / 64 at most. numbers: of PLACES_PART +
 * PLACES_FEW. Returns their count. Inlined, so that it uses the instructions that its caller may use. */
static inline __attribute__((always_inline)) size_t places_list(
	const uint64_t *words, size_t word_count, uint16_t *numbers)
{
	size_t count = 0;

	for (size_t i = 0; i < word_count; i++) {
		uint64_t bits = words[i];
		size_t set = (size_t)__builtin_popcountll(bits), n = 0;

		/* Those beyond `set` mean nothing. */
		for (; n < PLACES_FEW; n++, bits &= bits - 1)
			numbers[count + n] = (uint16_t)(i * 64 + (size_t)__builtin_ctzll(
									 bits | UINT64_C(1) << 63));
		for (; n < set; n++, bits &= bits - 1)
			numbers[count + n] = (uint16_t)(i * 64 + (size_t)__builtin_ctzll(bits));
		count += set;
	}
	return count;
}

#endif
