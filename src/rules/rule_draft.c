#include "rules/rule_draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carvers/carver.h"
#include "rules/plugins.h"

static int read_pattern(
	struct setting_reader *r, const config_setting_t *setting, struct pattern *pattern)
{
	struct error why;
	const char *text;
	int status = setting_string(r, setting, &text);

	if (status)
		return status;
	return pattern_parse(pattern, text, &why) ? setting_fail(r, setting, "%s", why.text) : 0;
}

/* ---- the settings of length and must ------------------------------------------------------- */

static int read_length_at(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_size(r, setting, &((struct length_field *)into)->at);
}

static int read_length_type(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	static const char *const types[] = { "u8", "u16le", "u16be", "u32le", "u32be", "u64le",
		"u64be" };
	static const uint8_t widths[] = { 1, 2, 2, 4, 4, 8, 8 };
	struct length_field *length = into;
	const char *text;
	int status = setting_string(r, setting, &text);

	if (status)
		return status;
	for (size_t i = 0; i < 7; i++) {
		if (strcmp(text, types[i]) != 0)
			continue;
		length->width = widths[i];
		length->big_endian = i > 0 && i % 2 == 0;
		return 0;
	}
	return setting_fail_unknown(r, setting, "integer type", text, types, 7);
}

static int read_length_multiply(
	struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct length_field *length = into;
	int status = setting_size(r, setting, &length->multiply);

	return status || length->multiply
		       ? status
		       : setting_fail(r, setting, "0 would make every file 0 bytes long");
}

static int read_length_add(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_integer(r, setting, &((struct length_field *)into)->add);
}

static const struct setting_kind length_kinds[] = {
	{ "at", read_length_at },
	{ "type", read_length_type },
	{ "multiply", read_length_multiply },
	{ "add", read_length_add },
};

static int read_must_at(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_size(r, setting, &((struct must *)into)->at);
}

static int read_must_bytes(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct must *must = into;
	int status = read_pattern(r, setting, &must->pattern);

	if (!status && must->pattern.regex)
		return setting_fail(r, setting, "must takes only bytes, not a regex");
	return status;
}

static const struct setting_kind must_kinds[] = {
	{ "at", read_must_at },
	{ "bytes", read_must_bytes },
};

/* ---- the settings of a type ---------------------------------------------------------------- */

static int read_name(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule_draft *draft = into;
	const char *text;
	int status = setting_string(r, setting, &text);

	if (status)
		return status;
	if (!rule_name_valid(text))
		return setting_fail(r, setting,
			"'%.100s' can't name a folder: expected letters, digits, '.', '_' and "
			"'-', not a dot first, at most %d",
			text, RULE_NAME_MAX);
	draft->rule.name = xstrdup(text);
	return 0;
}

static int read_extension(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule_draft *draft = into;
	const char *text;
	int status = setting_string(r, setting, &text);

	if (status)
		return status;
	if (*text && !rule_name_valid(text))
		return setting_fail(r, setting,
			"'%.100s' can't be an extension: expected letters, digits, '.', '_' and "
			"'-', not a dot first, at most %d, or nothing",
			text, RULE_NAME_MAX);
	draft->rule.extension = xstrdup(text);
	return 0;
}

static int read_header_one(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule_draft *draft = into;
	int status;

	draft->headers = xgrow(draft->headers, &draft->header_capacity, draft->header_count,
		sizeof(*draft->headers));
	status = read_pattern(r, setting, &draft->headers[draft->header_count]);
	draft->header_count += !status;
	return status;
}

static int read_header(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_each(r, setting, into, read_header_one);
}

static int read_footer_one(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule_draft *draft = into;
	int status;

	draft->footers = xgrow(draft->footers, &draft->footer_capacity, draft->footer_count,
		sizeof(*draft->footers));
	status = read_pattern(r, setting, &draft->footers[draft->footer_count]);
	draft->footer_count += !status;
	return status;
}

static int read_footer(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_each(r, setting, into, read_footer_one);
}

static int read_header_offset(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_size(r, setting, &((struct rule_draft *)into)->rule.header_offset);
}

static int read_pair(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	static const char *const modes[] = { "forward", "reverse", "next" };
	struct rule_draft *draft = into;
	const char *text;
	int status = setting_string(r, setting, &text);

	if (status)
		return status;
	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, modes[i]) == 0) {
			draft->rule.pair = (enum pair_mode)i;
			return 0;
		}
	}
	return setting_fail_unknown(r, setting, "pair mode", text, modes, 3);
}

