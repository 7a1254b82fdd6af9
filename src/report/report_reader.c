/*
 * A record is one line of at most MAX_LINE_LEN bytes: enough for a file in a hundred thousand
 * fragments, and small enough that what the JSON library makes of a hostile line stays bearable.
 * Only the summary can legitimately be longer (a list of unreadable ranges), and the files can be
 * read without it.
 */
#include "report/report_reader.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/dirfd.h"
#include "report/report.h"
#include "report/report_reader_file.h"

#define MAX_LINE_LEN ((size_t)4 << 20)

struct report_reader {
	char *name; /* for messages, cleaned */
	FILE *file;
	uint64_t line_number;
	char *line;
	size_t line_len, line_capacity;
	bool cut;  /* the line is longer than what was kept */
	bool torn; /* the line has no newline */
	bool saw_summary;
	json_t *first;   /* the run's record */
	json_t *summary; /* NULL: not there, or too long */
	struct report_reader_run run;
	json_t *current;                /* the file record that the caller has */
	struct report_reader_file kept; /* what that record points to */
};

/* ---- lines --------------------------------------------------------------------------------- */

/* Reads a line without its newline, the first MAX_LINE_LEN bytes of it. Returns 1, 0 at the end, a
 * negative errno. */
static int read_line(struct report_reader *report, struct error *error)
{
	int c;

	report->line_len = 0;
	report->cut = false;
	while ((c = getc_unlocked(report->file)) != EOF && c != '\n') {
		if (report->line_len == MAX_LINE_LEN) {
			report->cut = true;
			continue;
		}
		report->line = xgrow(report->line, &report->line_capacity, report->line_len, 1);
		report->line[report->line_len++] = (char)c;
	}
	if (ferror(report->file))
		return error_set(error, EXIT_IO, errno ? errno : EIO, "cannot read '%s': %s",
			report->name, strerror(errno ? errno : EIO));
	report->torn = c == EOF;
	if (c == EOF && report->line_len == 0)
		return 0;
	report->line_number++;
	return 1;
}

static bool is_blank(const struct report_reader *report)
{
	for (size_t i = 0; i < report->line_len; i++)
		if (!isspace((unsigned char)report->line[i]))
			return false;
	return true;
}

static bool is_long_summary(const struct report_reader *report)
{
	static const char head[] = "{\"record\":\"summary\",";

	return report->cut && memcmp(report->line, head, sizeof(head) - 1) == 0;
}

/* Parses the line. Sets fields->object, which the caller frees. */
static void parse_line(struct json_fields *fields, const struct report_reader *report)
{
	char clean[JSON_ERROR_TEXT_LENGTH];
	json_error_t problem;

	if (report->cut) {
		json_fields_fail(fields, "the record is longer than %zu MiB", MAX_LINE_LEN >> 20);
		return;
	}
	fields->object =
		json_loadb(report->line, report->line_len, JSON_REJECT_DUPLICATES, &problem);
	if (!fields->object)
		json_fields_fail(fields, "not a JSON record: %s (column %d)",
			text_clean(problem.text, clean, sizeof(clean)), problem.column);
	else if (!json_is_object(fields->object))
		json_fields_fail(fields, "not a record: each line must be a JSON object");
}

/* ---- the run's record ---------------------------------------------------------------------- */

static void fetch_image(struct json_fields *fields, struct report_reader_run *run)
{
	struct json_fields image = json_fields_enter(fields, "image"), stored;

	run->image_path = json_fields_text(&image, "path", "");
	run->image_absolute = json_fields_text(&image, "absolute", "");
	run->image_format = json_fields_text(&image, "format", "");
	run->image_size = json_fields_number(&image, "size", true, INT64_MAX);
	stored = json_fields_enter(&image, "stored_hashes");
	json_fields_hash(&stored, "md5", run->stored_md5, sizeof(run->stored_md5));
	json_fields_hash(&stored, "sha1", run->stored_sha1, sizeof(run->stored_sha1));
	json_fields_leave(&image, &stored);
	json_fields_leave(fields, &image);
}

static void fetch_run(struct json_fields *fields, struct report_reader_run *run)
{
	struct json_fields inner;
	uint64_t schema;

	if (strcmp(json_fields_text(fields, "record", ""), "run") != 0)
		json_fields_fail(fields,
			"not a burin report: its first line must be the record of the run "
			"(keep that line when you filter a report)");
	schema = json_fields_number(fields, "schema", true, INT64_MAX);
	if (!fields->status && schema != 1)
		json_fields_fail(fields,
			"the report has schema %" PRIu64
			", this burin reads schema 1; use a newer burin",
			schema);
	run->burin = json_fields_text(fields, "burin", "");
	fetch_image(fields, run);
	inner = json_fields_enter(fields, "rules");
	run->rules_path = json_fields_text(&inner, "path", "");
	run->rules_sha256 = json_fields_text(&inner, "sha256", "");
	run->types = json_fields_text(&inner, "types", "");
	json_fields_leave(fields, &inner);
	inner = json_fields_enter(fields, "options");
	run->dry_run = json_fields_flag(&inner, "dry_run", false);
	run->both = json_fields_flag(&inner, "both", false);
	run->nested = json_fields_flag(&inner, "nested", false);
	run->strict = json_fields_flag(&inner, "strict", false);
	run->space = json_fields_text(&inner, "space", "");
	run->align = json_fields_number(&inner, "align", false, INT64_MAX);
	run->range_offset = json_fields_number(&inner, "offset", false, INT64_MAX);
	run->range_length = json_fields_number(&inner, "length", false, INT64_MAX);
	json_fields_leave(fields, &inner);
}

