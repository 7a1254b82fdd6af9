/*
 * PFAC without a GPU: the machine against its definition, what a thread does against the naive
 * search in all the ways in which the kernels hold text and tables, and the match array of the
 * paper.
 */
#include "kernel_case.h"

#include "gpu/papers/pfac.h"
#include "tier.h"

static void add(struct pattern_set *set, const void *bytes, const void *mask, size_t len)
{
	struct pattern pattern;
	uint8_t *all = memset(xmalloc(len), 0xff, len);

	if (pattern_from_bytes(&pattern, bytes, mask ? mask : all, len, NULL) == 0)
		pattern_set_add(set, &pattern);
	free(all);
}

static void add_words(struct pattern_set *set, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(set, words[i], NULL, strlen(words[i]));
}

/* One of several alphabets; masked: some patterns have wild bits. */
static void fill_random(struct bench *bench, bool masked)
{
	static const char *const alphabets[] = { "ab", "aAbB", "\0\1\xff", "abcdefgh", "\0" };
	static const uint32_t sizes[] = { 2, 4, 3, 8, 1 };
	uint32_t which = below(5), count = below(40);

	for (uint32_t i = 0; i < bench->text.len; i++)
		bench->bytes[i] = (uint8_t)alphabets[which][below(sizes[which])];
	for (uint32_t i = 0; i < count; i++) {
		uint8_t bytes[48], mask[48];
		uint32_t len = 1 + below(below(3) ? 8 : 48);
		bool plain = !masked || below(2);

		for (uint32_t j = 0; j < len; j++) {
			bytes[j] = (uint8_t)alphabets[which][below(sizes[which])];
			mask[j] = plain ? 0xff
					: (uint8_t) "\xff\xff\xff\xdf\x0f\xf0\x01\x00"[below(8)];
		}
		add(&bench->set, bytes, mask, len);
	}
}

/* ---- the machine ---- */

/* The state after a string; PFAC_TRAP. */
static uint32_t walk(const struct pfac_tables *tables, const char *string, size_t len)
{
	struct pfac_view view = { 0 };
	uint32_t at = tables->initial;

	for (size_t i = 0; i < len && at != PFAC_TRAP; i++)
		at = pfac_entry(tables, &view, at, (uint8_t)string[i]);
	return at;
}

static const char *const figure4[] = { "ABG", "ED", "BEDE", "AB" };

Test(papers_pfac, machine_of_figure_4)
{
	static const char *const finals[] = { "AB", "ABG", "BEDE", "ED" };
	static const char *const others[] = { "A", "B", "BE", "BED", "E" };
	struct pattern_set set = { 0 };
	struct gpu_program *program;
	bool seen[10] = { false };

	add_words(&set, figure4, 4);
	cr_assert_eq(pfac_compile(&program, &set, NULL, NULL), 0);
	const struct pfac_tables *tables = pfac_tables(program);
	cr_assert_eq(tables->state_count, 10);
	cr_assert_eq(tables->initial, 4);
	cr_assert_not(tables->merged);
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert_eq(walk(tables, finals[i], strlen(finals[i])), i);
		cr_assert_eq(tables->outputs[i], i + 1);
	}
	for (size_t i = 0; i < 5; i++) {
		uint32_t at = walk(tables, others[i], strlen(others[i]));

		cr_assert(at > 4 && at < 10 && !seen[at]);
		seen[at] = true;
		cr_assert_eq(tables->outputs[at], 0);
	}
	cr_assert_eq(walk(tables, "C", 1), PFAC_TRAP);
	cr_assert_eq(walk(tables, "ABE", 3), PFAC_TRAP, "there are no failures");
	pfac_free(program);
	pattern_set_free(&set);
}

/* Whether a string begins a pattern, or is one (0, or its index + 1). */
static bool begins(const struct pattern_set *set, const uint8_t *bytes, size_t len, uint32_t *whole)
{
	bool any = false;

	*whole = 0;
	for (uint32_t i = 0; i < set->count; i++) {
		const struct pattern *pattern = &set->patterns[i];

		if (pattern->len < len || memcmp(pattern->bytes, bytes, len))
			continue;
		any = true;
		if (pattern->len == len)
			*whole = i + 1;
	}
	return any;
}