static int read_include_footer(
	struct setting_reader *r, const config_setting_t *setting, void *into)
{
	if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
		return setting_fail(r, setting, "expected true or false");
	((struct rule_draft *)into)->rule.include_footer = config_setting_get_bool(setting);
	return 0;
}

static int read_min_size(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_size(r, setting, &((struct rule_draft *)into)->rule.min_size);
}

static int read_max_size(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule_draft *draft = into;
	int status = setting_size(r, setting, &draft->rule.max_size);

	return status || draft->rule.max_size
		       ? status
		       : setting_fail(r, setting, "0 would leave nothing to carve");
}

static int read_length(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct length_field *length = &((struct rule_draft *)into)->rule.length;
	int status;

	length->multiply = 1;
	status = setting_group(r, setting, length_kinds, 4, length);
	if (!status && (!setting_has(setting, "at") || !setting_has(setting, "type")))
		return setting_fail(r, setting, "both at and type are required");
	return status;
}

static int read_must_one(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule *rule = &((struct rule_draft *)into)->rule;
	struct must *must;
	int status;

	rule->musts =
		xreallocarray(rule->musts, (size_t)rule->must_count + 1, sizeof(*rule->musts));
	must = &rule->musts[rule->must_count++];
	*must = (struct must){ 0 };
	status = setting_group(r, setting, must_kinds, 2, must);
	if (status)
		return status;
	if (!setting_has(setting, "at") || !setting_has(setting, "bytes"))
		return setting_fail(r, setting, "both at and bytes are required");
	return must->at <= UINT64_MAX - must->pattern.len
		       ? 0
		       : setting_fail(r, setting, "at is too large");
}

static int read_must(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_each(r, setting, into, read_must_one);
}

static int read_align(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	return setting_size(r, setting, &((struct rule_draft *)into)->rule.align);
}

static int read_carver(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule *rule = &((struct rule_draft *)into)->rule;
	const char *text, **known;
	size_t count = 0;
	int status = setting_string(r, setting, &text);

	if (status)
		return status;
	rule->carver = rule_carver_find(text);
	if (rule->carver)
		return 0;
	while (carvers[count])
		count++;
	known = xcalloc(count, sizeof(*known));
	for (size_t i = 0; i < count; i++)
		known[i] = carvers[i]->name;
	status = setting_fail_unknown(r, setting, "carver", text, known, count);
	free(known);
	return status;
}

/* Kinds are extensions, separated by blanks. */
static int read_kinds(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct rule *rule = &((struct rule_draft *)into)->rule;
	const char *text;
	int status = setting_string(r, setting, &text);
	char *copy, *save = NULL;

	if (status)
		return status;
	copy = xstrdup(text);
	for (char *kind = strtok_r(copy, " ", &save); kind && !status;
		kind = strtok_r(NULL, " ", &save)) {
		if (!rule_name_valid(kind)) {
			status = setting_fail(r, setting, "'%.100s' can't be an extension", kind);
			break;
		}
		rule->kinds = xreallocarray(
			rule->kinds, (size_t)rule->kind_count + 1, sizeof(*rule->kinds));
		rule->kinds[rule->kind_count++] = xstrdup(kind);
	}
	free(copy);
	return status;
}

static const struct setting_kind rule_kinds[] = {
	{ "name", read_name },
	{ "extension", read_extension },
	{ "header", read_header },
	{ "header_offset", read_header_offset },
	{ "footer", read_footer },
	{ "pair", read_pair },
	{ "include_footer", read_include_footer },
	{ "min_size", read_min_size },
	{ "max_size", read_max_size },
	{ "length", read_length },
	{ "must", read_must },
	{ "align", read_align },
	{ "carver", read_carver },
	{ "kinds", read_kinds },
};

int rule_draft_read(
	struct rule_draft *draft, struct setting_reader *r, const config_setting_t *group)
{
	return setting_group(r, group, rule_kinds, sizeof(rule_kinds) / sizeof(*rule_kinds), draft);
}

void rule_draft_free(struct rule_draft *draft)
{
	for (size_t i = 0; i < draft->header_count; i++)
		pattern_free(&draft->headers[i]);
	for (size_t i = 0; i < draft->footer_count; i++)
		pattern_free(&draft->footers[i]);
	free(draft->headers);
	free(draft->footers);
	rule_free(&draft->rule);
}
