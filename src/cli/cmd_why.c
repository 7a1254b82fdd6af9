/* `burin why`: what each rule makes of one offset in an image. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "carve/why.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "cli/table.h"
#include "cli/types.h"
#include "report/report_reader.h"
#include "rules/paths.h"
#include "rules/plugins.h"
#include "run/secret_files.h"

struct why_settings {
	const char *config, *report;
	struct option_list types, plugins;
	enum rules_format rules_format;
	struct secret_files secrets;
	uint64_t align;
	bool both, all, json;
};

#define MEMBER(member) .offset = offsetof(struct why_settings, member)

static const struct option_row why_rows[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(config),
		.help = "Read the rules from FILE (default: the installed burin.conf)" },
	RULES_FORMAT_ROW(struct why_settings, rules_format, NULL),
	PLUGIN_ROW(struct why_settings, plugins, NULL),
	{ .name = "types",
		.letter = 't',
		.kind = OPTION_LIST,
		.metavar = "LIST",
		MEMBER(types),
		.help = "Test only these types, and show them even if their header does not "
			"match" },
	{ .name = "all", MEMBER(all), .help = "Also show the rules whose header does not match" },
	{ .name = "report",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(report),
		.help = "The report.jsonl of a run, or its output folder, or that of a batch: show "
			"which files that it found in IMAGE cover the offset" },
	{ .name = "both", .letter = 'b', MEMBER(both), .help = "As in burin carve" },
	{ .name = "align",
		.letter = 'q',
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		MEMBER(align),
		.help = "As in burin carve" },
	SECRET_FILE_ROWS(struct why_settings, secrets, NULL),
	{ .name = "json", MEMBER(json), .help = "Print JSON" },
	{ 0 },
};

/* ---- one rule ------------------------------------------------------------------------------ */

static bool is_shown(const struct why_settings *settings, const struct why_answer *answer)
{
	return settings->all || settings->types.count || answer->state != WHY_NO_HEADER;
}

static json_t *answer_json(const struct rule *rule, const struct why_answer *answer)
{
	bool checked = answer->state >= WHY_REJECTED;
	json_t *object = json_object();

	json_object_set_new(object, "type", json_text(rule->name));
	json_object_set_new(object, "rule", json_integer(answer->rule));
	json_object_set_new(object, "file", json_text(rule->file));
	json_object_set_new(object, "line", json_integer(rule->line));
	json_object_set_new(object, "state", json_text(why_state_name(answer->state)));
	json_object_set_new(object, "why", json_text(answer->text));
	json_object_set_new(object, "length",
		checked ? json_integer((json_int_t)answer->outcome.length) : json_null());
	return object;
}

static void add_row(struct table *table, const struct rule *rule, const struct why_answer *answer)
{
	char *text = text_clean_copy(answer->text);

	table_add(table, "%s", rule->name);
	table_add(table, "%s:%u", text_file_name(rule->file), rule->line);
	table_add(table, "%s", why_state_name(answer->state));
	table_add(table, "%s", text);
	free(text);
}

struct asked {
	const struct why_settings *settings;
	const struct rules *rules;
	const struct why_answer *answers;
	const char *image;
	uint64_t offset;
};

/* ---- a report ------------------------------------------------------------------------------ */

/* Calls take for each of the report's files that covers the offset. */
static int each_in_report(struct report_reader *report, uint64_t offset,
	void (*take)(void *context, const struct file_record *file), void *context,
	struct error *error)
{
	struct file_record file;
	int status;

	while ((status = report_reader_next(report, &file, error)) > 0)
		for (uint32_t i = 0; i < file.run_count; i++)
			if (offset >= file.runs[i].offset &&
				offset - file.runs[i].offset < file.runs[i].length) {
				take(context, &file);
				break;
			}
	return status;
}

/* Of a batch, only the runs over the image count. */
static bool is_about(const struct report_reader *report, const char *image)
{
	const struct report_reader_run *run = report_reader_run(report);
	char *real = realpath(image, NULL);
	bool same = strcmp(run->image_path, image) == 0 ||
		    (real && strcmp(run->image_absolute, real) == 0);

	free(real);
	return same;
}

/* path: of a report, or of a folder with runs. */
static int each_covering(const struct asked *asked,
	void (*take)(void *context, const struct file_record *file), void *context,
	struct error *error)
{
	const char *path = asked->settings->report;
	struct runs runs = { 0 };
	bool any = false;
	int status = 0;

	runs_find(&runs, path);
	for (size_t i = 0; i < runs.count && !status; i++) {
		char *file = report_reader_path(runs.folders[i]);
		struct report_reader *report = NULL;

		status = report_reader_open(&report, AT_FDCWD, file, error);
		if (!status && (!runs.batch || is_about(report, asked->image))) {
			any = true;
			status = each_in_report(report, asked->offset, take, context, error);
		}
		report_reader_close(report);
		free(file);
	}
	if (!status && !any)
		status = error_set(error, EXIT_USAGE, ENOENT,
			"no run of the batch in %.300s is about %.300s", path, asked->image);
	runs_free(&runs);
	return status;
}