/* Every string that a state spells, with each byte after it. */
static void check_states(const struct pattern_set *set, const struct pfac_tables *tables,
	const struct pfac_tables *merged, unsigned long long seed)
{
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t len = 0; len <= set->patterns[i].len; len++) {
			uint8_t next[64];
			uint32_t at, after, whole, entry;

			memcpy(next, set->patterns[i].bytes, len);
			at = walk(tables, (const char *)next, len);
			cr_assert_lt(at, tables->state_count);
			for (unsigned byte = 0; byte < 256; byte++) {
				next[len] = (uint8_t)byte;
				after = tables->entries[at * 256 + byte];
				entry = merged->entries[at * 256 + byte];
				cr_assert_eq(after != PFAC_TRAP, begins(set, next, len + 1, &whole),
					"seed %llu", seed);
				if (after == PFAC_TRAP) {
					cr_assert_eq(entry, PFAC_TRAP_MERGED);
					continue;
				}
				cr_assert_eq(entry, after | tables->outputs[after] << 16);
				cr_assert_eq(after < tables->initial, whole != 0);
				if (!whole)
					continue;
				struct found_keyword keyword =
					tables->found.keywords[tables->outputs[after] - 1];
				cr_assert_eq(keyword.count, 1);
				cr_assert_eq(
					tables->found.records[keyword.first].pattern, whole - 1);
			}
		}
}

Test(papers_pfac, machine_against_its_definition)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(3, 20, 200); seed++) {
		struct gpu_program *program, *merged;
		struct bench bench;

		bench_state = seed * 0x9e3779b97f4a7c15ull;
		bench_open(&bench, 1, 0, 1);
		fill_random(&bench, false);
		cr_assert_eq(pfac_compile(&program, &bench.set, NULL, NULL), 0);
		cr_assert_eq(pfac_compile_merged(&merged, &bench.set, NULL, NULL), 0);
		cr_assert(pfac_tables(merged)->merged);
		cr_assert_eq(pfac_tables(program)->initial, bench.set.count);
		check_states(&bench.set, pfac_tables(program), pfac_tables(merged), seed);
		pfac_free(program);
		pfac_free(merged);
		bench_free(&bench);
	}
}

/* ---- what a thread does ---- */

/* All threads of a launch, block by block, with the block's text and row in other places. */
static void run_blocks(struct bench *bench, const struct pfac_tables *tables, struct pfac_view view,
	uint32_t block_len, uint32_t near_len)
{
	uint32_t end = found_end(&tables->found, &bench->text), rest;
	uint8_t *near = xmalloc(near_len ? near_len : 1);

	for (uint32_t own = bench->text.from & ~15u; own < end; own += block_len) {
		rest = bench->text.len - own;
		memset(near, 0xee, near_len);
		memcpy(near, bench->bytes + own, near_len < rest ? near_len : rest);
		view.near = near_len ? near : NULL;
		view.near_begin = own;
		view.near_len = near_len;
		for (uint32_t at = own; at < end && at < own + block_len; at++)
			pfac_search(tables, &view, at, &bench->text, &bench->hits, NULL);
	}
	free(near);
}

/* The stages, as far as the host can tell them apart. */
static void run_stages(struct bench *bench, unsigned long long seed)
{
	struct gpu_program *plain, *merged;
	struct pfac_view view = { 0 };

	cr_assert_eq(pfac_compile(&plain, &bench->set, NULL, NULL), 0);
	cr_assert_eq(pfac_compile_merged(&merged, &bench->set, NULL, NULL), 0);
	const struct pfac_tables *tables = pfac_tables(plain);
	bench_find_right(bench);
	run_blocks(bench, tables, view, 256, 0);
	bench_expect_right(bench, "pfac0", seed);
	run_blocks(bench, tables, view, 1024, 1536);
	bench_expect_right(bench, "pfac1", seed);
	run_blocks(bench, tables, view, 16, 18);
	bench_expect_right(bench, "pfac1 with little overlap", seed);
	view.first = tables->entries + tables->initial * 256;
	run_blocks(bench, tables, view, 1024, 1536);
	bench_expect_right(bench, "pfac2", seed);
	view.reordered = true;
	run_blocks(bench, tables, view, 1024, 1536);
	bench_expect_right(bench, "pfac4, not merged", seed);
	if (pfac_tables(merged)->merged) {
		tables = pfac_tables(merged);
		view.merged = true;
		view.first = tables->entries + tables->initial * 256;
		run_blocks(bench, tables, view, 1024, 1536);
		bench_expect_right(bench, "pfac4, merged", seed);
	}
	pfac_free(plain);
	pfac_free(merged);
}

