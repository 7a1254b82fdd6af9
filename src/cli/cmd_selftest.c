/* `burin selftest`: whether burin works correctly on this machine, with a protocol for the case
 * file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/types.h"
#include "rules/paths.h"
#include "run/run.h"
#include "selftest/selftest.h"

struct selftest_settings {
	const char *config, *output;
	enum rules_format rules_format;
	bool quiet;
};

#define MEMBER(member) .offset = offsetof(struct selftest_settings, member)

static const struct option_row selftest_options[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(config),
		.help = "Test with the rules in FILE (default: the installed burin.conf)" },
	RULES_FORMAT_ROW(struct selftest_settings, rules_format, NULL),
	{ .name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.metavar = "DIR",
		MEMBER(output),
		.help = "Write selftest.txt and selftest.html to DIR, where they must not exist" },
	{ .name = "quiet", MEMBER(quiet), .help = "Print only warnings and errors on stderr" },
	{ 0 },
};

static void log_run(const struct selftest_run *run)
{
	log_set_level(LOG_INFO);
	log_info("selftest: %s%s%s: %s", run->engine, run->kernel ? " " : "",
		run->kernel ? run->kernel : "",
		run->unsuited   ? "not for these rules"
		: *run->problem ? run->problem
				: "passed");
	log_set_level(LOG_WARN); /* so that the next run prints nothing */
}

static void log_nothing(const struct selftest_run *run)
{
	(void)run;
}

static int write_file(const struct selftest *selftest, const char *folder, const char *name,
	int (*write)(const struct selftest *, FILE *), struct error *error)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *stream = fopen(path, "wxe");
	int status = stream ? write(selftest, stream) : -errno;

	if (stream && fclose(stream) && !status)
		status = -EIO;
	if (status)
		error_set(error, EXIT_IO, -status, "cannot write '%.500s': %s", path,
			strerror(-status));
	free(path);
	return status;
}

static int write_files(const struct selftest *selftest, const char *folder, struct error *error)
{
	int status;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return error_set(error, EXIT_IO, errno, "cannot create '%.500s': %s", folder,
			strerror(errno));
	status = write_file(selftest, folder, "selftest.txt", selftest_text, error);
	if (!status)
		status = write_file(selftest, folder, "selftest.html", selftest_page, error);
	return status;
}

static int run(void *arg, int argc, char **argv)
{
	const struct selftest_settings *settings = arg;
	struct selftest selftest = { 0 };
	struct rules *rules = NULL;
	struct error error = { 0 };
	int status, code;

	(void)argc, (void)argv;
	signals_catch();
	log_set_level(LOG_WARN);
	status = rules_open(&rules, settings->config, settings->rules_format, NULL, &error);
	if (!status)
		status = selftest_run(
			&selftest, rules, settings->quiet ? log_nothing : log_run, &error);
	if (!status && settings->output)
		status = write_files(&selftest, settings->output, &error);
	if (!status)
		selftest_text(&selftest, stdout); /* dispatch.c checks that it was written */
	code = status                       ? error.code
	       : selftest.signal            ? 128 + selftest.signal
	       : selftest_passed(&selftest) ? EXIT_CLEAN
					    : EXIT_PROBLEMS;
	if (status)
		log_error("%s", error.text);
	selftest_free(&selftest);
	rules_free(rules);
	return code;
}

static const struct example examples[] = {
	{ "burin selftest -o case-17/selftest",
		"tests this machine, and adds the protocol to a case" },
	{ NULL, NULL },
};

const struct command selftest_command = {
	.name = "selftest",
	.summary = "Test burin on this machine, and write a protocol",
	.description = "Creates an image of known layout in a temporary folder: files of seven "
		       "formats, at cluster boundaries, at any byte, across buffer boundaries, "
		       "inside archives, truncated, damaged, and headers without a file. Carves it "
		       "with every engine and every GPU kernel that works here, and with other "
		       "chunk sizes and numbers of threads. Compares the results with what was "
		       "planted, and the runs with each other. Prints a protocol of one page: "
		       "machine, program, rules, recall and precision by class, engines.\n\n"
		       "The test passes, with exit code 0, if recall is 100 %, no invalid file is "
		       "called complete, and all engines give the same files; else the exit code "
		       "is 1. It takes a few seconds and about 50 MB in TMPDIR.",
	.options = selftest_options,
	.settings_size = sizeof(struct selftest_settings),
	.run = run,
	.examples = examples,
};
