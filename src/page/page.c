/*
 * The report is read once, from the first to the last line, and a row is written for each file; the
 * page itself comes last and replaces an older one, so that an existing page is complete.
 */
#include "page/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/version.h"
#include "page/alike.h"
#include "page/page_data.h"
#include "page/page_map.h"
#include "page/page_text.h"
#include "page/previews.h"
#include "report/report.h"
#include "report/report_reader.h"
#include "page/thumbs.h"

struct page {
	struct page_data data;
	struct thumbs *thumbs;
	struct previews *previews;
	struct alike *alike;
	struct page_counts *counts;
};

/* ---- rows ---------------------------------------------------------------------------------- */

static int add_file(struct page *page, const struct file_record *file, const json_t *record,
	struct error *error)
{
	uint64_t number = ++page->counts->files;
	struct thumb thumb = thumbs_make(page->thumbs, file, number);
	int preview = previews_add(page->previews, file, number, error);

	if (!thumbs_wants(file))
		alike_add(page->alike, file, number);
	return preview < 0 ? preview
			   : page_data_add(&page->data, file, record, &thumb, preview, error);
}

static int add_files(struct page *page, struct report_reader *report, struct error *error)
{
	struct file_record file;
	int status;

	while ((status = report_reader_next(report, &file, error)) > 0) {
		status = add_file(page, &file, report_reader_file_record(report), error);
		if (status)
			return status;
	}
	if (!status)
		status = previews_finish(page->previews, error);
	return status ? status : page_data_finish(&page->data, error);
}

/* ---- the page ------------------------------------------------------------------------------ */

/* Adds a record as a string of the script, which the page parses; the run's is also what the page
 * exports when files are selected for `burin extract`, with every digit of its numbers. */
static int add_record(struct strbuf *line, const json_t *record)
{
	char *text = record ? json_dumps(record, JSON_COMPACT) : strdup("null");

	if (!text)
		return -ENOMEM;
	strbuf_text(line, "\"");
	page_data_script_text(line, text);
	strbuf_text(line, "\"");
	free(text);
	return 0;
}

static json_t *made_object(const struct page *page, const struct report_reader *report)
{
	const struct page_counts *counts = page->counts;
	json_t *object = json_object();

	json_object_set_new(object, "burin", json_string(burin_version));
	json_object_set_new(object, "whole", json_boolean(report_reader_saw_summary(report)));
	json_object_set_new(object, "thumbs", json_integer((json_int_t)counts->thumbs));
	json_object_set_new(
		object, "failed_thumbs", json_integer((json_int_t)counts->failed_thumbs));
	if (counts->no_pictures)
		json_object_set_new(object, "no_pictures", json_string(counts->no_pictures));
	if (counts->no_films)
		json_object_set_new(object, "no_films", json_string(counts->no_films));
	if (counts->not_alike)
		json_object_set_new(object, "not_alike", json_string(counts->not_alike));
	return object;
}

/* burin.begin("run", "summary", "made"); and the content map. */
static int make_begin(
	struct strbuf *line, const struct page *page, const struct report_reader *report)
{
	json_t *made = made_object(page, report);
	int status;

	strbuf_text(line, "burin.begin(");
	status = add_record(line, report_reader_run_record(report));
	strbuf_text(line, ", ");
	if (!status)
		status = add_record(line, report_reader_summary_record(report));
	strbuf_text(line, ", ");
	if (!status)
		status = add_record(line, made);
	strbuf_text(line, ");\nburin.alikeFiles(\"");
	alike_write(page->alike, line);
	strbuf_text(line, "\");\n");
	page_map_add(line, page->data.dir_fd, report_reader_run(report)->image_size);
	json_decref(made);
	return status;
}

static int write_page(struct page *page, const struct report_reader *report, struct error *error)
{
	struct strbuf begin = { 0 };
	FILE *file;
	int status = make_begin(&begin, page, report);

	if (status)
		error_set(error, EXIT_IO, -status, "out of memory for the page");
	else
		status = page_data_create(page->data.dir_fd, PAGE_NAME, &file, error);
	if (!status) {
		page_text_write(file, &page->data, &begin);
		status = page_data_close(file, PAGE_NAME, error);
	}
	strbuf_free(&begin);
	return status;
}

static int write_all(struct page *page, const char *folder, const char *clean,
	const struct page_options *options, struct error *error)
{
	struct report_reader *report;
	int status =
		report_reader_open(&report, page->data.dir_fd, jsonl_reporter.file_name, error);

	if (status == -ENOENT)
		return error_set(error, EXIT_IO, ENOENT,
			"'%s' holds no %s: it is not an output folder of burin", clean,
			jsonl_reporter.file_name);
	if (status)
		return status;
	page->thumbs = thumbs_open(page->data.dir_fd, folder, options->thumbs);
	page->previews = previews_open(page->data.dir_fd, options->previews);
	page->alike = alike_open(page->data.dir_fd, options->alike);
	page->counts->not_alike = options->alike ? alike_lacks() : NULL;
	status = add_files(page, report, error);
	thumbs_close(page->thumbs, page->counts);
	previews_close(page->previews);
	if (!status)
		status = write_page(page, report, error);
	alike_close(page->alike);
	report_reader_close(report);
	return status;
}

int page_write(const char *folder, const struct page_options *options, struct page_counts *counts,
	struct error *error)
{
	struct page page = { .counts = counts };
	char *clean = text_clean_copy(folder);
	int status;

	*counts = (struct page_counts){ 0 };
	page.data.dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (page.data.dir_fd < 0) {
		status = error_set(error, EXIT_IO, errno, "cannot open the folder '%s': %s", clean,
			strerror(errno));
	} else {
		status = write_all(&page, folder, clean, options, error);
		page_data_free(&page.data);
		close(page.data.dir_fd);
	}
	free(clean);
	return status;
}
