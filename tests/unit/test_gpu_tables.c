/*
 * The kernels' tables and what one thread does with them, without a GPU: the functions that the
 * device runs are called here for one thread after the other, and must find what the naive search
 * finds.
 */
#include "kernel_case.h"

#include <errno.h>

#include "gpu/ac.h"
#include "gpu/bloom.h"
#include "gpu/gram.h"
#include "scan/gpu_kernels.h"
#include "patterns/prefix.h"
#include "patterns/rarity.h"
#include "tier.h"

/* A text as the device has it: aligned, and with any bytes after it. */
static void bench_open_padded(struct bench *bench, uint32_t len, uint32_t from, uint32_t to)
{
	bench_open(bench, len, from, to);
	free(bench->bytes);
	bench->bytes = aligned_alloc(64, (len + GPU_TEXT_PAD + 63) / 64 * 64);
	for (uint32_t i = 0; i < len + GPU_TEXT_PAD; i++)
		bench->bytes[i] = (uint8_t)below(256);
	bench->text.bytes = bench->bytes;
}

static void read_words(const uint8_t *bytes, uint32_t words[], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		words[i] = gpu_text_read(bytes, 4 * i);
}

static void run_gram(struct bench *bench)
{
	struct gpu_program *program;
	cr_assert_eq(gram_compile(&program, &bench->set, NULL, NULL), 0);
	const struct gram_tables *tables = gram_tables(program);
	uint64_t end = (uint64_t)bench->text.to + tables->reach;
	if (end > bench->text.len)
		end = bench->text.len;
	for (uint32_t at = bench->text.from & ~15u; at < end; at += 16) {
		uint32_t words[4], after[1], entries[8], buckets[2];
		uint32_t bits = gram_lane_bits(tables->hash, at / 16 % 32);
		read_words(bench->bytes + at, words, 4);
		read_words(bench->bytes + at + 16, after, 1);
		gram_lookup(tables->filter, tables->hash, bits, words, entries);
		gram_combine(
			entries, gram_entry(tables->filter, tables->hash, bits, after[0]), buckets);
		uint32_t found = gram_nonzero(buckets[0]) | gram_nonzero(buckets[1]) << 4;
		for (uint32_t i = 0; i < 8; i++)
			if (found >> i & 1)
				gram_confirm(tables, tables->filter, bits, at + 2 * i, &bench->text,
					&bench->hits);
	}
	gram_free(program);
}

/* False when the set does not suit. */
static bool run_bloom(struct bench *bench)
{
	struct gpu_program *program;
	struct error error = { 0 };
	if (bloom_compile(&program, &bench->set, NULL, &error)) {
		cr_assert(strstr(error.text, "four bytes in a row"), "%s", error.text);
		return false;
	}
	const struct bloom_tables *tables = bloom_tables(program);
	uint64_t end = (uint64_t)bench->text.to + tables->reach;
	if (end > bench->text.len)
		end = bench->text.len;
	for (uint32_t at = bench->text.from & ~15u; at < end; at += 16) {
		uint32_t words[6];
		read_words(bench->bytes + at, words, 6);
		uint32_t found = bloom_filter(tables->filter, tables->window_len == 8, words);
		for (uint32_t i = 0; i < 16; i++)
			if (found >> i & 1)
				bloom_confirm(tables, at + i, &bench->text, &bench->hits);
	}
	bloom_free(program);
	return true;
}

/* hot: how many rows are taken from the copy. */
static void run_ac(struct bench *bench, uint32_t stretch, uint32_t hot)
{
	struct gpu_program *program;
	cr_assert_eq(ac_compile(&program, &bench->set, NULL, NULL), 0);
	const struct ac_tables *tables = ac_tables(program);
	struct ac_view view = { tables->next32 ? (const void *)tables->next32 : tables->next16,
		tables->classes, hot, hot >= tables->automaton.state_count, tables->next32 != NULL,
		false };
	uint32_t end = found_end(&tables->automaton.found, &bench->text);
	for (uint64_t at = bench->text.from & ~15u; at < end; at += stretch)
		ac_search(tables, &view, (uint32_t)at,
			(uint32_t)(at + stretch < end ? at + stretch : end), &bench->text,
			&bench->hits);
	ac_free(program);
}

static void run_all(struct bench *bench, unsigned long long seed)
{
	bench_find_right(bench);
	run_gram(bench);
	bench_expect_right(bench, "gram", seed);
	if (run_bloom(bench))
		bench_expect_right(bench, "bloom", seed);
	run_ac(bench, 60, UINT32_MAX);
	bench_expect_right(bench, "ac", seed);
	run_ac(bench, 1, 2);
	bench_expect_right(bench, "ac with stretches of a byte", seed);
}

