/* The makers of the papers' texts and dictionaries: that they are what they say. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "bench/papers/paper_data.h"
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
	struct bench_text text = take(LEN);
	struct pattern_set set = { 0 };

	paper_dna_text(&text, 1);
	for (size_t i = 0; i < text.len; i++)
		cr_assert_not_null(memchr("acgt", text.bytes[i], 4));
	paper_dna_patterns(&set, &text, 1000, 2);
	cr_assert_eq(set.count, 1000);
	cr_assert_eq(set.longest, 8);
	cr_assert_geq(matches(&set, &text), 1000);
	pattern_set_free(&set);
	bench_text_free(&text);
}

Test(paper_data, packets)
{
	struct bench_text text = take(LEN);
	struct pattern_set set = { 0 };
	size_t shortest = 1000;

	paper_packets_text(&text, 1);
	paper_packets_patterns(&set, 2);
	cr_assert_eq(set.count, 1998);
	cr_assert(set.longest > 200 && set.longest <= 243, "%u", set.longest);
	for (uint32_t i = 0; i < set.count; i++)
		if (set.patterns[i].len < shortest)
			shortest = set.patterns[i].len;
	cr_assert_eq(shortest, 1);
	cr_assert_eq(matches(&set, &text), 0, "pure packets hold no pattern");
	cr_assert(paper_dictionary_len(&set) > 30000 && paper_dictionary_len(&set) < 55000);
	pattern_set_free(&set);
	bench_text_free(&text);
}

Test(paper_data, prose)
{
	struct bench_text text = take(LEN);
	struct pattern_set set = { 0 };
	double average;

	if (!test_tier(0, 1, 1))
		return;
	paper_prose_text(&text, 1);
	paper_prose_patterns(&set, 5000, 2);
	cr_assert_eq(set.count, 5000);
	average = (double)paper_dictionary_len(&set) / set.count;
	cr_assert(average > 7 && average < 9.5, "%f", average);
	cr_assert_gt(matches(&set, &text), 1000);
	paper_dictionary_text(&text, &set, 3);
	cr_assert_geq(matches(&set, &text), LEN / 10);
	pattern_set_free(&set);
	bench_text_free(&text);
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
