/* The figures of `burin bench`, its text, and that it sees when something is different. */
#include <string.h>

#include "base/pool.h"
#include "bench/bench.h"
#include "bench/memory_speed.h"
#include "bench/bench_search.h"
#include "bench/search_text.h"
#include "bench/whole.h"
#include "evidence/image.h"
#include "rules/load.h"
#include "temp.h"
#include "tier.h"

/* ---- statistics ---------------------------------------------------------------------------- */

Test(bench_stats, median_of_odd_and_even_counts)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	struct bench_stats stats = bench_stats_of(odd, 3);

	cr_expect_eq(stats.median, 2);
	cr_expect_eq(stats.least, 1);
	cr_expect_eq(stats.most, 3);
	cr_expect_eq(stats.count, 3);
	cr_expect_eq(bench_stats_of(even, 4).median, 2.5);
	cr_expect_eq(bench_stats_of(one, 1).median, 7);
	cr_expect_eq(bench_stats_of(one, 0).count, 0);
	cr_expect_eq(bench_stats_of(one, 0).median, 0);
}

Test(bench_stats, one_slow_round_does_not_matter)
{
	double values[] = { 1, 1, 1, 1, 1000 };

	cr_expect_eq(bench_stats_of(values, 5).median, 1);
}

Test(bench_stats, speeds_and_shares)
{
	char text[24];

	cr_expect_eq(bench_speed(1000, 2), 500);
	cr_expect_eq(bench_speed(1000, 0), 0);
	cr_expect_str_eq(bench_speed_print(4502.3e9, text), "4502 GB/s");
	cr_expect_str_eq(bench_speed_print(123.45e9, text), "123.5 GB/s");
	cr_expect_str_eq(bench_speed_print(53.4e9, text), "53.40 GB/s");
	cr_expect_str_eq(bench_speed_print(12.3e6, text), "0.0123 GB/s");
	cr_expect_str_eq(bench_share_print(1, 3, text), "33.3 %");
	cr_expect_str_eq(bench_share_print(1, 0, text), "-");
}

/* ---- tallies and judgements ---------------------------------------------------------------- */

Test(hit_tally, knows_no_order_but_every_hit)
{
	struct hit_tally a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	hit_tally_add(&a, 10, 1);
	hit_tally_add(&a, 20, 2);
	hit_tally_add(&b, 20, 2);
	hit_tally_add(&b, 10, 1);
	hit_tally_add(&c, 10, 2); /* the patterns changed places */
	hit_tally_add(&c, 20, 1);
	hit_tally_add(&d, 11, 1);
	hit_tally_add(&d, 19, 2);
	cr_expect(hit_tally_equal(a, b));
	cr_expect(!hit_tally_equal(a, c));
	cr_expect(!hit_tally_equal(a, d));
}

/* Hits at 0, 100, 200, ..., one of them at another place or of another pattern. */
static struct hit_tallies some_hits(uint64_t wrong_at, uint64_t add, uint32_t pattern)
{
	struct hit_tallies hits = { .part_len = 1000 };

	for (uint64_t at = 0; at < 5000; at += 100)
		hit_tallies_add(
			&hits, at == wrong_at ? at + add : at, at == wrong_at ? pattern : 3);
	return hits;
}

static struct bench_row judged(const struct hit_tallies *found)
{
	struct hit_tallies right = some_hits(UINT64_MAX, 0, 0);
	struct bench_row row = { .mode = BENCH_HOST, .seconds = { .median = 1, .count = 5 } };

	bench_judge(&row, found, &right);
	return row;
}

Test(bench_judge, equal)
{
	struct hit_tallies found = some_hits(UINT64_MAX, 0, 0);
	struct bench_row row = judged(&found);

	cr_expect_eq(found.part.count, 10);
	cr_expect_eq(row.verdict, BENCH_EQUAL);
	cr_expect_eq(row.found.count, 50);
	cr_expect_eq(row.seconds.count, 5);
	cr_expect_str_eq(row.why, "");
}

Test(bench_judge, a_difference_in_the_part)
{
	struct hit_tallies found = some_hits(300, 1, 3);
	struct bench_row row = judged(&found);

	cr_expect_eq(row.verdict, BENCH_DIFFERENT);
	cr_expect_eq(row.seconds.count, 0, "what is wrong has no speed");
	cr_expect_not_null(
		strstr(row.why, "reference finds in the first 1000 bytes: 10 hits"), "%s", row.why);
}

