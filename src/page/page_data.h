/* The files' rows, as the page reads them: script text, in parts of a few megabytes. */
#ifndef BURIN_PAGE_PAGE_DATA_H
#define BURIN_PAGE_PAGE_DATA_H

#include <jansson.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/record.h"

/* Zero-initialise but for dir_fd; html_data_free when done. */
struct html_data {
	int dir_fd;          /* the output folder */
	struct line part;    /* the part that is being filled */
	unsigned part_count; /* that were written to files; 0: all rows are in part */
};

/* Adds a file's row. record: the file's as it stands in the report, for what struct file_record
 * does not hold. thumb: 'y', there is a small picture; 'f', it failed; 0. Returns 0 or a negative
 * errno with the error set. */
int html_data_add(struct html_data *data, const struct file_record *file, const json_t *record,
	char thumb, struct error *error);
/* Writes the last part to a file, if others were; removes what an older page has left. */
int html_data_finish(struct html_data *data, struct error *error);
void html_data_free(struct html_data *data);

/* Appends text as the inside of a script's string in double quotes: it can end neither the string
 * nor the script element. */
void html_data_script_text(struct line *line, const char *text);

/* Makes a new file below the folder, over an older one. The caller closes *file; fclose tells
 * whether all was written. */
int html_data_create(int dir_fd, const char *path, FILE **file, struct error *error);
/* Closes it. */
int html_data_close(FILE *file, const char *path, struct error *error);

#endif
