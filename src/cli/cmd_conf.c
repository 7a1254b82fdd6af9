/* `burin conf convert` and `burin conf list`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/types.h"
#include "rules/paths.h"
#include "rules/rules.h"

/* ---- convert ------------------------------------------------------------------------------- */

struct convert_settings {
	const char *output;
	enum rules_format rules_format;
};

/* Writes the rules to a new file, which is removed if that fails. */
static int write_file(const struct rules *rules, const char *path, struct error *error)
{
	FILE *stream = fopen(path, "wxe");
	int rc;

	if (!stream)
		return error_set(
			error, EXIT_IO, errno, "cannot create %s: %s", path, strerror(errno));
	rc = rules_write(rules, stream);
	if (fclose(stream) && rc == 0)
		rc = -errno;
	if (rc < 0) {
		unlink(path);
		return error_set(error, EXIT_IO, -rc, "cannot write the rules to %s: %s", path,
			strerror(-rc));
	}
	return 0;
}

static int write_stdout(const struct rules *rules, struct error *error)
{
	int rc = rules_write(rules, stdout);

	if (rc < 0)
		error_set(error, EXIT_IO, -rc, "cannot write the rules to standard output: %s",
			strerror(-rc));
	return rc;
}

static int run_convert(void *arg, int argc, char **argv)
{
	const struct convert_settings *settings = arg;
	struct error error = { 0 };
	struct rules *rules = NULL;
	int rc = rules_open(&rules, argv[0], settings->rules_format, NULL, &error);

	(void)argc;
	if (rc == 0)
		rc = settings->output ? write_file(rules, settings->output, &error)
				      : write_stdout(rules, &error);
	if (rc < 0)
		log_error("%s", error.text);
	rules_free(rules);
	return rc < 0 ? error.code : EXIT_CLEAN;
}

static const struct option_row convert_options[] = {
	{ .name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		.offset = offsetof(struct convert_settings, output),
		.help = "Write to this file, which must not exist (default: standard output)" },
	RULES_FORMAT_ROW(struct convert_settings, rules_format, NULL),
	{ 0 },
};

static const struct example convert_examples[] = {
	{ "burin conf convert /etc/scalpel/scalpel.conf -o my.conf",
		"converts Scalpel's rule file to burin's format" },
	{ NULL, NULL },
};

const struct command conf_convert_command = {
	.name = "conf convert",
	.summary = "Convert a rule file of Scalpel or Foremost to burin's format",
	.arguments = "FILE",
	.min_arguments = 1,
	.max_arguments = 1,
	.options = convert_options,
	.settings_size = sizeof(struct convert_settings),
	.run = run_convert,
	.examples = convert_examples,
};

/* ---- list ---------------------------------------------------------------------------------- */

struct conf_list_settings {
	enum rules_format rules_format;
	bool json;
};

static int run_conf_list(void *arg, int argc, char **argv)
{
	const struct conf_list_settings *settings = arg;

	return types_print(argc ? argv[0] : NULL, settings->rules_format, NULL, settings->json);
}

static const struct option_row conf_list_options[] = {
	RULES_FORMAT_ROW(struct conf_list_settings, rules_format, NULL),
	{ .name = "json",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct conf_list_settings, json),
		.help = "Print JSON" },
	{ 0 },
};

const struct command conf_list_command = {
	.name = "conf list",
	.summary = "List the types of a rule file",
	.arguments = "[FILE]",
	.max_arguments = 1,
	.description =
		"Without FILE, lists the types of the rules that `burin carve` uses by default.",
	.options = conf_list_options,
	.settings_size = sizeof(struct conf_list_settings),
	.run = run_conf_list,
};