Test(papers_pfac, random_sets)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(5, 60, 600); seed++) {
		struct bench bench;
		uint32_t len, from;

		bench_state = seed * 0x9e3779b97f4a7c15ull;
		len = 1 + below(below(4) ? 700 : 4000);
		from = below(len);
		bench_open(&bench, len, from, from + below(len - from + 1));
		fill_random(&bench, true);
		run_stages(&bench, seed);
		bench_free(&bench);
	}
}

/* Patterns that are longer than a keyword may be, and one whose keyword begins far after its start. */
Test(papers_pfac, long_patterns)
{
	static uint8_t bytes[6000], mask[6000];
	struct bench bench;

	bench_state = 13;
	bench_open(&bench, 20000, 5, 19990);
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)below(256);
	for (uint32_t i = 0; i < bench.text.len; i++)
		bench.bytes[i] = (uint8_t)below(256);
	add(&bench.set, bytes, NULL, 6000);
	memset(mask, 0xff, sizeof(mask));
	memset(mask, 0, 4500);
	add(&bench.set, bytes, mask, 6000);
	add(&bench.set, bytes, NULL, 600);
	add(&bench.set, bytes, NULL, 1);
	memcpy(bench.bytes + 1000, bytes, 6000);
	memcpy(bench.bytes + 20000 - 6000, bytes, 6000);
	run_stages(&bench, 13);
	cr_assert_geq(bench.right_count, 8);
	bench_free(&bench);
}

/* More states than 16 bits have numbers for, and just as many. */
Test(papers_pfac, entries_are_merged_while_they_have_room)
{
	static const struct {
		uint32_t words, len;
		bool merged;
	} cases[] = { { 254, 258, true }, { 255, 258, false } };
	char text[128];

	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		struct gpu_program *program;
		uint8_t word[300];

		bench_state = 17;
		bench_open(&bench, 3000, 0, 3000);
		for (uint32_t k = 0; k < bench.text.len; k++)
			bench.bytes[k] = (uint8_t)below(256);
		for (uint32_t k = 0; k < cases[i].words; k++) {
			for (uint32_t j = 0; j < cases[i].len; j++)
				word[j] = (uint8_t)below(256);
			word[0] = (uint8_t)k;
			if (k % 100 == 0)
				memcpy(bench.bytes + 10 * k, word, cases[i].len);
			add(&bench.set, word, NULL, cases[i].len);
		}
		cr_assert_eq(pfac_compile_merged(&program, &bench.set, NULL, NULL), 0);
		/* 254 * 258 + 1 = 65,533 states, and 65,791 */
		cr_assert_eq(pfac_tables(program)->state_count, cases[i].words * cases[i].len + 1);
		cr_assert_eq(pfac_tables(program)->merged, cases[i].merged);
		pfac_describe(program, text, sizeof(text));
		cr_assert(strstr(text, cases[i].merged ? "16+16-bit" : "32-bit"), "%s", text);
		pfac_free(program);
		if (!cases[i].merged && !test_tier(0, 1, 1)) {
			bench_free(&bench);
			continue;
		}
		run_stages(&bench, 17);
		cr_assert_eq(bench.right_count, 3);
		bench_free(&bench);
	}
}

