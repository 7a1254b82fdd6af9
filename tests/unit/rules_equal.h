/* For tests of rule sets: loading from a text, and comparing what must survive being written and
 * read again. */
#ifndef BURIN_TESTS_RULES_EQUAL_H
#define BURIN_TESTS_RULES_EQUAL_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/load.h"
#include "patterns/regex.h"

static __attribute__((unused)) struct rules *load_text(const char *text, enum rules_format format)
{
	struct rules *rules = NULL;
	struct error error = { 0 };

	cr_assert_eq(rules_load_text(&rules, NULL, text, strlen(text), format, NULL, &error), 0,
		"%s\n%s", error.text, text);
	return rules;
}

/* Expects that the text is refused with an error that contains part. */
static __attribute__((unused)) void refuse_text(
	const char *text, enum rules_format format, const char *part)
{
	struct rules *rules = NULL;
	struct error error = { 0 };

	cr_assert_eq(rules_load_text(&rules, NULL, text, strlen(text), format, NULL, &error),
		-EINVAL, "taken: %s", text);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_not_null(strstr(error.text, part), "'%s' lacks '%s'", error.text, part);
	cr_assert_null(rules);
}

static __attribute__((unused)) const struct pattern *header(
	const struct rules *rules, uint32_t rule, uint32_t i)
{
	cr_assert(rule < rules->count && i < rules->rules[rule].header_count);
	return &rules->patterns.patterns[rules->rules[rule].headers[i]];
}

static __attribute__((unused)) const struct pattern *footer(
	const struct rules *rules, uint32_t rule, uint32_t i)
{
	cr_assert(rule < rules->count && i < rules->rules[rule].footer_count);
	return &rules->patterns.patterns[rules->rules[rule].footers[i]];
}

static inline void assert_same_pattern(const struct pattern *a, const struct pattern *b)
{
	cr_assert_eq(a->len, b->len);
	cr_assert_eq(a->min_len, b->min_len);
	cr_assert_str_eq(a->text, b->text);
	cr_assert_eq(!a->regex, !b->regex);
	if (a->regex) {
		cr_assert_str_eq(regex_source(a->regex), regex_source(b->regex));
	} else {
		cr_assert_eq(memcmp(a->bytes, b->bytes, a->len), 0);
		cr_assert_eq(memcmp(a->mask, b->mask, a->len), 0);
	}
}

static inline void assert_same_list(
	const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
	cr_assert_eq(a_count, b_count);
	for (uint32_t i = 0; i < a_count; i++)
		cr_assert_eq(a[i], b[i]);
}

static inline void assert_same_rule(const struct rule *a, const struct rule *b)
{
	cr_assert_str_eq(a->name, b->name);
	cr_assert_str_eq(a->extension, b->extension, "%s", a->name);
	assert_same_list(a->headers, a->header_count, b->headers, b->header_count);
	assert_same_list(a->footers, a->footer_count, b->footers, b->footer_count);
	cr_assert_eq(a->header_offset, b->header_offset);
	cr_assert_eq(a->pair, b->pair, "%s", a->name);
	cr_assert_eq(a->include_footer, b->include_footer, "%s", a->name);
	cr_assert_eq(a->min_size, b->min_size);
	cr_assert_eq(a->max_size, b->max_size);
	cr_assert_eq(a->length.width, b->length.width);
	cr_assert_eq(a->length.at, b->length.at);
	cr_assert_eq(a->length.big_endian, b->length.big_endian);
	cr_assert_eq(a->length.multiply, b->length.multiply);
	cr_assert_eq(a->length.add, b->length.add);
	cr_assert_eq(a->must_count, b->must_count);
	for (uint32_t i = 0; i < a->must_count; i++) {
		cr_assert_eq(a->musts[i].at, b->musts[i].at);
		assert_same_pattern(&a->musts[i].pattern, &b->musts[i].pattern);
	}
	cr_assert_eq(a->align, b->align);
	cr_assert_eq(a->carver, b->carver);
	cr_assert_eq(a->kind_count, b->kind_count);
	for (uint32_t i = 0; i < a->kind_count; i++)
		cr_assert_str_eq(a->kinds[i], b->kinds[i]);
}

static inline void assert_same_rules(const struct rules *a, const struct rules *b)
{
	cr_assert_eq(a->count, b->count);
	cr_assert_eq(a->patterns.count, b->patterns.count);
	cr_assert_eq(a->patterns.longest, b->patterns.longest);
	for (uint32_t i = 0; i < a->patterns.count; i++)
		assert_same_pattern(&a->patterns.patterns[i], &b->patterns.patterns[i]);
	for (uint32_t i = 0; i < a->count; i++)
		assert_same_rule(&a->rules[i], &b->rules[i]);
}

/* Writes the set, reads it again, and compares. */
static __attribute__((unused)) void assert_round_trip(const struct rules *rules)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	struct rules *again;

	cr_assert_not_null(stream);
	cr_assert_eq(rules_write(rules, stream), 0);
	fclose(stream);
	again = load_text(text, RULES_AUTO);
	cr_assert_eq(again->format, RULES_BURIN);
	assert_same_rules(rules, again);
	rules_free(again);
	free(text);
}

#endif
