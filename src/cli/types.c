#include "cli/types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "carvers/carver.h"
#include "cli/table.h"
#include "rules/paths.h"

/* Characters of a long pattern that a cell of the table shows. */
#define CELL_LEN 40

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

static void print_table(const struct rules *rules)
{
	struct table *table = table_new("lllllrl");
	static const char *const heads[] = { "TYPE", "EXT", "HEADER", "FOOTER", "PAIR", "MAX",
		"CARVER" };
	char size[16];

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		table_add(table, "%s", heads[i]);
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		table_add(table, "%s", rule->name);
		table_add(table, "%s", *rule->extension ? rule->extension : "-");
		add_patterns(table, rules, rule->headers, rule->header_count);
		add_patterns(table, rules, rule->footers, rule->footer_count);
		table_add(table, "%s", rule->footer_count ? pair_mode_name(rule->pair) : "-");
		table_add(table, "%s", size_print(rule->max_size, size));
		table_add(table, "%s", rule->carver ? carver_name(rule) : "-");
	}
	table_print(table, stdout);
	table_free(table);
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

static json_t *rule_json(const struct rules *rules, const struct rule *rule)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(rule->name));
	json_object_set_new(object, "extension", json_text(rule->extension));
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

int types_print(const char *path, enum rules_format format, bool json)
{
	struct error error = { 0 };
	struct rules *rules;
	int rc = rules_open(&rules, path, format, NULL, &error);

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
