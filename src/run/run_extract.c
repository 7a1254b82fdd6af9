/* Writes the files that an earlier report lists, without scanning: the report may have been
 * filtered, by a person or a program. */
#include "run/run_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "report/report_reader.h"

static int open_image(struct run *run, const struct report_reader_run *old, const char *path)
{
	int status = image_open(&run->evidence, path, &run->error);

	if (status)
		return status;
	run->image = run->evidence;
	if (image_info(run->image)->size == old->image_size)
		return 0;
	return error_set(&run->error, EXIT_USAGE, EINVAL,
		"%s holds %" PRIu64 " bytes, but the report is of an image of %" PRIu64
		" bytes; give the image that the report was made from",
		path, image_info(run->image)->size, old->image_size);
}

/* The texts of the records that were read. */
struct kept {
	struct strpool names, paths;
};

static int add_file(struct run *run, struct kept *kept, const struct file_record *file)
{
	struct file_record copy = *file; /* its texts live only until the next record is read */
	int status;

	copy.path = xstrdup(file->path);
	copy.type = strpool_keep(&kept->names, file->type);
	copy.extension = strpool_keep(&kept->names, file->extension);
	copy.known = file->known ? strpool_keep(&kept->names, file->known) : NULL;
	copy.alert = file->alert ? strpool_keep(&kept->names, file->alert) : NULL;
	copy.fs_path = file->fs_path ? strpool_add(&kept->paths, file->fs_path) : NULL;
	copy.runs = xcalloc(file->run_count, sizeof(*copy.runs));
	memcpy(copy.runs, file->runs, file->run_count * sizeof(*copy.runs));
	status = carving_add_record(run->carving, &copy);
	free(copy.path);
	free(copy.runs);
	return status;
}

static int add_files(struct run *run, struct report_reader *report, struct kept *kept)
{
	struct file_record file;
	uint64_t reached = 0;
	int status = 0;

	while (!status && !run_caught_signal()) {
		status = report_reader_next(report, &file, &run->error);
		if (status <= 0)
			return status;
		/* Nobody has counted the files, but most reports go through the image once. */
		if (file.offset > reached)
			reached = file.offset;
		status = add_file(run, kept, &file);
		run->summary.scanned += file.length;
		progress_update(run->progress, reached);
	}
	return status;
}

static int extract(struct run *run, struct report_reader *report, struct kept *kept)
{
	int status = add_files(run, report, kept);

	if (!status && !run_caught_signal())
		status = carving_finish(run->carving);
	if (!status && !run_caught_signal()) {
		progress_update(run->progress, image_info(run->image)->size);
		return 0;
	}
	carving_cancel(run->carving);
	if (!run->error.code)
		run->error = *carving_error(run->carving);
	return status;
}

int run_extract(const struct run_options *given, const char *report_path, const char *image_path,
	const char *output, struct run_sums *sums)
{
	struct rules rules = { .format = RULES_BURIN };
	struct run_options options = *given;
	struct run run = { .options = &options, .started = clock_seconds() };
	struct report_reader *report = NULL;
	struct kept kept = { 0 };
	int status = report_reader_open(&report, AT_FDCWD, report_path, &run.error);
	int code;

	options.rules = &rules;
	if (!status) {
		const struct report_reader_run *old = report_reader_run(report);

		if (!image_path)
			image_path = old->image_path;
		rules.path = (char *)old->rules_path;
		memcpy(rules.sha256, old->rules_sha256, strnlen(old->rules_sha256, 64));
		if (!(status = open_image(&run, old, image_path)) &&
			!(status = run_open_pool(&run)) &&
			!(status = run_open_output(&run, output)))
			status = run_start_report(&run, image_path, image_info(run.image)->size);
	}
	if (!status) {
		run_start_carving(&run);
		status = extract(&run, report, &kept);
	}
	code = run_end(&run, image_path ? image_path : report_path, sums);
	report_reader_close(report);
	strpool_free(&kept.names);
	strpool_free(&kept.paths);
	return status && code == EXIT_CLEAN ? EXIT_IO : code;
}
