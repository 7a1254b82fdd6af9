#include <stdlib.h>
#include <string.h>

#include "assemble/crc_algebra.h"
#include "assemble/search_device.h"
#include "base/memory.h"

#define FILTER_BITS 16 /* of a register, by which most of what is not there is sorted out */
#define FILTER_LEN ((1u << FILTER_BITS) / 8)

struct searching {
	const struct crc_search *search;
	struct crc_hits *hits;
	uint32_t *known, *rest;     /* divided by x^i */
	uint8_t filter[FILTER_LEN]; /* a bit for each value of the lowest bits */
};

static void add_hit(struct searching *searching, size_t displacement, size_t second, size_t first)
{
	struct crc_hits *hits = searching->hits;

	if (hits->count < CRC_HITS_MAX)
		hits->items[hits->count] = (struct crc_hit){ (uint32_t)displacement,
			(uint32_t)second, (uint32_t)first };
	hits->count++;
}

static void divide(uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = crc_over_x(values[i]);
}

/* The breaks of [*from, *to) whose sums count with this displacement. */
static void limit(const struct crc_search *search, size_t displacement, size_t *from, size_t *to)
{
	if (search->sums_to < displacement + *to)
		*to = search->sums_to > displacement ? search->sums_to - displacement : 0;
	if (search->sums_from > displacement + *from)
		*from = search->sums_from - displacement;
	if (*from > *to)
		*from = *to;
}

/* ---- one break ----------------------------------------------------------------------------- */

/* A loop without an end that depends on data, so that the compiler makes vectors of it. */
static bool has_break(const uint32_t *known, const uint32_t *sums, size_t count, uint32_t end)
{
	uint32_t any = 0;

	for (size_t k = 0; k < count; k++)
		any |= (known[k] ^ sums[k]) == end;
	return any;
}

static void find_one(struct searching *searching, size_t i)
{
	const struct crc_search *search = searching->search;
	const uint32_t *known = searching->known, *sums = search->sums + i;
	size_t from = 0, to = search->known_count;

	limit(search, i, &from, &to);
	if (!has_break(known + from, sums + from, to - from, search->ends[i]))
		return;
	for (size_t k = from; k < to; k++)
		if ((known[k] ^ sums[k]) == search->ends[i])
			add_hit(searching, i, k, 0);
}

/* ---- two breaks ---------------------------------------------------------------------------- */

static uint32_t filter_bit(uint32_t value)
{
	return value & ((1u << FILTER_BITS) - 1);
}

/* The first breaks that go with the second one, k. */
static void add_firsts(struct searching *searching, size_t i, size_t from, size_t to, size_t k)
{
	const uint32_t *sums = searching->search->sums + i;
	uint32_t value = searching->rest[k] ^ sums[k];

	for (size_t j = from; j < to && j < k; j++)
		if ((searching->known[j] ^ sums[j]) == value)
			add_hit(searching, i, k, j);
}

static void find_two(struct searching *searching, size_t i)
{
	const struct crc_search *search = searching->search;
	const uint32_t *sums = search->sums + i;
	size_t from = 0, to = search->known_count, rest_from = search->rest_from,
	       rest_to = search->rest_to;
	uint8_t *filter = searching->filter;
	size_t added = 0;

	limit(search, i, &from, &to);
	limit(search, i, &rest_from, &rest_to);
	added = from;
	for (size_t k = rest_from; k < rest_to; k++) {
		uint32_t bit = filter_bit(searching->rest[k] ^ sums[k]);

		for (; added < k && added < to; added++) {
			uint32_t of_first = filter_bit(searching->known[added] ^ sums[added]);

			filter[of_first / 8] |= (uint8_t)(1 << of_first % 8);
		}
		if (filter[bit / 8] >> bit % 8 & 1)
			add_firsts(searching, i, from, to, k);
	}
	for (size_t j = from; j < added; j++)
		filter[filter_bit(searching->known[j] ^ sums[j]) / 8] = 0;
}

static int find_breaks(
	struct search_device *device, const struct crc_search *search, struct crc_hits *hits)
{
	struct searching *searching = xcalloc(1, sizeof(*searching));
	size_t known_len = search->known_count * sizeof(uint32_t);

	(void)device;
	hits->count = 0;
	searching->search = search;
	searching->hits = hits;
	searching->known = xmalloc(known_len + 1);
	memcpy(searching->known, search->known, known_len);
	if (!search->ends) {
		searching->rest = xmalloc(search->rest_to * sizeof(uint32_t) + 1);
		memcpy(searching->rest, search->rest, search->rest_to * sizeof(uint32_t));
	}
	for (size_t i = 0; i < search->count; i++) {
		if (search->ends)
			find_one(searching, i);
		else
			find_two(searching, i);
		divide(searching->known, search->known_count);
		if (!search->ends)
			divide(searching->rest, search->rest_to);
	}
	free(searching->known);
	free(searching->rest);
	free(searching);
	return 0;
}

const struct search_tool search_cpu = { .name = "cpu", .find_breaks = find_breaks };
