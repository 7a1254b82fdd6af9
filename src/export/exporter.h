/* What a format of export provides, and what formats share. */
#ifndef BURIN_EXPORT_EXPORTER_H
#define BURIN_EXPORT_EXPORTER_H

#include <stdio.h>

#include "base/strbuf.h"
#include "report/report_reader.h"

struct text_export;

/* csv.c, bodyfile.c, case_uco.c and database.c each define one. All return 0 or a negative errno with error set. */
struct exporter {
	/* Of a database, which opens path by itself; NULL: state is a struct text_export. */
	int (*open)(void **state, const char *path, struct error *error);
	/* Before the first file of a run; NULL: nothing to do. */
	int (*run)(void *state, const char *folder, const struct report_reader *report,
		struct error *error);
	/* Returns 1 when the format has no place for the file. */
	int (*file)(void *state, const struct file_record *file, struct error *error);
	/* After the last file of a run; NULL: nothing to do. */
	int (*run_end)(void *state, const struct report_reader *report, struct error *error);
	/* Ends what open began, and frees state. */
	int (*close)(void *state, bool keep, struct error *error);
	/* Of lines of text: what comes after the last run; NULL: nothing. */
	void (*end)(struct text_export *text);
};

extern const struct exporter csv_exporter, bodyfile_exporter, case_exporter, sqlite_exporter;

/* State of the formats that are lines of text: zeroed by export.c, but for the stream. */
struct text_export {
	FILE *stream;
	struct strbuf line;
	char *folder, *image; /* of the run, cleaned */
	bool begun;           /* a head was written */
	struct strbuf key;    /* for CASE: what identifies the run */
	uint64_t number;      /* for CASE: of the next file in the run */
};

/* ---- the columns ---- */

/* A cell is a text or a number. One that is not known is a null, but has a kind all the same. */
struct export_cell {
	const char *name; /* of the column */
	bool is_number, is_null;
	const char *text; /* clean UTF-8 */
	uint64_t number;
};

#define EXPORT_CELLS_MAX 40

struct export_row {
	struct export_cell cells[EXPORT_CELLS_MAX];
	size_t count;
	char *texts[EXPORT_CELLS_MAX]; /* that were made for it */
	size_t text_count;
};

/* Fills a zero-initialised row with what is known of a file; export_row_clear empties it again. Every
 * file has the same columns, an empty record, too. */
void export_row_fill(struct export_row *row, const struct file_record *file);
void export_row_clear(struct export_row *row);

#endif
