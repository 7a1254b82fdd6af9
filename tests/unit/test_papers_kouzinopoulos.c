/*
 * The kernels after Kouzinopoulos et al. without a GPU: their tables against the definitions, and
 * what one thread does, for one sub-chunk after the other, against the naive search.
 */
#include "kernel_case.h"

#include <errno.h>

#include "gpu/papers/nfa.h"
#include "gpu/papers/wm.h"
#include "patterns/keywords.h"
#include "scan/scan.h"
#include "tier.h"

/* Either of the algorithms, for one thread. */
struct algorithm {
	const char *name;
	int (*compile)(struct gpu_program **program, const struct pattern_set *set,
		const struct gpu_tuning *tuning, struct error *error);
	void (*free)(struct gpu_program *program);
	const struct found *(*found)(const struct gpu_program *program, uint32_t *longest);
	void (*search)(const struct gpu_program *program, const struct subchunk *own,
		const struct gpu_text *text, const struct subchunk_output *output);
	void (*run)(const struct gpu_program *program, const struct gpu_text *text,
		const struct gpu_hits *hits);
};

static const struct found *nfa_found(const struct gpu_program *program, uint32_t *longest)
{
	*longest = nfa_tables(program)->longest;
	return &nfa_tables(program)->automaton.found;
}

static void nfa_one(const struct gpu_program *program, const struct subchunk *own,
	const struct gpu_text *text, const struct subchunk_output *output)
{
	struct nfa_view view = { .tables = nfa_tables(program) };

	nfa_search(&view, own, text, output);
}

static const struct found *wm_found(const struct gpu_program *program, uint32_t *longest)
{
	*longest = wm_tables(program)->longest;
	return &wm_tables(program)->found;
}

static void wm_one(const struct gpu_program *program, const struct subchunk *own,
	const struct gpu_text *text, const struct subchunk_output *output)
{
	struct wm_view view = { wm_tables(program) };

	wm_search(&view, own, text, output);
}

static const struct algorithm algorithms[] = {
	{ "nfa", nfa_compile, nfa_free, nfa_found, nfa_one, nfa_run },
	{ "wm", wm_compile, wm_free, wm_found, wm_one, wm_run },
};

/* What one block does with its S_memsize: a copy of the bytes and the longest - 1 after them, and no
 * more, dealt out in shares. */
static void search_tile(const struct algorithm *algorithm, const struct gpu_program *program,
	const struct gpu_text *text, uint32_t at, uint32_t share, uint32_t threads,
	const struct subchunk_output *output)
{
	uint32_t longest, end = found_end(algorithm->found(program, &longest), text);
	uint64_t len = (uint64_t)share * threads + longest - 1;
	uint8_t *tile;

	if (len > text->len - at)
		len = text->len - at;
	tile = memcpy(xmalloc(len), text->bytes + at, len);
	for (uint32_t i = 0; i < threads; i++) {
		uint64_t begin = (uint64_t)at + i * share, stop = begin + share;
		struct subchunk own;

		begin = begin < text->from ? text->from : begin;
		stop = stop < end ? stop : end;
		own = (struct subchunk){ (uint32_t)begin, (uint32_t)stop, tile, at };
		if (begin < stop)
			algorithm->search(program, &own, text, output);
	}
	free(tile);
}

/* Whether every pattern is a keyword of its own: there may be counted. */
static bool is_all_whole(const struct algorithm *algorithm, const struct gpu_program *program)
{
	uint32_t longest;
	const struct found *found = algorithm->found(program, &longest);

	for (uint32_t i = 0; i < found->record_count; i++)
		if (!found->records[i].whole)
			return false;
	return true;
}

static void run_tiles(struct bench *bench, const struct algorithm *algorithm, uint32_t share,
	uint32_t threads, unsigned long long seed)
{
	struct gpu_program *program;
	uint32_t matches = 0, longest, end;
	struct subchunk_output hits = { false, NULL, &bench->hits };
	struct subchunk_output count = { true, &matches, NULL };
	bool whole;

	cr_assert_eq(algorithm->compile(&program, &bench->set, NULL, NULL), 0);
	whole = is_all_whole(algorithm, program);
	end = found_end(algorithm->found(program, &longest), &bench->text);
	for (uint64_t at = bench->text.from & ~15u; at < end; at += (uint64_t)share * threads) {
		search_tile(algorithm, program, &bench->text, (uint32_t)at, share, threads, &hits);
		if (whole)
			search_tile(algorithm, program, &bench->text, (uint32_t)at, share, threads,
				&count);
	}
	bench_expect_right(bench, algorithm->name, seed);
	if (whole)
		cr_assert_eq(matches, bench->right_count,
			"%s, seed %llu: counted %u instead of %zu", algorithm->name, seed, matches,
			bench->right_count);
	algorithm->free(program);
}

