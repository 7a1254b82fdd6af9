/*
 * The kernels ac0..ac4 and mbm0..mbm4 of Zha and Sahni without a GPU: how the text is dealt out,
 * their Theorem 1, and what one thread does, for each thread of a launch.
 */
#include "kernel_case.h"

#include <errno.h>

#include "scan/gpu_options.h"
#include "gpu/papers/mbm.h"
#include "gpu/papers/zha_ac.h"
#include "tier.h"

/* ---- Theorem 1 ---- */

/* The most accesses to one bank when `banks` threads, stride words apart, each read their word. */
static uint32_t simulate(uint32_t stride, uint32_t first, uint32_t banks)
{
	uint32_t most = 0, *accesses = xcalloc(banks, sizeof(*accesses));

	for (uint32_t thread = 0; thread < banks; thread++) {
		uint32_t *bank = &accesses[(thread * stride + first) % banks];

		++*bank;
		most = *bank > most ? *bank : most;
	}
	free(accesses);
	return most;
}

Test(papers_zha, theorem_1)
{
	static const uint32_t banks[] = { 1, 2, 12, 16, 31, 32, 64 };

	for (size_t i = 0; i < sizeof(banks) / sizeof(banks[0]); i++)
		for (uint32_t words = 1; words <= 64; words++) {
			uint32_t ways = zha_bank_ways(words, banks[i]);

			for (uint32_t first = 0; first < words; first++)
				cr_assert_eq(ways, simulate(words, first, banks[i]),
					"tWord %u, %u banks", words, banks[i]);
			if (banks[i] == 16 || banks[i] == 32)
				cr_assert_eq(ways == 1, words % 2 == 1, "tWord %u", words);
		}
	cr_assert_eq(zha_bank_ways(57, 32), 1);
	cr_assert_eq(zha_bank_ways(56, 16), 8, "their example");
	cr_assert_eq(zha_bank_ways(56, 32), 8);
	cr_assert_eq(zha_bank_ways(48, 32), 16);
}

/* 8 bytes at once are all that an odd tWord allows; rows of states are an odd number of words. */
Test(papers_zha, writes)
{
	for (uint32_t words = 1; words <= ZHA_TWORD_MAX; words++)
		for (uint32_t wide = 0; wide < 2; wide++) {
			uint32_t at_once = 4 * zha_ac_write_words(words, wide);
			uint32_t own_len = 4 * words * (wide ? 4 : 2);

			cr_assert_eq(at_once, wide || words % 2 == 0 ? 16 : 8);
			cr_assert_eq(own_len % at_once, 0);
		}
	cr_assert_eq(zha_bank_ways(zha_ac_row_words(false), ZHA_BANKS), 1);
	cr_assert_eq(zha_bank_ways(zha_ac_row_words(true), ZHA_BANKS), 1);
}

/* ---- threads ---- */

/* A launch on the host: `threads` of a block, few, so that there are several blocks. */
enum { THREADS = 4 };

struct launch {
	struct bench *bench;
	struct zha_deal deal;
	uint8_t *tile; /* of a block */
	void *array;   /* as of the kernels; NULL: hits */
	bool wide;
};

static void launch_init(struct launch *launch, struct bench *bench, const struct found *found,
	uint32_t longest, uint32_t words, bool before, bool array)
{
	size_t room = bench->text.len + 16 + THREADS * 4 * words;

	launch->bench = bench;
	launch->deal = zha_deal_text(&bench->text, found, longest, words, before);
	launch->tile = xmalloc(THREADS * 4 * words + launch->deal.lead);
	launch->array = array ? xcalloc(room, 4) : NULL;
}

static void launch_free(struct launch *launch)
{
	free(launch->tile);
	free(launch->array);
}

static void read_tile(const struct launch *launch, uint64_t block)
{
	const struct gpu_text *text = &launch->bench->text;
	uint32_t len = THREADS * 4 * launch->deal.words + launch->deal.lead;
	int64_t at = launch->deal.origin + (int64_t)(block * THREADS * 4 * launch->deal.words);

	for (uint32_t i = 0; i < len; i++)
		launch->tile[i] = at + i >= 0 && at + i < text->len ? text->bytes[at + i] : 0;
}

