/*
 * The kernels stt-*: the dealing of the patterns, the tables, the diagonal scheme, and what one
 * thread does, as in each of the kernels.
 */
#include "kernel_case.h"

#include <errno.h>

#include "gpu/papers/stt.h"
#include "gpu/papers/stt_deal.h"
#include "tier.h"

/* ---- Algorithms 1 and 2 ---- */

/* Each keyword must be in one hand, and what the hands say of themselves be true. */
static void expect_all_dealt(
	const struct stt_deal *deal, const struct keyword_set *keywords, unsigned long long seed)
{
	uint32_t *seen = xcalloc(keywords->count, sizeof(*seen));

	for (uint32_t i = 0; i < deal->count; i++) {
		uint64_t len = 0;
		for (uint32_t k = 0; k < deal->hands[i].count; k++) {
			cr_assert_lt(deal->hands[i].items[k], keywords->count);
			seen[deal->hands[i].items[k]]++;
			len += keywords->items[deal->hands[i].items[k]].len;
		}
		cr_assert_eq(deal->hands[i].len, len);
	}
	for (uint32_t i = 0; i < keywords->count; i++)
		cr_assert_eq(seen[i], 1, "seed %llu: keyword %u is in %u hands", seed, i, seen[i]);
	free(seen);
}

/* Within the threshold, or else nothing that the longest hand could give would help. */
static void expect_balanced(const struct stt_deal *deal, const struct keyword_set *keywords,
	double threshold, unsigned long long seed)
{
	const struct stt_hand *most = &deal->hands[0], *least = &deal->hands[0];

	for (uint32_t i = 1; i < deal->count; i++) {
		most = deal->hands[i].len > most->len ? &deal->hands[i] : most;
		least = deal->hands[i].len < least->len ? &deal->hands[i] : least;
	}
	if (least->len && (double)most->len / (double)least->len - 1 <= threshold + 1e-9)
		return;
	for (uint32_t k = 0; k < most->count; k++)
		cr_assert_geq(least->len + keywords->items[most->items[k]].len, most->len,
			"seed %llu: %llu and %llu bytes, and a move would help", seed,
			(unsigned long long)most->len, (unsigned long long)least->len);
}

static void start_with(struct bench *bench, char byte, uint32_t count)
{
	uint8_t bytes[3] = { (uint8_t)byte, 0, 0 };

	for (uint32_t i = 0; i < count; i++) {
		bytes[1] = (uint8_t)i;
		bench_add_bytes(bench, bytes, NULL, 3);
	}
}

static uint32_t count_start(
	const struct stt_hand *hand, const struct keyword_set *keywords, char byte)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < hand->count; k++)
		count += keywords->items[hand->items[k]].bytes[0] == (uint8_t)byte;
	return count;
}

/* The bytes with the most patterns first, equal ones in their own order: to the four hands, and
 * back. */
Test(papers_stt, deals_to_and_fro)
{
	static const struct {
		char byte;
		uint32_t count, hand;
	} starts[] = { { 'q', 20, 0 }, { 'c', 19, 1 }, { 'x', 18, 2 }, { 'a', 17, 3 },
		{ 'z', 16, 3 }, { 'b', 15, 2 }, { 'r', 14, 1 }, { 'h', 13, 0 }, { 'd', 12, 0 },
		{ 'm', 12, 1 } };
	struct keyword_set keywords;
	struct stt_deal deal;
	struct bench bench;

	bench_init(&bench, 1, 1);
	for (size_t i = 10; i-- > 0;)
		start_with(&bench, starts[i].byte, starts[i].count);
	keywords_make(&keywords, &bench.set, STT_LONGEST_MAX);
	cr_assert_eq(keywords.count, 156);
	stt_deal_make(&deal, &keywords, 4);
	expect_all_dealt(&deal, &keywords, 0);
	for (size_t i = 0; i < 10; i++)
		cr_assert_eq(count_start(&deal.hands[starts[i].hand], &keywords, starts[i].byte),
			starts[i].count, "'%c'", starts[i].byte);
	cr_assert_eq(deal.hands[0].len, 3 * (20 + 13 + 12));
	cr_assert_eq(stt_deal_balance(&deal, &keywords, 0.40), 0, "it is well so");
	cr_assert_gt(stt_deal_balance(&deal, &keywords, 0.05), 0);
	expect_balanced(&deal, &keywords, 0.05, 0);
	expect_all_dealt(&deal, &keywords, 0);
	stt_deal_free(&deal);
	keywords_free(&keywords);
	bench_free(&bench);
}