static void print_covering(void *context, const struct file_record *file)
{
	const struct asked *asked = context;
	printf("In the report: %s, %s, from %" PRIu64 ", %" PRIu64 " bytes%s\n", file->path,
		file_status_name(file->status), file->offset, file->length,
		file->status == FILE_COMPLETE && file->offset < asked->offset
			? ": files that start inside a complete file are carved only with --nested"
			: "");
}

static void add_covering(void *context, const struct file_record *file)
{
	json_array_append_new(
		context, json_pack("{s:o, s:o, s:I, s:I}", "path", json_text(file->path), "status",
				 json_text(file_status_name(file->status)), "offset",
				 (json_int_t)file->offset, "length", (json_int_t)file->length));
}

/* ---- all ----------------------------------------------------------------------------------- */

static int show_json(const struct asked *asked, struct error *error)
{
	json_t *answers = json_array(), *covering = json_array();
	int status = 0;

	for (uint32_t i = 0; i < asked->rules->count; i++)
		if (is_shown(asked->settings, &asked->answers[i]))
			json_array_append_new(
				answers, answer_json(&asked->rules->rules[i], &asked->answers[i]));
	if (asked->settings->report)
		status = each_covering(asked, add_covering, covering, error);
	json_print(json_pack("{s:o, s:I, s:o, s:o}", "image", json_text(asked->image), "offset",
		(json_int_t)asked->offset, "rules", answers, "covered_by", covering));
	return status;
}

static int show_text(const struct asked *asked, struct error *error)
{
	struct table *table = table_new("llll");
	uint32_t shown = 0;

	table_add(table, "TYPE");
	table_add(table, "RULE");
	table_add(table, "RESULT");
	table_add(table, "WHY");
	for (uint32_t i = 0; i < asked->rules->count; i++)
		if (is_shown(asked->settings, &asked->answers[i])) {
			add_row(table, &asked->rules->rules[i], &asked->answers[i]);
			shown++;
		}
	if (shown)
		table_print(table, stdout);
	else
		printf("No rule's header matches at %" PRIu64 " (-t TYPE or --all says which byte "
		       "differs).\n",
			asked->offset);
	table_free(table);
	if (!asked->settings->report)
		return 0;
	return each_covering(asked, print_covering, (void *)asked, error);
}

/* A candidate may crash or take over what checks it, which is therefore a process that can only compute. */
static int ask_confined(struct why_answer *answers, struct image *image, const struct rules *rules,
	const struct why_settings *settings, uint64_t offset, struct error *error)
{
	struct check_worker *worker = check_worker_alone(image, rules);
	const struct why_options options = {
		.both = settings->both, .align = settings->align, .worker = worker
	};
	int status = why_ask(answers, image, rules, &options, offset, error);

	check_worker_free(worker);
	return status;
}

static int test_rules(const struct why_settings *settings, const struct rules *rules,
	const char *path, uint64_t offset, struct error *error)
{
	struct why_answer *answers = xcalloc(rules->count, sizeof(*answers));
	struct asked asked = { settings, rules, answers, path, offset };
	struct image *image = NULL;
	int status = image_open(&image, path, error);

	if (!status)
		status = ask_confined(answers, image, rules, settings, offset, error);
	if (!status)
		status = (settings->json ? show_json : show_text)(&asked, error);
	image_close(image);
	for (uint32_t i = 0; i < rules->count; i++)
		outcome_free(&answers[i].outcome);
	free(answers);
	return status;
}

static int run(void *arg, int argc, char **argv)
{
	const struct why_settings *settings = arg;
	struct rules *rules = NULL;
	struct error error = { 0 };
	uint64_t offset;
	int status;

	(void)argc;
	if (size_parse(argv[1], &offset))
		status = error_set(&error, EXIT_USAGE, EINVAL,
			"'%.100s' is not an offset; give bytes, such as 4096, 0x1000 or 4K",
			argv[1]);
	else
		status = secret_files_read(&settings->secrets, &error);
	if (!status)
		status = plugins_open(&settings->plugins, &error);
	if (!status)
		status = rules_open(
			&rules, settings->config, settings->rules_format, &settings->types, &error);
	if (!status)
		status = test_rules(settings, rules, argv[0], offset, &error);
	if (status)
		log_error("%s", error.text);
	rules_free(rules);
	return status ? error.code : EXIT_CLEAN;
}

static const struct example examples[] = {
	{ "burin why disk.E01 0x4ac00", "shows what each rule makes of the bytes at 0x4ac00" },
	{ "burin why -t zip --report OUT disk.E01 1537024", "shows why no ZIP was carved there" },
	{ NULL, NULL },
};

const struct command why_command = {
	.name = "why",
	.summary = "Show why a file was or was not carved at an offset",
	.arguments = "IMAGE OFFSET",
	.min_arguments = 2,
	.max_arguments = 2,
	.description =
		"Tests every rule for a file that starts at OFFSET, with the same checks and "
		"decisions as a run: which rule's header matches, whether a footer follows, which "
		"check failed and at which byte (offsets in a carver's reason count from the "
		"file's start), and which of several rules wins.\n\n"
		"Only this offset is tested. Whether a file was not carved because it lies inside "
		"a complete one can only be seen from a run's report: see `--report`.",
	.options = why_rows,
	.settings_size = sizeof(struct why_settings),
	.run = run,
	.examples = examples,
};