/* A pointer that is only valid from element `index` on. */
static void *array_at(const struct launch *launch, int64_t index)
{
	return launch->array ? (uint8_t *)launch->array + index * (launch->wide ? 4 : 2) : NULL;
}

Test(papers_zha, windows_deal_the_text_out)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(12, 200, 2000); seed++) {
		struct bench bench;
		struct found found = { 0 };
		bench_init(&bench, seed, 1 + below(3000));
		bench.text.from = below(bench.text.len);
		bench.text.to = bench.text.from + below(bench.text.len - bench.text.from + 1);
		found.reach = below(2) * below(100);
		uint32_t longest = below(65), words = 1 + below(64);
		bool before = below(2);
		struct zha_deal deal = zha_deal_text(&bench.text, &found, longest, words, before);
		int64_t next = bench.text.from & ~15u;

		cr_assert_eq(deal.origin % 16, 0);
		for (uint64_t thread = 0; thread < deal.threads; thread++) {
			struct zha_window window = zha_window_of(&deal, thread);
			cr_assert_eq(window.at + window.own_first, next, "seed %llu", seed);
			cr_assert_geq(window.at + window.first, 0);
			cr_assert_leq(window.at + window.last, bench.text.len);
			cr_assert_leq(window.last, window.own + window.lead);
			cr_assert_lt(window.own_first, window.last, "nothing to do");
			next += window.own;
		}
		if (bench.text.from < bench.text.to)
			cr_assert_geq(next, before ? deal.limit : found_end(&found, &bench.text));
		else
			cr_assert_eq(deal.threads, 0);
		bench_free(&bench);
	}
}

/* ---- ac ---- */

/* What search_registers does in zha_ac.cu, thread by thread between the barriers. */
static void run_registers(
	const struct launch *launch, const struct zha_ac_view *view, uint64_t block, uint32_t words)
{
	uint32_t row_words = zha_ac_row_words(view->wide);
	uint32_t states[THREADS] = { 0 }, held[THREADS][ZHA_TWORD_MAX];
	uint32_t *rows = xcalloc(THREADS * row_words, sizeof(*rows));
	struct zha_window windows[THREADS];
	const uint8_t *own[THREADS];

	for (uint32_t t = 0; t < THREADS; t++) {
		windows[t] = zha_window_of(&launch->deal, block * THREADS + t);
		own[t] = launch->tile + t * 4 * words;
		memcpy(held[t], own[t] + windows[t].own_first, 4 * words);
		if (launch->array)
			states[t] = zha_ac_bytes(view, &windows[t], 0, own[t], 0, windows[t].first,
				windows[t].own_first, NULL);
	}
	for (uint32_t round = 0; round * (ZHA_ROUND / 4) < words; round++) {
		for (uint32_t t = 0; t < THREADS; t++) {
			uint32_t before = states[t], highest = 0, from = round * ZHA_ROUND;
			uint32_t to = from + ZHA_ROUND < 4 * words ? from + ZHA_ROUND : 4 * words;
			states[t] = zha_ac_round(view, &windows[t], before, held[t], words, round,
				rows + t * row_words, &highest);
			if (view->hits && highest >= view->tables->automaton.accepting)
				zha_ac_bytes(view, &windows[t], before, own[t], 0, from, to, NULL);
		}
		for (uint32_t t = 0; launch->array && t < THREADS; t++)
			zha_ac_write(array_at(launch, windows[0].at + launch->deal.lead), rows, t,
				THREADS, words, round, view->wide);
	}
	for (uint32_t t = 0; !launch->array && t < THREADS; t++)
		zha_ac_bytes(
			view, &windows[t], states[t], own[t], 0, 4 * words, windows[t].last, NULL);
	free(rows);
}

