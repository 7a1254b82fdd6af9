/*
 * Each check examines one rule, or a rule and another one, and words what it finds. What the
 * readers noticed (traps of Scalpel's grammar, which leave no trace in the rules) enters the list
 * first; at the end everything is sorted by file and line.
 */
#include "rules/lint.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "rules/cover_index.h"
#include "rules/forecast.h"

#define GIB 1073741824.0
#define SHORT_BITS 24 /* fewer than three bytes' worth */

struct context {
	struct lint *lint;
	const struct rules *rules;
	const struct rule *rule;
	struct cover_index *index;
};

const char *lint_level_name(enum lint_level level)
{
	return level == LINT_WARN ? "warning" : "note";
}

static void add(struct lint *lint, enum lint_level level, const char *file, unsigned line,
	const char *rule, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	lint->messages =
		xgrow(lint->messages, &lint->capacity, lint->count, sizeof(*lint->messages));
	lint->messages[lint->count++] = (struct lint_message){
		.file = file,
		.line = line,
		.rule = rule ? xstrdup(rule) : NULL,
		.level = level,
		.text = xstrdup(text),
	};
}

void lint_add(struct lint *lint, enum lint_level level, const char *file, unsigned line,
	const char *rule, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(lint, level, file, line, rule, format, args);
	va_end(args);
}

static void report(const struct context *c, enum lint_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void report(const struct context *c, enum lint_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(c->lint, level, c->rule->file, c->rule->line, c->rule->name, format, args);
	va_end(args);
}

static const struct pattern *header_of(const struct context *c, uint32_t i)
{
	return &c->rules->patterns.patterns[c->rule->headers[i]];
}

static const struct pattern *footer_of(const struct context *c, uint32_t i)
{
	return &c->rules->patterns.patterns[c->rule->footers[i]];
}

/* ---- patterns ------------------------------------------------------------------------------ */

/* The number of bits that a match fixes, -log2 of its chance. */
static double pattern_bits(const struct pattern *pattern)
{
	return -log2(forecast_pattern(pattern) / GIB);
}

static uint32_t wild_count(const struct pattern *pattern)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pattern->len; i++)
		count += pattern->mask && !pattern->mask[i];
	return count;
}

/* Whether every byte that is not wild has this value. */
static bool is_all(const struct pattern *pattern, uint8_t value)
{
	for (uint32_t i = 0; i < pattern->len; i++)
		if (!pattern->mask || (pattern->mask[i] && (pattern->mask[i] != 0xff ||
								   pattern->bytes[i] != value)))
			return false;
	return true;
}

static void check_header(const struct context *c, const struct pattern *header)
{
	bool checked = c->rule->carver || c->rule->must_count;

	if (pattern_bits(header) < SHORT_BITS)
		report(c, checked ? LINT_NOTE : LINT_WARN,
			"header %.60s has fewer than 24 fixed bits: random data alone gives %.0f "
			"hits per GiB",
			header->text, forecast_pattern(header));
	if (wild_count(header) > header->len / 2)
		report(c, LINT_NOTE, "more than half of header %.60s is wild", header->text);
	if (is_all(header, 0x00) || is_all(header, 0xff))
		report(c, LINT_WARN,
			"header %.60s is all %s: it matches at every byte of empty space",
			header->text, is_all(header, 0) ? "00" : "FF");
}

/* Footers that also occur inside files of their own type. */
static const struct {
	const char *header, *footer; /* the first bytes of the patterns */
	const char *why;
} nested_footers[] = {
	{ "\xff\xd8", "\xff\xd9", "thumbnails inside a JPEG end with it too" },
	{ "%PDF", "%%EOF", "every update of a PDF adds one" },
	{ "%PDF", "%EOF", "every update of a PDF adds one" },
};

static bool begins_with(const struct pattern *pattern, const char *bytes)
{
	size_t len = strlen(bytes);

	return !pattern->regex && pattern->len >= len && memcmp(pattern->bytes, bytes, len) == 0;
}

/* Why the footer occurs inside the rule's files; NULL when it is not known to do so. */
static const char *nested_why(const struct context *c, const struct pattern *footer)
{
	for (size_t i = 0; i < sizeof(nested_footers) / sizeof(*nested_footers); i++) {
		if (!begins_with(footer, nested_footers[i].footer) ||
			footer->len > strlen(nested_footers[i].footer) + 2)
			continue;
		for (uint32_t h = 0; h < c->rule->header_count; h++)
			if (begins_with(header_of(c, h), nested_footers[i].header))
				return nested_footers[i].why;
	}
	return NULL;
}

static void check_footer(const struct context *c, const struct pattern *footer)
{
	double apart = exp2(pattern_bits(footer));
	const char *why = nested_why(c, footer);

	if (why && c->rule->pair == PAIR_FORWARD)
		report(c, LINT_WARN,
			"footer %.60s: %s, so files are cut there; use a carver, or pair = "
			"\"reverse\"",
			footer->text, why);
	else if (why && c->rule->pair == PAIR_REVERSE)
		report(c, LINT_NOTE,
			"footer %.60s: %s; with pair = \"reverse\" the last one within max_size "
			"ends the file, and that one may belong to a later file",
			footer->text, why);
	else if (pattern_bits(footer) < SHORT_BITS && c->rule->pair != PAIR_REVERSE &&
		 apart < (double)c->rule->max_size)
		report(c, LINT_WARN,
			"footer %.60s has fewer than 24 fixed bits: it occurs by chance about "
			"every %.0f bytes, and larger files are cut there",
			footer->text, apart);
	if (is_all(footer, 0x00) || is_all(footer, 0xff))
		report(c, LINT_WARN, "footer %.60s is all %s, like empty space", footer->text,
			is_all(footer, 0) ? "00" : "FF");
}

