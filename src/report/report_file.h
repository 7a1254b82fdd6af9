/* A report file that is written in whole records, and keeps in memory what does not fit on a full
 * disk. */
#ifndef BURIN_REPORT_REPORT_FILE_H
#define BURIN_REPORT_REPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "output/output_dir.h"

struct report_file;

/* Creates the file (name: in the folder itself) and reserves its name. The output_dir must outlive
 * the result. */
int report_file_open(struct report_file **file, struct output_dir *output_dir, const char *name,
	struct error *error);

/* Opens the file of an earlier run, of which the first len bytes are to be kept, without changing it.
 * -EBADMSG when it is shorter. */
int report_file_reopen(struct report_file **file, struct output_dir *output_dir, const char *name,
	uint64_t len, struct error *error);

/* Cuts off the rest of a file that was opened again. It must not be flushed before. */
int report_file_cut(struct report_file *file, struct error *error);

/* It was renamed: for messages. */
void report_file_set_name(struct report_file *file, const char *name);

/* Where to write; writing never fails before report_file_flush. */
FILE *report_file_stream(struct report_file *file);

/* To be called after each record. Writes what is buffered when it is over 256 KiB, when the last
 * write is a second ago, or when now is set. What could not be written is kept for the next call.
 * Returns 0 or a negative errno, worded in error. */
int report_file_flush(struct report_file *file, bool now, struct error *error);

/* Drops what has not been written yet. */
void report_file_forget(struct report_file *file);

/* The file's length in bytes, and the offset of text within its first 4 KiB: -ENOENT when it is not
 * there. Call report_file_flush before. */
uint64_t report_file_len(const struct report_file *file);
int64_t report_file_find(const struct report_file *file, const char *text);

/* Overwrites the bytes at that offset with text. Returns 0 or a negative errno, worded in error. */
int report_file_put_at(
	struct report_file *file, uint64_t place, const char *text, struct error *error);

/* Writes the rest and frees the struct. Returns 0 or a negative errno, worded in error. */
int report_file_close(struct report_file *file, struct error *error);

#endif
