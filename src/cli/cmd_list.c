/* `burin list`: the engines, kernels, types, carvers and confinement of this program on this machine. */
#include <stdio.h>
#include <string.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sandbox.h"
#include "carvers/carver.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/types.h"
#include "scan/gpu_kernels.h"
#include "scan/scan.h"

struct list_settings {
	const char *config;
	enum rules_format rules_format;
	struct option_list types;
	bool json, all;
};

/* ---- engines, and the kernels that one of them has ----------------------------------------- */

/* Sets reason to "" when the engine works on this machine, else to why not. */
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

/* A row of either list. reason: "" when it can be used. */
struct item {
	const char *name, *summary, *reason;
	bool built;
};

static void add_cells(struct table *table, const struct item *item)
{
	table_add(table, "%s", item->name);
	table_add(table, "%s", !item->built ? "not built" : *item->reason ? "not here" : "usable");
	if (*item->reason)
		table_add(table, "%s (%s)", item->summary, item->reason);
	else
		table_add(table, "%s", item->summary);
}

static void add_object(json_t *list, const struct item *item)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(item->name));
	json_object_set_new(object, "summary", json_text(item->summary));
	json_object_set_new(object, "usable", json_boolean(!*item->reason));
	json_object_set_new(object, "built", json_boolean(item->built));
	json_object_set_new(object, "reason", json_text(*item->reason ? item->reason : NULL));
	json_array_append_new(list, object);
}

/* Where items are shown: one of the two members is not NULL. */
struct shown {
	struct table *table;
	json_t *list;
};

static struct shown begin(const struct list_settings *settings)
{
	struct shown shown = { 0 };

	if (settings->json)
		shown.list = json_array();
	else
		shown.table = table_new("lll");
	return shown;
}

static void show(const struct shown *shown, const struct item *item)
{
	if (shown->list)
		add_object(shown->list, item);
	else
		add_cells(shown->table, item);
}

static void finish(const struct shown *shown, const char *key)
{
	if (shown->list) {
		json_print(json_pack("{s:o}", key, shown->list));
		return;
	}
	table_print(shown->table, stdout);
	table_free(shown->table);
}

static bool is_built(const struct scan_engine *engine)
{
	return gpu_kernels_built || strcmp(engine->name, "gpu") != 0;
}

static int list_engines(const struct list_settings *settings)
{
	struct shown shown = begin(settings);

	for (unsigned i = 0; scan_engine_at(i); i++) {
		const struct scan_engine *engine = scan_engine_at(i);
		char reason[256];

		if (engine->comparison && !settings->all)
			continue;
		probe(engine, reason, sizeof(reason));
		show(&shown,
			&(struct item){ engine->name, engine->summary, reason, is_built(engine) });
	}
	finish(&shown, "engines");
	return EXIT_CLEAN;
}

/* The kernels of the gpu engine, the only engine with a choice of kernels. */
static int list_kernels(const struct list_settings *settings)
{
	struct shown shown = begin(settings);
	char reason[256];

	probe(scan_engine_find("gpu"), reason, sizeof(reason));
	for (const struct gpu_kernel_info *kernel = gpu_kernel_list; kernel->name; kernel++)
		if (settings->all || !kernel->comparison)
			show(&shown, &(struct item){ kernel->name, kernel->summary, reason,
					     gpu_kernels_built });
	finish(&shown, "kernels");
	return EXIT_CLEAN;
}

/* ---- what confines parsers ----------------------------------------------------------------- */

static int list_sandbox(const struct list_settings *settings)
{
	struct shown shown = begin(settings);
	struct confine_layer layer;

	for (unsigned i = 0; confine_layer_at(sandbox_layers(), i, &layer); i++)
		show(&shown,
			&(struct item){ layer.name, layer.summary, layer.reason, layer.built });
	finish(&shown, "sandbox");
	return EXIT_CLEAN;
}

/* ---- types and carvers --------------------------------------------------------------------- */

static int list_types(const struct list_settings *settings)
{
	return types_print(
		settings->config, settings->rules_format, &settings->types, settings->json);
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
	json_print(json_pack("{s:o}", "carvers", list));
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
	{ "kernels", list_kernels },
	{ "types", list_types },
	{ "carvers", list_carvers },
	{ "sandbox", list_sandbox },
};

/* `list types pictures docx` is `list types -t pictures,docx`. */
static bool take_names(struct list_settings *settings, int argc, char **argv)
{
	struct option_list *types = &settings->types;

	if (argc > 1 && strcmp(argv[0], "types") != 0) {
		log_error("burin list %s takes nothing more, but '%s' was given", argv[0], argv[1]);
		return false;
	}
	for (int i = 1; i < argc; i++) {
		types->items =
			xgrow(types->items, &types->capacity, types->count, sizeof(*types->items));
		types->items[types->count++] = argv[i];
	}
	return true;
}

static int run_list(void *settings, int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (strcmp(lists[i].name, argv[0]) == 0)
			return take_names(settings, argc, argv) ? lists[i].list(settings)
								: EXIT_USAGE;
	log_error(
		"burin list takes engines, kernels, types, carvers or sandbox, not '%s'", argv[0]);
	return EXIT_USAGE;
}

static const struct option_row list_options[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		.offset = offsetof(struct list_settings, config),
		.help = "For types: the rule file (default: that of `burin carve`)" },
	{ .name = "types",
		.letter = 't',
		.kind = OPTION_LIST,
		.metavar = "LIST",
		.offset = offsetof(struct list_settings, types),
		.help = "For types: only these, as `burin carve` takes them: types, extensions, "
			"kinds, sets; -NAME leaves one out" },
	RULES_FORMAT_ROW(struct list_settings, rules_format, NULL),
	{ .name = "all",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct list_settings, all),
		.help = "Also list the engines and kernels from papers, which are only here for "
			"comparison" },
	{ .name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct list_settings, json),
		.help = "Print JSON" },
	{ 0 },
};

static const struct example list_examples[] = {
	{ "burin list engines", "shows which engines work on this machine, and why others do not" },
	{ "burin list types pictures docx", "shows what `burin carve -t pictures,docx` looks for" },
	{ "burin list types -c my.conf", "shows the types in a rule file" },
	{ NULL, NULL },
};

const struct command list_command = {
	.name = "list",
	.summary = "List the engines, kernels, types or carvers, or what the sandbox confines",
	.arguments = "engines|kernels|types|carvers|sandbox [NAME]...",
	.min_arguments = 1,
	.description = "`engines` scan an image for patterns; `kernels` are the GPU programs of "
		       "the engine gpu; `types` are what a rule file finds (NAMEs as for "
		       "--types); `carvers` are the "
		       "parsers that a rule can name to check files of its format; `sandbox` is "
		       "how burin confines the processes that parse evidence on this machine.",
	.options = list_options,
	.settings_size = sizeof(struct list_settings),
	.run = run_list,
	.examples = list_examples,
};
