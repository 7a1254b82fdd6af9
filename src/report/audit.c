/*
 * audit.txt as people know it from Scalpel 1.60: the same head, columns and rows, which old scripts
 * look for, then our own sums. Unlike Scalpel's, rows are in order of offset, and their first
 * column is the path below the output folder, because names alone would not distinguish two types;
 * in compat mode it is the bare name, as in Scalpel. Start, output folder, command and completion
 * time are on lines of their own; the rest is the same in every run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "report/report.h"

struct audit {
	FILE *stream;
	char *image; /* last component, cleaned */
	bool bare;   /* first column without folder */
};

/* As asctime writes it, in local time. */
static void print_time(FILE *stream, const char *what, int64_t seconds)
{
	time_t time = (time_t)seconds;
	struct tm tm;
	char text[64] = "(an unknown time)";

	if (localtime_r(&time, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	fprintf(stream, "%s at %s\n", what, text);
}

static void print_clean(FILE *stream, const char *before, const char *text, const char *after)
{
	char *clean = text_clean_copy(text ? text : "");

	fprintf(stream, "%s%s%s", before, clean, after);
	free(clean);
}

static void audit_headline(char *text, const struct summary_record *summary)
{
	report_headline(text, "Evidence: ", summary);
}

static int audit_open(void **state, FILE *stream, const struct run_record *run)
{
	struct audit *audit = xcalloc(1, sizeof(*audit));
	char *target = realpath(run->image_path, NULL);
	char headline[REPORT_HEADLINE_LEN + 1];

	*state = audit;
	audit->stream = stream;
	audit->image = text_clean_copy(text_file_name(run->image_path));
	audit->bare = run->compat_scalpel;
	audit_headline(headline, NULL);
	fprintf(stream, "\nburin version %s audit file\n%s\n", burin_version, headline);
	print_time(stream, "Started", run->started);
	print_clean(stream, "Command line:\n", run->command_line, " \n\n");
	print_clean(stream, "Output directory: ", run->output_dir, "\n");
	if (run->about.number)
		print_clean(stream, "Case: ", run->about.number, "\n");
	if (run->about.examiner)
		print_clean(stream, "Examiner: ", run->about.examiner, "\n");
	if (run->about.note)
		print_clean(stream, "Note: ", run->about.note, "\n");
	for (const struct plugin_record *plugin = run->plugins; plugin && plugin->path; plugin++) {
		print_clean(stream, "Plug-in: ", plugin->path, ", SHA-256 ");
		fprintf(stream, "%s\n", plugin->hashes.sha256);
	}
	print_clean(stream, "Configuration file: ", run->rules->path, "\n\n");
	print_clean(stream, "Opening target \"", target ? target : run->image_path, "\"\n\n");
	fprintf(stream, "The following files were carved:\n"
			"File\t\t  Start\t\t\tChop\t\tLength\t\tExtracted From\n");
	free(target);
	return 0;
}

static void audit_line(
	const void *state, const struct file_record *file, uint64_t number, struct strbuf *line)
{
	const struct audit *audit = state;

	(void)number;
	strbuf_clean(line, audit->bare ? text_file_name(file->path) : file->path);
	strbuf_number_padded(line, file->offset, 13);
	strbuf_text(line, file->chop ? "\t\tYES   " : "\t\tNO    ");
	strbuf_number_padded(line, file->length, 13);
	strbuf_text(line, "\t\t");
	strbuf_text(line, audit->image);
	if (file->fs_path && !audit->bare) {
		strbuf_text(line, "\t\t");
		strbuf_clean(line, file->fs_path);
	}
	strbuf_text(line, "\n");
}

static void print_tallies(FILE *stream, const char *head, const struct tallies *tallies)
{
	if (!tallies->count)
		return;
	fprintf(stream, "\n%s:\n", head);
	for (size_t i = 0; i < tallies->count; i++) {
		fprintf(stream, "%13" PRIu64, tallies->items[i].count);
		print_clean(stream, "  ", tallies->items[i].name, "\n");
	}
}

static void print_kinds(FILE *stream, const struct summary_record *summary)
{
	const struct tallies *kinds = &summary->by_kind;

	fprintf(stream, "\nFiles carved: %" PRIu64 ", %" PRIu64 " bytes\n", summary->files,
		summary->bytes);
	for (size_t i = 0; i < kinds->count; i++) {
		fprintf(stream, "%13" PRIu64, kinds->items[i].count);
		print_clean(stream, "  ", kinds->items[i].name, "");
		fprintf(stream, ", %" PRIu64 " bytes\n", kinds->items[i].bytes);
	}
}

static void print_damage(FILE *stream, const struct damages *damages)
{
	if (damages->count)
		fprintf(stream, "\nWhy they can't be read:\n");
	for (size_t i = 0; i < damages->count; i++) {
		fprintf(stream, "%13" PRIu64 "  %13" PRIu64 "  ", damages->items[i].offset,
			damages->items[i].length);
		print_clean(stream, "", damages->items[i].why, "\n");
	}
	if (damages->count == DAMAGE_MAX)
		fprintf(stream, "  and possibly more\n");
}

static void print_problems(FILE *stream, const struct summary_record *summary)
{
	const size_t max = sizeof(summary->problems) / sizeof(summary->problems[0]);
	const struct ranges *unreadable = summary->unreadable;

	if (unreadable && unreadable->count) {
		fprintf(stream, "\nUnreadable ranges of the image (offset, length), zeros in "
				"carved files:\n");
		for (size_t i = 0; i < unreadable->count; i++)
			fprintf(stream, "%13" PRIu64 "  %13" PRIu64 "\n",
				unreadable->items[i].offset, unreadable->items[i].length);
	}
	print_damage(stream, &summary->damage);
	if (summary->problems[0])
		fprintf(stream, "\nProblems:\n");
	for (size_t i = 0; i < max && summary->problems[i]; i++)
		print_clean(stream, "  ", summary->problems[i], "\n");
	if (summary->cautions[0])
		fprintf(stream, "\nMind:\n");
	for (size_t i = 0; summary->cautions[i]; i++)
		print_clean(stream, "  ", summary->cautions[i], "\n");
	if (summary->signal)
		fprintf(stream, "\nInterrupted by signal %d; this audit is complete up to there.\n",
			summary->signal);
}

static int audit_close(void *state, const struct summary_record *summary)
{
	struct audit *audit = state;
	char scanned[16];

	fprintf(audit->stream, "\n\n");
	for (size_t i = 0; i < summary->resumed_count; i++) {
		fprintf(audit->stream, "From byte %" PRIu64 " on: ", summary->resumed[i].position);
		print_time(audit->stream, "resumed", summary->resumed[i].at);
	}
	print_time(audit->stream, "Completed", summary->finished);
	print_kinds(audit->stream, summary);
	print_tallies(audit->stream, "Candidates that were not files", &summary->rejected);
	print_tallies(audit->stream, "Candidates that were left out", &summary->skipped);
	print_problems(audit->stream, summary);
	fprintf(audit->stream, "\nScanned: %s, pattern hits: %" PRIu64 ", exit code: %d\n",
		size_print(summary->scanned, scanned), summary->hits, summary->exit);
	free(audit->image);
	free(audit);
	return 0;
}

const struct reporter audit_reporter = { "audit.txt", audit_headline, audit_open, audit_line,
	audit_close, false };
