/* The kernel bmh: its tables, and what one thread does, for each thread of several grids. */
#include "kernel_case.h"

#include <errno.h>

#include "scan/gpu_options.h"
#include "gpu/papers/bmh.h"
#include "tier.h"

static void run(struct bench *bench, uint32_t *places, uint32_t blocks, uint32_t threads)
{
	struct gpu_tuning tuning = { .blocks = blocks, .threads = threads };
	struct bmh_out out = { &bench->hits, places };
	struct gpu_program *program;
	uint64_t begin, end, before = bench->text.from;

	cr_assert_eq(bmh_compile(&program, &bench->set, &tuning, NULL), 0);
	uint64_t count = (uint64_t)bmh_tables(program)->blocks * bmh_tables(program)->threads;
	for (uint64_t thread = 0; thread < count; thread++) {
		bmh_segment(&bench->text, thread, count, &begin, &end);
		if (begin < end)
			cr_assert_eq(begin, before, "no gap, nothing twice");
		before = begin < end ? end : before;
		bmh_search(bmh_tables(program), begin, end, &bench->text, &out);
	}
	cr_assert_eq(before, bench->text.to);
	bmh_free(program);
}

static void run_all(struct bench *bench, unsigned long long seed)
{
	bench_find_right(bench);
	run(bench, NULL, 1, 1);
	bench_expect_right(bench, "one thread", seed);
	run(bench, NULL, 3, 5);
	bench_expect_right(bench, "3 x 5 threads", seed);
	run(bench, NULL, 0, 0);
	bench_expect_right(bench, "256 x 16 threads", seed);
}

/* The array says which is the longest pattern that starts at a place. With masks there may be
 * several; then it is the first one of the set. */
static void expect_places(struct bench *bench, unsigned long long seed)
{
	uint32_t *places = xcalloc(bench->text.len, sizeof(*places));
	uint32_t *right = xcalloc(bench->text.len, sizeof(*right));

	for (size_t i = 0; i < bench->right_count; i++) {
		uint32_t at = (uint32_t)(bench->right[i] >> 32), number = (uint32_t)bench->right[i];
		if (!right[at] ||
			bench->set.patterns[number].len > bench->set.patterns[right[at] - 1].len)
			right[at] = number + 1;
	}
	run(bench, places, 2, 7);
	cr_assert_eq(bench->found, 0);
	for (uint32_t at = 0; at < bench->text.len; at++)
		cr_assert_eq(places[at], right[at], "seed %llu, at %u: %u instead of %u", seed, at,
			places[at], right[at]);
	free(places);
	free(right);
}

Test(papers_bmh, random_sets)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(16, 100, 1000); seed++) {
		struct bench bench;
		bench_init(&bench, seed, 1 + (uint32_t)(seed * 7919 % 700));
		bench_fill_random(&bench);
		run_all(&bench, seed);
		expect_places(&bench, seed);
		bench_free(&bench);
	}
}

static uint16_t shift(const struct gpu_program *program, uint32_t pass, char byte)
{
	return bmh_tables(program)->shifts[pass * 256 + (uint8_t)byte];
}

Test(papers_bmh, bad_character_table)
{
	struct gpu_program *program;
	struct bench bench;

	bench_init(&bench, 1, 1);
	bench_add(&bench, "'abcab'");
	bench_add(&bench, "'ab' ?? 'd'");
	bench_add(&bench, "'x'");
	bench_add(&bench, "4? 'zz'");
	cr_assert_eq(bmh_compile(&program, &bench.set, NULL, NULL), 0);
	/* passes by length: 'x', 4?zz, ab??d, abcab */
	cr_assert_eq(shift(program, 0, 'x'), 1);
	cr_assert_eq(shift(program, 0, 'y'), 1);
	cr_assert_eq(shift(program, 1, 'A'), 2);
	cr_assert_eq(shift(program, 1, 'O'), 2);
	cr_assert_eq(shift(program, 1, 'P'), 3);
	cr_assert_eq(shift(program, 1, 'z'), 1);
	cr_assert_eq(shift(program, 2, 'a'), 1, "any byte agrees with the wild one");
	cr_assert_eq(shift(program, 2, 'q'), 1);
	cr_assert_eq(shift(program, 3, 'a'), 1);
	cr_assert_eq(shift(program, 3, 'b'), 3, "the end is left out");
	cr_assert_eq(shift(program, 3, 'c'), 2);
	cr_assert_eq(shift(program, 3, 'd'), 5);
	cr_assert_eq(bmh_tables(program)->blocks, 256);
	cr_assert_eq(bmh_tables(program)->threads, 16);
	char text[80];
	bmh_describe(program, text, sizeof(text));
	cr_assert_str_eq(text, "bmh (4 passes, 256 blocks x 16 threads)");
	bmh_free(program);
	bench_free(&bench);
}

