#include "output/report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "output/stream.h"

#define REPORTERS 3

const struct reporter *const reporters[REPORTERS + 1] = { &audit_reporter, &jsonl_reporter,
	&dfxml_reporter, NULL };

struct report {
	struct sink *sink;
	struct stream *streams[REPORTERS]; /* NULL: not open */
	void *states[REPORTERS];
};

/* Errors after the first are told by it: struct error keeps one text. */
struct outcome {
	struct error *error;
	int status;
};

static struct error *still_free(struct outcome *outcome)
{
	return outcome->status ? NULL : outcome->error;
}

static void note(struct outcome *outcome, int status)
{
	if (!outcome->status)
		outcome->status = status;
}

/* The plug-in's own failure, which is no failure to write. */
static void note_reporter(struct report *report, size_t i, int status, struct outcome *outcome)
{
	if (status)
		note(outcome, sink_error(report->sink, reporters[i]->file_name, -status,
				      still_free(outcome)));
}

static void flush(struct report *report, bool now, struct outcome *outcome)
{
	for (size_t i = 0; i < REPORTERS; i++)
		if (report->streams[i])
			note(outcome, stream_flush(report->streams[i], now, still_free(outcome)));
}

static void open_one(
	struct report *report, size_t i, const struct run_record *run, struct outcome *outcome)
{
	note(outcome, stream_open(&report->streams[i], report->sink, reporters[i]->file_name,
			      still_free(outcome)));
	if (report->streams[i])
		note_reporter(report, i,
			reporters[i]->open(
				&report->states[i], stream_file(report->streams[i]), run),
			outcome);
}

int report_open(struct report **result, struct sink *sink, const struct run_record *run,
	struct error *error)
{
	struct report *report = xcalloc(1, sizeof(*report));
	struct outcome outcome = { error, 0 };

	report->sink = sink;
	for (size_t i = 0; i < REPORTERS && !outcome.status; i++)
		open_one(report, i, run, &outcome);
	if (!outcome.status)
		flush(report, true, &outcome);
	if (outcome.status) {
		const struct summary_record nothing = { .exit = EXIT_IO };

		report_close(report, &nothing, NULL);
		return outcome.status;
	}
	*result = report;
	return 0;
}

int report_file(struct report *report, const struct file_record *file, struct error *error)
{
	struct outcome outcome = { error, 0 };

	for (size_t i = 0; i < REPORTERS; i++)
		note_reporter(report, i, reporters[i]->file(report->states[i], file), &outcome);
	flush(report, false, &outcome);
	return outcome.status;
}

int report_flush(struct report *report, struct error *error)
{
	struct outcome outcome = { error, 0 };

	flush(report, true, &outcome);
	return outcome.status;
}

int report_close(struct report *report, const struct summary_record *summary, struct error *error)
{
	struct outcome outcome = { error, 0 };

	for (size_t i = 0; i < REPORTERS; i++) {
		if (report->states[i])
			note_reporter(report, i, reporters[i]->close(report->states[i], summary),
				&outcome);
		if (report->streams[i])
			note(&outcome, stream_close(report->streams[i], still_free(&outcome)));
	}
	free(report);
	return outcome.status;
}
