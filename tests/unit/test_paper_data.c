/* The makers of the papers' texts and dictionaries: that they are what they say. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "bench/papers/paper_data.h"
#include "scan/gpu_papers.h"
#include "scan/gpu_papers.h"
#include "tier.h"

#define LEN ((size_t)1 << 20)

static struct bench_text take(size_t len)
{
	struct bench_text text;
	struct error error = { 0 };

	cr_assert_eq(bench_text_take(&text, len, &error), 0, "%s", error.text);
	return text;
}

static size_t matches(const struct pattern_set *set, const struct bench_text *text)
{
	size_t count = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		const struct pattern *pattern = &set->patterns[i];
		const uint8_t *at = text->bytes, *end = text->bytes + text->len;

		while ((at = memmem(at, (size_t)(end - at), pattern->bytes, pattern->len))) {
			count++;
			at++;
		}
	}
	return count;
}

Test(paper_data, same_seed_same_text)
{
	static void (*const makers[])(struct bench_text *, uint64_t) = { paper_disk_text,
		paper_dna_text, paper_packets_text, paper_prose_text };
	struct bench_text a = take(LEN), b = take(LEN);

	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		makers[i](&a, 7);
		makers[i](&b, 7);
		cr_assert_eq(memcmp(a.bytes, b.bytes, LEN), 0, "maker %zu", i);
		makers[i](&b, 8);
		cr_assert_neq(memcmp(a.bytes, b.bytes, LEN), 0, "maker %zu", i);
	}
	bench_text_free(&a);
	bench_text_free(&b);
}

Test(paper_data, disk)
{
	struct bench_text text = take(4 * LEN);
	struct pattern_set set = { 0 };
	size_t zeros = 0;

	paper_disk_text(&text, 1);
	for (size_t i = 0; i < text.len; i++)
		zeros += text.bytes[i] == 0;
	cr_assert(zeros > text.len / 4 && zeros < text.len * 3 / 4, "%zu zeros", zeros);
	paper_disk_patterns(&set);
	cr_assert_eq(set.count, 33);
	cr_assert_eq(set.longest, 14);
	pattern_set_free(&set);
	bench_text_free(&text);
}

Test(paper_data, dna)
{
	struct bench_text text = take(LEN / 8);
	struct pattern_set set = { 0 };
	size_t letters = 0;

	paper_dna_text(&text, 1);
	for (size_t i = 0; i < text.len; i++)
		letters += memchr("acgt", text.bytes[i], 4) != NULL;
	cr_assert_eq(letters, text.len);
	paper_dna_patterns(&set, &text, 1000, 2);
	cr_assert_eq(set.count, 1000);
	cr_assert_eq(set.longest, 8);
	cr_assert_geq(matches(&set, &text), 1000);
	pattern_set_free(&set);
	bench_text_free(&text);
}

/* States of a trie, the root included: one for every different beginning. */
static size_t trie_states(const struct pattern_set *set)
{
	size_t states = 1;

	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t shared = 0;

		for (uint32_t k = 0; k < i; k++) {
			const struct pattern *a = &set->patterns[i], *b = &set->patterns[k];
			uint32_t len = 0;

			while (len < a->len && len < b->len && a->bytes[len] == b->bytes[len])
				len++;
			shared = len > shared ? len : shared;
		}
		states += set->patterns[i].len - shared;
	}
	return states;
}

/* Section 6.1: 1,998 strings, 41,997 characters, 27,754 states, the longest of 243. And the lookups a
 * byte that the published bandwidths mean: (8 BW / raw - 5.5) / 4, 0.99 to 1.00. */