Test(bench_judge, a_difference_behind_it)
{
	struct hit_tallies moved = some_hits(4000, 1, 3), other = some_hits(4000, 0, 2);
	struct hit_tallies more = some_hits(UINT64_MAX, 0, 0);

	hit_tallies_add(&more, 4500, 3); /* the same hit twice */
	cr_expect_eq(judged(&moved).verdict, BENCH_DIFFERENT);
	cr_expect_eq(judged(&other).verdict, BENCH_DIFFERENT);
	cr_expect_eq(judged(&more).verdict, BENCH_DIFFERENT);
	cr_expect_not_null(
		strstr(judged(&more).why, "51 hits, and 50 there"), "%s", judged(&more).why);
}

/* ---- text ---------------------------------------------------------------------------------- */

static struct bench_text take(size_t len)
{
	struct bench_text text;
	struct error error = { 0 };

	cr_assert_eq(bench_text_take(&text, len, &error), 0, "%s", error.text);
	cr_assert_eq(text.len, len);
	return text;
}

static struct pattern_set set_of(const char *first, const char *second)
{
	const char *const texts[] = { first, second };
	struct pattern_set set = { 0 };

	for (size_t i = 0; i < 2 && texts[i]; i++) {
		struct pattern pattern;
		struct error error = { 0 };

		cr_assert_eq(pattern_parse(&pattern, texts[i], &error), 0, "%s", error.text);
		pattern_set_add(&set, &pattern);
	}
	return set;
}

Test(bench_text, random_bytes_by_seed)
{
	struct bench_text a = take(1003), b = take(1003), c = take(1003);

	bench_text_random(&a, 1);
	bench_text_random(&b, 1);
	bench_text_random(&c, 2);
	cr_expect_eq(memcmp(a.bytes, b.bytes, a.len), 0);
	cr_expect_neq(memcmp(a.bytes, c.bytes, a.len), 0);
	cr_expect_neq(memcmp(a.bytes + 995, "\0\0\0\0\0\0\0", 8), 0, "the end is not filled");
	bench_text_free(&a);
	bench_text_free(&a);
	cr_expect_null(a.bytes);
	bench_text_free(&b);
	bench_text_free(&c);
}

TestSuite(bench_image, .init = temp_make, .fini = temp_remove, .timeout = TEST_HANGS);

static struct image *make_image(size_t len)
{
	uint8_t *bytes = malloc(len);
	struct image *image;
	struct error error = { 0 };

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i / 512 % 251 + 1);
	temp_write("image", bytes, len);
	free(bytes);
	cr_assert_eq(image_open(&image, temp_at("image"), &error), 0, "%s", error.text);
	return image;
}

Test(bench_image, all_of_it_where_it_is_as_long)
{
	struct image *image = make_image(100000);
	struct bench_text text = take(100000);

	bench_text_from(&text, image, 1);
	for (size_t i = 0; i < text.len; i++)
		cr_assert_eq(text.bytes[i], i / 512 % 251 + 1, "at %zu", i);
	bench_text_free(&text);
	image_close(image);
}

Test(bench_image, pieces_of_it_where_it_is_not)
{
	struct image *image = make_image(400000);
	struct bench_text text = take(1000000), again = take(1000000);

	bench_text_from(&text, image, 1);
	bench_text_from(&again, image, 1);
	cr_expect_eq(memcmp(text.bytes, again.bytes, text.len), 0);
	for (size_t i = 0; i + 1 < text.len; i++) {
		cr_assert_neq(text.bytes[i], 0);
		if (i % 512 != 511)
			cr_assert_eq(
				text.bytes[i], text.bytes[i + 1], "a sector is torn at %zu", i);
	}
	bench_text_free(&text);
	bench_text_free(&again);
	image_close(image);
}

/* ---- engines over text --------------------------------------------------------------------- */

static struct hit_tallies search(const char *engine, const struct pattern_set *set,
	const struct bench_text *text, size_t len, size_t chunk_len, unsigned passes,
	uint64_t *count)
{
	struct bench_search_options options = {
		.engine = scan_engine_find(engine),
		.set = set,
		.text = text,
		.chunk_len = chunk_len,
		.pool = pool_new(2),
	};
	struct hit_tallies hits = { .part_len = text->len / 4 };
	struct error error = { 0 };
	struct bench_search *opened;

	cr_assert_eq(bench_search_open(&opened, &options, &error), 0, "%s", error.text);
	cr_expect_geq(
		bench_search_run(opened, len, passes, &hits, count, &error), 0, "%s", error.text);
	cr_expect(*bench_search_kernel(opened));
	bench_search_close(opened);
	pool_free(options.pool);
	return hits;
}

