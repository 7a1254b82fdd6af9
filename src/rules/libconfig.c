/*
 * burin's own format. A table a kind of group says which settings there are and who reads each; a
 * setting that is in no table is an error, so that a typing mistake never goes unseen. libconfig
 * parses, after source.c prepared the text.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libconfig.h>

#include "base/memory.h"
#include "base/size.h"
#include "carvers/carver.h"
#include "rules/load.h"
#include "rules/names.h"
#include "rules/source.h"

/* Where the end is told by the file itself, max_size is only a safeguard and may be left out. */
#define DEFAULT_MAX_SIZE (UINT64_C(4) << 30)

struct reader {
	struct loader *loader;
	struct source source;
};

/* A setting that a kind of group knows. read: into is the struct that the group describes. */
struct setting_kind {
	const char *name;
	int (*read)(struct reader *r, const config_setting_t *setting, void *into);
};

/* ---- locations and errors
 * ------------------------------------------------------------------------ */

static struct source_line origin(const struct reader *r, const config_setting_t *setting)
{
	return source_origin(&r->source, config_setting_source_line(setting));
}

/* The name of the setting, or for an element of a list that of the list. */
static const char *setting_name(const config_setting_t *setting)
{
	while (setting && !config_setting_name(setting))
		setting = config_setting_parent(setting);
	return setting ? config_setting_name(setting) : "the file";
}