static void fill_random(struct bench *bench, const char *alphabet, uint32_t letters)
{
	for (uint32_t i = 0; i < bench->text.len + 64; i++)
		bench->bytes[i] = (uint8_t)alphabet[below(letters)];
	uint32_t count = 1 + below(40);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t bytes[48], mask[48];
		uint32_t len = 1 + below(below(3) ? 8 : 48), plain = below(3);
		for (uint32_t j = 0; j < len; j++) {
			bytes[j] = (uint8_t)alphabet[below(letters)];
			mask[j] = plain ? 0xff
					: (uint8_t) "\xff\xff\xff\xdf\x0f\xf0\x01\x00"[below(8)];
		}
		bench_add_bytes(bench, bytes, mask, len);
	}
}

Test(gpu_tables, random_sets)
{
	static const char *const alphabets[] = { "ab", "aAbB", "\0\1\xff", "abcdefgh", "\0" };
	static const uint32_t letters[] = { 2, 4, 3, 8, 1 };
	unsigned long long start = test_seed();
	for (unsigned long long seed = start; seed < start + test_tier(6, 30, 600); seed++) {
		struct bench bench;
		bench_state = seed * 0x9e3779b97f4a7c15ull;
		uint32_t len = 1 + below(700), from = below(len), to = from + below(len - from + 1);
		unsigned which = below(5);
		bench_open_padded(&bench, len, from, to);
		fill_random(&bench, alphabets[which], letters[which]);
		if (bench.set.count)
			run_all(&bench, seed);
		bench_free(&bench);
	}
}

Test(gpu_tables, disk_signatures)
{
	static const char *const signatures[] = { "FF D8 FF ?? ?? ?? 'JFIF'", "FF D9",
		"?? ?? ?? ?? 'moov'", "i'<html'", "i'</html>'", "00 00 01 BA",
		"'BM' ?? ?? 00 00 00", "'PK' 03 04", "99 00", "?? 'WPC'",
		"'RIFF' ?? ?? ?? ?? 'WAVE'", "89 'PNG' 0D 0A 1A 0A", "00", "4? ?4" };
	static const char *const pieces[] = { "\xff\xd8\xff\xe0\0\x10JFIF", "\xff\xd9", "1234moov",
		"<HtmL", "</html>", "\0\0\1\xba\0\0\0\0", "BM12\0\0\0", "PK\3\4", "\x99\0", "\1WPC",
		"RIFF1234WAVE", "\x89PNG\r\n\x1a\n" };
	static const unsigned lens[] = { 10, 2, 8, 5, 7, 8, 7, 4, 2, 4, 12, 8 };
	struct bench bench;
	bench_state = 7;
	bench_open_padded(&bench, 20000, 3, 19990);
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
		bench_add(&bench, signatures[i]);
	for (uint32_t i = 0; i < 1500; i++) {
		unsigned piece = below(12);
		memcpy(bench.bytes + below(20000), pieces[piece], lens[piece]);
	}
	run_all(&bench, 7);
	cr_assert_gt(bench.right_count, 1000);
	bench_free(&bench);
}