static uint64_t deal_random(
	struct bench *bench, uint32_t count, double threshold, unsigned long long seed)
{
	struct keyword_set keywords;
	struct stt_deal deal;

	keywords_make(&keywords, &bench->set, STT_LONGEST_MAX);
	stt_deal_make(&deal, &keywords, count);
	expect_all_dealt(&deal, &keywords, seed);
	uint64_t moves = stt_deal_balance(&deal, &keywords, threshold);
	expect_all_dealt(&deal, &keywords, seed);
	expect_balanced(&deal, &keywords, threshold, seed);
	cr_assert_leq(moves, 4ull * keywords.count * count);
	stt_deal_free(&deal);
	keywords_free(&keywords);
	return moves;
}

/* Lengths of all kinds, and first bytes that are nearly all the same. */
Test(papers_stt, balancing_ends_and_loses_nothing)
{
	static uint8_t bytes[4096];
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(5, 60, 600); seed++) {
		struct bench bench;
		bench_init(&bench, seed, 1);
		uint32_t count = 1 + below(400), longest = 1 + below(90), letters = 1 + below(30);
		for (uint32_t i = 0; i < count; i++) {
			for (uint32_t k = 0; k < longest; k++)
				bytes[k] = (uint8_t)('a' + below(letters));
			bench_add_bytes(&bench, bytes, NULL, 1 + below(longest));
		}
		deal_random(&bench, 1 + below(GPU_PARTS_MAX), 0.15, seed);
		deal_random(&bench, 2, 0, seed);
		deal_random(&bench, GPU_PARTS_MAX, 0.15, seed);
		cr_assert_eq(deal_random(&bench, 1, 0.15, seed), 0);
		bench_free(&bench);
	}
}

Test(papers_stt, one_pattern_is_not_moved_for_ever)
{
	struct bench bench;

	bench_init(&bench, 1, 1);
	cr_assert_eq(deal_random(&bench, 2, 0.15, 1), 0);
	bench_add(&bench, "'alone'");
	cr_assert_eq(deal_random(&bench, 2, 0.15, 1), 0);
	bench_add(&bench, "'another'"); /* 5 and 7 bytes, all in one hand */
	cr_assert_eq(deal_random(&bench, 2, 0.15, 1), 1);
	bench_free(&bench);
}

Test(papers_stt, thresholds)
{
	cr_assert_eq(stt_threshold(100), 0.15);
	cr_assert_eq(stt_threshold(STT_MANY_KEYWORDS), 0.15);
	cr_assert_eq(stt_threshold(STT_MANY_KEYWORDS + 1), 0.10);
}

/* ---- the tables ---- */

static struct gpu_program *compile(const struct bench *bench, uint32_t parts, bool no_diagonal)
{
	struct gpu_tuning tuning = { .parts = parts, .no_diagonal = no_diagonal };
	struct gpu_program *program;

	cr_assert_eq(stt_compile(&program, &bench->set, &tuning, NULL), 0);
	return program;
}

