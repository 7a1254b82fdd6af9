/*
 * The output folder. It must be new or empty. Every file is created exclusively and nothing is ever written outside of it.
 */
#ifndef BURIN_OUTPUT_SINK_H
#define BURIN_OUTPUT_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct sink;

/* Creates the folder (and missing parents), or takes an empty one, and locks it against a second run (an flock'd file descriptor of the
 * folder itself). Errors (EXIT_IO) name the path and what to do. */
int sink_open(struct sink **sink, const char *path, struct error *error);
const char *sink_path(const struct sink *sink);  /* absolute */
int sink_dir_fd(const struct sink *sink);

/* Makes up the path of a carved file, relative to the folder: TYPE/OFFSET.EXT, TYPE being the rule's name; from the 10,001st file of a type
 * on TYPE.2/, then TYPE.3/ ...; a second file of the same type, offset and extension gets -2, -3. digits: width of OFFSET.
 * Serial, in the order of the report. Calls with the same sequence give the same names. The caller frees the result. */
char *sink_name(struct sink *sink, const char *type, uint64_t offset, const char *extension,
	unsigned digits);

/* Creates a file for writing (O_EXCL), with its folders. Thread-safe. Returns a descriptor or a negative errno. */
int sink_create(struct sink *sink, const char *name, struct error *error);
/* The same as a stream, for reports. NULL with error set. */
FILE *sink_create_stream(struct sink *sink, const char *name, struct error *error);
/* Takes back a file that could not be completed. Thread-safe. */
void sink_remove(struct sink *sink, const char *name);
/* An unlinked temporary file in the folder, for spilling. A descriptor or a negative errno. */
int sink_temporary(struct sink *sink, struct error *error);

/* NULL is fine. */
void sink_close(struct sink *sink);

#endif
