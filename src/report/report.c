#include "report/report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "content_map/map_bin.h"
#include "output/dirfd.h"
#include "report/report_file.h"
#include "report/seal.h"

/* Enough for what files and queues may have buffered when a disk turns out to be full, and for a
 * summary. */
#define RESERVE_LEN ((off_t)2 << 20)

const struct reporter *const reporters[REPORT_PARTS + 1] = { &audit_reporter, &jsonl_reporter,
	&dfxml_reporter, NULL };

struct report {
	struct output_dir *output_dir;
	struct run_record run;
	int reserve; /* descriptor of a file that reserves space for the reports' end; -1: none */
	uint64_t file_count;                     /* that were added, in earlier runs too */
	struct strbuf line;                      /* of report_add */
	struct report_file *files[REPORT_PARTS]; /* NULL: not open */
	void *states[REPORT_PARTS];
	bool begun[REPORT_PARTS]; /* its head is written */
	bool held; /* report_reopen has opened it: nothing may be written before report_continue */
	uint64_t headlines[REPORT_PARTS]; /* of a held one: as headline_place returns */
};

/* What else burin creates in an output folder; with a slash, a folder. */
static const char *const others[] = { PAGE_NAME, PAGE_DATA_DIR, PAGE_THUMBS_DIR, MAP_BIN_NAME,
	OUTPUT_DIR_CHECKPOINT, SEAL_MANIFEST, SEAL_SIGNATURE, SEAL_PUBLIC_KEY, SEAL_TIME_STAMP };

/* Names that a report has beside its own. */
enum other_name { NAME_AGAIN, NAME_OLD };

/* The caller frees it. */
static char *other_name(size_t i, enum other_name kind)
{
	return xasprintf(OUTPUT_DIR_TEMPORARY_PREFIX "%s%s", reporters[i]->file_name,
		kind == NAME_OLD ? ".old" : OUTPUT_DIR_TEMPORARY_SUFFIX);
}

/* The first error is kept: struct error holds one text. */
struct outcome {
	struct error *error;
	int status;
};

static struct error *unset_error(struct outcome *outcome)
{
	return outcome->status ? NULL : outcome->error;
}

static void note(struct outcome *outcome, int status)
{
	if (!outcome->status)
		outcome->status = status;
}

/* The plug-in's own failure, which is not a failed write. */
static void note_reporter(struct report *report, size_t i, int status, struct outcome *outcome)
{
	if (status)
		note(outcome, output_dir_error(report->output_dir, reporters[i]->file_name, -status,
				      unset_error(outcome)));
}

static void begin_one(struct report *report, size_t i, struct outcome *outcome)
{
	if (report->begun[i])
		return;
	report->begun[i] = true;
	note_reporter(report, i,
		reporters[i]->open(
			&report->states[i], report_file_stream(report->files[i]), &report->run),
		outcome);
}

/* Without waiting: the volumes may be examined while the scan is under way. */
static bool can_begin(const struct report *report, size_t i)
{
	return report->files[i] && (!reporters[i]->needs_volumes || !report->run.volumes ||
					   volumes_known(report->run.volumes));
}

static void flush_one(struct report *report, size_t i, bool now, struct outcome *outcome)
{
	if (report->files[i])
		note(outcome, report_file_flush(report->files[i], now, unset_error(outcome)));
}

static void flush(struct report *report, bool now, struct outcome *outcome)
{
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		if (can_begin(report, i))
			begin_one(report, i, outcome);
		flush_one(report, i, now, outcome);
	}
}

static void open_one(struct report *report, size_t i, const char *name, struct outcome *outcome)
{
	note(outcome, report_file_open(
			      &report->files[i], report->output_dir, name, unset_error(outcome)));
}

static struct report *new_report(struct output_dir *output_dir, const struct run_record *run)
{
	struct report *report = xcalloc(1, sizeof(*report));

	report->output_dir = output_dir;
	report->run = *run;
	report->reserve = -1;
	return report;
}

static void free_report(struct report *report)
{
	strbuf_free(&report->line);
	free(report);
}

/*
 * A full disk must not cost the reports' end, which says what was carved and what was not. So some
 * space is reserved in a file without a name, and released before the end is written. Best effort:
 * where that fails, only this safety is lost.
 */
