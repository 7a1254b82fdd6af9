/* What the files of libburin share. */
#ifndef BURIN_LIBRARY_LIBRARY_H
#define BURIN_LIBRARY_LIBRARY_H

#include "base/error.h"
#include "base/log.h"
#include "export/exporter.h"
#include "library/burin.h"

/* What must be so before anything else is called: whatever creates an object calls it first. */
void library_begin(void);

/* Copies the error (burin: NULL: nobody wants it) and returns its code. */
int library_error(struct burin_error *burin, const struct error *error);

/* Where the program's messages go; NULL: nowhere, as at first. After that nothing calls the one before. */
void library_hear(void (*hear)(enum log_level level, const char *text));

struct image *library_image(struct burin_image *image);

struct burin_file {
	const struct file_record *record;
	struct export_row row; /* empty until a column is asked for; numbers have texts, too */
	struct strbuf json;    /* empty until it is asked for */
};

/* From now on it is about this record. */
void library_file_set(struct burin_file *file, const struct file_record *record);
void library_file_clear(struct burin_file *file);

#endif
