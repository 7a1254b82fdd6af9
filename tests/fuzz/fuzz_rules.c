/*
 * Rule files in all three formats, and patterns, from hostile text. What loads must survive writing
 * and loading again, unchanged in number.
 *
 *     clang -fsanitize=fuzzer,address,undefined -Isrc -I. tests/fuzz/fuzz_rules.c ... &&
 *     ./fuzz_rules corpus/
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/forecast.h"
#include "rules/lint.h"
#include "rules/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_round_trip(const struct rules *rules)
{
	struct rules *again;
	struct error error = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (!stream || rules_write(rules, stream))
		abort();
	fclose(stream);
	if (rules_load_text(&again, NULL, text, len, RULES_BURIN, NULL, &error)) {
		fprintf(stderr, "%s\n%s\n", error.text, text);
		abort();
	}
	if (again->count != rules->count || again->patterns.count != rules->patterns.count)
		abort();
	rules_free(again);
	free(text);
}

static void try_rules(const char *text, size_t len, enum rules_format format)
{
	struct rules *rules;
	struct lint lint = { 0 };
	struct forecast forecast;
	struct error error = { 0 };

	if (rules_load_text(&rules, NULL, text, len, format, NULL, &error)) {
		if (!error.code || !*error.text)
			abort();
		return;
	}
	lint_rules(&lint, rules);
	lint_free(&lint);
	for (uint32_t i = 0; i < rules->count; i++) {
		forecast_rule(rules, i, NULL, 0, &forecast);
		if (!(forecast.hits >= 0) || !(forecast.bytes >= 0))
			abort();
	}
	check_round_trip(rules);
	rules_free(rules);
}

static void try_pattern(const char *text, size_t len)
{
	struct pattern pattern;
	struct error error = { 0 };

	if (pattern_parse(&pattern, text, &error)) {
		if (!error.code || !*error.text)
			abort();
		return;
	}
	if (!pattern.len || pattern.min_len > pattern.len ||
		pattern_match_len(&pattern, (const uint8_t *)text, len) > pattern.len)
		abort();
	pattern_free(&pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);

	if (!text)
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	try_pattern(text, len);
	try_rules(text, len, RULES_AUTO);
	try_rules(text, len, RULES_BURIN);
	try_rules(text, len, RULES_SCALPEL);
	try_rules(text, len, RULES_FOREMOST);
	free(text);
	return 0;
}
