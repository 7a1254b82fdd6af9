#include "assemble/word_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS_MIN 64

/* For two breaks: the first ones of a displacement by their value, in a table with open addressing. */
struct firsts {
	uint32_t *slots; /* a break's number and 1; 0: none */
	size_t mask;
};

static void add_hit(struct crc_hits *hits, size_t displacement, size_t second, size_t first)
{
	if (hits->count < CRC_HITS_MAX)
		hits->items[hits->count] = (struct crc_hit){ (uint32_t)displacement,
			(uint32_t)second, (uint32_t)first };
	hits->count++;
}

static bool counts(const struct crc_search *search, size_t index)
{
	return index >= search->sums_from && index < search->sums_to;
}

static void find_one(const struct crc_search *search, size_t i, struct crc_hits *hits)
{
	for (size_t k = 0; k < search->known_count; k++)
		if (counts(search, i + k) &&
			search->known[k] - search->sums[i + k] == search->ends[i])
			add_hit(hits, i, k, 0);
}

static size_t slot_of(const struct firsts *firsts, uint32_t value)
{
	return (value * 0x9e3779b9u >> 7) & firsts->mask;
}

/* All first breaks j < k with that value, the lowest first. */
static void find_firsts(const struct crc_search *search, const struct firsts *firsts, size_t i,
	size_t k, struct crc_hits *hits)
{
	uint32_t value = search->rest[k] - search->sums[i + k];

	for (size_t slot = slot_of(firsts, value); firsts->slots[slot];
		slot = (slot + 1) & firsts->mask) {
		size_t j = firsts->slots[slot] - 1;

		if (search->known[j] - search->sums[i + j] == value)
			add_hit(hits, i, k, j);
	}
}

static void find_two(const struct crc_search *search, const struct firsts *firsts, size_t i,
	struct crc_hits *hits)
{
	size_t added = 0;

	memset(firsts->slots, 0, (firsts->mask + 1) * sizeof(*firsts->slots));
	for (size_t k = 0; k < search->rest_to; k++) {
		size_t j = k;

		if (k >= search->rest_from && counts(search, i + k))
			find_firsts(search, firsts, i, k, hits);
		if (j < search->known_count && counts(search, i + j) && added < firsts->mask) {
			size_t slot = slot_of(firsts, search->known[j] - search->sums[i + j]);

			while (firsts->slots[slot])
				slot = (slot + 1) & firsts->mask;
			firsts->slots[slot] = (uint32_t)j + 1;
			added++;
		}
	}
}

void word_search_find_breaks(const struct crc_search *search, struct crc_hits *hits)
{
	struct firsts firsts = { .mask = SLOTS_MIN - 1 };

	hits->count = 0;
	while (!search->ends && firsts.mask < 2 * search->known_count)
		firsts.mask = firsts.mask * 2 + 1;
	if (!search->ends)
		firsts.slots = xcalloc(firsts.mask + 1, sizeof(*firsts.slots));
	for (size_t i = 0; i < search->count && hits->count <= CRC_HITS_MAX; i++) {
		if (search->ends)
			find_one(search, i, hits);
		else
			find_two(search, &firsts, i, hits);
	}
	free(firsts.slots);
}
