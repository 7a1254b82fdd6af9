/* The parts of src/scan that tests/engines does not see: picking an engine, lists of hits, anchors,
 * errors. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "patterns/anchor.h"
#include "scan/hits.h"
#include "scan/matcher.h"

/* ---- the table ---- */

Test(scan_engines, order_and_find)
{
	unsigned i;

	cr_assert_str_eq(scan_engines[0]->name, "gpu");
	cr_assert_str_eq(scan_engines[1]->name, "cpu");
	cr_assert_str_eq(scan_engines[2]->name, "vectorscan");
	cr_assert_str_eq(scan_engines[3]->name, "reference");
	cr_assert_null(scan_engines[4]);
	for (i = 0; scan_engine_at(i); i++) {
		cr_assert_eq(scan_engine_at(i)->comparison, i > 3);
		cr_assert_eq(scan_engine_find(scan_engine_at(i)->name), scan_engine_at(i));
		if (i <= 3)
			cr_assert_eq(scan_engine_at(i), scan_engines[i]);
	}
	cr_assert_gt(i, 4, "there are engines for comparison");
	cr_assert_null(scan_engine_at(i + 1));
	cr_assert_null(scan_engine_find("hyper"));
}

Test(scan_engines, auto_says_why)
{
	char reason[256], gpu[256] = "";
	const struct scan_engine *engine = scan_engine_pick(NULL, reason, sizeof(reason), NULL);
	int rc = scan_engines[0]->probe(gpu, sizeof(gpu));

	cr_assert_not_null(engine);
	cr_assert_not_null(strstr(reason, "first that works"));
	cr_assert_not_null(strstr(reason, "gpu: "));
	if (rc != 0) {
		cr_assert_neq(gpu[0], '\0');
		cr_assert_not_null(strstr(reason, gpu), "%s", reason);
		cr_assert_neq(engine, scan_engines[0]);
	}
	cr_assert_eq(scan_engine_pick("auto", reason, sizeof(reason), NULL), engine);
}

Test(scan_engines, named)
{
	char reason[64];

	cr_assert_eq(scan_engine_pick("reference", reason, sizeof(reason), NULL), scan_engines[3]);
	cr_assert_str_eq(reason, "reference: asked for");
	cr_assert_eq(scan_engine_pick("reference", reason, 4, NULL), scan_engines[3]);
	cr_assert_str_eq(reason, "ref");
}

Test(scan_engines, unknown)
{
	struct error error = { 0 };
	char reason[64];

	cr_assert_null(scan_engine_pick("warp", reason, sizeof(reason), &error));
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_str_eq(error.text,
		"there is no engine 'warp': known are auto, gpu, cpu, vectorscan, reference, and "
		"those of `burin list engines --all`");
	cr_assert_null(scan_engine_pick("hyperscan", reason, sizeof(reason), &error));
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert(strstr(error.text, "its name is cpu"), "%s", error.text);
}

Test(scan_engines, not_available)
{
	struct error error = { 0 };
	char reason[256];

	if (scan_engines[0]->probe(reason, sizeof(reason)) == 0)
		return;
	cr_assert_null(scan_engine_pick("gpu", reason, sizeof(reason), &error));
	cr_assert_eq(error.code, EXIT_NO_ENGINE);
	cr_assert_not_null(strstr(error.text, "the engine 'gpu' is not usable"));
}

/* ---- lists of hits ---- */

static void assert_hits(const struct hit *hits, size_t count, const uint64_t *offsets, size_t want)
{
	cr_assert_eq(count, want, "%zu hits instead of %zu", count, want);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(hits[i].offset, offsets[i]);
}

Test(scan_hits, sort_is_qsort)
{
	enum { MAX = 3000 };
	static struct hit hits[MAX], wanted[MAX], spare[MAX];

	srandom(1);
	for (size_t count = 0; count < MAX; count += count < 70 ? 1 : 371) {
		size_t unique = 0, got;

		for (size_t i = 0; i < count; i++)
			hits[i] = wanted[i] = (struct hit){ (uint64_t)random() % (count + 1),
				(uint32_t)random() % 3, 0 };
		qsort(wanted, count, sizeof(*wanted), hit_compare);
		for (size_t i = 0; i < count; i++)
			if (!unique || hit_compare(&wanted[unique - 1], &wanted[i]) != 0)
				wanted[unique++] = wanted[i];
		got = hits_sort(hits, count, spare);
		cr_assert_eq(got, unique, "%zu of %zu", got, count);
		for (size_t i = 0; i < got; i++)
			cr_assert_eq(hit_compare(&hits[i], &wanted[i]), 0, "%zu of %zu", i, count);
	}
}