Test(gpu_tables, large_dictionary)
{
	struct bench bench;
	bench_state = 11;
	bench_open_padded(&bench, 3000, 0, 3000);
	for (uint32_t i = 0; i < 3000; i++)
		bench.bytes[i] = (uint8_t)('a' + below(4));
	for (uint32_t i = 0; i < 9000; i++) {
		uint8_t word[12];
		for (uint32_t j = 0; j < sizeof(word); j++)
			word[j] = (uint8_t)('a' + below(i % 2 ? 4 : 26));
		bench_add_bytes(&bench, word,
			(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
			8 + below(5));
	}
	run_all(&bench, 11);
	cr_assert_gt(bench.right_count, 10);
	bench_free(&bench);
}

/* Long patterns: more than 65,536 states, keywords that are cut, windows far from the start. */
Test(gpu_tables, long_patterns)
{
	struct bench bench;
	static uint8_t bytes[4096], mask[4096];
	bench_state = 13;
	bench_open_padded(&bench, 12000, 0, 12000);
	for (uint32_t i = 0; i < test_tier(8, 20, 40); i++) {
		for (uint32_t j = 0; j < 4096; j++) {
			bytes[j] = (uint8_t)below(256);
			mask[j] = i % 4 == 1 && j < 4000 ? 0 : i % 4 == 2 && j > 10 ? 0 : 0xff;
		}
		bench_add_bytes(&bench, bytes, mask, 4096);
		if (i < 3)
			memcpy(bench.bytes + i * 3950, bytes, 4096);
	}
	run_all(&bench, 13);
	cr_assert_geq(bench.right_count, 1);
	bench_free(&bench);
}

Test(gpu_tables, hits_beyond_the_room_are_counted)
{
	uint64_t keys[2] = { 0, 0 };
	unsigned long long count = 0;
	struct gpu_hits hits = { keys, &count, 1, NULL };
	gpu_hits_add(&hits, 5, 6);
	gpu_hits_add(&hits, 7, 8);
	cr_assert_eq(count, 2);
	cr_assert_eq(keys[0], gpu_hit_key(5, 6));
	cr_assert_eq(keys[1], 0);
}

Test(gpu_tables, nonzero_bytes)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	for (unsigned i = 0; i < 625; i++) {
		uint32_t word = 0, right = 0;
		for (unsigned j = 0, rest = i; j < 4; j++, rest /= 5) {
			word |= (uint32_t)values[rest % 5] << 8 * j;
			right |= (uint32_t)(rest % 5 != 0) << j;
		}
		cr_assert_eq(gram_nonzero(word), right, "%08x", word);
	}
}

static void expect_costs(struct bench *bench, bool gram_first)
{
	struct gpu_program *gram, *bloom, *ac;
	cr_assert_eq(gram_compile(&gram, &bench->set, NULL, NULL), 0);
	cr_assert_eq(ac_compile(&ac, &bench->set, NULL, NULL), 0);
	cr_assert_eq(bloom_compile(&bloom, &bench->set, NULL, NULL), 0);
	double costs[3] = { gram_cost(gram), bloom_cost(bloom), ac_cost(ac) };
	cr_assert_eq(costs[0] < costs[1], gram_first, "gram %f, bloom %f", costs[0], costs[1]);
	cr_assert_lt(costs[1], costs[2]);
	gram_free(gram);
	bloom_free(bloom);
	ac_free(ac);
}

