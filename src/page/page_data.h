/* The files' rows, as the page reads them: script text, in parts of a few megabytes. */
#ifndef BURIN_PAGE_PAGE_DATA_H
#define BURIN_PAGE_PAGE_DATA_H

#include <jansson.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "page/thumbs.h"
#include "report/record.h"

/* Zero-initialise except dir_fd; page_data_free when done. */
struct page_data {
	int dir_fd;          /* the output folder */
	struct strbuf part;  /* the part that is being filled */
	unsigned part_count; /* written to files; 0: all rows are in part */
};

/* Adds a file's row. record: the file's record from the report, for what struct file_record lacks.
 * preview: it has one. Returns 0 or a negative errno with error set. */
int page_data_add(struct page_data *data, const struct file_record *file, const json_t *record,
	const struct thumb *thumb, bool preview, struct error *error);
/* Writes the last part to a file, if others were; removes what an older page has left. */
int page_data_finish(struct page_data *data, struct error *error);
void page_data_free(struct page_data *data);

/* Appends text as the inside of a script's string in double quotes: it can end neither the string
 * nor the script element. */
void page_data_script_text(struct strbuf *line, const char *text);

/* Removes what an older page has left in that folder of its own: files called p, a number, and the suffix. */
void page_data_remove(int dir_fd, const char *folder, const char *suffix);

/* Creates a file below the folder, replacing an older one. The caller closes *file with
 * page_data_close. */
int page_data_create(int dir_fd, const char *path, FILE **file, struct error *error);
/* Closes it. An error when not all was written. */
int page_data_close(FILE *file, const char *path, struct error *error);

#endif