static int fail(struct reader *r, const config_setting_t *setting, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct reader *r, const config_setting_t *setting, const char *format, ...)
{
	struct source_line at = origin(r, setting);
	char why[sizeof(r->loader->error->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return loader_fail(r->loader, at.file, at.line, "%s: %s", setting_name(setting), why);
}

static int fail_unknown(struct reader *r, const config_setting_t *setting, const char *what,
	const char *wanted, const char *const *known, size_t count)
{
	char *advice = names_advice(wanted, known, count);
	int status = fail(r, setting, "there is no %s '%.100s'; %s", what, wanted, advice);

	free(advice);
	return status;
}

/* ---- values
 * -------------------------------------------------------------------------------------- */

static int read_string(struct reader *r, const config_setting_t *setting, const char **value)
{
	*value = config_setting_get_string(setting);
	return *value ? 0 : fail(r, setting, "expected a text in double quotes");
}

static int read_integer(struct reader *r, const config_setting_t *setting, int64_t *value)
{
	int type = config_setting_type(setting);

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		return fail(r, setting, "expected an integer");
	*value = type == CONFIG_TYPE_INT ? config_setting_get_int(setting)
					 : config_setting_get_int64(setting);
	return 0;
}

/* A number of bytes: an integer, or a text with a unit. */
static int read_size(struct reader *r, const config_setting_t *setting, uint64_t *value)
{
	const char *text = config_setting_get_string(setting);
	int64_t number;
	int status;

	if (text) {
		status = size_parse(text, value);
		if (status == -ERANGE)
			return fail(r, setting, "'%.40s' is beyond 64 bits", text);
		if (status)
			return fail(r, setting,
				"expected a size such as 4096 or \"50M\", found '%.40s'", text);
		return 0;
	}
	if (config_setting_is_aggregate(setting) || !config_setting_is_number(setting) ||
		config_setting_type(setting) == CONFIG_TYPE_FLOAT)
		return fail(r, setting, "expected a size such as 4096 or \"50M\"");
	status = read_integer(r, setting, &number);
	if (!status && number < 0)
		return fail(r, setting, "a size can't be negative");
	*value = (uint64_t)number;
	return status;
}

/* Calls read for the setting itself or, when it is a list or an array, for each element. */
static int read_each(struct reader *r, const config_setting_t *setting, void *into,
	int (*read)(struct reader *r, const config_setting_t *setting, void *into))
{
	int count = config_setting_length(setting);

	if (!config_setting_is_list(setting) && !config_setting_is_array(setting))
		return read(r, setting, into);
	if (!count)
		return fail(r, setting, "the list is empty");
	for (int i = 0; i < count; i++) {
		int status = read(r, config_setting_get_elem(setting, (unsigned)i), into);

		if (status)
			return status;
	}
	return 0;
}

static int read_group(struct reader *r, const config_setting_t *group,
	const struct setting_kind *kinds, size_t kind_count, void *into)
{
	if (!config_setting_is_group(group))
		return fail(r, group, "expected a group: { name = value; ... }");
	for (int i = 0; i < config_setting_length(group); i++) {
		const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
		const char *name = config_setting_name(setting), *known[16];
		size_t at = 0;
		int status;

		for (; at < kind_count && strcmp(kinds[at].name, name) != 0; at++)
			known[at] = kinds[at].name;
		status = at < kind_count
				 ? kinds[at].read(r, setting, into)
				 : fail_unknown(r, setting, "setting", name, known, kind_count);
		if (status)
			return status;
	}
	return 0;
}

static bool has(const config_setting_t *group, const char *name)
{
	return config_setting_get_member(group, name) != NULL;
}

static int read_pattern(struct reader *r, const config_setting_t *setting, struct pattern *pattern)
{
	struct error why;
	const char *text;
	int status = read_string(r, setting, &text);

	if (status)
		return status;
	return pattern_parse(pattern, text, &why) ? fail(r, setting, "%s", why.text) : 0;
}

/* ---- the settings of length and must
 * ------------------------------------------------------------- */

static int read_length_at(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_size(r, setting, &((struct length_field *)into)->at);
}

static int read_length_type(struct reader *r, const config_setting_t *setting, void *into)
{
	static const char *const types[] = { "u8", "u16le", "u16be", "u32le", "u32be", "u64le",
		"u64be" };
	static const uint8_t widths[] = { 1, 2, 2, 4, 4, 8, 8 };
	struct length_field *length = into;
	const char *text;
	int status = read_string(r, setting, &text);

	if (status)
		return status;
	for (size_t i = 0; i < 7; i++) {
		if (strcmp(text, types[i]) != 0)
			continue;
		length->width = widths[i];
		length->big_endian = i > 0 && i % 2 == 0;
		return 0;
	}
	return fail_unknown(r, setting, "integer type", text, types, 7);
}

static int read_length_multiply(struct reader *r, const config_setting_t *setting, void *into)
{
	struct length_field *length = into;
	int status = read_size(r, setting, &length->multiply);

	return status || length->multiply ? status
					  : fail(r, setting, "0 makes every file 0 bytes long");
}

static int read_length_add(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_integer(r, setting, &((struct length_field *)into)->add);
}

static const struct setting_kind length_kinds[] = {
	{ "at", read_length_at },
	{ "type", read_length_type },
	{ "multiply", read_length_multiply },
	{ "add", read_length_add },
};

static int read_must_at(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_size(r, setting, &((struct must *)into)->at);
}

static int read_must_bytes(struct reader *r, const config_setting_t *setting, void *into)
{
	struct must *must = into;
	int status = read_pattern(r, setting, &must->pattern);

	if (!status && must->pattern.regex)
		return fail(r, setting, "a regex can't stand here, only bytes");
	return status;
}

static const struct setting_kind must_kinds[] = {
	{ "at", read_must_at },
	{ "bytes", read_must_bytes },
};

/* ---- the settings of a type
 * ---------------------------------------------------------------------- */

/* A rule while it is read. */
struct draft {
	struct rule rule;
	struct pattern *headers, *footers;
	size_t header_count, header_capacity, footer_count, footer_capacity;
};

static int read_name(struct reader *r, const config_setting_t *setting, void *into)
{
	struct draft *draft = into;
	const char *text;
	int status = read_string(r, setting, &text);

	if (status)
		return status;
	if (!rule_name_valid(text))
		return fail(r, setting,
			"'%.100s' can't name a folder: expected letters, digits, '.', '_' and '-', "
			"not "
			"a dot first, at most %d",
			text, RULE_NAME_MAX);
	draft->rule.name = xstrdup(text);
	return 0;
}

static int read_extension(struct reader *r, const config_setting_t *setting, void *into)
{
	struct draft *draft = into;
	const char *text;
	int status = read_string(r, setting, &text);

	if (status)
		return status;
	if (*text && !rule_name_valid(text))
		return fail(r, setting,
			"'%.100s' can't be an extension: expected letters, digits, '.', '_' and "
			"'-', not a "
			"dot first, at most %d, or nothing",
			text, RULE_NAME_MAX);
	draft->rule.extension = xstrdup(text);
	return 0;
}

static int read_header_one(struct reader *r, const config_setting_t *setting, void *into)
{
	struct draft *draft = into;
	int status;

	draft->headers = xgrow(draft->headers, &draft->header_capacity, draft->header_count,
		sizeof(*draft->headers));
	status = read_pattern(r, setting, &draft->headers[draft->header_count]);
	draft->header_count += !status;
	return status;
}

static int read_header(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_each(r, setting, into, read_header_one);
}

static int read_footer_one(struct reader *r, const config_setting_t *setting, void *into)
{
	struct draft *draft = into;
	int status;

	draft->footers = xgrow(draft->footers, &draft->footer_capacity, draft->footer_count,
		sizeof(*draft->footers));
	status = read_pattern(r, setting, &draft->footers[draft->footer_count]);
	draft->footer_count += !status;
	return status;
}

static int read_footer(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_each(r, setting, into, read_footer_one);
}

static int read_header_offset(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_size(r, setting, &((struct draft *)into)->rule.header_offset);
}

static int read_pair(struct reader *r, const config_setting_t *setting, void *into)
{
	static const char *const modes[] = { "forward", "reverse", "next" };
	struct draft *draft = into;
	const char *text;
	int status = read_string(r, setting, &text);

	if (status)
		return status;
	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, modes[i]) == 0) {
			draft->rule.pair = (enum pair_mode)i;
			return 0;
		}
	}
	return fail_unknown(r, setting, "pair mode", text, modes, 3);
}