static void run_all(struct bench *bench, unsigned long long seed)
{
	bench_find_right(bench);
	for (size_t i = 0; i < 2; i++) {
		struct gpu_program *program;

		cr_assert_eq(algorithms[i].compile(&program, &bench->set, NULL, NULL), 0);
		algorithms[i].run(program, &bench->text, &bench->hits);
		bench_expect_right(bench, algorithms[i].name, seed);
		algorithms[i].free(program);
		run_tiles(bench, &algorithms[i], SUBCHUNK_SHARE, SUBCHUNK_THREADS, seed);
		run_tiles(bench, &algorithms[i], 1, 16, seed);
		run_tiles(bench, &algorithms[i], 5, 16, seed);
	}
}

static const char *const alphabets[] = { "ab", "aAbB", "\0\1\xff", "abcdefgh", "\0", "acgt" };
static const uint32_t letters[] = { 2, 4, 3, 8, 1, 4 };

static void fill_random(struct bench *bench, unsigned which, uint32_t shortest)
{
	uint32_t count = 1 + below(40), plain = below(2);

	for (uint32_t i = 0; i < bench->text.len; i++)
		bench->bytes[i] = (uint8_t)alphabets[which][below(letters[which])];
	for (uint32_t i = 0; i < count; i++) {
		uint8_t bytes[112], mask[112];
		uint32_t len = shortest + below(below(4) ? 8 : 96);

		for (uint32_t j = 0; j < len; j++) {
			bytes[j] = (uint8_t)alphabets[which][below(letters[which])];
			mask[j] = plain || below(3)
					  ? 0xff
					  : (uint8_t) "\xff\xff\xff\xdf\x0f\xf0\x01\x00"[below(8)];
		}
		if (below(4) == 0 && len <= bench->text.len)
			memcpy(bench->bytes + below(bench->text.len - len + 1), bytes, len);
		bench_add_bytes(bench, bytes, mask, len);
	}
}

Test(papers_kouzinopoulos, random_sets)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(6, 60, 1200); seed++) {
		struct bench bench;
		uint32_t len, from, to;

		bench_state = seed * 0x9e3779b97f4a7c15ull;
		len = 1 + below(700), from = below(len), to = from + below(len - from + 1);
		bench_open(&bench, len, from, to);
		fill_random(&bench, below(6), 1 + below(4));
		if (bench.set.count)
			run_all(&bench, seed);
		bench_free(&bench);
	}
}

/* ---- SHIFT, HASH, PREFIX ---- */

static bool is_member(const struct wm_tables *tables, uint32_t h, uint32_t keyword)
{
	for (uint32_t i = tables->first[h]; i < tables->first[h + 1]; i++)
		if (tables->members[i] == keyword)
			return true;
	return false;
}

/* h1 as the paper words it: shifting the hash to the left, then adding in a byte. */
static uint32_t shift_and_add(const uint8_t *bytes, uint32_t len)
{
	uint32_t h = 0;

	for (uint32_t i = 0; i < len; i++)
		h = (h << 2) + bytes[i];
	return h;
}

/* SHIFT[h]: the least distance to the window's end of a block with hash h, or m - B + 1. */
static uint32_t shift_by_definition(const struct keyword_set *keywords, uint32_t m, uint32_t h)
{
	uint32_t least = m - 2;

	for (uint32_t i = 0; i < keywords->count; i++)
		for (uint32_t at = 0; keywords->items[i].len >= 3 && at + 3 <= m; at++)
			if (shift_and_add(keywords->items[i].bytes + at, 3) == h &&
				m - 3 - at < least)
				least = m - 3 - at;
	return least;
}

