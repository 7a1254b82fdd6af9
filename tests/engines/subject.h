/* What engines are tried on: a pattern set, a text, and the hits that are right. Used by engines.c
 * alone. */
#ifndef BURIN_TESTS_SUBJECT_H
#define BURIN_TESTS_SUBJECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/scan.h"

struct subject {
	const char *name;
	bool large; /* one thread count is enough */
	struct pattern_set set;
	uint8_t *text;
	size_t text_len;
	struct hit *hits; /* all that are right, in order; offsets in the text */
	size_t hit_count, hit_capacity;
	const char *expected;  /* NULL, or the hits by hand: "offset:pattern offset:pattern ..." */
	const char *complaint; /* the case itself is wrong */
};

/* ---- making ---- */

static void subject_add(struct subject *subject, const char *text)
{
	struct pattern pattern;
	struct error error;

	if (pattern_parse(&pattern, text, &error) != 0) {
		fprintf(stderr, "engines: %s: pattern %s: %s\n", subject->name, text, error.text);
		exit(2);
	}
	pattern_set_add(&subject->set, &pattern);
}

/* mask: NULL for all bits. */
static void subject_add_bytes(
	struct subject *subject, const uint8_t *bytes, const uint8_t *mask, size_t len)
{
	uint8_t *full = xmalloc(len);
	struct pattern pattern;

	memset(full, 0xff, len);
	if (pattern_from_bytes(&pattern, bytes, mask ? mask : full, len, NULL) == 0)
		pattern_set_add(&subject->set, &pattern);
	free(full);
}

static uint8_t *subject_text(struct subject *subject, size_t len, int fill)
{
	subject->text = xmalloc(len);
	subject->text_len = len;
	memset(subject->text, fill, len);
	return subject->text;
}

static void subject_set_text(struct subject *subject, const char *text)
{
	memcpy(subject_text(subject, strlen(text), 0), text, strlen(text));
}

static void subject_free(struct subject *subject)
{
	pattern_set_free(&subject->set);
	free(subject->text);
	free(subject->hits);
}

static bool subject_has_regex(const struct subject *subject)
{
	for (uint32_t i = 0; i < subject->set.count; i++)
		if (subject->set.patterns[i].regex)
			return true;
	return false;
}

/* Whether a kernel of the gpu engine may have refused a set for this reason. */
static bool kernel_may_refuse(const char *kernel, const struct error *error)
{
	return strcmp(kernel, "bloom") == 0 || strstr(error->text, "does not fit");
}

/* ---- the oracle ---- */

/* Its own loop, not pattern_matches, so that it can tell when that is wrong; regex cases tell their
 * hits by hand. */
static bool oracle_matches(const struct pattern *pattern, const uint8_t *text, size_t len)
{
	uint32_t agree = 0;

	if (pattern->regex)
		return pattern_match_len(pattern, text, len) > 0;
	if (pattern->len > len)
		return false;
	while (agree < pattern->len && (text[agree] & pattern->mask[agree]) ==
					       (pattern->bytes[agree] & pattern->mask[agree]))
		agree++;
	return agree == pattern->len;
}

static void oracle_run(struct subject *subject)
{
	for (size_t at = 0; at < subject->text_len; at++)
		for (uint32_t i = 0; i < subject->set.count; i++) {
			if (!oracle_matches(&subject->set.patterns[i], subject->text + at,
				    subject->text_len - at))
				continue;
			subject->hits = xgrow(subject->hits, &subject->hit_capacity,
				subject->hit_count, sizeof(*subject->hits));
			subject->hits[subject->hit_count++] = (struct hit){ at, i, 0 };
		}
}

/* The number of hits at the first place at or after offset that has any. */
static size_t oracle_next(const struct subject *subject, uint64_t base, uint64_t offset)
{
	size_t low = 0, high = subject->hit_count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (subject->hits[middle].offset + base < offset)
			low = middle + 1;
		else
			high = middle;
	}
	end = low;
	while (end < subject->hit_count && subject->hits[end].offset == subject->hits[low].offset)
		end++;
	return end - low;
}

static const char *check_expected(const struct subject *subject)
{
	const char *text = subject->expected;
	int used;

	for (size_t i = 0; i < subject->hit_count; i++, text += used) {
		unsigned long long offset;
		unsigned pattern;

		if (sscanf(text, " %llu:%u%n", &offset, &pattern, &used) != 2)
			return "the oracle has more hits than are expected";
		if (offset != subject->hits[i].offset || pattern != subject->hits[i].pattern)
			return "the oracle has other hits than are expected";
	}
	return *text ? "the oracle has fewer hits than are expected" : NULL;
}

/* Finds the right hits, once patterns and text are there. */
static void subject_finish(struct subject *subject)
{
	oracle_run(subject);
	if (subject->expected)
		subject->complaint = check_expected(subject);
}

#endif