/* A set whose machine would have more states than the table may have rows. */
Test(papers_pfac, windows_where_the_table_would_be_too_large)
{
	static uint8_t bytes[4096];
	struct gpu_program *program;
	struct bench bench;
	char text[128];

	bench_state = 19;
	bench_open(&bench, 9000, 0, 9000);
	for (uint32_t i = 0; i < bench.text.len; i++)
		bench.bytes[i] = (uint8_t)below(256);
	for (uint32_t i = 0; i < 130; i++) {
		for (uint32_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)below(256);
		add(&bench.set, bytes, NULL, sizeof(bytes));
		if (i == 7)
			memcpy(bench.bytes + 3000, bytes, sizeof(bytes));
	}
	cr_assert_eq(pfac_compile(&program, &bench.set, NULL, NULL), 0);
	cr_assert_leq(pfac_tables(program)->state_count, 130 * 1024 + 1);
	pfac_describe(program, text, sizeof(text));
	cr_assert(strstr(text, "keywords of at most 1024 bytes"), "%s", text);
	bench_find_right(&bench);
	run_blocks(&bench, pfac_tables(program), (struct pfac_view){ 0 }, 1024, 1536);
	bench_expect_right(&bench, "windows", 19);
	cr_assert_eq(bench.right_count, 1);
	pfac_free(program);
	bench_free(&bench);
}

/* ---- the paper's form ---- */

/* The index of the longest pattern at a place + 1, or 0. */
static uint32_t longest_at(const struct bench *bench, uint32_t at)
{
	uint32_t best = 0;

	for (uint32_t p = 0; p < bench->set.count; p++)
		if (pattern_matches(
			    &bench->set.patterns[p], bench->bytes + at, bench->text.len - at) &&
			(!best || bench->set.patterns[p].len > bench->set.patterns[best - 1].len))
			best = p + 1;
	return best;
}

Test(papers_pfac, match_array_keeps_the_longest)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(3, 30, 300); seed++) {
		struct gpu_program *program;
		struct pfac_view view = { .merged = true };
		struct bench bench;
		uint64_t read = 0;

		bench_state = seed * 0x9e3779b97f4a7c15ull;
		bench_open(&bench, 500, 0, 500);
		fill_random(&bench, false);
		cr_assert_eq(pfac_compile_merged(&program, &bench.set, NULL, NULL), 0);
		const struct pfac_tables *tables = pfac_tables(program);
		for (uint32_t at = 0; at < 500; at++) {
			uint32_t match = 0, len = 0, whole;

			read += pfac_search(tables, &view, at, &bench.text, NULL, &match);
			struct found_keyword keyword = match ? tables->found.keywords[match - 1]
							     : (struct found_keyword){ 0 };
			cr_assert_eq(match ? tables->found.records[keyword.first].pattern + 1 : 0,
				longest_at(&bench, at), "seed %llu at %u", seed, at);
			/* l(i): up to the byte with which no pattern goes on */
			do
				len++;
			while (at + len < 500 && begins(&bench.set, bench.bytes + at, len, &whole));
			read -= len;
		}
		cr_assert_eq(read, 0, "seed %llu", seed);
		pfac_free(program);
		bench_free(&bench);
	}
}

/* The four patterns of Figure 4 on "ABEDE" (Figure 5), with what ABG and AB make of it. */
Test(papers_pfac, figure_5)
{
	static const uint32_t right[] = { 1, 3, 4, 0, 0, 2, 0, 0 };
	struct gpu_program *program;
	struct pfac_view view = { 0 };
	struct bench bench;

	bench_open(&bench, 8, 0, 8);
	memcpy(bench.bytes, "ABEDEABG", 8);
	add_words(&bench.set, figure4, 4);
	cr_assert_eq(pfac_compile(&program, &bench.set, NULL, NULL), 0);
	for (uint32_t at = 0; at < 8; at++) {
		uint32_t match = 0;

		pfac_search(pfac_tables(program), &view, at, &bench.text, NULL, &match);
		cr_assert_eq(match, right[at], "at %u", at);
	}
	/* A B E: AB X, B E D E A: 3, 5, E D E: 3, D: 1, E A: 2, A B G: 3, B G: 2, G: 1 */
	cr_assert_eq(pfac_lookups(program, &bench.text), 3 + 5 + 3 + 1 + 2 + 3 + 2 + 1);
	bench_find_right(&bench);
	cr_assert_eq(bench.right_count, 5, "AB and ABG at one place");
	run_blocks(&bench, pfac_tables(program), view, 1024, 0);
	bench_expect_right(&bench, "figure 5", 0);
	pfac_free(program);
	bench_free(&bench);
}