static void run_ac_thread(const struct launch *launch, const struct zha_ac_view *view,
	const struct zha_ac_program *program, uint64_t thread)
{
	struct zha_window window = zha_window_of(&launch->deal, thread);
	const uint8_t *own = launch->tile + thread % THREADS * window.own;
	struct zha_ac_states states = { array_at(launch, window.at + window.own_first), 0 };
	uint8_t piece[16];

	if (program->stage < 2)
		zha_ac_basic(view, &window, launch->bench->bytes + window.at, &states);
	else if (program->stage == 2)
		zha_ac_pieces(view, &window, piece, &states);
	else if (program->uints)
		zha_ac_uints(view, &window, (const uint32_t *)(const void *)own, &states);
	else
		zha_ac_basic(view, &window, own, &states);
}

/* Every state must be that of the automaton that has come through the whole text. */
static void expect_states(const struct launch *launch, const struct ac_tables *tables)
{
	const struct ac_view view = { .direct = true, .wide = launch->wide };
	const struct bench *bench = launch->bench;
	uint32_t state = 0;

	for (uint32_t at = 0; launch->deal.threads && at < launch->deal.limit; at++) {
		uint32_t got = launch->wide ? ((uint32_t *)launch->array)[at]
					    : ((uint16_t *)launch->array)[at];

		state = ac_next(tables, &view, state, bench->bytes[at]);
		if (at >= (bench->text.from & ~15u))
			cr_assert_eq(got, state, "at %u of %u", at, bench->text.len);
		if (at >= (bench->text.from & ~15u) && got >= tables->automaton.accepting)
			automaton_report(&tables->automaton, got, at + 1, UINT32_MAX, &bench->text,
				&bench->hits);
	}
}

static void run_ac(struct bench *bench, unsigned stage, struct gpu_tuning tuning, bool array)
{
	struct gpu_program *memory;
	struct launch launch;

	cr_assert_eq(zha_ac_compile(&memory, stage, &bench->set, &tuning, NULL), 0);
	const struct zha_ac_program *program = (const struct zha_ac_program *)memory;
	const struct ac_tables *tables = ac_tables(program->ac);
	struct zha_ac_view view = { .tables = tables,
		.text = &bench->text,
		.hits = array ? NULL : &bench->hits,
		.wide = tables->next32 != NULL };
	cr_assert_eq(tables->columns, 256);
	launch.wide = view.wide;
	launch_init(&launch, bench, &tables->automaton.found, program->longest, program->words,
		array, array);
	for (uint64_t thread = 0; thread < launch.deal.threads; thread++) {
		if (thread % THREADS == 0) {
			read_tile(&launch, thread / THREADS);
			if (stage == 4)
				run_registers(&launch, &view, thread / THREADS, program->words);
		}
		if (stage < 4)
			run_ac_thread(&launch, &view, program, thread);
	}
	if (array)
		expect_states(&launch, tables);
	launch_free(&launch);
	zha_ac_free(memory);
}

