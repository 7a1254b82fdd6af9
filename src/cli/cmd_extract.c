/* `burin extract`: the files of a report, without scanning again. */
#include <stdlib.h>

#include "base/log.h"
#include "cli/command.h"
#include "hashing/hash.h"
#include "run/run.h"
#include "run/secret_files.h"

struct extract_settings {
	const char *output;
	uint32_t hash_mask;
	uint64_t threads;
	struct case_record about;
	struct secret_files secrets;
	bool no_times, quiet, json;
};

#define MEMBER(member) .offset = offsetof(struct extract_settings, member)

static const struct option_row extract_options[] = {
	{ .name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.metavar = "DIR",
		MEMBER(output),
		.help = "Write to DIR, which must be new or empty" },
	{ .name = "hash",
		.kind = OPTION_SET,
		.choices = HASH_CHOICES,
		.metavar = "LIST",
		.fallback = "sha256",
		MEMBER(hash_mask),
		.help = "Hashes of the files: md5, sha1, sha256, or none" },
	{ .name = "threads",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = 1024,
		MEMBER(threads),
		.help = "Use N threads (default: one per processor)" },
	CASE_ROWS(struct extract_settings, about, NULL),
	SECRET_FILE_ROWS(struct extract_settings, secrets, NULL),
	{ .name = "no-times",
		MEMBER(no_times),
		.help = "Leave the files' times alone; otherwise they are those of the last "
			"change" },
	{ .name = "quiet", MEMBER(quiet), .help = "Print only warnings and errors" },
	{ .name = "json",
		MEMBER(json),
		.help = "Print events on stdout, one JSON object per line" },
	{ 0 },
};

static int run(void *arg, int argc, char **argv)
{
	const struct extract_settings *settings = arg;
	struct run_options options = {
		.arguments = command_line,
		.about = settings->about,
		.threads = (unsigned)settings->threads,
		.hash_mask = settings->hash_mask,
		.style.no_times = settings->no_times,
		.fragment_budget = 100, /* as reports say it where nothing is put together */
		.progress = { .quiet = settings->quiet, .json = settings->json },
	};
	struct error error = { 0 };

	log_set_level(settings->quiet ? LOG_WARN : LOG_INFO);
	if (settings->json)
		progress_log_events();
	if (!settings->output) {
		log_error(
			"no output folder was given; try: burin extract -o OUT report.jsonl IMAGE");
		return EXIT_USAGE;
	}
	if (secret_files_read(&settings->secrets, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	signals_catch();
	return run_extract(&options, argv[0], argc > 1 ? argv[1] : NULL, settings->output, NULL);
}

static const struct example examples[] = {
	{ "burin carve -p -o plan disk.E01",
		"lists what would be carved, writing only the reports" },
	{ "grep -v '\"type\":\"html\"' plan/report.jsonl > wanted.jsonl",
		"removes the files of one type" },
	{ "burin extract -o out wanted.jsonl disk.E01", "writes the files of the remaining lines" },
	{ NULL, NULL },
};

const struct command extract_command = {
	.name = "extract",
	.summary = "Write the files that a report lists, without scanning again",
	.arguments = "REPORT [IMAGE]",
	.min_arguments = 1,
	.max_arguments = 2,
	.description = "Reads REPORT, a `report.jsonl` of `burin carve` (it may come from a dry "
		       "run, and lines may have been removed), and writes its files from IMAGE, "
		       "the evidence that was carved; without IMAGE, from the path in the report. "
		       "If the report has hashes, burin compares the files with them.",
	.options = extract_options,
	.settings_size = sizeof(struct extract_settings),
	.run = run,
	.examples = examples,
};