Test(bench_search, engines_and_chunk_sizes_agree, .timeout = TEST_HANGS)
{
	struct pattern_set set = set_of("'ABCDEF'", "01 02 ?? 04");
	struct bench_text text = take(300000);
	struct hit_tallies right, found;
	uint64_t count;

	bench_text_random(&text, 5);
	bench_text_plant(&text, &set, 100, 6);
	right = search("reference", &set, &text, text.len, 1 << 20, 1, &count);
	cr_expect_geq(count, 2800, "%llu", (unsigned long long)count);
	cr_expect_eq(count, right.all.count);
	cr_expect_geq(right.part.count, 600);
	for (size_t chunk_len = 1009; chunk_len < 400000; chunk_len *= 7) {
		found = search("cpu", &set, &text, text.len, chunk_len, 1, &count);
		cr_expect(hit_tally_equal(found.all, right.all), "chunks of %zu", chunk_len);
		cr_expect(hit_tally_equal(found.part, right.part), "chunks of %zu", chunk_len);
	}
	bench_text_free(&text);
	pattern_set_free(&set);
}

Test(bench_search, passes_follow_each_other, .timeout = TEST_HANGS)
{
	struct pattern_set set = set_of("'ABCDEF'", NULL);
	struct bench_text text = take(100000);
	uint64_t once, thrice;

	bench_text_plant(&text, &set, 1000, 1);
	search("cpu", &set, &text, text.len, 30000, 1, &once);
	search("cpu", &set, &text, text.len, 30000, 3, &thrice);
	cr_expect_gt(once, 80);
	cr_expect_eq(thrice, 3 * once);
	bench_text_free(&text);
	pattern_set_free(&set);
}

Test(bench_search, a_part_sees_what_stands_behind_it, .timeout = TEST_HANGS)
{
	struct pattern_set set = set_of("'ABCDEF'", NULL);
	struct bench_text text = take(1000);
	uint64_t count;

	memcpy(text.bytes + 498, "ABCDEF", 6);
	memcpy(text.bytes + 500, "ABCDEF", 6); /* after the part, and spoils the first */
	memcpy(text.bytes + 490, "ABCDEF", 6);
	search("reference", &set, &text, 500, 100, 1, &count);
	cr_expect_eq(count, 1);
	search("reference", &set, &text, 501, 100, 1, &count);
	cr_expect_eq(count, 2);
	bench_text_free(&text);
	pattern_set_free(&set);
}

Test(bench_search, memory_is_read, .timeout = TEST_HANGS)
{
	struct pool *pool = pool_new(3);
	struct bench_text text = take(1 << 20);

	cr_expect_gt(bench_memory_read(pool, &text), 0);
	bench_text_free(&text);
	pool_free(pool);
}

/* ---- all of it ----------------------------------------------------------------------------- */

Test(bench_image, all_rows_of_a_small_image)
{
	static const char text[] = "types = ( { name = \"rec\"; header = \"01 01 01 02\"; "
				   "max_size = \"1K\"; } );";
	struct bench_options options = { .rounds = 2,
		.threads = 2,
		.chunk_size = 65536,
		.modes = { true, true, true },
		.seed = 1 };
	struct bench_result result;
	struct error error = { 0 };
	struct rules *rules;
	unsigned equal = 0;

	image_close(make_image(400000));
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0);
	options.rules = rules;
	options.set = &rules->patterns;
	options.data = temp_at("image");
	setenv("TMPDIR", temp_path, 1);
	cr_assert_eq(bench_run(&result, &options, &error), 0, "%s", error.text);
	for (size_t i = 0; i < result.count; i++) {
		const struct bench_row *row = &result.rows[i];

		cr_expect_neq(row->verdict, BENCH_DIFFERENT, "%s", row->why);
		if (strcmp(row->engine, "cpu") != 0)
			continue;
		equal += row->verdict == BENCH_EQUAL;
		cr_expect_eq(row->seconds.count, 2);
		cr_expect_gt(row->bytes, 0);
		cr_expect_gt(row->found.count, 0);
	}
	cr_expect_eq(equal, 2);
	cr_expect_gt(result.ceilings[BENCH_FILE_READ].speed, 0);
	cr_expect_gt(result.ceilings[BENCH_HOST_READ].speed, 0);
	bench_result_free(&result);
	rules_free(rules);
}