/* auto takes gram for a carver's set and bloom for a large dictionary of words. */
Test(gpu_tables, costs_tell_which_kernel_suits)
{
	struct bench bench;
	bench_state = 17;
	bench_open_padded(&bench, 16, 0, 16);
	for (uint32_t i = 0; i < test_tier(15000, 40000, 40000); i++) {
		uint8_t word[8];
		for (uint32_t j = 0; j < sizeof(word); j++)
			word[j] = (uint8_t) "eeeeaaarrriiioootttnnnssllccuddpmhgb"[below(36)];
		bench_add_bytes(
			&bench, word, (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8);
		if (i == 50)
			expect_costs(&bench, true);
	}
	expect_costs(&bench, false);
	bench_free(&bench);
}

Test(gpu_tables, too_long_a_pattern)
{
	struct pattern_set set = { 0 };
	struct prefix_set prefixes;
	struct pattern pattern;
	struct error error = { 0 };
	static uint8_t bytes[40000], mask[40000];
	memset(mask, 0xff, sizeof(mask));
	cr_assert_eq(pattern_from_bytes(&pattern, bytes, mask, sizeof(bytes), &error), 0);
	pattern_set_add(&set, &pattern);
	cr_assert_eq(prefix_set_make(&prefixes, &set, &error), -EINVAL);
	cr_assert(strstr(error.text, "32767"), "%s", error.text);
	pattern_set_free(&set);
}

/* Rare bytes are chosen: not the zeros, but the letters after them. */
Test(gpu_tables, windows_avoid_zeros)
{
	struct bench bench;
	struct gpu_program *program;
	bench_open_padded(&bench, 16, 0, 16);
	bench_add(&bench, "00 00 00 00 00 00 00 00 'Kv' 9C E3 00 00 00 00");
	cr_assert_eq(gram_compile(&program, &bench.set, NULL, NULL), 0);
	const struct confirm *confirm = &gram_tables(program)->confirm;
	for (uint32_t i = 0; i < confirm->record_count; i++) {
		cr_assert_geq(confirm->records[i].back, 7);
		cr_assert_leq(confirm->records[i].back, 9);
	}
	gram_free(program);
	bench_free(&bench);
}

Test(gpu_tables, shares_add_up)
{
	static float share[RARITY_KINDS][256];
	rarity_bytes(share);
	float weights = 0;
	for (int k = 0; k < RARITY_KINDS; k++) {
		weights += rarity_weight[k];
		cr_assert_float_eq(rarity_class(share[k], 0, 0), 1, 1e-6);
		float sum = 0;
		for (unsigned high = 0; high < 16; high++)
			sum += rarity_class(share[k], (uint8_t)(high << 4), 0xf0);
		cr_assert_float_eq(sum, 1, 0.05, "kind %d: %f", k, sum);
	}
	cr_assert_float_eq(weights, 1, 1e-6);
}

/* What a kernel searches for in place of a regex; NULL: nothing. */
static const struct {
	const char *regex;
	const char *bytes, *mask;
	uint32_t len;
} prefix_cases[] = {
	{ "/abc/", "abc", "\xff\xff\xff", 3 },
	{ "/abc.{0,3}def/", "abc", "\xff\xff\xff", 3 },
	{ "/ab.cd?e/", "ab\0c", "\xff\xff\0\xff", 4 },
	{ "/a.{3}bc/", "a\0\0\0bc", "\xff\0\0\0\xff\xff", 6 },
	{ "/(abc|abd)xyz/", "ab\x60xyz", "\xff\xff\xf8\xff\xff\xff", 6 },
	{ "/(ab|abc)xyz/", NULL, NULL, 0 },
	{ "/abcd|abef/",
		"aba"
		"d",
		"\xff\xff\xf9\xfd", 4 },
	{ "/abcd|xyzw/", NULL, NULL, 0 },
	{ "/abcd|abcde/", "abcd", "\xff\xff\xff\xff", 4 },
	{ "/(ab){2,3}c/", "abab", "\xff\xff\xff\xff", 4 },
	{ "/(a(b|c)?){2}def/", NULL, NULL, 0 },
	{ "/ab?cdef/", NULL, NULL, 0 },
	{ "/[0-9]{4}ab/", NULL, NULL, 0 },
	{ "/[0-9]abc/",
		"\x30"
		"abc",
		"\xf0\xff\xff\xff", 4 },
	{ "/hTm/i", "HTM", "\xdf\xdf\xdf", 3 },
	{ "/\\x00\\x5d[\\x5d\\x5c]\\xff/", "\0\x5d\x5c\xff", "\xff\xff\xfe\xff", 4 },
};

Test(gpu_tables, regexes_are_searched_by_what_they_begin_with)
{
	for (size_t i = 0; i < sizeof(prefix_cases) / sizeof(prefix_cases[0]); i++) {
		struct pattern_set set = { 0 };
		struct prefix_set prefixes;
		struct pattern pattern;
		struct error error = { 0 };
		const char *regex = prefix_cases[i].regex;
		cr_assert_eq(pattern_parse(&pattern, "'plain'", &error), 0);
		pattern_set_add(&set, &pattern);
		cr_assert_eq(
			pattern_parse(&pattern, regex, &error), 0, "%s: %s", regex, error.text);
		pattern_set_add(&set, &pattern);
		int status = prefix_set_make(&prefixes, &set, &error);
		if (prefix_cases[i].bytes) {
			const struct pattern *made = &prefixes.set.patterns[1];
			cr_assert_eq(status, 0, "%s: %s", regex, error.text);
			cr_assert(prefixes.any_regex);
			cr_assert_eq(prefixes.set.count, 2);
			cr_assert_eq(prefixes.set.patterns[0].bytes, set.patterns[0].bytes);
			cr_assert_eq(made->len, prefix_cases[i].len, "%s: %u", regex, made->len);
			cr_assert_eq(memcmp(made->bytes, prefix_cases[i].bytes, made->len), 0,
				"%s: %s", regex, made->text);
			cr_assert_eq(memcmp(made->mask, prefix_cases[i].mask, made->len), 0,
				"%s: %s", regex, made->text);
			prefix_set_free(&prefixes, &set);
		} else {
			cr_assert_eq(status, -EINVAL, "%s", regex);
			cr_assert(strstr(error.text, "has none") && strstr(error.text, regex), "%s",
				error.text);
		}
		pattern_set_free(&set);
	}
}

Test(gpu_tables, list_names_every_kernel)
{
	static const char *const names[] = { "gram", "bloom", "ac", "ac-plain" };
	for (size_t i = 0; i < 4; i++)
		cr_assert_str_eq(gpu_kernel_list[i].name, names[i]);
	for (size_t i = 0; gpu_kernel_list[i].name; i++)
		cr_assert_eq(gpu_kernel_list[i].comparison, i > 2);
}
