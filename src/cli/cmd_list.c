/* `burin list`: what this burin has, on this machine. */
#include <stdio.h>
#include <string.h>

#include "carvers/carver.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/types.h"
#include "scan/scan.h"

struct list_settings {
	const char *config;
	enum rules_format rules_format;
	bool json;
};

/* "" when the engine can work here, else why not. */
static void probe(const struct scan_engine *engine, char *reason, size_t len)
{
	*reason = '\0';
	if (engine->probe && engine->probe(reason, len) != 0) {
		if (!*reason)
			snprintf(reason, len, "not usable on this machine");
	} else {
		*reason = '\0';
	}
}

static void engines_table(void)
{
	struct table *table = table_new("lll");
	char reason[256];

	for (const struct scan_engine *const *engine = scan_engines; *engine; engine++) {
		probe(*engine, reason, sizeof(reason));
		table_add(table, "%s", (*engine)->name);
		table_add(table, "%s", *reason ? "not here" : "usable");
		if (*reason)
			table_add(table, "%s (%s)", (*engine)->summary, reason);
		else
			table_add(table, "%s", (*engine)->summary);
	}
	table_print(table, stdout);
	table_free(table);
}

static void engines_json(void)
{
	json_t *list = json_array();
	char reason[256];

	for (const struct scan_engine *const *engine = scan_engines; *engine; engine++) {
		json_t *object = json_object();

		probe(*engine, reason, sizeof(reason));
		json_object_set_new(object, "name", json_text((*engine)->name));
		json_object_set_new(object, "summary", json_text((*engine)->summary));
		json_object_set_new(object, "usable", json_boolean(!*reason));
		json_object_set_new(object, "reason", json_text(*reason ? reason : NULL));
		json_array_append_new(list, object);
	}
	json_put(json_pack("{s:o}", "engines", list));
}

static int list_engines(const struct list_settings *settings)
{
	if (settings->json)
		engines_json();
	else
		engines_table();
	return EXIT_CLEAN;
}

static int list_types(const struct list_settings *settings)
{
	return types_print(settings->config, settings->rules_format, settings->json);
}

static void carvers_table(void)
{
	struct table *table = table_new("ll");

	for (const struct carver *const *carver = carvers; *carver; carver++) {
		table_add(table, "%s", (*carver)->name);
		table_add(table, "%s", (*carver)->summary);
	}
	table_print(table, stdout);
	table_free(table);
}

static void carvers_json(void)
{
	json_t *list = json_array();

	for (const struct carver *const *carver = carvers; *carver; carver++) {
		json_t *object = json_object();

		json_object_set_new(object, "name", json_text((*carver)->name));
		json_object_set_new(object, "summary", json_text((*carver)->summary));
		json_array_append_new(list, object);
	}
	json_put(json_pack("{s:o}", "carvers", list));
}

static int list_carvers(const struct list_settings *settings)
{
	if (settings->json)
		carvers_json();
	else
		carvers_table();
	return EXIT_CLEAN;
}

static const struct {
	const char *name;
	int (*list)(const struct list_settings *settings);
} lists[] = {
	{ "engines", list_engines },
	{ "types", list_types },
	{ "carvers", list_carvers },
};

static int run_list(void *settings, int argc, char **argv)
{
	(void)argc;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (strcmp(lists[i].name, argv[0]) == 0)
			return lists[i].list(settings);
	log_error("burin list knows engines, types and carvers, not '%s'", argv[0]);
	return EXIT_USAGE;
}

static const struct option_row list_options[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		.offset = offsetof(struct list_settings, config),
		.help = "For types: the rule file (default: the one that `burin carve` uses)" },
	{ .name = "rules-format",
		.kind = OPTION_CHOICE,
		.choices = RULES_FORMAT_CHOICES,
		.fallback = "auto",
		.offset = offsetof(struct list_settings, rules_format),
		.help = "The form of the rule file" },
	{ .name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct list_settings, json),
		.help = "Print JSON" },
	{ 0 },
};

static const struct example list_examples[] = {
	{ "burin list engines",
		"shows which engines can work on this machine, and why others can't" },
	{ "burin list types -c my.conf", "shows what a rule file carves" },
	{ NULL, NULL },
};

const struct command list_command = {
	.name = "list",
	.summary = "Show the engines, the types or the carvers that there are",
	.arguments = "engines|types|carvers",
	.min_arguments = 1,
	.max_arguments = 1,
	.description = "`engines` are the ways to search an image; `types` what a rule file finds; "
		       "`carvers` the checks that know a format\nfrom the inside and that a rule "
		       "can name.",
	.options = list_options,
	.settings_size = sizeof(struct list_settings),
	.run = run_list,
	.examples = list_examples,
};
