#include "cli/types.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/strbuf.h"
#include "carvers/carver.h"
#include "cli/table.h"
#include "rules/paths.h"

/* Characters of a long pattern that a cell of the table shows. */
#define CELL_LEN 40

/* With the last slash. */
static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *carver_name(const struct rule *rule)
{
	return rule->carver ? rule->carver->name : NULL;
}

/* Shows the first alternative, cut to the cell's width, and how many more there are. */
static void add_patterns(
	struct table *table, const struct rules *rules, const uint32_t *patterns, uint32_t count)
{
	const char *text = count ? rules->patterns.patterns[patterns[0]].text : "-";
	const char *cut = strlen(text) > CELL_LEN ? "..." : "";

	if (count > 1)
		table_add(table, "%.*s%s (+%" PRIu32 ")", CELL_LEN, text, cut, count - 1);
	else
		table_add(table, "%.*s%s", CELL_LEN, text, cut);
}

/* Those that the files may have, by their content: "zip,docx,xlsx (+9)". */
static void add_extensions(struct table *table, const struct rule *rule)
{
	struct strbuf text = { 0 };
	uint32_t more = 0;

	for (uint32_t i = 0; i <= rule->kind_count; i++) {
		const char *extension = i ? rule->kinds[i - 1] : rule->extension;

		if (!*extension || !rule_takes(rule, i ? extension : NULL))
			continue;
		if (text.len && text.len + 1 + strlen(extension) > CELL_LEN)
			more++;
		else
			strbuf_print(&text, "%s%s", text.len ? "," : "", extension);
	}
	if (more)
		strbuf_print(&text, " (+%" PRIu32 ")", more);
	table_add(table, "%s", text.len ? text.bytes : "-");
	strbuf_free(&text);
}

/* The sets beside the rule file (pictures.conf for burin.conf): those that take rules from it. */
struct sets {
	const struct rules *rules;
	struct strbuf *names; /* of the sets that hold each rule: "documents,office" */
	bool any;
};

static void add_to_set(struct sets *sets, const struct rule *member, const char *name, int len)
{
	for (uint32_t i = 0; i < sets->rules->count; i++) {
		const struct rule *rule = &sets->rules->rules[i];
		struct strbuf *names = &sets->names[i];

		if (rule->line != member->line || strcmp(rule->name, member->name) != 0)
			continue;
		strbuf_print(names, "%s%.*s", names->len ? "," : "", len, name);
		sets->any = true;
	}
}

/* name: of a file in the rule file's folder. */
static void read_set(struct sets *sets, const char *path, const char *name)
{
	struct rules *set;

	if (strcmp(path, sets->rules->path) == 0 || rules_load(&set, path, RULES_BURIN, NULL, NULL))
		return;
	for (uint32_t i = 0; i < set->count; i++)
		if (strcmp(set->rules[i].file, sets->rules->path) == 0)
			add_to_set(sets, &set->rules[i], name, (int)strcspn(name, "."));
	rules_free(set);
}

static void read_sets(struct sets *sets)
{
	char *pattern =
		xasprintf("%.*s*.conf", (int)folder_len(sets->rules->path), sets->rules->path);
	glob_t found;

	sets->names = xcalloc(sets->rules->count, sizeof(*sets->names));
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			read_set(sets, found.gl_pathv[i], found.gl_pathv[i] + folder_len(pattern));
		globfree(&found);
	}
	free(pattern);
}

static void free_sets(struct sets *sets)
{
	for (uint32_t i = 0; i < sets->rules->count; i++)
		strbuf_free(&sets->names[i]);
	free(sets->names);
}

static void print_table(const struct rules *rules)
{
	static const char *const heads[] = { "SETS", "TYPE", "EXTENSIONS", "HEADER", "FOOTER",
		"PAIR", "MAX", "CARVER" };
	struct sets sets = { .rules = rules };
	struct table *table;
	char size[16];

	read_sets(&sets);
	table = table_new(sets.any ? "llllllrl" : "lllllrl");
	for (size_t i = !sets.any; i < sizeof(heads) / sizeof(*heads); i++)
		table_add(table, "%s", heads[i]);
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (sets.any)
			table_add(table, "%s", sets.names[i].len ? sets.names[i].bytes : "-");
		table_add(table, "%s", rule->name);
		add_extensions(table, rule);
		add_patterns(table, rules, rule->headers, rule->header_count);
		add_patterns(table, rules, rule->footers, rule->footer_count);
		table_add(table, "%s", rule->footer_count ? pair_mode_name(rule->pair) : "-");
		table_add(table, "%s", size_print(rule->max_size, size));
		table_add(table, "%s", rule->carver ? carver_name(rule) : "-");
	}
	table_print(table, stdout);
	table_free(table);
	free_sets(&sets);
}

static json_t *patterns_json(const struct rules *rules, const uint32_t *patterns, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, json_text(rules->patterns.patterns[patterns[i]].text));
	return list;
}

/* JSON integers are signed here; larger sizes mean "no limit" anyway. */
static json_t *size_json(uint64_t size)
{
	return json_integer(size > INT64_MAX ? INT64_MAX : (json_int_t)size);
}

static json_t *kinds_json(const struct rule *rule)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < rule->kind_count; i++)
		if (rule_takes(rule, rule->kinds[i]))
			json_array_append_new(list, json_text(rule->kinds[i]));
	return list;
}

static json_t *rule_json(const struct rules *rules, const struct rule *rule)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(rule->name));
	json_object_set_new(object, "extension", json_text(rule->extension));
	json_object_set_new(object, "kinds", kinds_json(rule));
	json_object_set_new(
		object, "headers", patterns_json(rules, rule->headers, rule->header_count));
	json_object_set_new(object, "header_offset", size_json(rule->header_offset));
	json_object_set_new(
		object, "footers", patterns_json(rules, rule->footers, rule->footer_count));
	json_object_set_new(object, "pair", json_text(pair_mode_name(rule->pair)));
	json_object_set_new(object, "include_footer", json_boolean(rule->include_footer));
	json_object_set_new(object, "min_size", size_json(rule->min_size));
	json_object_set_new(object, "max_size", size_json(rule->max_size));
	json_object_set_new(object, "align", size_json(rule->align));
	json_object_set_new(object, "carver", json_text(carver_name(rule)));
	json_object_set_new(object, "file", json_text(rule->file));
	json_object_set_new(object, "line", json_integer(rule->line));
	return object;
}

static void print_json(const struct rules *rules)
{
	json_t *object = json_object(), *types = json_array();

	for (uint32_t i = 0; i < rules->count; i++)
		json_array_append_new(types, rule_json(rules, &rules->rules[i]));
	json_object_set_new(object, "path", json_text(rules->path));
	json_object_set_new(object, "format", json_text(rules_format_name(rules->format)));
	json_object_set_new(object, "sha256", json_text(rules->sha256));
	json_object_set_new(object, "types", types);
	json_print(object);
}

int types_print(
	const char *path, enum rules_format format, const struct option_list *types, bool json)
{
	struct error error = { 0 };
	struct rules *rules;
	int rc = rules_open(&rules, path, format, types, &error);

	if (rc < 0) {
		log_error("%s", error.text);
		return error.code;
	}
	if (json)
		print_json(rules);
	else
		print_table(rules);
	rules_free(rules);
	return EXIT_CLEAN;
}