static int read_first(struct report_reader *report, struct error *error)
{
	struct json_fields fields = { report->name, 1, NULL, error, 0 };
	int status = read_line(report, error);

	if (status < 0)
		return status;
	if (status == 0)
		return error_set(
			error, EXIT_IO, EINVAL, "'%s' is empty, not a burin report", report->name);
	parse_line(&fields, report);
	report->first = fields.object;
	if (!fields.status)
		fetch_run(&fields, &report->run);
	return fields.status;
}

char *report_reader_path(const char *path)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return xasprintf("%s/%s", path, jsonl_reporter.file_name);
	return xstrdup(path);
}

/* Below a folder only a plain file is accepted, so that a pipe can't block the program. */
static int open_file(int dir_fd, const char *path, FILE **file)
{
	bool below = dir_fd != AT_FDCWD;
	int fd = below ? dirfd_open(dir_fd, path, O_RDONLY | O_NONBLOCK, false)
		       : open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	int status = 0;

	if (!below && fd < 0)
		fd = -errno;
	if (fd < 0)
		return fd;
	if (fstat(fd, &info))
		status = -errno;
	else if (S_ISDIR(info.st_mode))
		status = -EISDIR;
	else if (below && !S_ISREG(info.st_mode))
		status = -EINVAL;
	if (!status && !(*file = fdopen(fd, "r")))
		status = -errno;
	if (status)
		close(fd);
	return status;
}

int report_reader_open(
	struct report_reader **result, int dir_fd, const char *path, struct error *error)
{
	struct report_reader *report = xcalloc(1, sizeof(*report));
	int status;

	report->name = text_clean_copy(path);
	status = open_file(dir_fd, path, &report->file);
	if (status)
		error_set(error, EXIT_IO, -status, "cannot open the report '%s': %s", report->name,
			strerror(-status));
	else
		status = read_first(report, error);
	if (status) {
		report_reader_close(report);
		return status;
	}
	*result = report;
	return 0;
}

const struct report_reader_run *report_reader_run(const struct report_reader *report)
{
	return &report->run;
}

/* ---- file records -------------------------------------------------------------------------- */

/* Reads one record. Returns 1 for a file record, 0 for another one, or a negative errno. */
static int read_record(struct report_reader *report, struct file_record *file, struct error *error)
{
	struct json_fields fields = { report->name, report->line_number, NULL, error, 0 };
	const char *kind;
	int result = 0;

	parse_line(&fields, report);
	kind = fields.status ? "" : json_fields_text(&fields, "record", NULL);
	if (fields.status) {
		json_decref(fields.object);
		return fields.status;
	}
	report->current = fields.object;
	if (strcmp(kind, "file") == 0) {
		report_reader_file_fetch(&report->kept, &fields, &report->run, file);
		result = 1;
	} else if (strcmp(kind, "summary") == 0) {
		report->saw_summary = true;
		json_decref(report->summary);
		report->summary = json_incref(fields.object);
	} else if (strcmp(kind, "run") == 0) {
		json_fields_fail(&fields, "a second run's record: give one report at a time");
	} else {
		json_fields_fail(&fields, "'record' must be run, file or summary");
	}
	return fields.status ? fields.status : result;
}

int report_reader_next(struct report_reader *report, struct file_record *file, struct error *error)
{
	int status;

	while ((status = read_line(report, error)) > 0) {
		struct error problem = { 0 };

		*file = (struct file_record){ 0 };
		json_decref(report->current);
		report->current = NULL;
		if (is_blank(report))
			continue;
		if (is_long_summary(report)) {
			report->saw_summary = true;
			continue;
		}
		status = read_record(report, file, &problem);
		if (status < 0 && report->torn && !report->current)
			return 0; /* incomplete, so not JSON */
		if (status < 0 && error)
			*error = problem;
		if (status)
			return status;
	}
	return status;
}

const char *report_reader_image(const struct report_reader *report)
{
	const struct report_reader_run *run = &report->run;

	return access(run->image_path, F_OK) && access(run->image_absolute, F_OK) == 0
		       ? run->image_absolute
		       : run->image_path;
}

int report_reader_check_image(const struct report_reader *report, const struct image *image,
	const char *path, struct error *error)
{
	uint64_t size = image_info(image)->size;

	if (size == report->run.image_size)
		return 0;
	return error_set(error, EXIT_USAGE, EINVAL,
		"%s holds %" PRIu64 " bytes, but the report is about an image of %" PRIu64
		" bytes; give the image that the report was made from",
		path, size, report->run.image_size);
}

bool report_reader_saw_summary(const struct report_reader *report)
{
	return report->saw_summary;
}

const json_t *report_reader_run_record(const struct report_reader *report)
{
	return report->first;
}

const json_t *report_reader_file_record(const struct report_reader *report)
{
	return report->current;
}

const json_t *report_reader_summary_record(const struct report_reader *report)
{
	return report->summary;
}

void report_reader_close(struct report_reader *report)
{
	if (!report)
		return;
	json_decref(report->current);
	json_decref(report->first);
	json_decref(report->summary);
	if (report->file)
		fclose(report->file);
	report_reader_file_free(&report->kept);
	free(report->line);
	free(report->name);
	free(report);
}
