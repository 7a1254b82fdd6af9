/* What the tests of the searches for byte patterns share: random patterns, places where they match,
 * and comparing with the plain way. */
#ifndef BURIN_TEST_SEARCHING_H
#define BURIN_TEST_SEARCHING_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "patterns/pattern_set.h"
#include "scan/hits.h"
#include "scan/matcher.h"

enum { HITS = 1 << 16 };

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16) % below;
}

static void add(struct pattern_set *set, const char *text)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_parse(&pattern, text, &error), 0, "%s", error.text);
	pattern_set_add(set, &pattern);
}

static size_t plain(const struct pattern_set *set, const uint8_t *text, size_t len, size_t text_len,
	struct hit *hits)
{
	size_t count = 0;

	for (size_t at = 0; at < len; at++)
		for (uint32_t id = 0; id < set->count; id++)
			if (pattern_matches(&set->patterns[id], text + at, text_len - at)) {
				cr_assert_lt(count, HITS);
				hits[count++] = (struct hit){ 1000 + at, id, 0 };
			}
	return count;
}

/* Searches a copy that ends where its memory ends, so that address sanitizer sees what is read too
 * much. */
static void compare(const struct pattern_set *set,
	void (*find)(const void *, const uint8_t *, size_t, size_t, uint64_t, struct hit_sink *),
	const void *database, const uint8_t *bytes, size_t len, size_t text_len)
{
	struct hit *expected = xmalloc(HITS * sizeof(*expected));
	struct hit *found = xmalloc(HITS * sizeof(*found)), *spare = xmalloc(HITS * sizeof(*spare));
	struct hit_sink sink = { .hits = found, .capacity = HITS };
	uint8_t *text = memcpy(xmalloc(text_len), bytes, text_len);
	size_t count = plain(set, text, len, text_len, expected);

	find(database, text, len, text_len, 1000, &sink);
	cr_assert(!sink.full);
	cr_assert_eq(hits_sort(found, sink.count, spare), sink.count, "a hit was found twice");
	cr_assert_eq(sink.count, count, "%zu hits instead of %zu", sink.count, count);
	for (size_t i = 0; i < count; i++)
		cr_assert(found[i].offset == expected[i].offset &&
			  found[i].pattern == expected[i].pattern);
	free(text);
	free(spare);
	free(found);
	free(expected);
}

/* Places a byte sequence that the pattern matches. */
static void plant(uint8_t *text, const struct pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->len; i++)
		text[i] = (uint8_t)((text[i] & ~pattern->mask[i]) | pattern->bytes[i]);
}

#endif