static uint32_t window_by_definition(const struct keyword_set *keywords)
{
	uint32_t m = UINT32_MAX;

	for (uint32_t i = 0; i < keywords->count; i++)
		if (keywords->items[i].len >= 3 && keywords->items[i].len < m)
			m = keywords->items[i].len;
	return m == UINT32_MAX ? 0 : m;
}

static void expect_wm_tables(const struct pattern_set *set, unsigned long long seed)
{
	struct keyword_set keywords;
	struct gpu_program *program;
	const struct wm_tables *tables;
	uint32_t members = 0;

	keywords_make(&keywords, set, SUBCHUNK_KEYWORD_MAX);
	cr_assert_eq(wm_compile(&program, set, NULL, NULL), 0);
	tables = wm_tables(program);
	cr_assert_eq(tables->m, window_by_definition(&keywords), "seed %llu", seed);
	for (uint32_t h = 0; tables->m && h < WM_HASHES; h++) {
		uint32_t right = shift_by_definition(&keywords, tables->m, h);

		cr_assert_eq(tables->shift[h], right, "seed %llu: SHIFT[%u] is %u instead of %u",
			seed, h, tables->shift[h], right);
		cr_assert_eq(right == 0, tables->first[h] < tables->first[h + 1],
			"seed %llu: HASH[%u]", seed, h);
	}
	for (uint32_t i = 0; i < keywords.count; i++) {
		const struct keyword *keyword = &keywords.items[i];

		if (keyword->len < 3) {
			cr_assert_eq(keyword->len == 1 ? tables->singles[keyword->bytes[0]]
						       : tables->pairs[keyword->bytes[0] * 256 +
								       keyword->bytes[1]],
				i, "seed %llu: keyword %u", seed, i);
			continue;
		}
		members++;
		cr_assert(is_member(tables, shift_and_add(keyword->bytes + tables->m - 3, 3), i),
			"seed %llu: keyword %u is not in HASH", seed, i);
		cr_assert_eq(tables->prefix[i], shift_and_add(keyword->bytes, 2),
			"seed %llu: PREFIX[%u]", seed, i);
	}
	cr_assert_eq(tables->member_count, members);
	wm_free(program);
	keywords_free(&keywords);
}

Test(papers_kouzinopoulos, shift_hash_and_prefix_are_what_they_should_be)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(3, 12, 400); seed++) {
		struct bench bench;

		bench_state = seed * 0x9e3779b97f4a7c15ull;
		bench_open(&bench, 8, 0, 8);
		fill_random(&bench, below(6), 1 + below(9));
		expect_wm_tables(&bench.set, seed);
		bench_free(&bench);
	}
}

/* The patterns of the paper's figure 1, by hand. */
Test(papers_kouzinopoulos, tables_of_a_small_set)
{
	struct bench bench;
	struct gpu_program *program;
	const struct wm_tables *tables;
	uint32_t used = 0;

	bench_open(&bench, 8, 0, 8);
	bench_add_bytes(&bench, "AACG", NULL, 4);
	bench_add_bytes(&bench, "AGTCC", NULL, 5);
	cr_assert_eq(wm_compile(&program, &bench.set, NULL, NULL), 0);
	tables = wm_tables(program);
	cr_assert_eq(tables->m, 4);
	cr_assert_eq(wm_hash('A', 'A', 'C'), 65 * 16 + 65 * 4 + 67);
	cr_assert_eq(wm_hash(255, 255, 255), 5355);
	cr_assert_eq(wm_prefix('A', 'G'), 65 * 4 + 71);
	cr_assert_eq(tables->shift[wm_hash('A', 'A', 'C')], 1);
	cr_assert_eq(tables->shift[wm_hash('A', 'C', 'G')], 0);
	cr_assert_eq(tables->shift[wm_hash('A', 'G', 'T')], 1);
	cr_assert_eq(tables->shift[wm_hash('G', 'T', 'C')], 0);
	for (uint32_t h = 0; h < WM_HASHES; h++)
		used += tables->shift[h] != 2;
	cr_assert_eq(used, 4);
	cr_assert_null(tables->singles);
	wm_free(program);
	bench_free(&bench);
}

/* ---- goto, supply, output ---- */

struct spelling {
	uint8_t bytes[SUBCHUNK_KEYWORD_MAX];
	uint32_t len;
};

