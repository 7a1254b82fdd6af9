/* `burin conf check`: mistakes in a rule file, and how many false positives each rule will find. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/sample.h"
#include "cli/table.h"
#include "cli/types.h"
#include "rules/forecast.h"
#include "rules/lint.h"
#include "rules/paths.h"
#include "rules/plugins.h"
#include "rules/rules.h"
#include "run/carve_options.h"

struct check_settings {
	const char *image;
	uint64_t sample;
	enum rules_format rules_format;
	struct option_list plugins;
	bool json;
};

/* What will be printed. */
struct check {
	struct rules *rules;
	struct lint lint;
	const char *image;
	struct sample sample; /* counts NULL: no image was given */
	size_t warnings;
};

static void forecast(
	const struct check *check, uint32_t rule, bool sampled, struct forecast *result)
{
	struct forecast_sample sample = { check->sample.counts, check->sample.bytes,
		check->sample.lengths };

	forecast_rule(
		check->rules, rule, sampled ? &sample : NULL, check->sample.image_size, result);
}

/* ---- for people ---------------------------------------------------------------------------- */

static void print_findings(const struct lint *lint)
{
	for (size_t i = 0; i < lint->count; i++) {
		const struct lint_message *message = &lint->messages[i];

		printf("%s", message->file);
		if (message->line)
			printf(":%u", message->line);
		printf(": %s: ", lint_level_name(message->level));
		if (message->rule)
			printf("%s: ", message->rule);
		printf("%s\n", message->text);
	}
	if (lint->count)
		putchar('\n');
}

static void add_rate(struct table *table, double rate)
{
	if (rate == 0)
		table_add(table, "0");
	else if (rate < 0.001)
		table_add(table, "<0.001");
	else if (rate < 100)
		table_add(table, "%.3g", rate);
	else
		table_add(table, "%.0f", rate);
}

/* What the rules would write of the whole image, bytes. */
static uint64_t expected_output(const struct check *check)
{
	double bytes = 0;
	struct forecast result;

	for (uint32_t i = 0; i < check->rules->count; i++) {
		forecast(check, i, true, &result);
		bytes += result.bytes;
	}
	bytes *= (double)check->sample.image_size / (1 << 30);
	return bytes >= 1e18 ? (uint64_t)1e18 : (uint64_t)bytes;
}

static bool is_over_limit(const struct check *check, uint64_t bytes)
{
	const struct run_options options = { .decide.max_bytes = OUTPUT_LIMIT_AUTO };
	uint64_t limit = output_limit(&options, check->sample.image_size);

	return limit && bytes > limit;
}

static void add_bytes(struct table *table, double bytes)
{
	char text[16];

	table_add(table, "%s", size_print(bytes >= 1e18 ? (uint64_t)1e18 : (uint64_t)bytes, text));
}

static void add_forecast(
	struct table *table, const struct check *check, uint32_t rule, bool sampled)
{
	struct forecast result;

	forecast(check, rule, sampled, &result);
	add_rate(table, result.hits);
	add_bytes(table, result.bytes);
}

static void print_forecast(const struct check *check)
{
	bool sampled = check->sample.counts != NULL;
	uint64_t expected;
	struct table *table = table_new(sampled ? "lrrrr" : "lrr");
	char text[16];

	table_add(table, "PER GiB");
	table_add(table, "RANDOM HITS");
	table_add(table, "WRITTEN");
	if (sampled) {
		table_add(table, "SAMPLE HITS");
		table_add(table, "WRITTEN");
	}
	for (uint32_t i = 0; i < check->rules->count; i++) {
		table_add(table, "%s", check->rules->rules[i].name);
		add_forecast(table, check, i, false);
		if (sampled)
			add_forecast(table, check, i, true);
	}
	table_print(table, stdout);
	table_free(table);
	if (!sampled)
		return;
	printf("\nSample: %s of %s.\n", size_print(check->sample.bytes, text), check->image);
	expected = expected_output(check);
	printf("These rules would write about %s of the whole image%s.\n",
		size_print(expected, text),
		is_over_limit(check, expected) ? ", more than --max-bytes allows by default" : "");
}

static void print_text(const struct check *check)
{
	print_findings(&check->lint);
	print_forecast(check);
	printf("\n%" PRIu32 " rule%s, %zu warning%s.\n", check->rules->count,
		check->rules->count == 1 ? "" : "s", check->warnings,
		check->warnings == 1 ? "" : "s");
}

/* ---- for machines -------------------------------------------------------------------------- */

static json_t *finding_json(const struct lint_message *message)
{
	json_t *object = json_object();

	json_object_set_new(object, "file", json_text(message->file));
	json_object_set_new(object, "line", json_integer(message->line));
	json_object_set_new(object, "rule", json_text(message->rule));
	json_object_set_new(object, "level", json_text(lint_level_name(message->level)));
	json_object_set_new(object, "text", json_text(message->text));
	return object;
}

