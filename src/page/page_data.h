/* The files' rows, as the page reads them: script text, in parts of a few megabytes. */
#ifndef BURIN_PAGE_PAGE_DATA_H
#define BURIN_PAGE_PAGE_DATA_H

#include <jansson.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/record.h"

/* Zero-initialise but for dir_fd; page_data_free when done. */
struct page_data {
	int dir_fd;          /* the output folder */
	struct strbuf part;  /* the part that is being filled */
	unsigned part_count; /* that were written to files; 0: all rows are in part */
};

/* Adds a file's row. record: the file's as it stands in the report, for what struct file_record
 * does not hold. thumb: 'y', there is a small picture; 'f', it failed; 0. Returns 0 or a negative
 * errno with the error set. */
int page_data_add(struct page_data *data, const struct file_record *file, const json_t *record,
	char thumb, struct error *error);
/* Writes the last part to a file, if others were; removes what an older page has left. */
int page_data_finish(struct page_data *data, struct error *error);
void page_data_free(struct page_data *data);

/* Appends text as the inside of a script's string in double quotes: it can end neither the string
 * nor the script element. */
void page_data_script_text(struct strbuf *line, const char *text);

/* Makes a new file below the folder, over an older one. The caller closes *file; fclose tells
 * whether all was written. */
int page_data_create(int dir_fd, const char *path, FILE **file, struct error *error);
/* Closes it. */
int page_data_close(FILE *file, const char *path, struct error *error);

#endif