static int reserve_space(struct output_dir *output_dir)
{
	struct statvfs info;
	int fd = output_dir_temporary(output_dir, NULL);
	off_t len = RESERVE_LEN;

	if (fd < 0)
		return -1;
	if (fstatvfs(fd, &info) == 0 && info.f_bavail < RESERVE_LEN * 2 / info.f_frsize)
		len = (off_t)(info.f_bavail * info.f_frsize / 2);
	if (len == 0 || posix_fallocate(fd, 0, len)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void release_space(struct report *report)
{
	if (report->reserve >= 0)
		close(report->reserve);
	report->reserve = -1;
}

/* Reports that could not be begun are removed: the folder is as it was before. */
static void remove_files(struct report *report)
{
	const struct summary_record nothing = { .exit = EXIT_IO };
	struct output_dir *output_dir = report->output_dir;
	bool created[REPORT_PARTS];

	for (size_t i = 0; i < REPORT_PARTS; i++) {
		created[i] = report->files[i] != NULL;
		report->begun[i] = true; /* or never */
	}
	report_close(report, &nothing, NULL);
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (created[i])
			output_dir_remove(output_dir, reporters[i]->file_name);
}

static void reserve_names(struct output_dir *output_dir)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char *name = xasprintf("%.*s", (int)strcspn(others[i], "/"), others[i]);

		output_dir_reserve(output_dir, name);
		free(name);
	}
}

int report_open(struct report **result, struct output_dir *output_dir, const struct run_record *run,
	struct error *error)
{
	struct report *report = new_report(output_dir, run);
	struct outcome outcome = { error, 0 };

	reserve_names(output_dir);
	for (size_t i = 0; i < REPORT_PARTS && !outcome.status; i++)
		open_one(report, i, reporters[i]->file_name, &outcome);
	if (!outcome.status)
		flush(report, true, &outcome);
	if (outcome.status) {
		remove_files(report);
		return outcome.status;
	}
	report->reserve = reserve_space(output_dir);
	*result = report;
	return 0;
}

/* ---- a run that is resumed ----------------------------------------------------------------- */

/* The offset of the line at the top, plus 1; 0 where there is none. */
static uint64_t headline_place(const struct report *report, size_t i)
{
	char text[REPORT_HEADLINE_LEN + 1];
	int64_t place;

	reporters[i]->headline(text, NULL);
	place = report_file_find(report->files[i], text);
	return place < 0 ? 0 : (uint64_t)place + 1;
}

void report_save(const struct report *report, uint64_t files, struct codec_writer *writer)
{
	codec_put(writer, files);
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		codec_put(writer, report_file_len(report->files[i]));
		codec_put(writer, headline_place(report, i));
	}
}

/* An end that was written at the interruption has completed the line at the top; this undoes it. */
static void restore_head(struct report *report, size_t i, struct outcome *outcome)
{
	uint64_t place = report->headlines[i];
	char text[REPORT_HEADLINE_LEN + 1];

	reporters[i]->headline(text, NULL);
	if (place && !outcome->status)
		note(outcome, report_file_put_at(
				      report->files[i], place - 1, text, unset_error(outcome)));
}

/* Opens a report, or the old one where a run was killed after it had replaced them: that is the one
 * that the checkpoint is about. */