static void check_patterns(const struct context *c)
{
	const struct rule *rule = c->rule;

	for (uint32_t i = 0; i < rule->header_count; i++)
		check_header(c, header_of(c, i));
	if (rule->footer_count && (rule->carver || rule->length.width)) {
		report(c, LINT_NOTE,
			"the footer is never used: the %s determines where the file ends",
			rule->carver ? "carver" : "length");
		return;
	}
	for (uint32_t i = 0; i < rule->footer_count; i++)
		check_footer(c, footer_of(c, i));
}

/* ---- sizes --------------------------------------------------------------------------------- */

static void check_sizes(const struct context *c)
{
	const struct rule *rule = c->rule;
	char size[16];

	if (rule->max_size < rule->min_size)
		report(c, LINT_WARN,
			"max_size (%" PRIu64 ") is below min_size (%" PRIu64
			"): nothing is ever carved",
			rule->max_size, rule->min_size);
	for (uint32_t i = 0; i < rule->header_count; i++) {
		uint64_t len = header_of(c, i)->min_len;

		if (len > rule->max_size || rule->header_offset > rule->max_size - len)
			report(c, LINT_WARN, "max_size (%" PRIu64 ") ends before the header does",
				rule->max_size);
	}
	for (uint32_t i = 0; i < rule->must_count; i++)
		if (rule->musts[i].at + rule->musts[i].pattern.len > rule->max_size)
			report(c, LINT_WARN, "must at %" PRIu64 " lies beyond max_size",
				rule->musts[i].at);
	if (rule->length.width && rule->length.at > rule->max_size - rule->length.width)
		report(c, LINT_WARN, "the length field is beyond max_size");
	if (rule->length.width && rule->carver)
		report(c, LINT_NOTE,
			"length is never used: the carver determines where the file ends");
	if (!rule->footer_count && !rule->carver && !rule->length.width &&
		rule->max_size >= UINT64_C(1) << 30)
		report(c, LINT_NOTE, "nothing determines where a file ends, so every hit writes %s",
			size_print(rule->max_size, size));
}

/* ---- one rule against another --------------------------------------------------------------- */

/* Reports what is wrong with the rule because of another one that covers it. */
static void report_covered(const struct context *c, const struct rule *other, bool earlier)
{
	const struct rule *rule = c->rule;

	if (earlier && rule->carver && rule->carver == other->carver &&
		other->min_size <= rule->min_size && other->max_size >= rule->max_size)
		report(c, LINT_WARN,
			"never carves anything: '%s' (%s:%u) has the same carver, comes first and "
			"matches all its headers",
			other->name, other->file, other->line);
	else if (earlier && !rule_compare_ends(other, rule) && rule_covers(c->rules, rule, other))
		report(c, LINT_WARN, "does the same as '%s' (%s:%u): every file is carved twice",
			other->name, other->file, other->line);
	else if (other->carver && !rule->carver)
		report(c, LINT_NOTE,
			"carves only where the carver of '%s' (%s:%u) finds no complete file",
			other->name, other->file, other->line);
}

static void check_others(const struct context *c)
{
	uint32_t number = (uint32_t)(c->rule - c->rules->rules);
	uint32_t other = cover_index_find(c->index, number);

	if (other != UINT32_MAX)
		report_covered(c, &c->rules->rules[other], other < number);
}

/* ---- all ----------------------------------------------------------------------------------- */

static uint32_t file_number(const struct rules *rules, const char *file)
{
	uint32_t i = 0;

	while (i < rules->file_count && rules->files[i] != file)
		i++;
	return i;
}

static int compare_messages(const void *left, const void *right, void *rules)
{
	const struct lint_message *a = left, *b = right;
	uint32_t m = file_number(rules, a->file), n = file_number(rules, b->file);

	if (m != n)
		return m < n ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->level != b->level)
		return a->level > b->level ? -1 : 1;
	return strcmp(a->text, b->text);
}

void lint_rules(struct lint *lint, const struct rules *rules)
{
	struct cover_index *index = cover_index_new(rules);
	struct context c = { .lint = lint, .rules = rules, .index = index };

	for (size_t i = 0; i < rules->notes->count; i++) {
		const struct lint_message *note = &rules->notes->messages[i];

		lint_add(lint, note->level, note->file, note->line, note->rule, "%s", note->text);
	}
	for (uint32_t i = 0; i < rules->count; i++) {
		c.rule = &rules->rules[i];
		check_patterns(&c);
		check_sizes(&c);
		check_others(&c);
	}
	cover_index_free(index);
	if (lint->count)
		qsort_r(lint->messages, lint->count, sizeof(*lint->messages), compare_messages,
			(void *)rules);
}

void lint_free(struct lint *lint)
{
	if (!lint)
		return;
	for (size_t i = 0; i < lint->count; i++) {
		free(lint->messages[i].rule);
		free(lint->messages[i].text);
	}
	free(lint->messages);
	*lint = (struct lint){ 0 };
}
