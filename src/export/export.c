#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/exporter.h"

struct export
{
	const struct exporter *exporter;
	void *state;             /* &text, or a database's */
	struct text_export text; /* of the formats that are text */
	char *path;              /* NULL: stdout */
	uint64_t files, left_out;
};

/* THE TABLE, in the order of EXPORT_CHOICES. */
static const struct exporter *const exporters[] = { &csv_exporter, &sqlite_exporter,
	&bodyfile_exporter, &case_exporter };

static int open_text(struct export *export, struct error *error)
{
	export->state = &export->text;
	export->text.stream = export->path ? fopen(export->path, "wxe") : stdout;
	if (export->text.stream)
		return 0;
	return error_set(
		error, EXIT_IO, errno, "cannot create '%.500s': %s", export->path, strerror(errno));
}

static void free_export(struct export *export)
{
	strbuf_free(&export->text.line);
	strbuf_free(&export->text.key);
	free(export->text.folder);
	free(export->text.image);
	free(export->path);
	free(export);
}

int export_open(struct export **result, unsigned format, const char *path, struct error *error)
{
	struct export *export = xcalloc(1, sizeof(*export));
	int status;

	export->exporter = exporters[format];
	export->path = path ? xstrdup(path) : NULL;
	if (export->exporter->open && !path)
		status = error_set(error, EXIT_USAGE, EINVAL,
			"a database needs a file: name one with --output");
	else if (export->exporter->open)
		status = export->exporter->open(&export->state, path, error);
	else
		status = open_text(export, error);
	if (status) {
		free_export(export);
		return status;
	}
	*result = export;
	return 0;
}

static void note_run(struct export *export, const char *folder, const struct report_reader *report)
{
	free(export->text.folder);
	free(export->text.image);
	export->text.folder = text_clean_copy(folder);
	export->text.image = text_clean_copy(report_reader_run(report)->image_path);
}

static int add_files(struct export *export, struct report_reader *report, struct error *error)
{
	struct file_record file;
	int status;

	while ((status = report_reader_next(report, &file, error)) > 0) {
		status = export->exporter->file(export->state, &file, error);
		if (status < 0)
			return status;
		*(status ? &export->left_out : &export->files) += 1;
	}
	if (!status && export->exporter->run_end)
		status = export->exporter->run_end(export->state, report, error);
	return status;
}

int export_add_run(struct export *export, const char *folder, struct error *error)
{
	char *path = xasprintf("%s/report.jsonl", folder);
	struct report_reader *report;
	int status = report_reader_open(&report, AT_FDCWD, path, error);

	free(path);
	if (status)
		return status;
	note_run(export, folder, report);
	if (export->exporter->run)
		status = export->exporter->run(export->state, folder, report, error);
	if (!status)
		status = add_files(export, report, error);
	report_reader_close(report);
	return status;
}

void export_counts(const struct export *export, uint64_t *files, uint64_t *left_out)
{
	*files = export->files;
	*left_out = export->left_out;
}

static int close_text(struct export *export, bool keep, struct error *error)
{
	FILE *stream = export->text.stream;
	bool failed = ferror(stream) != 0;

	if (!export->path)
		return 0; /* the program checks stdout at its end */
	if (fclose(stream))
		failed = true;
	if (failed || !keep)
		unlink(export->path);
	return failed && keep ? error_set(error, EXIT_IO, EIO,
					"cannot write '%.500s': the disk is full or was removed",
					export->path)
			      : 0;
}

int export_close(struct export *export, bool keep, struct error *error)
{
	int status;

	if (keep && export->exporter->end)
		export->exporter->end(&export->text);
	status = export->exporter->close ? export->exporter->close(export->state, keep, error)
					 : close_text(export, keep, error);

	free_export(export);
	return status;
}