/* The patterns of the paper's Figure 4: ten states. Their numbers differ from its. */
Test(papers_stt, table_of_figure_4)
{
	struct stt_shape shape;
	struct bench bench;

	bench_init(&bench, 1, 1);
	bench_add(&bench, "'he'");
	bench_add(&bench, "'she'");
	bench_add(&bench, "'his'");
	bench_add(&bench, "'hers'");
	struct gpu_program *program = compile(&bench, 1, false);
	const struct stt_part *part = &stt_tables(program)->parts[0];
	uint32_t state = 0, matched = 0;
	for (uint32_t i = 0; i < part->automaton.state_count; i++)
		matched += stt_entry(part, i, STT_MATCHED) != 0;
	cr_assert_eq(matched, 4);
	for (const char *text = "ushers"; *text; text++) {
		state = stt_entry(part, state, STT_NEXT + (uint8_t)*text);
		cr_assert_eq(stt_entry(part, state, STT_MATCHED) != 0,
			*text == 'e' || text[1] == '\0', "at %s", text);
	}
	stt_shape(program, &shape);
	cr_assert_eq(shape.part_count, 1);
	cr_assert_eq(shape.parts[0].state_count, 10);
	cr_assert_eq(shape.parts[0].keyword_count, 4);
	cr_assert_eq(shape.parts[0].len, 10 * 257 * 4);
	cr_assert_float_eq(shape.average_len, 3.0, 1e-9);
	cr_assert_gt(shape.seconds, 0);
	stt_free(program);
	bench_free(&bench);
}

static void add_words(struct bench *bench, uint32_t count)
{
	while (bench->set.count < count) {
		uint8_t word[20];
		uint32_t len = 3 + below(12);
		for (uint32_t j = 0; j < len; j++)
			word[j] = (uint8_t) "eeeeaaarrriiioootttnnnssllccuddpmhgb"[below(36)];
		bench_add_bytes(bench, word, NULL, len);
	}
}

/* As in Tables 2 and 3: the parts are alike, and all of them together little more than one
 * table. */
Test(papers_stt, parts_are_alike_and_waste_little)
{
	static const uint32_t counts[] = { 4, 8 };
	struct stt_shape one, shape;
	struct bench bench;

	bench_init(&bench, 21, 1);
	add_words(&bench, 5000);
	struct gpu_program *program = compile(&bench, 1, false);
	stt_shape(program, &one);
	stt_free(program);
	for (size_t i = 0; i < 2; i++) {
		uint32_t states = 0, keywords = 0, least = UINT32_MAX, most = 0;
		program = compile(&bench, counts[i], false);
		stt_shape(program, &shape);
		cr_assert_eq(shape.part_count, counts[i]);
		for (uint32_t k = 0; k < shape.part_count; k++) {
			cr_assert_eq(shape.parts[k].state_count,
				stt_tables(program)->parts[k].automaton.state_count);
			states += shape.parts[k].state_count;
			keywords += shape.parts[k].keyword_count;
			least = shape.parts[k].state_count < least ? shape.parts[k].state_count
								   : least;
			most = shape.parts[k].state_count > most ? shape.parts[k].state_count
								 : most;
		}
		cr_assert_eq(keywords, 5000);
		cr_assert_lt(most, least * 1.35, "%u and %u states", most, least);
		cr_assert_geq(states, one.parts[0].state_count + counts[i] - 1);
		cr_assert_lt(states, one.parts[0].state_count * 1.06, "%u instead of %u", states,
			one.parts[0].state_count);
		stt_free(program);
	}
	bench_free(&bench);
}

Test(papers_stt, parts_without_keywords_are_left_out)
{
	char text[120];
	struct stt_shape shape;
	struct bench bench;

	bench_init(&bench, 1, 1);
	struct gpu_program *program = compile(&bench, 0, false);
	cr_assert_eq(stt_tables(program)->part_count, 0);
	stt_free(program);
	bench_add(&bench, "'ab'");
	bench_add(&bench, "'bc'");
	bench_add(&bench, "'c'");
	program = compile(&bench, 0, true);
	stt_shape(program, &shape);
	cr_assert_eq(shape.part_count, 3);
	stt_describe(program, text, sizeof(text));
	cr_assert_str_eq(text, "stt (3 tables, 8 states, at most 3 in one, no diagonal)");
	stt_free(program);
	bench_free(&bench);
}

Test(papers_stt, too_many_parts)
{
	struct gpu_tuning tuning = { .parts = GPU_PARTS_MAX + 1 };
	struct error error = { 0 };
	struct gpu_program *program;
	struct bench bench;

	bench_init(&bench, 1, 1);
	cr_assert_eq(stt_compile(&program, &bench.set, &tuning, &error), -EINVAL);
	cr_assert(strstr(error.text, "64 parts, not 65"), "%s", error.text);
	bench_free(&bench);
}