/* The lengths of Table II, and one more; over the edges of segments. */
Test(papers_bmh, long_patterns)
{
	static const uint32_t lens[] = { 1751, 3, 3999, 4096, 5000 };
	static uint8_t bytes[5000], mask[5000];
	struct bench bench;

	bench_init(&bench, 5, 40000);
	for (uint32_t i = 0; i < 5; i++) {
		memcpy(bytes, bench.bytes + 900 * i + 77, lens[i]);
		bench_add_bytes(&bench, bytes, NULL, lens[i]);
		memcpy(bench.bytes + 20000 + 3000 * i, bytes, lens[i]);
		memset(mask, 0xf0, sizeof(mask));
		bench_add_bytes(&bench, bytes, mask, lens[i]);
	}
	memcpy(bench.bytes + 35000, bytes, 5000); /* up to the end */
	run_all(&bench, 5);
	cr_assert_geq(bench.right_count, 15);
	bench.text.from = 3;
	bench.text.to = 35001;
	run_all(&bench, 5);
	expect_places(&bench, 5);
	bench_free(&bench);
}

Test(papers_bmh, no_patterns_and_patterns_longer_than_the_text)
{
	struct bench bench;

	bench_init(&bench, 2, 5);
	run_all(&bench, 2);
	bench_add(&bench, "'longer than it'");
	run_all(&bench, 2);
	memcpy(bench.bytes, "there", 5);
	bench_add(&bench, "'there'");
	bench_add(&bench, "'here'");
	run_all(&bench, 2);
	cr_assert_eq(bench.right_count, 2);
	bench_free(&bench);
}

static void expect_refusal(
	struct bench *bench, const struct gpu_tuning *tuning, int status, const char *words)
{
	struct error error = { 0 };
	struct gpu_program *program;

	cr_assert_eq(bmh_compile(&program, &bench->set, tuning, &error), status);
	cr_assert(strstr(error.text, "bmh") && strstr(error.text, words), "%s", error.text);
}

Test(papers_bmh, refusals)
{
	static uint8_t bytes[65536];
	struct bench bench;

	bench_init(&bench, 3, 1);
	expect_refusal(&bench, &(struct gpu_tuning){ .threads = 1025 }, -EINVAL, "1024");
	expect_refusal(&bench, &(struct gpu_tuning){ .blocks = 1u << 31 }, -EINVAL, "2147483647");
	bytes[0] = 1;
	bench_add_bytes(&bench, bytes, NULL, 65535);
	run_all(&bench, 3);
	bench_add_bytes(&bench, bytes, NULL, 65536);
	expect_refusal(&bench, NULL, -EINVAL, "does not fit");
	bench_free(&bench);
}

/* The windows that a search of all of the text looks at. */
static uint64_t count_windows(struct bench *bench)
{
	struct gpu_program *program;
	uint64_t windows = 0, at = 0;

	cr_assert_eq(bmh_compile(&program, &bench->set, NULL, NULL), 0);
	const struct bmh_tables *tables = bmh_tables(program);
	const struct bmh_pattern *pattern = &tables->patterns[0];
	while (at + pattern->len <= bench->text.len) {
		cr_assert(!bmh_matches(tables, pattern, bench->bytes + at));
		at += tables->shifts[bench->bytes[at + pattern->len - 1]];
		windows++;
	}
	bmh_free(program);
	return windows;
}

/* Section IV: at best N / M windows, where the text's bytes are not in the pattern; at worst one a byte,
 * where the last byte is also the one before it and the text has no other. */
Test(papers_bmh, best_and_worst_case)
{
	struct bench bench;

	bench_init(&bench, 7, 1000);
	memset(bench.bytes, 'x', 1000);
	bench_add(&bench, "'abcdefghij'");
	cr_assert_eq(count_windows(&bench), 1000 / 10);
	bench_free(&bench);
	bench_init(&bench, 7, 1000);
	memset(bench.bytes, 'x', 1000);
	bench_add(&bench, "'axxxxxxxxx'");
	cr_assert_eq(count_windows(&bench), 1000 - 10 + 1);
	bench_free(&bench);
}
