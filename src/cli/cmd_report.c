/* `burin report`: a page to browse the results of a run. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "page/batch_page.h"
#include "page/page.h"
#include "report/report.h"

/* How many thumbnails there are at most unless --thumbs says otherwise. */
#define DEFAULT_THUMBS "10000"
/* And of how many files the first bytes are shown, unless --previews does: 0.6 to 8 KB each. */
#define DEFAULT_PREVIEWS "10000"
/* And how many other files than pictures and films are compared, unless --alike does: 16 MiB of each at most. */
#define DEFAULT_ALIKE "10000"

struct report_settings {
	struct page_options page;
	bool quiet;
};

/* Writes folder/report.html and logs that. Returns the exit code. */
static int make_page(const char *folder, const struct page_options *options)
{
	struct page_counts counts;
	struct error error = { 0 };

	if (page_write(folder, options, &counts, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	if (counts.no_pictures)
		log_info("no thumbnails: %s", counts.no_pictures);
	if (counts.no_films)
		log_info("no thumbnails of videos: %s", counts.no_films);
	if (counts.not_alike)
		log_debug("no groups of documents that are alike: %s", counts.not_alike);
	if (counts.failed_thumbs)
		log_info("%" PRIu64 " thumbnails could not be made", counts.failed_thumbs);
	log_info("%s/" PAGE_NAME " shows %" PRIu64 " file%s", folder, counts.files,
		counts.files == 1 ? "" : "s");
	return EXIT_CLEAN;
}

int page_after_run(const char *folder, int code)
{
	const struct page_options options = { .thumbs = strtoull(DEFAULT_THUMBS, NULL, 10),
		.previews = strtoull(DEFAULT_PREVIEWS, NULL, 10),
		.alike = strtoull(DEFAULT_ALIKE, NULL, 10) };
	int page = EXIT_CLEAN;

	/* After any other code there is no report, or the user has interrupted the run. */
	if (code == EXIT_CLEAN || code == EXIT_PROBLEMS)
		page = make_page(folder, &options);
	return page > code ? page : code;
}

int page_of_batch(const char *folder)
{
	struct error error = { 0 };

	if (!batch_page_write(folder, &error))
		return EXIT_CLEAN;
	log_error("%s", error.text);
	return error.code;
}

static int run_report(void *arg, int argc, char **argv)
{
	const struct report_settings *settings = arg;
	struct runs runs = { 0 };
	int worst = EXIT_CLEAN;

	(void)argc;
	log_set_level(settings->quiet ? LOG_WARN : LOG_INFO);
	runs_find(&runs, argv[0]);
	for (size_t i = 0; i < runs.count; i++) {
		int code = make_page(runs.folders[i], &settings->page);

		worst = code > worst ? code : worst;
	}
	if (runs.batch) {
		int code = page_of_batch(argv[0]);

		worst = code > worst ? code : worst;
	}
	runs_free(&runs);
	return worst;
}

static const struct option_row report_options[] = {
	{ .name = "thumbs",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.fallback = DEFAULT_THUMBS,
		.offset = offsetof(struct report_settings, page.thumbs),
		.help = "Make thumbnails of at most N images and videos; 0: none" },
	{ .name = "previews",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.fallback = DEFAULT_PREVIEWS,
		.offset = offsetof(struct report_settings, page.previews),
		.help = "Show the first bytes (of text, 4 KiB) of at most N files; 0: of none" },
	{ .name = "alike",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.fallback = DEFAULT_ALIKE,
		.offset = offsetof(struct report_settings, page.alike),
		.help = "Group at most N files other than pictures and videos that are alike, by "
			"ssdeep's digests; 0: none" },
	{ .name = "quiet",
		.offset = offsetof(struct report_settings, quiet),
		.help = "Print only warnings and errors" },
	{ 0 },
};

static const struct example report_examples[] = {
	{ "burin report out", "writes out/report.html" },
	{ "burin carve --html -o out disk.E01", "carves, and then writes the page" },
	{ NULL, NULL },
};

const struct command report_command = {
	.name = "report",
	.summary = "Write a page to browse the results of a run",
	.arguments = "OUT",
	.min_arguments = 1,
	.max_arguments = 1,
	.description =
		"Writes `report.html` to OUT, an output folder of `burin carve` or `burin "
		"extract`; for a batch, one page to each image's folder, and a table of the images "
		"to OUT. A page shows problems, what was found and where, with a map, thumbnails, "
		"a table, duplicates and dates, to sort, select and export. Any browser opens it "
		"from disk; it needs no network and loads nothing from elsewhere.\n\nIf there are "
		"many files, the rows go to `report.data/`, and so do previews. Thumbnails go to "
		"`thumbs/`; libvips makes them, and ffmpeg those of videos, if these are "
		"installed, in confined processes. An older page is overwritten.",
	.options = report_options,
	.settings_size = sizeof(struct report_settings),
	.run = run_report,
	.examples = report_examples,
};