Test(scan_hits, compare_large_offsets)
{
	struct hit low = { 1, 9, 0 }, high = { 1ull << 63, 0, 0 };

	cr_assert_lt(hit_compare(&low, &high), 0);
	cr_assert_gt(hit_compare(&high, &low), 0);
	cr_assert_eq(hit_compare(&low, &low), 0);
}

Test(scan_hits, insert_in_front_middle_and_behind)
{
	struct hit list[8] = { { 10, 0, 0 }, { 20, 0, 0 } };
	const struct hit front = { 5, 1, 0 }, middle[] = { { 12, 0, 0 }, { 13, 0, 0 } },
			 back = { 30, 2, 0 };
	uint64_t limit = 100;
	size_t count = 2;

	count = hits_insert(list, count, 8, &front, 1, &limit);
	count = hits_insert(list, count, 8, middle, 2, &limit);
	count = hits_insert(list, count, 8, &back, 1, &limit);
	assert_hits(list, count, (uint64_t[]){ 5, 10, 12, 13, 20, 30 }, 6);
	cr_assert_eq(limit, 100);
}

Test(scan_hits, insert_leaves_out_what_is_behind_the_limit)
{
	struct hit list[8];
	const struct hit batch[] = { { 5, 0, 0 }, { 7, 0, 0 }, { 8, 0, 0 } };
	uint64_t limit = 7;

	assert_hits(list, hits_insert(list, 0, 8, batch, 3, &limit), (uint64_t[]){ 5 }, 1);
	cr_assert_eq(limit, 7);
}

Test(scan_hits, a_full_list_drops_its_end)
{
	struct hit list[4] = { { 10, 0, 0 }, { 20, 0, 0 }, { 20, 1, 0 }, { 30, 0, 0 } };
	const struct hit batch[] = { { 11, 0, 0 }, { 12, 0, 0 } };
	uint64_t limit = 100;

	/* 20 is one place: when its second hit has no room, the first goes too. */
	assert_hits(list, hits_insert(list, 4, 4, batch, 2, &limit), (uint64_t[]){ 10, 11, 12 }, 3);
	cr_assert_eq(limit, 20);
}

Test(scan_hits, a_batch_is_cut_at_a_place)
{
	struct hit list[4] = { { 10, 0, 0 }, { 50, 0, 0 } };
	const struct hit batch[] = { { 11, 0, 0 }, { 12, 0, 0 }, { 12, 1, 0 }, { 12, 2, 0 } };
	uint64_t limit = 100;

	assert_hits(list, hits_insert(list, 2, 4, batch, 4, &limit), (uint64_t[]){ 10, 11 }, 2);
	cr_assert_eq(limit, 12);
}

Test(scan_hits, order_of_batches_does_not_matter)
{
	enum { TOTAL = 200, ROOM = 57 };
	struct hit all[TOTAL], list[ROOM];

	srandom(2);
	for (size_t i = 0; i < TOTAL; i++)
		all[i] = (struct hit){ i / 3, i % 3, 0 };
	for (int round = 0; round < 200; round++) {
		size_t cuts[] = { 0, 30, 60, 90, 120, 150, 180, 200 },
		       order[] = { 0, 1, 2, 3, 4, 5, 6 };
		uint64_t limit = 1000;
		size_t count = 0;

		for (size_t i = 7; i > 1; i--) {
			size_t j = (size_t)random() % i, swap = order[j];

			order[j] = order[i - 1];
			order[i - 1] = swap;
		}
		for (size_t i = 0; i < 7; i++)
			count = hits_insert(list, count, ROOM, &all[cuts[order[i]]],
				cuts[order[i] + 1] - cuts[order[i]], &limit);
		cr_assert_eq(limit, ROOM / 3);
		cr_assert_eq(count, ROOM / 3 * 3);
		cr_assert_eq(memcmp(list, all, count * sizeof(*list)), 0);
	}
}

/* ---- anchors ---- */

static struct anchor anchor_of(const char *text, char *regex)
{
	struct pattern pattern;
	float share[RARITY_KINDS][256];
	struct anchor anchor;

	rarity_bytes(share);
	cr_assert_eq(pattern_parse(&pattern, text, NULL), 0, "%s", text);
	anchor = anchor_choose(&pattern, share);
	*regex = '\0';
	if (anchor.kind != ANCHOR_NONE)
		anchor_regex(regex, &pattern, &anchor);
	pattern_free(&pattern);
	return anchor;
}

