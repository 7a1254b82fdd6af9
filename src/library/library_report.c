/* Reports, and the files in them. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/image_extents.h"
#include "library/library.h"
#include "report/jsonl.h"

/* ---- files --------------------------------------------------------------------------------- */

void library_file_clear(struct burin_file *file)
{
	export_row_clear(&file->row);
	strbuf_free(&file->json);
	*file = (struct burin_file){ 0 };
}

void library_file_set(struct burin_file *file, const struct file_record *record)
{
	library_file_clear(file);
	file->record = record;
}

uint64_t burin_file_offset(struct burin_file *file)
{
	return file->record->offset;
}

uint64_t burin_file_length(struct burin_file *file)
{
	return file->record->length;
}

static void fill_row(struct export_row *row, const struct file_record *record)
{
	export_row_fill(row, record);
	for (size_t i = 0; i < row->count; i++) {
		struct export_cell *cell = &row->cells[i];

		if (cell->is_number && !cell->is_null)
			cell->text = row->texts[row->text_count++] =
				xasprintf("%" PRIu64, cell->number);
	}
}

const char *burin_file_get(struct burin_file *file, const char *column)
{
	if (!file->row.count)
		fill_row(&file->row, file->record);
	for (size_t i = 0; i < file->row.count; i++)
		if (strcmp(file->row.cells[i].name, column) == 0)
			return file->row.cells[i].text;
	return NULL;
}

size_t burin_file_extent_count(struct burin_file *file)
{
	return file->record->run_count;
}

void burin_file_extent(struct burin_file *file, size_t index, uint64_t *offset, uint64_t *length)
{
	*offset = file->record->runs[index].offset;
	*length = file->record->runs[index].length;
}

const char *burin_file_json(struct burin_file *file)
{
	if (!file->json.len) {
		jsonl_line_file(&file->json, "record", NULL, file->record);
		file->json.bytes[file->json.len - 1] = '\0'; /* the line feed */
	}
	return file->json.bytes;
}

int64_t burin_file_read(struct burin_file *file, struct burin_image *image, uint64_t offset,
	void *buffer, size_t len, struct burin_error *burin)
{
	const struct file_record *record = file->record;
	int64_t done = image_read_extents(
		library_image(image), record->runs, record->run_count, offset, buffer, len, false);
	struct error error = { 0 };

	if (done >= 0)
		return done;
	error_set(&error, EXIT_IO, (int)-done,
		"%.800s: cannot read %zu bytes at %" PRIu64 " of the file: %s", record->path, len,
		offset, strerror((int)-done));
	library_error(burin, &error);
	return -1;
}

/* ---- reports ------------------------------------------------------------------------------- */

struct burin_report {
	struct report_reader *reader;
	char *run_json;
	struct file_record record;
	struct burin_file file;
};

int burin_report_open(struct burin_report **report, const char *path, struct burin_error *burin)
{
	struct report_reader *reader;
	struct error error = { 0 };
	char *found;
	int status;

	library_begin();
	found = report_reader_path(path);
	status = report_reader_open(&reader, AT_FDCWD, found, &error);
	free(found);
	if (status)
		return library_error(burin, &error);
	*report = xcalloc(1, sizeof(**report));
	(*report)->reader = reader;
	(*report)->run_json = json_dumps(report_reader_run_record(reader), JSON_COMPACT);
	return BURIN_CLEAN;
}

const char *burin_report_run_json(const struct burin_report *report)
{
	return report->run_json;
}

const char *burin_report_image(const struct burin_report *report)
{
	return report_reader_image(report->reader);
}

int burin_report_next(
	struct burin_report *report, struct burin_file **file, struct burin_error *burin)
{
	struct error error = { 0 };
	int status = report_reader_next(report->reader, &report->record, &error);

	*file = NULL;
	if (status < 0)
		return library_error(burin, &error);
	if (status) {
		library_file_set(&report->file, &report->record);
		*file = &report->file;
	}
	return BURIN_CLEAN;
}

void burin_report_close(struct burin_report *report)
{
	if (!report)
		return;
	library_file_clear(&report->file);
	report_reader_close(report->reader);
	free(report->run_json);
	free(report);
}
