/*
 * What the tests of kernels share that run on the host what one thread does: a pattern set, a text
 * in memory of its own length, so that the address sanitizer sees a read past it, and the hits of
 * the naive search to compare with.
 */
#ifndef BURIN_TESTS_KERNEL_CASE_H
#define BURIN_TESTS_KERNEL_CASE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/gpu_text.h"
#include "patterns/pattern_set.h"

#define BENCH_HITS_MAX 200000

static uint64_t bench_state;

static inline uint32_t below(uint32_t limit)
{
	bench_state = bench_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(bench_state >> 33) % limit;
}

struct bench {
	struct pattern_set set;
	uint8_t *bytes;
	struct gpu_text text;
	uint64_t *right, *keys;
	size_t right_count;
	unsigned long long found;
	struct gpu_hits hits;
};

/* A text of zeros, of which matches that start in [from, to) are wanted. */
static inline void bench_open(struct bench *bench, uint32_t len, uint32_t from, uint32_t to)
{
	memset(bench, 0, sizeof(*bench));
	bench->bytes = xcalloc(len ? len : 1, 1);
	bench->text = (struct gpu_text){ bench->bytes, from, to, len };
	bench->right = xcalloc(BENCH_HITS_MAX, sizeof(uint64_t));
	bench->keys = xcalloc(BENCH_HITS_MAX, sizeof(uint64_t));
	bench->hits = (struct gpu_hits){ bench->keys, &bench->found, BENCH_HITS_MAX, NULL };
}

/* The text is random until it is filled. */
static inline void bench_init(struct bench *bench, uint64_t seed, uint32_t len)
{
	bench_open(bench, len, 0, len);
	bench_state = seed * 0x9e3779b97f4a7c15ull;
	for (uint32_t i = 0; i < len; i++)
		bench->bytes[i] = (uint8_t)below(256);
}

static inline void bench_free(struct bench *bench)
{
	pattern_set_free(&bench->set);
	free(bench->bytes);
	free(bench->right);
	free(bench->keys);
}

static inline void bench_add(struct bench *bench, const char *text)
{
	struct pattern pattern;
	struct error error = { 0 };
	cr_assert_eq(pattern_parse(&pattern, text, &error), 0, "%s: %s", text, error.text);
	pattern_set_add(&bench->set, &pattern);
}

/* mask NULL: no wild bits. A pattern of wild bits alone is skipped. */
static inline void bench_add_bytes(
	struct bench *bench, const void *bytes, const uint8_t *mask, size_t len)
{
	struct pattern pattern;
	uint8_t *whole = xmalloc(len);
	memset(whole, 0xff, len);
	if (pattern_from_bytes(&pattern, bytes, mask ? mask : whole, len, NULL) == 0)
		pattern_set_add(&bench->set, &pattern);
	free(whole);
}

/* Fills the text from a small alphabet that the seed picks, adds up to 40 patterns from it, some
 * with wild bits, and takes any part of the text as wanted. */
static inline void bench_fill_random(struct bench *bench)
{
	static const char *const alphabets[] = { "ab", "aAbB", "\0\1\xff", "abcdefgh", "\0" };
	static const uint32_t letters[] = { 2, 4, 3, 8, 1 };
	uint32_t which = below(5), count = 1 + below(40);
	for (uint32_t i = 0; i < bench->text.len; i++)
		bench->bytes[i] = (uint8_t)alphabets[which][below(letters[which])];
	for (uint32_t i = 0; i < count; i++) {
		uint8_t bytes[48], mask[48];
		uint32_t len = 1 + below(below(3) ? 8 : 48), plain = below(3);
		for (uint32_t j = 0; j < len; j++) {
			bytes[j] = (uint8_t)alphabets[which][below(letters[which])];
			mask[j] = plain ? 0xff
					: (uint8_t) "\xff\xff\xff\xdf\x0f\xf0\x01\x00"[below(8)];
		}
		bench_add_bytes(bench, bytes, mask, len);
	}
	bench->text.from = below(bench->text.len);
	bench->text.to = bench->text.from + below(bench->text.len - bench->text.from + 1);
}

static inline void bench_find_right(struct bench *bench)
{
	bench->right_count = 0;
	for (uint32_t at = bench->text.from; at < bench->text.to; at++)
		for (uint32_t p = 0; p < bench->set.count; p++)
			if (pattern_matches(&bench->set.patterns[p], bench->bytes + at,
				    bench->text.len - at)) {
				cr_assert_lt(bench->right_count, BENCH_HITS_MAX);
				bench->right[bench->right_count++] = gpu_hit_key(at, p);
			}
}

static inline int bench_compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* What was found must be what is right; then nothing is found any more. */
static inline void bench_expect_right(
	struct bench *bench, const char *what, unsigned long long seed)
{
	cr_assert_eq(bench->found, bench->right_count, "%s, seed %llu: %llu hits instead of %zu",
		what, seed, bench->found, bench->right_count);
	qsort(bench->keys, bench->found, sizeof(uint64_t), bench_compare_keys);
	for (size_t i = 0; i < bench->right_count; i++)
		cr_assert_eq(bench->keys[i], bench->right[i],
			"%s, seed %llu: hit %zu is %llx instead of %llx", what, seed, i,
			(unsigned long long)bench->keys[i], (unsigned long long)bench->right[i]);
	bench->found = 0;
}

#endif