Test(scan_anchor, kinds)
{
	static const struct {
		const char *pattern;
		struct anchor anchor;
		const char *regex;
	} rows[] = {
		{ "89'PNG'", { ANCHOR_LITERAL, 0, 4, false, true }, "\\x89\\x50\\x4e\\x47" },
		{ "???????? 'moov'", { ANCHOR_LITERAL, 4, 4, false, false },
			"\\x6d\\x6f\\x6f\\x76" },
		{ "i'<ht>'", { ANCHOR_LITERAL, 0, 4, true, true }, "\\x3c\\x48\\x54\\x3e" },
		{ "i'ab' 'CD'", { ANCHOR_LITERAL, 0, 4, true, false }, "\\x41\\x42\\x43\\x44" },
		{ "FFD9", { ANCHOR_SHORT, 0, 2, false, true }, "\\xff\\xd9" },
		{ "00000C00", { ANCHOR_COMMON, 0, 4, false, true }, "\\x00\\x00\\x0c\\x00" },
		{ "'.snd' 000000", { ANCHOR_LITERAL, 0, 6, false, false },
			"\\x2e\\x73\\x6e\\x64\\x00\\x00" },
		{ "?? 'ab' ?? i'c' ??", { ANCHOR_SHORT, 1, 4, false, false },
			"\\x61\\x62.[\\x43\\x63]" },
		{ "00000000", { ANCHOR_COMMON, 0, 4, false, true }, "\\x00\\x00\\x00\\x00" },
		{ "'ab' 4? 43", { ANCHOR_SHORT, 0, 4, false, false }, "\\x61\\x62.\\x43" },
		{ "41", { ANCHOR_NONE, 0, 1, false, true }, "" },
		{ "4? ?2", { ANCHOR_NONE, 0, 0, false, false }, "" },
		{ "41 ?? 42", { ANCHOR_NONE, 0, 3, false, true }, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char regex[ANCHOR_TEXT_MAX];
		struct anchor anchor = anchor_of(rows[i].pattern, regex), want = rows[i].anchor;

		cr_assert_eq(anchor.kind, want.kind, "%s", rows[i].pattern);
		cr_assert_str_eq(regex, rows[i].regex, "%s: %s", rows[i].pattern, regex);
		if (want.kind == ANCHOR_NONE)
			continue;
		cr_assert_eq(anchor.start, want.start, "%s", rows[i].pattern);
		cr_assert_eq(anchor.len, want.len, "%s", rows[i].pattern);
		cr_assert_eq(anchor.nocase, want.nocase, "%s", rows[i].pattern);
		cr_assert_eq(anchor.whole, want.whole, "%s", rows[i].pattern);
	}
}

Test(scan_anchor, prefers_rare_bytes)
{
	char regex[ANCHOR_TEXT_MAX];

	cr_assert_eq(anchor_of("0000000000000000 ?? 'PK' 0304", regex).start, 9);
	cr_assert_eq(anchor_of("'RIFF' ???????? 'WAVEfmt '", regex).start, 8);
}

/* ---- an open scan ---- */

struct bench {
	struct pattern_set set;
	struct pool *pool;
	struct scan_options options;
	struct scan *scan;
};

static void open_bench(struct bench *bench, const char *pattern, unsigned chunks)
{
	struct pattern parsed;
	struct error error;

	memset(bench, 0, sizeof(*bench));
	cr_assert_eq(pattern_parse(&parsed, pattern, NULL), 0);
	pattern_set_add(&bench->set, &parsed);
	bench->pool = pool_new(2);
	bench->options = (struct scan_options){
		.pool = bench->pool, .chunk_len = 1 << 20, .chunks = chunks
	};
	cr_assert_eq(
		scan_engine_find("cpu")->open(&bench->scan, &bench->set, &bench->options, &error),
		0, "%s", error.text);
}

static void close_bench(struct bench *bench)
{
	cpu_scan_close(bench->scan);
	pool_free(bench->pool);
	pattern_set_free(&bench->set);
}

Test(scan_cpu, takes_as_many_chunks_as_agreed)
{
	struct hit hits[2];
	struct chunk first = {
		.data = (const uint8_t *)"abcd", .len = 4, .hits = hits, .hit_capacity = 1
	};
	struct chunk second = first, *back;
	struct bench bench;

	open_bench(&bench, "'bcd'", 1);
	cr_assert_eq(cpu_scan_reap(bench.scan, &back), -EAGAIN);
	cr_assert_eq(cpu_scan_submit(bench.scan, &first), 0);
	cr_assert_eq(cpu_scan_submit(bench.scan, &second), -EAGAIN);
	cr_assert_eq(cpu_scan_reap(bench.scan, &back), 0);
	cr_assert_eq(back, &first);
	cr_assert_eq(first.hit_count, 1);
	cr_assert_eq(first.hits[0].offset, 1);
	cr_assert_eq(first.until, 4);
	second.hits = hits + 1;
	cr_assert_eq(cpu_scan_submit(bench.scan, &second), 0);
	cr_assert_eq(cpu_scan_reap(bench.scan, &back), 0);
	cr_assert_eq(cpu_scan_reap(bench.scan, &back), -EAGAIN);
	close_bench(&bench);
}

Test(scan_cpu, refuses_a_chunk_that_cannot_work)
{
	struct hit hits[1];
	struct chunk chunk = {
		.data = (const uint8_t *)"ab", .len = 2, .hits = hits, .hit_capacity = 0
	};
	struct bench bench;
	struct chunk *back;

	open_bench(&bench, "'ab'", 1);
	cr_assert_eq(cpu_scan_submit(bench.scan, &chunk), 0);
	cr_assert_eq(cpu_scan_reap(bench.scan, &back), 0);
	cr_assert_eq(back->status, -EINVAL);
	chunk.hit_capacity = 1;
	chunk.from = 3;
	cr_assert_eq(cpu_scan_submit(bench.scan, &chunk), 0);
	cr_assert_eq(cpu_scan_reap(bench.scan, &back), 0);
	cr_assert_eq(back->status, -EINVAL);
	close_bench(&bench);
}

static int find_breaks(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	(void)database, (void)scratch, (void)text, (void)len, (void)text_len, (void)offset,
		(void)sink;
	return -EIO;
}

static int compile_nothing(void **database, const struct pattern_set *set, struct error *error)
{
	(void)database, (void)set, (void)error;
	return 0;
}

Test(scan_cpu, a_breakdown_is_the_chunks_status)
{
	static const struct matcher broken = {
		.name = "broken", .compile = compile_nothing, .find = find_breaks
	};
	static const uint8_t text[3 << 20];
	struct pattern_set set = { 0 };
	struct pool *pool = pool_new(2);
	struct scan_options options = { .pool = pool, .chunk_len = sizeof(text), .chunks = 1 };
	struct chunk chunk = { .data = text, .len = sizeof(text) }, *back;
	struct scan *scan;

	cr_assert_eq(cpu_scan_open(&scan, &broken, &set, &options, NULL), 0);
	cr_assert_str_eq(cpu_scan_kernel(scan), "broken");
	cr_assert_eq(cpu_scan_submit(scan, &chunk), 0);
	cr_assert_eq(cpu_scan_reap(scan, &back), 0);
	cr_assert_eq(back->status, -EIO);
	cpu_scan_close(scan);
	cpu_scan_close(NULL);
	pool_free(pool);
}

Test(scan_cpu, has_no_kernels_to_choose_from)
{
	struct pattern_set set = { 0 };
	struct pool *pool = pool_new(1);
	struct scan_options options = { .pool = pool, .chunks = 1, .kernel = "gram" };
	struct error error = { 0 };
	struct scan *scan;

	cr_assert_eq(scan_engine_find("cpu")->open(&scan, &set, &options, &error), -EINVAL);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_not_null(strstr(error.text, "'cpu' has no kernel 'gram'"));
	pool_free(pool);
}

Test(scan_cpu, kernel_says_how)
{
	struct bench bench;

	open_bench(&bench, "'moov'", 1);
	cr_assert(strcmp(cpu_scan_kernel(bench.scan), "teddy (1 pattern)") == 0 ||
		  strcmp(cpu_scan_kernel(bench.scan), "vectorscan (1 pattern)") ==
			  0); /* without AVX2 */
	close_bench(&bench);
	open_bench(&bench, "/ab{1,3}/", 1);
	cr_assert_str_eq(cpu_scan_kernel(bench.scan), "vectorscan (1 pattern)");
	close_bench(&bench);
	open_bench(&bench, "/PNG.{4}(IHDR|iCCP)/", 1); /* by the bytes that it begins with */
	cr_assert(strcmp(cpu_scan_kernel(bench.scan), "teddy (1 pattern)") == 0 ||
		  strcmp(cpu_scan_kernel(bench.scan), "vectorscan (1 pattern)") == 0);
	close_bench(&bench);
	open_bench(&bench, "4?", 1);
	cr_assert_str_eq(cpu_scan_kernel(bench.scan), "pairs (1 pattern)");
	close_bench(&bench);
}
