#include <stdlib.h>
#include <string.h>

#include "assemble/crc_algebra.h"
#include "assemble/equal_pairs.h"
#include "base/memory.h"

struct searching {
	enum crc_order order;
	const struct crc_search *search;
	struct crc_hits *hits;
	uint32_t *known, *rest; /* divided by x^i */
	uint32_t *firsts,
		*seconds; /* two breaks: what these and the sums of a displacement differ by */
	struct equal_pairs *pairs;
};

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

/* Loops without an end that depends on data, so that the compiler makes vectors of them. */
static bool has_break(const struct searching *searching, const uint32_t *known,
	const uint32_t *sums, size_t count, uint32_t end)
{
	uint32_t any = 0;

	if (searching->order == SUM_OF_WORDS)
		for (size_t k = 0; k < count; k++)
			any |= (known[k] - sums[k]) == end;
	else
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
	if (!has_break(searching, known + from, sums + from, to - from, search->ends[i]))
		return;
	for (size_t k = from; k < to; k++)
		if (order_minus(searching->order, known[k], sums[k]) == search->ends[i])
			crc_hits_add(searching->hits, i, k, 0);
}

/* ---- two breaks ---------------------------------------------------------------------------- */

/* What those breaks' registers and the sums of a displacement differ by. */
static struct break_values differences(const struct searching *searching, size_t i,
	const uint32_t *registers, size_t from, size_t to, uint32_t *values)
{
	const uint32_t *sums = searching->search->sums + i;

	limit(searching->search, i, &from, &to);
	if (searching->order == SUM_OF_WORDS)
		for (size_t k = from; k < to; k++)
			values[k] = registers[k] - sums[k];
	else
		for (size_t k = from; k < to; k++)
			values[k] = registers[k] ^ sums[k];
	return (struct break_values){ values, from, to };
}

static void find_two(struct searching *searching, size_t i)
{
	const struct crc_search *search = searching->search;
	struct break_values firsts = differences(
		searching, i, searching->known, 0, search->known_count, searching->firsts);
	struct break_values seconds = differences(searching, i, searching->rest, search->rest_from,
		search->rest_to, searching->seconds);

	equal_pairs_find(searching->pairs, &firsts, &seconds, i, searching->hits);
}

/* ---- all displacements --------------------------------------------------------------------- */

static uint32_t *copy_of(const uint32_t *values, size_t count)
{
	uint32_t *copy = xmalloc(count * sizeof(*copy) + 1);

	memcpy(copy, values, count * sizeof(*copy));
	return copy;
}

static void search_breaks(struct searching *searching)
{
	const struct crc_search *search = searching->search;

	for (size_t i = 0; i < search->count && searching->hits->count <= CRC_HITS_MAX; i++) {
		if (search->ends)
			find_one(searching, i);
		else
			find_two(searching, i);
		if (searching->order == SUM_OF_WORDS)
			continue;
		divide(searching->known, search->known_count);
		if (!search->ends)
			divide(searching->rest, search->rest_to);
	}
}

static void find_breaks_in(
	enum crc_order order, const struct crc_search *search, struct crc_hits *hits)
{
	struct searching searching = { order, search, hits,
		.known = copy_of(search->known, search->known_count) };

	hits->count = 0;
	if (!search->ends) {
		searching.rest = copy_of(search->rest, search->rest_to);
		searching.firsts = xmalloc(search->known_count * sizeof(uint32_t) + 1);
		searching.seconds = xmalloc(search->rest_to * sizeof(uint32_t) + 1);
		searching.pairs = equal_pairs_new(search->known_count);
	}
	search_breaks(&searching);
	free(searching.known);
	free(searching.rest);
	free(searching.firsts);
	free(searching.seconds);
	equal_pairs_free(searching.pairs);
}

void search_cpu_word_breaks(const struct crc_search *search, struct crc_hits *hits)
{
	find_breaks_in(SUM_OF_WORDS, search, hits);
}

static int find_breaks(
	struct search_device *device, const struct crc_search *search, struct crc_hits *hits)
{
	(void)device;
	find_breaks_in(CRC_LOWEST_FIRST, search, hits);
	return 0;
}

const struct search_tool search_cpu = { .name = "cpu", .find_breaks = find_breaks };