static int read_include_footer(struct reader *r, const config_setting_t *setting, void *into)
{
	if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
		return fail(r, setting, "expected true or false");
	((struct draft *)into)->rule.include_footer = config_setting_get_bool(setting);
	return 0;
}

static int read_min_size(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_size(r, setting, &((struct draft *)into)->rule.min_size);
}

static int read_max_size(struct reader *r, const config_setting_t *setting, void *into)
{
	struct draft *draft = into;
	int status = read_size(r, setting, &draft->rule.max_size);

	return status || draft->rule.max_size ? status
					      : fail(r, setting, "0 leaves nothing to carve");
}

static int read_length(struct reader *r, const config_setting_t *setting, void *into)
{
	struct length_field *length = &((struct draft *)into)->rule.length;
	int status;

	length->multiply = 1;
	status = read_group(r, setting, length_kinds, 4, length);
	if (!status && (!has(setting, "at") || !has(setting, "type")))
		return fail(r, setting, "at and type are needed");
	return status;
}

static int read_must_one(struct reader *r, const config_setting_t *setting, void *into)
{
	struct rule *rule = &((struct draft *)into)->rule;
	struct must *must;
	int status;

	rule->musts =
		xreallocarray(rule->musts, (size_t)rule->must_count + 1, sizeof(*rule->musts));
	must = &rule->musts[rule->must_count++];
	*must = (struct must){ 0 };
	status = read_group(r, setting, must_kinds, 2, must);
	if (status)
		return status;
	if (!has(setting, "at") || !has(setting, "bytes"))
		return fail(r, setting, "at and bytes are needed");
	return must->at <= UINT64_MAX - must->pattern.len ? 0 : fail(r, setting, "at is too large");
}

static int read_must(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_each(r, setting, into, read_must_one);
}

static int read_align(struct reader *r, const config_setting_t *setting, void *into)
{
	return read_size(r, setting, &((struct draft *)into)->rule.align);
}

static int read_carver(struct reader *r, const config_setting_t *setting, void *into)
{
	struct rule *rule = &((struct draft *)into)->rule;
	const char *text, **known;
	size_t count = 0;
	int status = read_string(r, setting, &text);

	if (status)
		return status;
	rule->carver = carver_find(text);
	if (rule->carver)
		return 0;
	while (carvers[count])
		count++;
	known = xcalloc(count, sizeof(*known));
	for (size_t i = 0; i < count; i++)
		known[i] = carvers[i]->name;
	status = fail_unknown(r, setting, "carver", text, known, count);
	free(known);
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
};
#define RULE_KIND_COUNT (sizeof(rule_kinds) / sizeof(*rule_kinds))

/* ---- types
 * --------------------------------------------------------------------------------------- */

static int check_draft(struct reader *r, const config_setting_t *group, const struct draft *draft)
{
	const struct rule *rule = &draft->rule;

	if (!rule->name)
		return fail(r, group, "a type without a name; add name = \"...\"");
	if (!draft->header_count)
		return fail(r, group, "type '%s' has no header; add header = \"...\"", rule->name);
	if (!rule->max_size && !rule->carver && !rule->length.width)
		return fail(r, group,
			"type '%s' has no max_size; add one, or a length or carver that tells "
			"where a file ends",
			rule->name);
	if (!draft->footer_count &&
		(has(group, "include_footer") || (has(group, "pair") && rule->pair != PAIR_NEXT)))
		return fail(r, group,
			"type '%s' has no footer, which pair and include_footer are about",
			rule->name);
	if (!draft->footer_count && rule->pair == PAIR_NEXT && rule->header_offset)
		return fail(r, group,
			"type '%s' has a header_offset, so pair = \"next\" needs a footer",
			rule->name);
	return 0;
}