/* "she" in one table and "he" in another end at one place: the array has the longer one there, which
 * ends with the other. */
Test(papers_stt, the_array_has_the_longest_match)
{
	struct bench bench;

	bench_init(&bench, 1, 1);
	bench_add(&bench, "'he'");
	bench_add(&bench, "'she'");
	bench_add(&bench, "'e'");
	bench_add(&bench, "'zzzzz'");
	struct gpu_program *program = compile(&bench, 4, false);
	const struct stt_tables *tables = stt_tables(program);
	uint32_t matches[5] = { 0 }, marked = 0;
	struct gpu_text text = { (const uint8_t *)"ushe", 0, 4, 4 };
	struct stt_view view = { .bytes = text.bytes };
	struct stt_out out = { NULL, matches };
	cr_assert_eq(tables->part_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		stt_search(&tables->parts[i], tables->longest, &view, 0, 4, &text, &out);
	for (uint32_t i = 0; i < 5; i++)
		marked += matches[i] != 0;
	cr_assert_eq(marked, 1);
	cr_assert_eq(matches[3], 3, "the third in length");
	cr_assert_eq(tables->matches.outputs[2].link, 2);
	cr_assert_eq(tables->matches.outputs[1].link, 1);
	cr_assert_eq(tables->matches.outputs[0].link, 0);
	cr_assert_eq(tables->matches.outputs[3].link, 0);
	stt_free(program);
	bench_free(&bench);
}

Test(papers_stt, threads_and_lengths_that_no_kernel_has)
{
	static const struct {
		struct gpu_tuning tuning;
		const char *reason;
	} rows[] = {
		{ { .threads = 48 }, "threads a block" },
		{ { .threads = 16 }, "threads a block" },
		{ { .threads = 2048 }, "threads a block" },
		{ { .block_len = 3000 }, "power of two bytes" },
		{ { .block_len = 65536 }, "power of two bytes" },
		{ { .threads = 512, .block_len = 1024 }, "at least 4 a thread" },
		{ { .threads = 256, .block_len = 1024, .chunk_len = 7 }, NULL },
		{ { .threads = 32 }, NULL },
	};
	struct bench bench;

	bench_init(&bench, 1, 1);
	bench_add(&bench, "'x'");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gpu_program *program;
		struct error error = { 0 };
		int status = stt_compile(&program, &bench.set, &rows[i].tuning, &error);
		cr_assert_eq(status, rows[i].reason ? -EINVAL : 0, "row %zu", i);
		if (rows[i].reason)
			cr_assert(strstr(error.text, rows[i].reason), "%s", error.text);
		else
			stt_free(program);
	}
	bench_free(&bench);
}

/* ---- the diagonal scheme ---- */

/* How many turns shared memory needs for 32 threads that ask for these units: the most different
 * ones in one of its 32 banks. */
static unsigned count_turns(const uint32_t units[32])
{
	unsigned most = 0;

	for (uint32_t bank = 0; bank < 32; bank++) {
		unsigned different = 0;
		for (unsigned i = 0; i < 32; i++) {
			bool seen = units[i] % 32 != bank;
			for (unsigned k = 0; k < i && !seen; k++)
				seen = units[k] == units[i];
			different += !seen;
		}
		most = different > most ? different : most;
	}
	return most;
}

/* The most turns of a warp that stores 32 units side by side, or reads the j-th of each thread's
 * chunk, those beyond the own ones too. */
