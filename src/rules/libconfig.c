/*
 * burin's own format. For each kind of group a table lists the settings and their readers; a
 * setting that is in no table is an error, so that typing mistakes never go unnoticed. libconfig
 * parses the text after source.c has prepared it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rules/rule_draft.h"

/* If the file itself shows where it ends, max_size is only a safeguard and may be omitted. */
#define DEFAULT_MAX_SIZE (UINT64_C(4) << 30)

/* ---- types --------------------------------------------------------------------------------- */

static int check_draft(
	struct setting_reader *r, const config_setting_t *group, const struct rule_draft *draft)
{
	const struct rule *rule = &draft->rule;

	if (!rule->name)
		return setting_fail(r, group, "a type without a name; add name = \"...\"");
	if (!draft->header_count)
		return setting_fail(
			r, group, "type '%s' has no header; add header = \"...\"", rule->name);
	if (!rule->max_size && !rule->carver && !rule->length.width)
		return setting_fail(r, group,
			"type '%s' has no max_size; add one, or a length or carver, which "
			"determine where a file ends",
			rule->name);
	if (!draft->footer_count &&
		(setting_has(group, "include_footer") ||
			(setting_has(group, "pair") && rule->pair != PAIR_NEXT)))
		return setting_fail(r, group, "type '%s' has no footer, but pair or include_footer",
			rule->name);
	if (!draft->footer_count && rule->pair == PAIR_NEXT && rule->header_offset)
		return setting_fail(r, group,
			"type '%s' has a header_offset, so pair = \"next\" needs a footer",
			rule->name);
	return 0;
}

/* Fills in defaults, and adds the rule to the set. */
static void finish_draft(
	struct setting_reader *r, const config_setting_t *group, struct rule_draft *draft)
{
	struct rule *rule = &draft->rule;
	struct source_line at = setting_origin(r, group);

	if (!rule->extension)
		rule->extension = xstrdup(rule->name);
	if (!setting_has(group, "include_footer"))
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
	if (rule->pair == PAIR_NEXT && !rule->footer_count) { /* the next header is the footer */
		rule->footers = xcalloc(rule->header_count, sizeof(*rule->footers));
		memcpy(rule->footers, rule->headers, rule->header_count * sizeof(*rule->footers));
		rule->footer_count = rule->header_count;
	}
	draft->header_count = draft->footer_count = 0;
	loader_add_rule(r->loader, rule);
}

static int read_type(struct setting_reader *r, const config_setting_t *group, void *into)
{
	struct rule_draft draft = { 0 };
	int status = rule_draft_read(&draft, r, group);

	(void)into;
	if (!status)
		status = check_draft(r, group, &draft);
	if (!status)
		finish_draft(r, group, &draft);
	rule_draft_free(&draft);
	return status;
}

static int read_types(struct setting_reader *r, const config_setting_t *setting)
{
	if (!config_setting_is_list(setting))
		return setting_fail(
			r, setting, "expected a list of groups: ( { name = \"...\"; ... }, ... )");
	return config_setting_length(setting) ? setting_each(r, setting, NULL, read_type) : 0;
}

static int read_only_one(struct setting_reader *r, const config_setting_t *setting, void *into)
{
	struct loader *loader = r->loader;
	const char *text;
	int status = setting_string(r, setting, &text);

	(void)into;
	if (status)
		return status;
	loader->only = xgrow(
		loader->only, &loader->only_capacity, loader->only_count, sizeof(*loader->only));
	loader->only[loader->only_count++] = xstrdup(text);
	return 0;
}

/* The top level. types_* are further lists of types, because libconfig allows each name only once. */
static int read_file(struct setting_reader *r, const config_setting_t *root)
{
	static const char *const known[] = { "types", "types_<anything>", "only" };

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *setting = config_setting_get_elem(root, (unsigned)i);
		const char *name = config_setting_name(setting);
		int status;

		if (strcmp(name, "types") == 0 || strncmp(name, "types_", 6) == 0)
			status = read_types(r, setting);
		else if (strcmp(name, "only") == 0)
			status = setting_each(r, setting, NULL, read_only_one);
		else
			status = setting_fail_unknown(r, setting, "setting", name, known, 3);
		if (status)
			return status;
	}
	return 0;
}

/* libconfig 1.5 leaks the text that it was reading when it finds a syntax error. That leak is not
 * ours, and sanitizer runs must not count it. */
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

/* Whether the line of the text has a number with a unit, as in `max_size = 1M`, which source_expand
 * has made 1LM or left alone. */
static bool has_bare_size(const char *text, unsigned line)
{
	const char *end;

	while (line > 1 && (text = strchr(text, '\n'))) {
		text++;
		line--;
	}
	for (end = text ? text + strcspn(text, "\n") : NULL; text && text < end; text++)
		if (*text == '=') {
			const char *number = text + 1 + strspn(text + 1, " \t");
			size_t digits = strspn(number, "0123456789");

			number += digits + (digits && number[digits] == 'L');
			if (digits && *number && strchr("KMGTkmgt", *number))
				return true;
		}
	return false;
}

static int syntax_error(struct loader *loader, const struct source *source, const config_t *config)
{
	unsigned line = (unsigned)config_error_line(config);
	struct source_line at = source_origin(source, line);

	return loader_fail(loader, at.file, at.line, "%s; %s", config_error_text(config),
		has_bare_size(source->text.bytes, line)
			? "a size with a unit is a text in quotes: max_size = \"1M\";"
			: "expected settings (name = value;), lists in ( ) and groups in { }");
}

int libconfig_read(struct loader *loader, const char *file, const char *text, size_t len)
{
	struct setting_reader r = { .loader = loader };
	config_t config;
	int status = source_expand(&r.source, loader, file, text, len);

	if (!status) {
		config_init(&config);
		if (config_read_string(&config, r.source.text.bytes))
			status = read_file(&r, config_root_setting(&config));
		else
			status = syntax_error(loader, &r.source, &config);
		config_destroy(&config);
	}
	source_free(&r.source);
	return status;
}
