/* Keywords and their trie: that each pattern's matches all hold one of its keywords, and the supply
 * and output functions against their definitions. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/keywords.h"
#include "patterns/trie.h"
#include "tier.h"

static void add(struct pattern_set *set, const char *text)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_parse(&pattern, text, &error), 0, "%s: %s", text, error.text);
	pattern_set_add(set, &pattern);
}

static const struct keyword *find(const struct keyword_set *keywords, const char *bytes)
{
	for (uint32_t i = 0; i < keywords->count; i++)
		if (keywords->items[i].len == strlen(bytes) &&
			memcmp(keywords->items[i].bytes, bytes, strlen(bytes)) == 0)
			return &keywords->items[i];
	return NULL;
}

Test(keywords, whole_patterns_stay_whole)
{
	struct pattern_set set = { 0 };
	struct keyword_set keywords;

	add(&set, "'beta'");
	add(&set, "'alpha'");
	add(&set, "'x'");
	keywords_make(&keywords, &set, 4096);
	cr_assert_eq(keywords.count, 3);
	cr_assert_eq(keywords.shortest, 1);
	cr_assert_eq(keywords.longest, 5);
	cr_assert_eq(keywords.reach, 0);
	cr_assert_eq(memcmp(keywords.items[0].bytes, "alpha", 5), 0);
	cr_assert_eq(keywords.records[keywords.items[0].first].pattern, 1);
	cr_assert(keywords.records[keywords.items[0].first].whole);
	cr_assert_eq(keywords_len(&set, 4096), 10);
	keywords_free(&keywords);
	pattern_set_free(&set);
}

Test(keywords, wild_bits_are_written_out)
{
	struct pattern_set set = { 0 };
	struct keyword_set keywords;

	add(&set, "i'ab'");
	keywords_make(&keywords, &set, 4096);
	cr_assert_eq(keywords.count, 4);
	cr_assert(find(&keywords, "ab") && find(&keywords, "aB") && find(&keywords, "Ab") &&
		  find(&keywords, "AB"));
	cr_assert_not(keywords.records[0].whole);
	keywords_free(&keywords);
	pattern_set_free(&set);
}

Test(keywords, equal_ones_are_one_with_two_records)
{
	struct pattern_set set = { 0 };
	struct keyword_set keywords;
	const struct keyword *moov;

	add(&set, "???????? 'moov'");
	add(&set, "'moov'");
	keywords_make(&keywords, &set, 4096);
	cr_assert_eq(keywords.count, 1);
	moov = find(&keywords, "moov");
	cr_assert_not_null(moov);
	cr_assert_eq(moov->count, 2);
	cr_assert_eq(keywords.records[moov->first].back, 4);
	cr_assert_not(keywords.records[moov->first].whole);
	cr_assert_eq(keywords.records[moov->first + 1].back, 0);
	cr_assert(keywords.records[moov->first + 1].whole);
	cr_assert_eq(keywords.reach, 4);
	keywords_free(&keywords);
	pattern_set_free(&set);
}

Test(keywords, long_ones_are_cut_and_empty_ones_passed_over)
{
	struct pattern_set set = { 0 };
	struct keyword_set keywords;
	struct pattern patterns[3];

	add(&set, "'abcdefgh'");
	memset(patterns, 0, sizeof(patterns));
	patterns[1] = set.patterns[0];
	keywords_make(&keywords, &(struct pattern_set){ .patterns = patterns, .count = 3 }, 3);
	cr_assert_eq(keywords.count, 1);
	cr_assert_eq(keywords.items[0].len, 3);
	cr_assert_eq(keywords.records[0].pattern, 1);
	cr_assert_not(keywords.records[0].whole);
	keywords_free(&keywords);
	keywords_make(&keywords, &(struct pattern_set){ .patterns = patterns, .count = 1 }, 3);
	cr_assert_eq(keywords.count, 0);
	keywords_free(&keywords);
	pattern_set_free(&set);
}

/* The string that a state spells, by walking down to it. */
static uint32_t spell(const struct trie *trie, uint32_t state, uint8_t *bytes)
{
	uint32_t len = trie->depths[state];

	for (uint32_t depth = len; depth > 0; depth--) {
		uint32_t parent = 0, byte = 256;

		for (uint32_t s = 0; s < trie->state_count && byte == 256; s++)
			for (byte = 0; byte < 256; byte++)
				if (trie_next(trie, s, (uint8_t)byte) == state) {
					parent = s;
					break;
				}
		bytes[depth - 1] = (uint8_t)byte;
		state = parent;
	}
	return len;
}

static uint32_t walk(const struct trie *trie, const uint8_t *bytes, uint32_t len)
{
	uint32_t state = 0;

	for (uint32_t i = 0; i < len && state != TRIE_NONE; i++)
		state = trie_next(trie, state, bytes[i]);
	return state;
}

Test(trie, supply_and_output_are_the_longest_suffixes)
{
	unsigned seed = (unsigned)test_seed();

	srand(seed);
	for (int round = 0; round < 20; round++) {
		struct pattern_set set = { 0 };
		struct keyword_set keywords;
		struct trie trie;

		for (int i = 0; i < 12; i++) {
			uint8_t bytes[6], mask[6];
			struct pattern pattern;

			memset(mask, 0xff, 6);
			for (int k = 0; k < 6; k++)
				bytes[k] = (uint8_t)('a' + rand() % 2);
			pattern_from_bytes(&pattern, bytes, mask, 1 + (size_t)rand() % 6, NULL);
			pattern_set_add(&set, &pattern);
		}
		keywords_make(&keywords, &set, 4096);
		trie_grow(&trie, &keywords, round % 2 ? TRIE_BYTES : TRIE_CLASSES, false);
		trie_link(&trie);
		for (uint32_t state = 1; state < trie.state_count; state++) {
			uint8_t bytes[6];
			uint32_t len = spell(&trie, state, bytes), at = 1, output;

			while (walk(&trie, bytes + at, len - at) == TRIE_NONE)
				at++;
			cr_assert_eq(trie.fail[state], walk(&trie, bytes + at, len - at),
				"seed %u, state %u", seed, state);
			for (at = 1, output = TRIE_NONE; at < len && output == TRIE_NONE; at++) {
				uint32_t suffix = walk(&trie, bytes + at, len - at);

				if (suffix != TRIE_NONE && trie.keywords[suffix] != TRIE_NONE)
					output = suffix;
			}
			cr_assert_eq(trie.output[state], output, "seed %u, state %u", seed, state);
		}
		trie_free(&trie);
		keywords_free(&keywords);
		pattern_set_free(&set);
	}
}

Test(trie, reversed)
{
	struct pattern_set set = { 0 };
	struct keyword_set keywords;
	struct trie trie;

	add(&set, "'abc'");
	add(&set, "'xbc'");
	keywords_make(&keywords, &set, 4096);
	trie_grow(&trie, &keywords, TRIE_BYTES, true);
	cr_assert_eq(trie.state_count, 5);
	cr_assert_eq(trie.keywords[walk(&trie, (const uint8_t *)"cba", 3)], 0);
	cr_assert_eq(trie.keywords[walk(&trie, (const uint8_t *)"cbx", 3)], 1);
	cr_assert_eq(walk(&trie, (const uint8_t *)"abc", 3), TRIE_NONE);
	trie_free(&trie);
	keywords_free(&keywords);
	pattern_set_free(&set);
}