/* Fills in what was left out, and hands the rule over. */
static void finish_draft(struct reader *r, const config_setting_t *group, struct draft *draft)
{
	struct rule *rule = &draft->rule;
	struct source_line at = origin(r, group);

	if (!rule->extension)
		rule->extension = xstrdup(rule->name);
	if (!has(group, "include_footer"))
		rule->include_footer = rule->pair != PAIR_NEXT;
	if (!rule->max_size)
		rule->max_size = DEFAULT_MAX_SIZE;
	rule->file = at.file;
	rule->line = at.line;
	for (size_t i = 0; i < draft->header_count; i++)
		loader_add_pattern(
			r->loader, &rule->headers, &rule->header_count, &draft->headers[i]);
	for (size_t i = 0; i < draft->footer_count; i++)
		loader_add_pattern(
			r->loader, &rule->footers, &rule->footer_count, &draft->footers[i]);
	if (rule->pair == PAIR_NEXT && !rule->footer_count) { /* the next header ends the file */
		rule->footers = xcalloc(rule->header_count, sizeof(*rule->footers));
		memcpy(rule->footers, rule->headers, rule->header_count * sizeof(*rule->footers));
		rule->footer_count = rule->header_count;
	}
	draft->header_count = draft->footer_count = 0;
	loader_add_rule(r->loader, rule);
}

static int read_type(struct reader *r, const config_setting_t *group, void *into)
{
	struct draft draft = { 0 };
	int status = read_group(r, group, rule_kinds, RULE_KIND_COUNT, &draft);

	(void)into;
	if (!status)
		status = check_draft(r, group, &draft);
	if (!status)
		finish_draft(r, group, &draft);
	for (size_t i = 0; i < draft.header_count; i++)
		pattern_free(&draft.headers[i]);
	for (size_t i = 0; i < draft.footer_count; i++)
		pattern_free(&draft.footers[i]);
	free(draft.headers);
	free(draft.footers);
	rule_free(&draft.rule);
	return status;
}

static int read_types(struct reader *r, const config_setting_t *setting)
{
	if (!config_setting_is_list(setting))
		return fail(
			r, setting, "expected a list of groups: ( { name = \"...\"; ... }, ... )");
	return config_setting_length(setting) ? read_each(r, setting, NULL, read_type) : 0;
}

static int read_only_one(struct reader *r, const config_setting_t *setting, void *into)
{
	struct loader *loader = r->loader;
	const char *text;
	int status = read_string(r, setting, &text);

	(void)into;
	if (status)
		return status;
	loader->only = xgrow(
		loader->only, &loader->only_capacity, loader->only_count, sizeof(*loader->only));
	loader->only[loader->only_count++] = xstrdup(text);
	return 0;
}

/* The top level. types_* are further lists of types, because libconfig wants each name once. */
static int read_file(struct reader *r, const config_setting_t *root)
{
	static const char *const known[] = { "types", "types_<anything>", "only" };

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *setting = config_setting_get_elem(root, (unsigned)i);
		const char *name = config_setting_name(setting);
		int status;

		if (strcmp(name, "types") == 0 || strncmp(name, "types_", 6) == 0)
			status = read_types(r, setting);
		else if (strcmp(name, "only") == 0)
			status = read_each(r, setting, NULL, read_only_one);
		else
			status = fail_unknown(r, setting, "setting", name, known, 3);
		if (status)
			return status;
	}
	return 0;
}

/* libconfig 1.5 forgets the text that it was reading when it meets a syntax error: that leak is not
 * ours, and sanitizer runs are not to count it. */
#if defined(__has_feature)
#define WITH_LEAK_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_LEAK_SANITIZER 1
#else
#define WITH_LEAK_SANITIZER 0
#endif
#if WITH_LEAK_SANITIZER
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
#endif

int libconfig_read(struct loader *loader, const char *file, const char *text, size_t len)
{
	struct reader r = { .loader = loader };
	config_t config;
	int status = source_expand(&r.source, loader, file, text, len);

	if (!status) {
		config_init(&config);
		if (config_read_string(&config, r.source.text.text)) {
			status = read_file(&r, config_root_setting(&config));
		} else {
			struct source_line at =
				source_origin(&r.source, (unsigned)config_error_line(&config));

			status = loader_fail(loader, at.file, at.line,
				"%s; expected settings (name = value;), lists in ( ) and groups in "
				"{ }",
				config_error_text(&config));
		}
		config_destroy(&config);
	}
	source_free(&r.source);
	return status;
}