static json_t *forecast_json(const struct check *check, uint32_t rule, bool sampled)
{
	struct forecast result;
	json_t *object = json_object();

	forecast(check, rule, sampled, &result);
	json_object_set_new(object, "hits_per_gib", json_real(result.hits));
	json_object_set_new(object, "bytes_per_gib", json_real(result.bytes));
	json_object_set_new(object, "expected_length", json_real(result.length));
	return object;
}

static json_t *sample_json(const struct check *check)
{
	json_t *object = json_object();

	json_object_set_new(object, "image", json_text(check->image));
	json_object_set_new(
		object, "image_size", json_integer((json_int_t)check->sample.image_size));
	json_object_set_new(object, "bytes", json_integer((json_int_t)check->sample.bytes));
	json_object_set_new(object, "engine", json_text(check->sample.engine));
	json_object_set_new(
		object, "expected_output", json_integer((json_int_t)expected_output(check)));
	return object;
}

static void print_json(const struct check *check)
{
	bool sampled = check->sample.counts != NULL;
	json_t *object = json_object(), *findings = json_array(), *forecasts = json_array();

	for (size_t i = 0; i < check->lint.count; i++)
		json_array_append_new(findings, finding_json(&check->lint.messages[i]));
	for (uint32_t i = 0; i < check->rules->count; i++) {
		json_t *rule = json_object();

		json_object_set_new(rule, "rule", json_text(check->rules->rules[i].name));
		json_object_set_new(rule, "random", forecast_json(check, i, false));
		json_object_set_new(
			rule, "sample", sampled ? forecast_json(check, i, true) : json_null());
		json_array_append_new(forecasts, rule);
	}
	json_object_set_new(object, "path", json_text(check->rules->path));
	json_object_set_new(object, "format", json_text(rules_format_name(check->rules->format)));
	json_object_set_new(object, "sha256", json_text(check->rules->sha256));
	json_object_set_new(object, "warnings", json_integer((json_int_t)check->warnings));
	json_object_set_new(object, "findings", findings);
	json_object_set_new(object, "sample", sampled ? sample_json(check) : json_null());
	json_object_set_new(object, "forecast", forecasts);
	json_print(object);
}

/* ---- the command --------------------------------------------------------------------------- */

static int check_file(struct check *check, const struct check_settings *settings, const char *path,
	struct error *error)
{
	int rc = plugins_open(&settings->plugins, error);

	if (!rc)
		rc = rules_open(&check->rules, path, settings->rules_format, NULL, error);
	if (rc < 0)
		return rc;
	lint_rules(&check->lint, check->rules);
	for (size_t i = 0; i < check->lint.count; i++)
		check->warnings += check->lint.messages[i].level == LINT_WARN;
	if (settings->image)
		rc = sample_take(
			&check->sample, check->rules, settings->image, settings->sample, error);
	return rc;
}

static int run_check(void *arg, int argc, char **argv)
{
	const struct check_settings *settings = arg;
	struct check check = { .image = settings->image };
	struct error error = { 0 };
	int code;

	(void)argc;
	if (check_file(&check, settings, argv[0], &error) < 0) {
		log_error("%s", error.text);
		code = error.code;
	} else {
		if (settings->json)
			print_json(&check);
		else
			print_text(&check);
		code = check.warnings ? EXIT_PROBLEMS : EXIT_CLEAN;
	}
	sample_free(&check.sample);
	lint_free(&check.lint);
	rules_free(check.rules);
	return code;
}

static const struct option_row check_options[] = {
	PLUGIN_ROW(struct check_settings, plugins, NULL),
	{ .name = "image",
		.kind = OPTION_STRING,
		.metavar = "IMAGE",
		.offset = offsetof(struct check_settings, image),
		.help = "Also count the hits in a sample of this image" },
	{ .name = "sample",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.offset = offsetof(struct check_settings, sample),
		.min = 1,
		.fallback = "64M",
		.help = "How much of the image to scan, in pieces spread evenly over it" },
	RULES_FORMAT_ROW(struct check_settings, rules_format, NULL),
	{ .name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct check_settings, json),
		.help = "Print JSON" },
	{ 0 },
};

static const struct example check_examples[] = {
	{ "burin conf check my.conf --image disk.E01",
		"forecasts how much each rule finds and writes on that image" },
	{ NULL, NULL },
};

const struct command conf_check_command = {
	.name = "conf check",
	.summary = "Check a rule file for mistakes, and forecast its false positives",
	.arguments = "FILE",
	.min_arguments = 1,
	.max_arguments = 1,
	.description =
		"Prints likely mistakes in the file and, for each rule, how often its headers "
		"occur in a GiB of random data and how much would be written for these false hits: "
		"nothing for rules with a carver. With --image it also says how often they occur "
		"in a "
		"sample of that image, and how much would be written, by trying the rules at some "
		"of "
		"these places. The exit code is 1 if there are warnings.",
	.options = check_options,
	.settings_size = sizeof(struct check_settings),
	.run = run_check,
	.examples = check_examples,
};