static uint32_t find_spelling(
	const struct spelling *states, uint32_t count, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < count; i++)
		if (states[i].len == len && memcmp(states[i].bytes, bytes, len) == 0)
			return i;
	return NFA_FAIL;
}

/* What each state spells, by following the goto function from the root. */
static struct spelling *spell(const struct nfa_tables *tables)
{
	uint32_t count = tables->automaton.state_count, queued = 1;
	struct spelling *states = xcalloc(count, sizeof(*states));
	uint32_t *queue = xcalloc(count, sizeof(*queue));

	for (uint32_t i = 0; i < queued; i++)
		for (unsigned byte = 0; byte < 256; byte++) {
			uint32_t next = tables->transition[(size_t)queue[i] * 256 + byte];

			if (next == NFA_FAIL || next == 0)
				continue;
			cr_assert_lt(queued, count, "a state is reached in two ways");
			states[next] = states[queue[i]];
			states[next].bytes[states[next].len++] = (uint8_t)byte;
			queue[queued++] = next;
		}
	cr_assert_eq(queued, count);
	free(queue);
	return states;
}

static void expect_nfa_state(const struct nfa_tables *tables, const struct spelling *states,
	uint32_t number, const struct keyword_set *keywords)
{
	uint32_t count = tables->automaton.state_count, supply = NFA_FAIL, matches = 0;
	const struct spelling *own = &states[number];

	for (uint32_t cut = 1; supply == NFA_FAIL && cut <= own->len; cut++)
		supply = find_spelling(states, count, own->bytes + cut, own->len - cut);
	if (number)
		cr_assert_eq(tables->supply[number], supply, "state %u", number);
	for (uint32_t i = 0; i < keywords->count; i++) {
		const struct keyword *keyword = &keywords->items[i];

		if (keyword->len <= own->len && memcmp(own->bytes + own->len - keyword->len,
							keyword->bytes, keyword->len) == 0)
			matches += keyword->count;
	}
	cr_assert_eq(tables->finals[number], matches, "state %u", number);
	for (unsigned byte = 0; byte < 256; byte++) {
		struct spelling child = *own;
		uint32_t next = NFA_FAIL;

		if (child.len < SUBCHUNK_KEYWORD_MAX) {
			child.bytes[child.len++] = (uint8_t)byte;
			next = find_spelling(states, count, child.bytes, child.len);
		}
		if (!number && next == NFA_FAIL)
			next = 0;
		cr_assert_eq(tables->transition[(size_t)number * 256 + byte], next);
	}
}

Test(papers_kouzinopoulos, goto_and_supply_are_what_they_should_be)
{
	unsigned long long start = test_seed();

	for (unsigned long long seed = start; seed < start + test_tier(3, 6, 60); seed++) {
		struct bench bench;
		struct gpu_program *program;
		struct keyword_set keywords;
		struct spelling *states;

		bench_state = seed * 0x9e3779b97f4a7c15ull;
		bench_open(&bench, 8, 0, 8);
		for (uint32_t i = 0; i < 12; i++) {
			uint8_t bytes[9];

			for (uint32_t j = 0; j < sizeof(bytes); j++)
				bytes[j] = (uint8_t)('a' + below(3));
			bench_add_bytes(&bench, bytes, NULL, 1 + below(9));
		}
		keywords_make(&keywords, &bench.set, SUBCHUNK_KEYWORD_MAX);
		cr_assert_eq(nfa_compile(&program, &bench.set, NULL, NULL), 0);
		states = spell(nfa_tables(program));
		for (uint32_t i = 0; i < nfa_tables(program)->automaton.state_count; i++)
			expect_nfa_state(nfa_tables(program), states, i, &keywords);
		free(states);
		nfa_free(program);
		keywords_free(&keywords);
		bench_free(&bench);
	}
}

/* ---- edges ---- */

static void run_text(const char *const *patterns, const char *text, size_t hits)
{
	struct bench bench;

	bench_open(&bench, (uint32_t)strlen(text), 0, (uint32_t)strlen(text));
	memcpy(bench.bytes, text, strlen(text));
	for (; *patterns; patterns++)
		bench_add_bytes(&bench, *patterns, NULL, strlen(*patterns));
	run_all(&bench, 0);
	cr_assert_eq(bench.right_count, hits, "'%s': %zu", text, bench.right_count);
	bench_free(&bench);
}