Test(paper_data, packets)
{
	struct bench_text text = take(LEN);
	struct pattern_set set = { 0 };
	size_t shortest = 1000, len, states;
	double lookups;

	paper_packets_text(&text, 1);
	paper_packets_patterns(&set, 2);
	cr_assert_eq(set.count, 1998);
	cr_assert(set.longest > 200 && set.longest <= 243, "%u", set.longest);
	for (uint32_t i = 0; i < set.count; i++)
		if (set.patterns[i].len < shortest)
			shortest = set.patterns[i].len;
	cr_assert_eq(shortest, 1);
	cr_assert_eq(matches(&set, &text), 0, "pure packets hold no pattern");
	len = paper_dictionary_len(&set);
	cr_assert(len > 41000 && len < 43000, "%zu characters", len);
	states = trie_states(&set);
	cr_assert(states > 27000 && states < 28500, "%zu states", states);
	lookups = paper_pfac_lookups(&set, text.bytes, text.len) / (double)text.len;
	cr_assert(lookups >= 0.99 && lookups <= 1.005, "%f lookups a byte", lookups);
	pattern_set_free(&set);
	bench_text_free(&text);
}

/* Table 3: matches and lookups a byte in the first bytes of 192 MB, here of 6 MiB. */
Test(paper_data, packets_with_attacks)
{
	static const struct {
		double mb, matches;
	} rows[] = { { 2, 28312 }, { 8, 107433 }, { 64, 840956 }, { 192, 1025876 } };
	struct bench_text text = take(6 * LEN);
	struct pattern_set set = { 0 };

	paper_packets_text(&text, 1);
	paper_packets_patterns(&set, 2);
	paper_packets_attacks(&text, &set, 3);
	for (size_t i = 0; i < test_tier(1, 2, sizeof(rows) / sizeof(*rows)); i++) {
		struct bench_text part = { text.bytes, (size_t)(rows[i].mb * LEN / 32) };
		double found = (double)matches(&set, &part), wanted = rows[i].matches / 32;
		double lookups = paper_pfac_lookups(&set, part.bytes, part.len) / (double)part.len;

		cr_assert(found > 0.95 * wanted && found < 1.15 * wanted,
			"%.0f matches in %.0f MB of 192, %.0f published", found, rows[i].mb,
			wanted);
		cr_assert(lookups > 1.03 && lookups < 1.15, "%f lookups a byte in %.0f MB", lookups,
			rows[i].mb);
	}
	pattern_set_free(&set);
	bench_text_free(&text);
}

Test(paper_data, prose)
{
	struct bench_text text = take(LEN);
	struct pattern_set set = { 0 };
	unsigned count = test_tier(100, 300, 5000);

	paper_prose_text(&text, 1);
	paper_prose_patterns(&set, count, 2);
	cr_assert_gt(matches(&set, &text), count / 5);
	paper_dictionary_text(&text, &set, 3);
	cr_assert_geq(matches(&set, &text), LEN / 10);
	pattern_set_free(&set);
	bench_text_free(&text);
}

/* Most words are drawn repeatedly, so that the automaton has about the published number of states. */
Test(paper_data, words_make_the_published_states)
{
	static const struct {
		uint32_t patterns;
		double states, average;
	} rows[] = { { 100, 573, 7.58 }, { 5000, 8606, 8.28 }, { 50000, 26369, 8.58 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pattern_set set = { 0 };
		struct paper_automata automata;

		paper_prose_patterns(&set, rows[i].patterns, 2);
		cr_assert_leq(set.count, rows[i].patterns);
		cr_assert_eq(paper_automata_make(&automata, &set, 1), 0);
		cr_assert_float_eq(automata.states / rows[i].states, 1, 0.06, "%u patterns: %.0f",
			rows[i].patterns, automata.states);
		cr_assert_float_eq(automata.average_len / rows[i].average, 1, 0.06, "%f",
			automata.average_len);
		pattern_set_free(&set);
	}
}

Test(paper_data, cut)
{
	struct bench_text text = take(LEN);
	struct pattern_set set = { 0 };

	paper_prose_text(&text, 1);
	paper_cut_pattern(&set, &text, 3999, 5);
	paper_cut_pattern(&set, &text, LEN + 1, 5);
	cr_assert_eq(set.count, 1);
	cr_assert_eq(set.patterns[0].len, 3999);
	cr_assert_geq(matches(&set, &text), 1);
	pattern_set_free(&set);
	bench_text_free(&text);
}
