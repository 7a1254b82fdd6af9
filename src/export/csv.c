/* A table as RFC 4180 has it, as the page writes it, too: in UTF-8, with the columns' names first. */
#include <string.h>

#include "export/exporter.h"

static void add_cell(struct strbuf *line, const char *text)
{
	strbuf_text(line, line->len ? ",\"" : "\"");
	if (*text && strchr("=+-@\t\r", *text))
		strbuf_text(line, "'"); /* a spreadsheet would take it for a formula */
	for (; *text; text++)
		strbuf_bytes(line, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	strbuf_text(line, "\"");
}

static void add_number(struct strbuf *line, uint64_t number)
{
	strbuf_text(line, ",");
	strbuf_number(line, number);
}

static void add_head(struct strbuf *line)
{
	const struct file_record none = { 0 };
	struct export_row row = { 0 };

	export_row_fill(&row, &none);
	strbuf_text(line, "run,image");
	for (size_t i = 0; i < row.count; i++)
		strbuf_print(line, ",%s", row.cells[i].name);
	strbuf_text(line, ",runs\r\n");
	export_row_clear(&row);
}

static int csv_run(
	void *state, const char *folder, const struct report_reader *report, struct error *error)
{
	struct text_export *csv = state;

	(void)folder, (void)report, (void)error;
	if (!csv->begun) {
		add_head(&csv->line);
		strbuf_write(&csv->line, csv->stream);
	}
	csv->begun = true;
	return 0;
}

/* Its extents in the image, in its order: "4096+512 16384+100". */
static void add_runs(struct strbuf *line, const struct file_record *file)
{
	for (uint32_t i = 0; i < file->run_count; i++) {
		strbuf_text(line, i ? " " : ",");
		strbuf_number(line, file->runs[i].offset);
		strbuf_text(line, "+");
		strbuf_number(line, file->runs[i].length);
	}
}

static int csv_file(void *state, const struct file_record *file, struct error *error)
{
	struct text_export *csv = state;
	struct export_row row = { 0 };

	(void)error;
	export_row_fill(&row, file);
	add_cell(&csv->line, csv->folder);
	add_cell(&csv->line, csv->image);
	for (size_t i = 0; i < row.count; i++) {
		const struct export_cell *cell = &row.cells[i];

		if (cell->is_null)
			strbuf_text(&csv->line, ",");
		else if (cell->is_number)
			add_number(&csv->line, cell->number);
		else
			add_cell(&csv->line, cell->text);
	}
	add_runs(&csv->line, file);
	strbuf_text(&csv->line, "\r\n");
	strbuf_write(&csv->line, csv->stream);
	export_row_clear(&row);
	return 0;
}

const struct exporter csv_exporter = { .run = csv_run, .file = csv_file };
