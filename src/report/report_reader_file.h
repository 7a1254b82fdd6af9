/* A file's record out of the JSON of a report that nobody vouches for. */
#ifndef BURIN_REPORT_REPORT_READER_FILE_H
#define BURIN_REPORT_REPORT_READER_FILE_H

#include "report/json_fields.h"
#include "report/report_reader.h"

/* What the record that was fetched last points to. Zero-initialise; report_reader_file_free when done. */
struct report_reader_file {
	char *path;
	struct range *runs;
	size_t run_capacity;
};

/* Fills in file, which is zero before, and is good until the next call, or until fields' object is
 * freed. run: of the report, whose image no file may leave. A failure is fields' status. */
void report_reader_file_fetch(struct report_reader_file *kept, struct json_fields *fields,
	const struct report_reader_run *run, struct file_record *file);
void report_reader_file_free(struct report_reader_file *kept);

#endif
