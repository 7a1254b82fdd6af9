/* A file's record from the JSON of an untrusted report. */
#ifndef BURIN_REPORT_REPORT_READER_FILE_H
#define BURIN_REPORT_REPORT_READER_FILE_H

#include "report/json_fields.h"
#include "report/report_reader.h"

/* What the last fetched record points to. Zero-initialise; report_reader_file_free when done. */
struct report_reader_file {
	char *path;
	struct range *runs;
	size_t run_capacity;
};

/* Fills in file, which is zero before, and is valid until the next call, or until fields' object is
 * freed. run: of the report; no file may exceed its image. A failure is in fields' status. */
void report_reader_file_fetch(struct report_reader_file *kept, struct json_fields *fields,
	const struct report_reader_run *run, struct file_record *file);
void report_reader_file_free(struct report_reader_file *kept);

#endif
