/* Breaks with which sums of words agree: those that trying each pair finds, in the same order. */
#include <criterion/criterion.h>
#include <string.h>

#include "assemble/equal_pairs.h"

TestSuite(search_cpu);

enum { COUNT = 40, BREAKS = 30, SUMS = COUNT + BREAKS };

struct question {
	uint32_t known[BREAKS], rest[BREAKS], sums[SUMS], ends[COUNT];
	struct crc_search search;
};

/* Numbers so small that many agree. */
static void ask(struct question *question, uint32_t seed, bool two)
{
	uint32_t *all[] = { question->known, question->rest, question->sums, question->ends };
	const size_t lens[] = { BREAKS, BREAKS, SUMS, COUNT };

	for (size_t i = 0; i < 4; i++)
		for (size_t n = 0; n < lens[i]; n++) {
			seed = seed * 1664525 + 1013904223;
			all[i][n] = seed >> 27;
		}
	question->search = (struct crc_search){ .count = COUNT,
		.known = question->known,
		.known_count = BREAKS - 3,
		.sums = question->sums,
		.sums_from = 5,
		.sums_to = SUMS - 7,
		.ends = two ? NULL : question->ends,
		.rest = two ? question->rest : NULL,
		.rest_from = 2,
		.rest_to = BREAKS };
}

static bool is_there(const struct crc_search *search, size_t index)
{
	return index >= search->sums_from && index < search->sums_to;
}

static void try_all(const struct crc_search *search, struct crc_hits *hits)
{
	hits->count = 0;
	for (uint32_t i = 0; i < search->count; i++)
		for (uint32_t k = search->ends ? 0 : (uint32_t)search->rest_from;
			k < (search->ends ? search->known_count : search->rest_to); k++)
			for (uint32_t j = 0; j < (search->ends ? 1 : k); j++) {
				uint32_t first = search->ends ? k : j, value;

				if (first >= search->known_count || !is_there(search, i + first) ||
					!is_there(search, i + k))
					continue;
				value = search->known[first] - search->sums[i + first];
				if (value == (search->ends ? search->ends[i]
							   : search->rest[k] - search->sums[i + k]))
					hits->items[hits->count++] =
						(struct crc_hit){ i, k, search->ends ? 0 : j };
			}
}

Test(search_cpu, finds_the_breaks_of_words_that_trying_all_finds)
{
	static struct crc_hits hits, expected;
	struct question question;

	for (uint32_t seed = 1; seed <= 8; seed++)
		for (int two = 0; two < 2; two++) {
			ask(&question, seed, two);
			search_cpu_word_breaks(&question.search, &hits);
			try_all(&question.search, &expected);
			cr_assert_eq(hits.count, expected.count);
			cr_assert_gt(hits.count, 2);
			cr_assert_arr_eq(
				hits.items, expected.items, hits.count * sizeof(*hits.items));
		}
}

enum { MANY = 1500 };

/* Values that look alike to a filter by their lowest bits, so that all are sorted. */
Test(search_cpu, finds_equal_pairs_among_many_alike)
{
	static struct crc_hits hits, expected;
	static uint32_t firsts[MANY], seconds[MANY];
	struct equal_pairs *pairs = equal_pairs_new(MANY);
	uint32_t seed = 1;

	for (size_t i = 0; i < MANY; i++) {
		firsts[i] = (seed = seed * 1664525 + 1013904223) >> 22 << 16;
		seconds[i] = (seed = seed * 1664525 + 1013904223) >> 22 << 16;
	}
	for (size_t from = 0; from < 900; from += 400) {
		hits.count = expected.count = 0;
		equal_pairs_find(pairs, &(struct break_values){ firsts, from / 2, MANY - from },
			&(struct break_values){ seconds, from, MANY }, 7, &hits);
		for (size_t k = from; k < MANY; k++)
			for (size_t j = from / 2; j < MANY - from && j < k; j++)
				if (firsts[j] == seconds[k])
					crc_hits_add(&expected, 7, k, j);
		cr_assert_gt(expected.count, 10);
		cr_assert_leq(expected.count, CRC_HITS_MAX);
		cr_assert_eq(hits.count, expected.count);
		cr_assert_arr_eq(hits.items, expected.items, hits.count * sizeof(*hits.items));
	}
	equal_pairs_free(pairs);
}

Test(search_cpu, ends_where_there_are_more_equal_pairs_than_are_kept)
{
	static struct crc_hits hits;
	static uint32_t same[MANY];
	struct equal_pairs *pairs = equal_pairs_new(MANY);
	struct break_values all = { same, 0, MANY };

	hits.count = 0;
	equal_pairs_find(pairs, &all, &all, 0, &hits);
	cr_assert_eq(hits.count, CRC_HITS_MAX + 1);
	equal_pairs_free(pairs);
}