static int open_old(struct report *report, size_t i, uint64_t len, struct error *error)
{
	const char *name = reporters[i]->file_name;
	char *old = other_name(i, NAME_OLD);
	bool replaced =
		faccessat(output_dir_fd(report->output_dir), old, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	int status = report_file_reopen(
		&report->files[i], report->output_dir, replaced ? old : name, len, error);

	free(old);
	return status;
}

static void reopen_one(
	struct report *report, size_t i, struct codec_reader *reader, struct outcome *outcome)
{
	uint64_t len = codec_get(reader, INT64_MAX), place = codec_get(reader, len);
	struct report_file **file = &report->files[i];

	if (!codec_ok(reader) || (place && len - place < REPORT_HEADLINE_LEN))
		return codec_fail(reader);
	report->headlines[i] = place;
	note(outcome, open_old(report, i, len, unset_error(outcome)));
	if (!*file || !len)
		return;
	begin_one(report, i, outcome);
	report_file_forget(*file); /* the head exists already */
}

/* Frees the report without changing its files. */
static void abandon(struct report *report)
{
	const struct summary_record nothing = { .exit = EXIT_IO };

	for (size_t i = 0; i < REPORT_PARTS; i++) {
		if (report->states[i])
			reporters[i]->close(report->states[i], &nothing);
		if (!report->files[i])
			continue;
		report_file_forget(report->files[i]);
		report_file_close(report->files[i], NULL);
	}
	free_report(report);
}

int report_reopen(struct report **result, struct output_dir *output_dir,
	const struct run_record *run, struct codec_reader *reader, struct error *error)
{
	struct report *report = new_report(output_dir, run);
	struct outcome outcome = { error, 0 };

	report->file_count = codec_get(reader, UINT64_MAX);
	report->held = true;
	reserve_names(output_dir);
	for (size_t i = 0; i < REPORT_PARTS && !outcome.status && codec_ok(reader); i++) {
		output_dir_reserve(output_dir, reporters[i]->file_name);
		reopen_one(report, i, reader, &outcome);
	}
	if (outcome.status || !codec_ok(reader)) {
		abandon(report);
		return outcome.status;
	}
	*result = report;
	return 0;
}

/* Gives the old reports that a killed run left their names back. */
static void restore_names(struct output_dir *output_dir)
{
	int fd = output_dir_fd(output_dir);

	for (size_t i = 0; i < REPORT_PARTS; i++) {
		char *name = other_name(i, NAME_OLD);

		renameat(fd, name, fd, reporters[i]->file_name);
		free(name);
	}
}

int report_continue(struct report *report, struct error *error)
{
	struct outcome outcome = { error, 0 };

	assert(report->held);
	restore_names(report->output_dir);
	for (size_t i = 0; i < REPORT_PARTS && !outcome.status; i++) {
		report_file_set_name(report->files[i], reporters[i]->file_name);
		note(&outcome, report_file_cut(report->files[i], unset_error(&outcome)));
		restore_head(report, i, &outcome);
	}
	if (outcome.status)
		return outcome.status;
	report->held = false;
	report->reserve = reserve_space(report->output_dir);
	return 0;
}

/* ---- a second time ------------------------------------------------------------------------- */

static void remove_name(struct output_dir *output_dir, size_t i, enum other_name kind)
{
	char *name = other_name(i, kind);

	dirfd_unlink(output_dir_fd(output_dir), name);
	free(name);
}

int report_open_again(struct report **again, struct output_dir *output_dir,
	const struct run_record *run, struct error *error)
{
	struct report *report = new_report(output_dir, run);
	struct outcome outcome = { error, 0 };

	for (size_t i = 0; i < REPORT_PARTS && !outcome.status; i++) {
		char *name = other_name(i, NAME_AGAIN);

		remove_name(output_dir, i, NAME_AGAIN);
		open_one(report, i, name, &outcome);
		free(name);
	}
	if (outcome.status) {
		report_drop_again(report);
		return outcome.status;
	}
	*again = report;
	return 0;
}

void report_drop_again(struct report *again)
{
	struct output_dir *output_dir;

	if (!again)
		return;
	output_dir = again->output_dir;
	abandon(again);
	for (size_t i = 0; i < REPORT_PARTS; i++)
		remove_name(output_dir, i, NAME_AGAIN);
}

void report_remove_old(struct output_dir *output_dir)
{
	for (size_t i = 0; i < REPORT_PARTS; i++)
		remove_name(output_dir, i, NAME_OLD);
}

/* Returns 0 or a negative errno with error set. */
static int rename_one(struct output_dir *output_dir, size_t i, struct error *error)
{
	int fd = output_dir_fd(output_dir), status = 0;
	const char *name = reporters[i]->file_name;
	char *old = other_name(i, NAME_OLD), *again = other_name(i, NAME_AGAIN);

	if (renameat(fd, name, fd, old) || renameat(fd, again, fd, name))
		status = output_dir_error(output_dir, name, errno, error);
	free(old);
	free(again);
	return status;
}

int report_replace(struct report *old, struct report *again, struct error *error)
{
	int status = report_flush(again, error);

	for (size_t i = 0; i < REPORT_PARTS && !status; i++)
		status = rename_one(again->output_dir, i, error);
	if (status) {
		restore_names(old->output_dir);
		report_drop_again(again);
		return status;
	}
	for (size_t i = 0; i < REPORT_PARTS; i++)
		report_file_set_name(again->files[i], reporters[i]->file_name);
	again->reserve = old->reserve;
	abandon(old);
	return 0;
}

/* ---- files --------------------------------------------------------------------------------- */

uint64_t report_number(struct report *report, size_t count)
{
	uint64_t first = report->file_count + 1;

	report->file_count += count;
	return first;
}

int report_begin(struct report *report, struct error *error)
{
	struct outcome outcome = { error, 0 };

	for (size_t i = 0; i < REPORT_PARTS; i++)
		begin_one(report, i, &outcome);
	return outcome.status;
}

void report_line(const struct report *report, size_t part, const struct file_record *file,
	uint64_t number, struct strbuf *lines)
{
	if (report->states[part])
		reporters[part]->line(report->states[part], file, number, lines);
}

int report_write_part(struct report *report, size_t part, struct strbuf *lines, struct error *error)
{
	struct outcome outcome = { error, 0 };

	if (report->files[part] && lines->len)
		strbuf_write(lines, report_file_stream(report->files[part]));
	flush_one(report, part, false, &outcome);
	return outcome.status;
}

int report_add(struct report *report, const struct file_record *file, struct error *error)
{
	struct outcome outcome = { error, report_begin(report, error) };
	uint64_t number = report_number(report, 1);

	for (size_t i = 0; i < REPORT_PARTS; i++) {
		report_line(report, i, file, number, &report->line);
		note(&outcome, report_write_part(report, i, &report->line, unset_error(&outcome)));
	}
	return outcome.status;
}

int report_flush(struct report *report, struct error *error)
{
	struct outcome outcome = { error, 0 };

	if (!report->held)
		flush(report, true, &outcome);
	return outcome.status;
}

void report_headline(char *text, const char *before, const struct summary_record *summary)
{
	char line[REPORT_HEADLINE_LEN + 1];

	snprintf(line, sizeof(line), "%s%s", before,
		summary ? summary->evidence.sentence : "the run has not finished");
	snprintf(text, REPORT_HEADLINE_LEN + 1, "%-*s", REPORT_HEADLINE_LEN, line);
}

/* Completes the line at the top, now that the outcome is known. */
static void complete_head(struct report *report, size_t i, const struct summary_record *summary,
	struct outcome *outcome)
{
	char was[REPORT_HEADLINE_LEN + 1], text[REPORT_HEADLINE_LEN + 1];
	int64_t place;

	flush_one(report, i, true, outcome);
	reporters[i]->headline(was, NULL);
	reporters[i]->headline(text, summary);
	place = report_file_find(report->files[i], was);
	if (place >= 0)
		note(outcome, report_file_put_at(report->files[i], (uint64_t)place, text,
				      unset_error(outcome)));
}

int report_close(struct report *report, const struct summary_record *summary, struct error *error)
{
	struct outcome outcome = { error, 0 };

	if (report->held) {
		abandon(report);
		return 0;
	}
	release_space(report);
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		if (report->files[i])
			begin_one(report, i, &outcome);
		if (report->states[i])
			note_reporter(report, i, reporters[i]->close(report->states[i], summary),
				&outcome);
		if (!report->files[i])
			continue;
		complete_head(report, i, summary, &outcome);
		note(&outcome, report_file_close(report->files[i], unset_error(&outcome)));
	}
	free_report(report);
	return outcome.status;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Whether the path is name, or below it. */
static bool is_at(const char *path, const char *name)
{
	size_t len = strcspn(name, "/");

	return strncmp(path, name, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

bool report_owns(const char *path)
{
	for (size_t i = 0; reporters[i]; i++)
		if (is_at(path, reporters[i]->file_name))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (is_at(path, others[i]))
			return true;
	return false;
}
