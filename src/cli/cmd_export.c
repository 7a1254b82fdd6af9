/* `burin export`: the files of runs for other programs. */
#include <inttypes.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "export/export.h"

struct export_settings {
	unsigned format;
	const char *output;
	bool quiet;
};

static int add_folder(struct export *export, const char *folder, struct error *error)
{
	struct runs runs = { 0 };
	int status = 0;

	runs_find(&runs, folder);
	for (size_t i = 0; i < runs.count && !status; i++)
		status = export_add_run(export, runs.folders[i], error);
	runs_free(&runs);
	return status;
}

static void log_counts(const char *output, uint64_t files, uint64_t left_out)
{
	log_info("%s: %" PRIu64 " file%s", output ? output : "exported", files,
		files == 1 ? "" : "s");
	if (left_out)
		log_info("%" PRIu64 " file%s without a date, left out", left_out,
			left_out == 1 ? "" : "s");
}

static int run_export(void *arg, int argc, char **argv)
{
	const struct export_settings *settings = arg;
	struct error error = { 0 };
	struct export *export;
	uint64_t files = 0, left_out = 0;
	int status = export_open(&export, settings->format, settings->output, &error);

	log_set_level(settings->quiet ? LOG_WARN : LOG_INFO);
	if (!status) {
		for (int i = 0; i < argc && !status; i++)
			status = add_folder(export, argv[i], &error);
		export_counts(export, &files, &left_out);
		if (status)
			export_close(export, false, NULL);
		else
			status = export_close(export, true, &error);
	}
	if (status)
		log_error("%s", error.text);
	else
		log_counts(settings->output, files, left_out);
	return status ? error.code : EXIT_CLEAN;
}

static const struct option_row export_options[] = {
	{ .name = "to",
		.kind = OPTION_CHOICE,
		.choices = EXPORT_CHOICES,
		.fallback = "csv",
		.offset = offsetof(struct export_settings, format),
		.help = "csv: a table; sqlite: a database; bodyfile: for timelines with mactime or "
			"Plaso; case: a graph for other forensic tools" },
	{ .name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		.offset = offsetof(struct export_settings, output),
		.help = "Write to this new file, or add to this database (default: standard "
			"output)" },
	{ .name = "quiet",
		.offset = offsetof(struct export_settings, quiet),
		.help = "Print only warnings and errors" },
	{ 0 },
};

static const struct example export_examples[] = {
	{ "burin export out -o files.csv", "writes a row for each file" },
	{ "burin export --to sqlite -o case.db out-1 out-2",
		"writes two runs to a database; more can be added later" },
	{ "burin export --to bodyfile out | mactime -b - -d > timeline.csv",
		"makes a timeline with The Sleuth Kit" },
	{ NULL, NULL },
};

const struct command export_command = {
	.name = "export",
	.summary = "Write the files of runs as a table, a database, a timeline or a graph",
	.arguments = "OUT...",
	.min_arguments = 1,
	.description = "Reads the report.jsonl of each OUT, an output folder of `burin carve` or "
		       "`burin extract` or the folder of a batch, and writes its files to standard "
		       "output or to a new file. The same reports give the same output.\n\ncsv: "
		       "RFC 4180, UTF-8, one row per file; text that a spreadsheet would take for "
		       "a formula begins with an apostrophe. sqlite: the tables `run`, `file`, "
		       "`extent` and `problem`, with indices. bodyfile: one line for the times "
		       "that the image's file system records for a file, and one for the time "
		       "stored in the file itself; a | in a name becomes _, and files without any "
		       "time are left out and counted. case: CASE and UCO 1.4 as JSON-LD, one node "
		       "per line: tool, image, action and investigation of each run, and its files "
		       "with their hashes, the file system's times and their places in the image.",
	.options = export_options,
	.settings_size = sizeof(struct export_settings),
	.run = run_export,
	.examples = export_examples,
};
