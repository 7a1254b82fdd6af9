/* The files of a report, as they are read from the evidence, and their places in a tree. */
#ifndef BURIN_MOUNT_FILES_H
#define BURIN_MOUNT_FILES_H

#include "evidence/image.h"
#include "mount/tree.h"
#include "report/report_reader.h"

struct mounted_file {
	uint64_t length;
	struct range *runs; /* in file order, all inside the image */
	uint32_t run_count;
	int64_t times[FS_TIME_COUNT]; /* seconds since 1970 UTC; 0: not known */
	char *facts;                  /* "name\0value\0name\0value\0" */
	size_t facts_len;
};

struct files {
	struct mounted_file *items;
	size_t count, capacity;
	uint64_t bytes;
	struct tree *tree; /* type/, path/ and date/ */
};

/* Reads all of a report. Zero-initialise; files_free when done, whatever the result. */
int files_read(struct files *files, struct report_reader *report, struct error *error);
void files_free(struct files *files);

#endif
