/* The functions char, shift1 and shift2 of mbm0..mbm4 against their definitions
 * (gpu/papers/mbm.h). */
#include "kernel_case.h"

#include "gpu/papers/mbm.h"
#include "tier.h"

static void add_words(
	struct bench *bench, uint32_t count, uint32_t least, uint32_t most, uint32_t letters)
{
	uint8_t word[64];

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < most; j++)
			word[j] = (uint8_t)('a' + below(letters));
		bench_add_bytes(bench, word, NULL, least + below(most - least + 1));
	}
}

/* A node by what leads to it: the last len bytes of a keyword, read backwards. */
struct spelled {
	const uint8_t *end; /* past the last byte */
	uint32_t len;
	bool whole;
};

static uint32_t node_of(const struct mbm_tables *tables, const struct spelled *node)
{
	uint32_t number = 0;

	for (uint32_t i = 1; i <= node->len; i++) {
		size_t at = (size_t)number * ZHA_COLUMNS + node->end[-(int64_t)i];
		number = tables->next32 ? tables->next32[at] : tables->next16[at];
		cr_assert_neq(number, 0);
	}
	return number;
}

/* Whether what leads to b ends with what leads to a, and is longer. In the text, as both are read
 * backwards: b begins with a. */
static bool is_longer(const struct spelled *b, const struct spelled *a)
{
	return b->len > a->len && memcmp(b->end - b->len, a->end - a->len, a->len) == 0;
}

static void expect_shifts(const struct mbm_tables *tables, const struct spelled *nodes,
	size_t count, const struct spelled *node, unsigned long long seed)
{
	struct mbm_shift got = tables->shifts[node_of(tables, node)];
	uint32_t first = tables->shortest, second = tables->shortest;

	for (size_t i = 0; i < count; i++)
		if (is_longer(&nodes[i], node) && nodes[i].len - node->len < first)
			first = nodes[i].len - node->len;
	/* shift2 comes from the node and all above it: the last depth bytes. */
	for (uint32_t depth = 0; depth <= node->len; depth++) {
		struct spelled above = { node->end, depth, false };

		for (size_t i = 0; i < count; i++)
			if (nodes[i].whole && is_longer(&nodes[i], &above) &&
				nodes[i].len - depth < second)
				second = nodes[i].len - depth;
	}
	cr_assert_eq(
		got.first, first, "seed %llu: shift1 is %u instead of %u", seed, got.first, first);
	cr_assert_eq(got.second, second, "seed %llu: shift2 is %u instead of %u", seed, got.second,
		second);
}

static void expect_chars(
	const struct mbm_tables *tables, const struct pattern_set *set, unsigned long long seed)
{
	for (unsigned byte = 0; byte < 256; byte++) {
		uint32_t least = tables->shortest + 1;

		for (uint32_t i = 0; i < set->count; i++)
			for (uint32_t depth = 1; depth <= set->patterns[i].len; depth++)
				if (set->patterns[i].bytes[set->patterns[i].len - depth] == byte &&
					depth < least)
					least = depth;
		cr_assert_eq(tables->chars[byte], least, "seed %llu: char(%u)", seed, byte);
	}
}

Test(papers_mbm, shift_functions)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(16, 100, 1000); seed++) {
		struct bench bench;
		struct gpu_program *program;
		struct spelled nodes[2000];
		size_t count = 0;
		bench_init(&bench, seed, 10);
		uint32_t least = 1 + below(6);
		add_words(&bench, 1 + below(30), least, least + below(20), 1 + below(4));
		cr_assert_eq(mbm_compile(&program, 0, &bench.set, NULL, NULL), 0);
		const struct mbm_tables *tables = mbm_tables(program);
		for (uint32_t i = 0; i < bench.set.count; i++) {
			const struct pattern *pattern = &bench.set.patterns[i];
			for (uint32_t len = 0; len <= pattern->len; len++)
				nodes[count++] = (struct spelled){ pattern->bytes + pattern->len,
					len, len == pattern->len };
		}
		for (size_t i = 0; i < count; i++)
			expect_shifts(tables, nodes, count, &nodes[i], seed);
		expect_chars(tables, &bench.set, seed);
		mbm_free(program);
		bench_free(&bench);
	}
}

/* From hand: keywords abc and bcbd, so the trie has c-b-a and d-b-c-b. */
Test(papers_mbm, shifts_by_hand)
{
	struct bench bench;
	struct gpu_program *program;
	bench_init(&bench, 8, 10);
	bench_add(&bench, "'abc'");
	bench_add(&bench, "'bcbd'");
	cr_assert_eq(mbm_compile(&program, 0, &bench.set, NULL, NULL), 0);
	const struct mbm_tables *tables = mbm_tables(program);
	cr_assert_eq(tables->chars['a'], 3);
	cr_assert_eq(tables->chars['b'], 2);
	cr_assert_eq(tables->chars['c'], 1);
	cr_assert_eq(tables->chars['d'], 1);
	cr_assert_eq(tables->chars['e'], 4);
	cr_assert_eq(tables->shifts[0].first, 1);
	cr_assert_eq(tables->shifts[0].second, 3);
	uint32_t c = tables->next16['c'], cb = tables->next16[c * 256 + 'b'];
	/* c stands 2 farther in dbc; bc, backwards cb, in dbcb 2 farther, and that is whole. */
	cr_assert_eq(tables->shifts[c].first, 2);
	cr_assert_eq(tables->shifts[c].second, 3);
	cr_assert_eq(tables->shifts[cb].first, 2);
	cr_assert_eq(tables->shifts[cb].second, 2);
	/* At c, with e in the way: 4 - 1 - 1 = 2, no less than shift1, no more than shift2. */
	cr_assert_eq(mbm_shift(tables->shifts[c], tables->chars['e'], 1), 2);
	cr_assert_eq(mbm_shift(tables->shifts[0], tables->chars['e'], 0), 3);
	cr_assert_eq(mbm_shift(tables->shifts[0], tables->chars['c'], 0), 1);
	mbm_free(program);
	bench_free(&bench);
}