static void run_all_ac(struct bench *bench, unsigned long long seed, bool forms)
{
	static const struct {
		unsigned stage;
		struct gpu_tuning tuning;
		const char *what;
	} rows[] = {
		{ 0, { 0 }, "ac0" },
		{ 2, { 0 }, "ac2" },
		{ 3, { 0 }, "ac3" },
		{ 3, { .words = 6 }, "ac3 of 6 words" },
		{ 3, { .words = 1, .uints = true }, "ac3 of 1 word, uints" },
		{ 3, { .words = 15, .uints = true }, "ac3 of 15 words, uints" },
		{ 4, { 0 }, "ac4" },
		{ 4, { .words = 56 }, "ac4 of 56 words" },
		{ 4, { .words = 48 }, "ac4 of 48 words" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_ac(bench, rows[i].stage, rows[i].tuning, false);
		bench_expect_right(bench, rows[i].what, seed);
		run_ac(bench, rows[i].stage, rows[i].tuning, true);
		if (forms)
			bench_expect_right(bench, rows[i].what, seed);
		bench->found = 0;
	}
}

/* ---- mbm ---- */

static void run_mbm(struct bench *bench, bool array)
{
	struct gpu_program *program;
	struct launch launch;

	cr_assert_eq(mbm_compile(&program, 3, &bench->set, NULL, NULL), 0);
	const struct mbm_tables *tables = mbm_tables(program);
	const struct automaton *automaton = &tables->automaton;
	launch.wide = tables->next32 != NULL;
	launch_init(
		&launch, bench, &automaton->found, tables->longest, 1 + below(57), false, array);
	for (uint64_t thread = 0; thread < launch.deal.threads; thread++) {
		struct zha_window window = zha_window_of(&launch.deal, thread);
		struct mbm_view view = { .tables = tables,
			.text = &bench->text,
			.hits = array ? NULL : &bench->hits,
			.nodes = array_at(&launch, window.at),
			.shifts = tables->shifts,
			.chars = tables->chars,
			.wide = launch.wide };
		mbm_search(&view, &window, bench->bytes + window.at);
	}
	for (uint32_t at = bench->text.from & ~15u; array && at < bench->text.len; at++) {
		uint32_t node = launch.wide ? ((uint32_t *)launch.array)[at]
					    : ((uint16_t *)launch.array)[at];
		if (node >= automaton->accepting)
			mbm_report_node(automaton, node, at, &bench->text, &bench->hits);
	}
	launch_free(&launch);
	mbm_free(program);
}

/* Section 3.1: "output[i] gives the last node visited over all examinations" of byte i. Here a node at
 * which no keyword starts must be in the array, and a later window's must replace it. */
Test(papers_zha, mbm_array_has_the_last_node_visited)
{
	static const uint8_t text[] = "xxxabcxx";
	struct gpu_program *program;
	struct bench bench;
	uint16_t nodes[sizeof(text)] = { 0 };

	bench_init(&bench, 8, 10);
	bench_add(&bench, "'abcd'");
	bench_add(&bench, "'zbc'");
	cr_assert_eq(mbm_compile(&program, 0, &bench.set, NULL, NULL), 0);
	const struct mbm_tables *tables = mbm_tables(program);
	struct zha_window window = { .at = 0, .own = 8, .last = 8 };
	struct mbm_view view = {
		.tables = tables, .nodes = nodes, .shifts = tables->shifts, .chars = tables->chars
	};
	mbm_search(&view, &window, text);
	uint32_t c = tables->next16['c'], bc = tables->next16[c * ZHA_COLUMNS + 'b'];
	cr_assert(c && bc && bc < tables->automaton.accepting);
	/* The windows that end after "abc": c, then bc, and a does not continue "zbc". */
	cr_assert_eq(nodes[5], c);
	cr_assert_eq(nodes[4], bc);
	cr_assert_eq(nodes[3], 0);
	mbm_free(program);
	bench_free(&bench);
}

static void run_all(struct bench *bench, unsigned long long seed, bool forms)
{
	bench_find_right(bench);
	run_all_ac(bench, seed, forms);
	run_mbm(bench, false);
	bench_expect_right(bench, "mbm", seed);
	run_mbm(bench, true);
	if (forms)
		bench_expect_right(bench, "mbm's nodes", seed);
	bench->found = 0;
}

/* Whether every pattern is a keyword of its own. */
static bool all_whole(const struct pattern_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t j = 0; j < set->patterns[i].len; j++)
			if (set->patterns[i].mask[j] != 0xff)
				return false;
	return set->longest <= ZHA_MAXL;
}

Test(papers_zha, random_sets)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(4, 30, 600); seed++) {
		struct bench bench;
		bench_init(&bench, seed, 1 + (uint32_t)(seed * 7919 % 2500));
		bench_fill_random(&bench);
		run_all(&bench, seed, all_whole(&bench.set));
		bench_free(&bench);
	}
}

/* Words that are not short, so that Boyer-Moore's windows go on by more than a byte. */
static void add_words(
	struct bench *bench, uint32_t count, uint32_t least, uint32_t most, uint32_t letters)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t word[64];
		uint32_t len = least + below(most - least + 1);
		for (uint32_t j = 0; j < len; j++)
			word[j] = (uint8_t)('a' + below(letters));
		bench_add_bytes(bench, word, NULL, len);
		if (i % 4 == 0 && len < bench->text.len)
			memcpy(bench->bytes + below(bench->text.len - len), word, len);
	}
}

