/* Writes the files that an earlier report lists, without scanning: a person or a program may have
 * filtered the report. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/report_reader.h"
#include "run/run.h"
#include "run/session.h"

static int no_image(struct session *session, const struct report_reader_run *old, int status)
{
	const struct error why = session->error;
	char *clean = text_clean_copy(*old->image_absolute ? old->image_absolute : old->image_path);

	error_set(&session->error, why.code, -status,
		"%.300s; the report is about %.1000s: if it is elsewhere now, name it after the "
		"report",
		why.text, clean);
	free(clean);
	return status;
}

static int open_image(struct session *session, const struct report_reader *report, bool given)
{
	int status = scope_open_image(&session->scope, session->image_path, &session->error);

	if (!status)
		return report_reader_check_image(
			report, session->scope.image, session->image_path, &session->error);
	return given || status != -ENOENT ? status
					  : no_image(session, report_reader_run(report), status);
}

/* Texts of the records that were read. */
struct kept {
	struct strpool names, paths;
};

static int add_file(
	struct carving *carving, bool no_times, struct kept *kept, const struct file_record *file)
{
	struct file_record copy = *file; /* its texts are valid only until the next is read */
	int status;

	copy.path = xstrdup(file->path);
	copy.type = strpool_keep(&kept->names, file->type);
	copy.kind = strpool_keep(&kept->names, file->kind);
	copy.extension = strpool_keep(&kept->names, file->extension);
	copy.known = file->known ? strpool_keep(&kept->names, file->known) : NULL;
	copy.alert = file->alert ? strpool_keep(&kept->names, file->alert) : NULL;
	copy.fs_path = file->fs_path ? strpool_add(&kept->paths, file->fs_path) : NULL;
	copy.file_time = no_times ? 0 : file_record_time(file);
	copy.runs = xcalloc(file->run_count, sizeof(*copy.runs));
	memcpy(copy.runs, file->runs, file->run_count * sizeof(*copy.runs));
	status = carving_add_record(carving, &copy);
	free(copy.path);
	free(copy.runs);
	return status;
}

static int add_files(struct session *session, struct report_reader *report, struct kept *kept)
{
	struct file_record file;
	uint64_t reached = 0;
	int status = 0;

	while (!status && !signals_caught()) {
		status = report_reader_next(report, &file, &session->error);
		if (status <= 0)
			return status;
		/* How many files will come is not known, but most reports go through the image
		 * once. */
		if (file.offset > reached)
			reached = file.offset;
		status = add_file(session->carving, session->options->style.no_times, kept, &file);
		session->summary.scanned += file.length;
		progress_update(session->progress, reached);
	}
	return status;
}

static int extract(struct session *session, struct report_reader *report, struct kept *kept)
{
	int status = add_files(session, report, kept);

	if (!status && !signals_caught())
		status = carving_finish(session->carving);
	if (!status && !signals_caught()) {
		progress_update(session->progress, image_info(session->scope.image)->size);
		return 0;
	}
	carving_cancel(session->carving);
	if (!session->error.code)
		session->error = *carving_error(session->carving);
	return status;
}

static int set_up(
	struct session *session, const struct report_reader *report, const char *output, bool given)
{
	int status = open_image(session, report, given);

	if (!status)
		status = session_open_pool(session, session->options->threads);
	if (!status)
		status = session_open_output(session, output);
	if (status)
		return status;
	session_fill_record(session, report_reader_run(report)->image_size);
	status = session_open_report(session);
	if (!status)
		session_start_carving(session, NULL, NULL);
	return status;
}

int run_extract(const struct run_options *given, const char *report_path, const char *image_path,
	const char *output, struct run_sums *sums)
{
	struct rules rules = { .format = RULES_BURIN };
	struct run_options options = *given;
	struct report_reader *report = NULL;
	struct kept kept = { 0 };
	struct session session;
	int status, code;

	options.rules = &rules;
	session_init(&session, &options, image_path ? image_path : report_path);
	status = report_reader_open(&report, AT_FDCWD, report_path, &session.error);
	if (!status) {
		const struct report_reader_run *old = report_reader_run(report);

		if (!image_path)
			session.image_path = report_reader_image(report);
		rules.path = (char *)old->rules_path;
		memcpy(rules.sha256, old->rules_sha256, strnlen(old->rules_sha256, 64));
		status = set_up(&session, report, output, image_path != NULL);
	}
	if (!status)
		status = extract(&session, report, &kept);
	code = session_report(&session);
	if (sums)
		session_sums(&session, sums);
	session_close(&session);
	report_reader_close(report);
	strpool_free(&kept.names);
	strpool_free(&kept.paths);
	return status && code == EXIT_CLEAN ? EXIT_IO : code;
}