static void count_conflicts(
	uint32_t shift, uint32_t threads, bool diagonal, unsigned *storing, unsigned *reading)
{
	uint32_t units[32], words = 1u << shift;

	*storing = *reading = 0;
	for (uint32_t first = 0; first < threads * words; first += 32) {
		for (uint32_t i = 0; i < 32; i++)
			units[i] = stt_place(first + i, shift, diagonal);
		unsigned turns = count_turns(units);
		*storing = turns > *storing ? turns : *storing;
	}
	for (uint32_t warp = 0; warp < threads; warp += 32)
		for (uint32_t j = 0; j < words + (STT_LONGEST_MAX + 3) / 4; j++) {
			for (uint32_t i = 0; i < 32; i++)
				units[i] = stt_place((warp + i) * words + j, shift, diagonal);
			unsigned turns = count_turns(units);
			*reading = turns > *reading ? turns : *reading;
		}
}

Test(papers_stt, the_diagonal_has_no_bank_conflicts)
{
	unsigned storing, reading;

	for (uint32_t shift = 0; shift <= 6; shift++) {
		unsigned words = 1u << shift;
		count_conflicts(shift, 512, true, &storing, &reading);
		cr_assert_eq(storing, 1, "%u words: %u turns", words, storing);
		cr_assert_eq(reading, 1, "%u words: %u turns", words, reading);
		count_conflicts(shift, 512, false, &storing, &reading);
		cr_assert_eq(storing, 1);
		cr_assert_eq(
			reading, words < 32 ? words : 32, "%u words: %u turns", words, reading);
	}
}

Test(papers_stt, the_diagonal_stays_within_a_chunk)
{
	for (uint32_t words = 1, shift = 0; words <= 32; words *= 2, shift++)
		for (uint32_t chunk = 0; chunk < 600; chunk++) {
			uint64_t seen = 0;
			for (uint32_t j = 0; j < words; j++) {
				uint32_t place = stt_place(chunk * words + j, shift, true);
				cr_assert_eq(place / words, chunk);
				seen |= 1ull << place % words;
			}
			cr_assert_eq(seen, (1ull << words) - 1);
		}
}

/* ---- searching ---- */

/* A thread a chunk, the text where it is. */
static void search_plain(struct bench *bench, const struct stt_tables *tables, uint32_t part,
	uint32_t chunk, const struct stt_out *out)
{
	const struct stt_part *own = &tables->parts[part];
	struct stt_view view = { .bytes = bench->bytes };
	uint64_t end = found_end(&own->automaton.found, &bench->text);

	for (uint64_t at = bench->text.from & ~15u; at < end; at += chunk)
		stt_search(own, tables->longest, &view, (uint32_t)at,
			(uint32_t)(at + chunk < end ? at + chunk : end), &bench->text, out);
}

/* Blocks of threads, and each block's text in a memory of its own, as in stt-p2. */
static void search_blocks(struct bench *bench, const struct stt_tables *tables, uint32_t part,
	uint32_t shift, uint32_t threads, const struct stt_out *out)
{
	const struct stt_part *own = &tables->parts[part];
	uint64_t end = found_end(&own->automaton.found, &bench->text);
	uint32_t words = 1u << shift, chunk = 4 * words,
		 beyond = (STT_LONGEST_MAX - 1 + chunk - 1) / chunk;
	size_t len = (size_t)(threads + beyond) * chunk;
	uint8_t *block = xmalloc(len);
	struct stt_view view = { block, 0, true, !tables->no_diagonal, shift };

	for (uint64_t first = bench->text.from & ~15u; first < end; first += threads * chunk) {
		uint32_t wanted = threads * words + (tables->longest - 1 + 3) / 4;
		memset(block, 0x5a, len);
		for (uint64_t i = 0; i < wanted && first + 4 * i < bench->text.len; i++) {
			uint64_t rest = bench->text.len - first - 4 * i;
			uint32_t place = stt_place((uint32_t)i, shift, view.diagonal);
			cr_assert_lt((place + 1) * 4, len + 1);
			memcpy(block + place * 4, bench->bytes + first + 4 * i,
				rest < 4 ? rest : 4);
		}
		view.first = (uint32_t)first;
		for (uint64_t at = first; at < first + threads * chunk && at < end; at += chunk)
			stt_search(own, tables->longest, &view, (uint32_t)at,
				(uint32_t)(at + chunk < end ? at + chunk : end), &bench->text, out);
	}
	free(block);
}