Test(papers_zha, random_words)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(4, 30, 600); seed++) {
		struct bench bench;
		bench_init(&bench, seed, 3000);
		uint32_t letters = 1 + below(4), least = 2 + below(8);
		for (uint32_t i = 0; i < bench.text.len; i++)
			bench.bytes[i] = (uint8_t)('a' + below(letters + below(2)));
		add_words(&bench, 1 + below(30), least, least + below(50), letters);
		run_all(&bench, seed, all_whole(&bench.set));
		bench_free(&bench);
	}
}

/* More than 65,536 states and nodes. */
Test(papers_zha, wide_tables)
{
	struct bench bench;
	if (!test_tier(0, 0, 1))
		return;
	bench_init(&bench, 5, 2000);
	add_words(&bench, 11000, 8, 12, 26);
	run_all(&bench, 5, true);
	cr_assert_gt(bench.right_count, 100);
	bench_free(&bench);
}

Test(papers_zha, no_pattern_and_nothing_wanted)
{
	struct bench bench;
	bench_init(&bench, 6, 700);
	run_all(&bench, 6, true);
	bench_add(&bench, "'abc'");
	bench.text.from = bench.text.to = 300;
	run_all(&bench, 6, true);
	bench.text.from = bench.text.to = bench.text.len = 0;
	run_all(&bench, 6, true);
	bench_free(&bench);
}

/* Longer than maxL: a window of each, which is confirmed. */
Test(papers_zha, long_patterns)
{
	struct bench bench;
	uint8_t bytes[2000];
	bench_init(&bench, 7, 9000);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)below(256);
		bench_add_bytes(&bench, bytes, NULL, sizeof(bytes));
		memcpy(bench.bytes + 100 + i * 2500, bytes, sizeof(bytes));
	}
	run_all(&bench, 7, false);
	cr_assert_eq(bench.right_count, 3);
	bench_free(&bench);
}

/* A node's list has every keyword that starts there: AB and ABG at the end of ABG's string. */
Test(papers_zha, nodes_list_all_that_start)
{
	struct bench bench;
	bench_init(&bench, 9, 8);
	memcpy(bench.bytes, "xxABGHxx", 8);
	bench_add(&bench, "'AB'");
	bench_add(&bench, "'ABG'");
	bench_add(&bench, "'ABGH'");
	run_all(&bench, 9, true);
	cr_assert_eq(bench.right_count, 3);
	bench_free(&bench);
}

/* ---- what can be asked for ---- */

static int try(unsigned stage, unsigned words, char *text)
{
	struct pattern_set set = { 0 };
	struct gpu_tuning tuning = { .words = words, .uints = true };
	struct gpu_program *program = NULL;
	struct error error = { 0 };
	int status = zha_ac_compile(&program, stage, &set, &tuning, &error);

	if (!status)
		zha_ac_describe(program, text, 200);
	else
		strcpy(text, error.text);
	cr_assert_eq(error.code, status ? EXIT_USAGE : 0);
	zha_ac_free(program);
	return status;
}

Test(papers_zha, tuning)
{
	char text[1024];

	cr_assert_eq(try(0, 99, text), 0);
	cr_assert_str_eq(text, "ac0 (1 states of 16 bits, maxL 0, tWord 57)");
	cr_assert_eq(try(3, 0, text), 0);
	cr_assert_str_eq(
		text, "ac3 (1 states of 16 bits, maxL 0, tWord 57, uints: 1 threads to a bank)");
	cr_assert_eq(try(3, 64, text), 0);
	cr_assert_eq(try(3, 65, text), -EINVAL);
	cr_assert(strstr(text, "1 to 64") && strstr(text, "not 65"), "%s", text);
	cr_assert_eq(try(4, 48, text), 0);
	cr_assert_str_eq(text, "ac4 (1 states of 16 bits, maxL 0, tWord 48: 16 threads to a bank)");
	cr_assert_eq(try(4, 50, text), -EINVAL);
	cr_assert(strstr(text, "48, 56 and 57") && strstr(text, "not for 50"), "%s", text);
}
