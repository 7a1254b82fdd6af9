/* `burin report`: the page of a run, for people. */
#include <stdio.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/make_page.h"

struct report_settings {
	uint64_t thumbs;
	bool quiet;
};

static int run_report(void *arg, int argc, char **argv)
{
	const struct report_settings *settings = arg;

	(void)argc;
	log_set_level(settings->quiet ? LOG_WARN : LOG_INFO);
	return page_make(argv[0], settings->thumbs);
}

static const struct option_row report_options[] = {
	{ .name = "thumbs",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.fallback = PAGE_THUMBS,
		.offset = offsetof(struct report_settings, thumbs),
		.help = "Make small pictures of N images and films at most; 0: of none" },
	{ .name = "quiet",
		.offset = offsetof(struct report_settings, quiet),
		.help = "Only warnings and errors" },
	{ 0 },
};

static const struct example report_examples[] = {
	{ "burin report out", "writes out/report.html" },
	{ "burin carve --html -o out disk.E01", "carves, and writes the page at the end" },
	{ NULL, NULL },
};

const struct command report_command = {
	.name = "report",
	.summary = "Write a page to look at what was carved",
	.arguments = "OUT",
	.min_arguments = 1,
	.max_arguments = 1,
	.description = "Writes `report.html` to OUT, an output folder of `burin carve` or `burin "
		       "extract`: what "
		       "is wrong, what was found, where it lay, with a map, pictures, a table, "
		       "copies and dates, to sort, pick and hand over. Any browser opens it from "
		       "disk; it needs "
		       "no network and loads nothing from elsewhere.\n\n"
		       "With many files their rows go to `report.data/`; small pictures go to "
		       "`thumbs/`, made by "
		       "libvips and, of films, by ffmpeg, where these are installed, in processes "
		       "of their own "
		       "that may do nothing else. An older page is written over.",
	.options = report_options,
	.settings_size = sizeof(struct report_settings),
	.run = run_report,
	.examples = report_examples,
};
