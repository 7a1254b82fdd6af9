/* A file's record out of the JSON of a report that nobody vouches for. */
#ifndef BURIN_REPORT_REPORT_READER_FILE_H
#define BURIN_REPORT_REPORT_READER_FILE_H

#include "report/json_get.h"
#include "report/report_reader.h"

/* What the record that was fetched last points to. Zero-initialise; reread_file_free when done. */
struct reread_file {
	char *path;
	struct range *runs;
	size_t run_capacity;
};

/* Fills in file, which is zero before, and is good until the next call, or until fields' object is
 * freed. run: of the report, whose image no file may leave. A failure is fields' status. */
void reread_file_fetch(struct reread_file *kept, struct fields *fields,
	const struct reread_run *run, struct file_record *file);
void reread_file_free(struct reread_file *kept);

#endif