#define PATTERNS(...) ((const char *const[]){ __VA_ARGS__, NULL })

Test(papers_kouzinopoulos, texts_shorter_than_the_window)
{
	run_text(PATTERNS("abcdef", "bcdefg"), "abcde", 0);
	run_text(PATTERNS("abcdef", "bcdefg"), "", 0);
	run_text(PATTERNS("abcdef", "b", "bc", "e"), "abcde", 3);
	run_text(PATTERNS("abcdef"), "abcdef", 1);
	run_text(PATTERNS("abcdef", "cdefghij"), "abcdefghi", 1);
}

Test(papers_kouzinopoulos, sets_of_short_patterns_alone)
{
	run_text(PATTERNS("a"), "banana", 3);
	run_text(PATTERNS("an", "na"), "banana", 4);
	run_text(PATTERNS("an", "a", "n", "nb"), "bananan", 9);
	run_text(PATTERNS("an"), "a", 0);
	run_text((const char *const[]){ NULL }, "banana", 0);
}

/* A pattern at every place around the borders of parts and of S_memsize. */
Test(papers_kouzinopoulos, matches_at_borders)
{
	static const char pattern[] = "<header of some kind>";
	uint32_t len = (uint32_t)strlen(pattern);

	for (int shift = -(int)len - 1; shift <= 1; shift++) {
		struct bench bench;

		bench_open(&bench, 3 * SUBCHUNK_MEMSIZE + 100, 0, 3 * SUBCHUNK_MEMSIZE + 100);
		memset(bench.bytes, '<', bench.text.len);
		memcpy(bench.bytes + SUBCHUNK_SHARE * 3 + shift, pattern, len);
		memcpy(bench.bytes + SUBCHUNK_MEMSIZE + shift, pattern, len);
		memcpy(bench.bytes + 2 * SUBCHUNK_MEMSIZE + shift, pattern, len);
		memcpy(bench.bytes + bench.text.len - len, pattern, len);
		bench_add_bytes(&bench, pattern, NULL, len);
		bench_add_bytes(&bench, pattern, NULL, 4);
		bench_add_bytes(&bench, pattern + 1, NULL, 2);
		bench_find_right(&bench);
		cr_assert_eq(bench.right_count, 12);
		for (size_t i = 0; i < 2; i++)
			run_tiles(&bench, &algorithms[i], SUBCHUNK_SHARE, SUBCHUNK_THREADS, 0);
		bench_free(&bench);
	}
}

/* What is beyond the longest keyword is found by a window, and confirmed. */
Test(papers_kouzinopoulos, long_patterns)
{
	struct bench bench;
	uint8_t bytes[200];

	bench_state = 5;
	bench_open(&bench, 3000, 7, 2995);
	for (uint32_t i = 0; i < bench.text.len; i++)
		bench.bytes[i] = (uint8_t)below(256);
	for (uint32_t i = 0; i < 20; i++) {
		for (uint32_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)below(256);
		bench_add_bytes(&bench, bytes, NULL, sizeof(bytes));
		if (i < 14)
			memcpy(bench.bytes + 10 + 210 * i, bytes, sizeof(bytes) - (i == 3));
	}
	run_all(&bench, 5);
	cr_assert_eq(bench.right_count, 13);
	bench_free(&bench);
}

/* A dictionary whose table would be too large is refused in words. */
Test(papers_kouzinopoulos, too_large_a_set)
{
	struct bench bench;
	struct gpu_program *program;
	struct error error = { 0 };
	uint8_t bytes[64];

	bench_state = 6;
	bench_open(&bench, 8, 0, 8);
	for (uint32_t i = 0; i < 17000; i++) {
		for (uint32_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)below(256);
		bench_add_bytes(&bench, bytes, NULL, sizeof(bytes));
	}
	cr_assert_eq(nfa_compile(&program, &bench.set, NULL, &error), -EINVAL);
	cr_assert(
		strstr(error.text, "nfa") && strstr(error.text, "does not fit"), "%s", error.text);
	cr_assert_eq(error.code, EXIT_NO_ENGINE);
	cr_assert_eq(wm_compile(&program, &bench.set, NULL, &error), 0);
	wm_free(program);
	bench_free(&bench);
}