/* The one array of all tables over the text, and what it says. */
static void search_array(struct bench *bench, const struct stt_tables *tables)
{
	uint32_t *matches = xcalloc(bench->text.len, sizeof(*matches));
	struct stt_out out = { NULL, matches };

	for (uint32_t i = 0; i < tables->part_count; i++)
		search_plain(bench, tables, i, 16, &out);
	for (uint32_t at = 0; at < bench->text.len; at++)
		if (matches[at])
			automaton_report(&tables->matches, matches[at], at + 1,
				found_end(&tables->matches.found, &bench->text), &bench->text,
				&bench->hits);
	free(matches);
}

static void run_all(struct bench *bench, unsigned long long seed, uint32_t parts)
{
	struct stt_out out = { &bench->hits, NULL };

	bench_find_right(bench);
	for (int no_diagonal = 0; no_diagonal < 2; no_diagonal++) {
		struct gpu_program *program = compile(bench, parts, no_diagonal);
		const struct stt_tables *tables = stt_tables(program);
		for (uint32_t i = 0; i < tables->part_count; i++)
			search_plain(bench, tables, i, no_diagonal ? 1 : 256, &out);
		bench_expect_right(bench, "stt-p1", seed);
		for (uint32_t i = 0; i < tables->part_count; i++)
			search_blocks(bench, tables, i, 3, 32, &out);
		bench_expect_right(bench, "stt-p2, chunks of 32 bytes", seed);
		for (uint32_t i = 0; i < tables->part_count; i++)
			search_blocks(bench, tables, i, 2, 32, &out);
		bench_expect_right(bench, "stt-p2, chunks of 16 bytes", seed);
		for (uint32_t i = 0; i < tables->part_count; i++)
			search_blocks(bench, tables, i, 6, 32, &out);
		bench_expect_right(bench, "stt-p2, chunks of 256 bytes", seed);
		search_array(bench, tables);
		bench_expect_right(bench, "one array for all tables", seed);
		stt_free(program);
	}
}

Test(papers_stt, random_sets)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(5, 60, 600); seed++) {
		struct bench bench;
		bench_init(&bench, seed, 1 + (uint32_t)(seed * 7919 % 3000));
		bench_fill_random(&bench);
		run_all(&bench, seed, 1 + below(9));
		bench_free(&bench);
	}
}

Test(papers_stt, words)
{
	struct bench bench;

	bench_init(&bench, 31, test_tier(8000, 20000, 20000));
	add_words(&bench, 3000);
	for (uint32_t i = 0; i < bench.text.len; i++)
		bench.bytes[i] = (uint8_t) "eeeeaaarrriiioootttnnnssllccuddpmhgb"[below(36)];
	run_all(&bench, 31, test_tier(3, 8, 8));
	cr_assert_gt(bench.right_count, 300);
	bench_free(&bench);
}

/* They become keywords of 64 bytes, and are compared where these stand. */
Test(papers_stt, long_patterns)
{
	static uint8_t mask[5000];
	struct bench bench;

	bench_init(&bench, 37, 30000);
	memset(mask, 0xff, sizeof(mask));
	bench_add_bytes(&bench, bench.bytes + 100, mask, 5000);
	bench_add_bytes(&bench, bench.bytes + 100, mask, 65);
	bench_add_bytes(&bench, bench.bytes + 100, mask, 64);
	memset(mask + 10, 0, 4980);
	bench_add_bytes(&bench, bench.bytes + 100, mask, 5000);
	memset(mask, 0, 10);
	bench_add_bytes(&bench, bench.bytes + 100, mask, 5000);
	memcpy(bench.bytes + 17000, bench.bytes + 100, 5000);
	memcpy(bench.bytes + 25000, bench.bytes + 100, 5000);
	run_all(&bench, 37, test_tier(2, 4, 4));
	cr_assert_eq(bench.right_count, 15);
	bench.text.from = 17000;
	bench.text.to = 25000;
	run_all(&bench, 37, test_tier(3, 8, 8));
	cr_assert_eq(bench.right_count, 5);
	bench_free(&bench);
}
