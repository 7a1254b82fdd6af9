/* Writes the files of runs in a form that other programs read: a table, a database, a timeline. */
#ifndef BURIN_EXPORT_EXPORT_H
#define BURIN_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The formats, in the order of the table in export.c. */
#define EXPORT_CHOICES "csv|sqlite|bodyfile|case"

struct export;

/* Begins an export of the format (an index into EXPORT_CHOICES) to a file: a new one, or for a database
 * also one with earlier runs. path NULL: stdout, which a database cannot be written to. Errors: EXIT_IO,
 * EXIT_USAGE. On success export_close must follow. */
int export_open(struct export **result, unsigned format, const char *path, struct error *error);
/* Adds the run in an output folder, by its report.jsonl. One file at a time is in memory. */
int export_add_run(struct export *result, const char *folder, struct error *error);
/* Files that were written; and those that the format has no place for (a timeline: without dates). */
void export_counts(const struct export *result, uint64_t *files, uint64_t *left_out);
/* Completes the file; or, unless `keep`, leaves it as it was before, a new one not there. Frees the
 * export whatever the result is. */
int export_close(struct export *result, bool keep, struct error *error);

#endif
