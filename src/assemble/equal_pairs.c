#include "assemble/equal_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FILTER_BITS 16 /* of a value, by which most of what has no equal is sorted out */
#define FILTER_LEN ((1u << FILTER_BITS) / 8)
/* Second breaks that may have a first one, and for which all of those are looked at. If there are more, sorting takes less. */
#define FEW 64
#define DIGIT_BITS 11 /* of a value, by which the values are sorted at once */
#define DIGITS (1u << DIGIT_BITS)

struct equal_pairs {
	uint64_t *sorted, *spare;   /* a value, and in the lower half its break */
	uint8_t filter[FILTER_LEN]; /* a bit for each value of the lowest bits; 0 between calls */
	uint32_t starts[DIGITS];
};

struct equal_pairs *equal_pairs_new(size_t most)
{
	struct equal_pairs *pairs = xcalloc(1, sizeof(*pairs));

	pairs->sorted = xcalloc(most + 1, sizeof(*pairs->sorted));
	pairs->spare = xcalloc(most + 1, sizeof(*pairs->spare));
	return pairs;
}

void equal_pairs_free(struct equal_pairs *pairs)
{
	if (!pairs)
		return;
	free(pairs->sorted);
	free(pairs->spare);
	free(pairs);
}

void crc_hits_add(struct crc_hits *hits, size_t displacement, size_t second, size_t first)
{
	if (hits->count < CRC_HITS_MAX)
		hits->items[hits->count] = (struct crc_hit){ (uint32_t)displacement,
			(uint32_t)second, (uint32_t)first };
	hits->count++;
}

static uint32_t filter_bit(uint32_t value)
{
	return value & ((1u << FILTER_BITS) - 1);
}

/* The second breaks that may have a first one: as many as there are, and FEW + 1 at most. */
static size_t find_likely(struct equal_pairs *pairs, const struct break_values *firsts,
	const struct break_values *seconds, size_t *likely)
{
	uint8_t *filter = pairs->filter;
	size_t added = firsts->from, count = 0;

	for (size_t k = seconds->from; k < seconds->to && count <= FEW; k++) {
		uint32_t bit = filter_bit(seconds->items[k]);

		for (; added < k && added < firsts->to; added++) {
			uint32_t of_first = filter_bit(firsts->items[added]);

			filter[of_first / 8] |= (uint8_t)(1 << of_first % 8);
		}
		if (filter[bit / 8] >> bit % 8 & 1)
			likely[count++] = k;
	}
	for (size_t j = firsts->from; j < added; j++)
		filter[filter_bit(firsts->items[j]) / 8] = 0;
	return count;
}

static void sort_by_digit(struct equal_pairs *pairs, size_t count, unsigned shift)
{
	uint64_t *from = pairs->sorted;
	uint32_t at = 0;

	memset(pairs->starts, 0, sizeof(pairs->starts));
	for (size_t i = 0; i < count; i++)
		pairs->starts[from[i] >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		uint32_t with_digit = pairs->starts[digit];

		pairs->starts[digit] = at;
		at += with_digit;
	}
	for (size_t i = 0; i < count; i++)
		pairs->spare[pairs->starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
	pairs->sorted = pairs->spare;
	pairs->spare = from;
}

/* By value, those that are equal by their breaks. Returns how many there are. */
static size_t sort_firsts(struct equal_pairs *pairs, const struct break_values *firsts)
{
	size_t count = 0;

	for (size_t j = firsts->from; j < firsts->to; j++)
		pairs->sorted[count++] = (uint64_t)firsts->items[j] << 32 | j;
	for (unsigned shift = 32; shift < 64; shift += DIGIT_BITS)
		sort_by_digit(pairs, count, shift);
	return count;
}

static size_t first_of_value(const uint64_t *sorted, size_t count, uint64_t value)
{
	size_t from = 0;

	while (count) {
		size_t half = count / 2;

		if (sorted[from + half] < value) {
			from += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return from;
}

static void find_sorted(struct equal_pairs *pairs, const struct break_values *firsts,
	const struct break_values *seconds, size_t displacement, struct crc_hits *hits)
{
	size_t count = sort_firsts(pairs, firsts);

	for (size_t k = seconds->from; k < seconds->to; k++) {
		uint64_t value = (uint64_t)seconds->items[k] << 32;

		for (size_t n = first_of_value(pairs->sorted, count, value);
			n < count && pairs->sorted[n] < (value | k); n++) {
			crc_hits_add(hits, displacement, k, (uint32_t)pairs->sorted[n]);
			if (hits->count > CRC_HITS_MAX)
				return;
		}
	}
}

void equal_pairs_find(struct equal_pairs *pairs, const struct break_values *firsts,
	const struct break_values *seconds, size_t displacement, struct crc_hits *hits)
{
	size_t likely[FEW + 1], count = find_likely(pairs, firsts, seconds, likely);

	if (count > FEW) {
		find_sorted(pairs, firsts, seconds, displacement, hits);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = firsts->from; j < firsts->to && j < likely[i]; j++)
			if (firsts->items[j] == seconds->items[likely[i]])
				crc_hits_add(hits, displacement, likely[i], j);
}
