/* The files of a split raw image, by their names. */
#ifndef BURIN_EVIDENCE_SPLIT_H
#define BURIN_EVIDENCE_SPLIT_H

#include <stddef.h>

#include "base/error.h"

/* Finds the parts that follow path: image.001 image.002 ..., image.aa image.ab ... A file without a
 * later part is whole. paths: *count copies, path first; the caller frees them and the array.
 * Errors (EXIT_IO): path is a later part while the first exists; a part is missing in the middle.
 */
int split_find(const char *path, char ***paths, size_t *count, struct error *error);
/* The first part of the set of which path is a later one, by name; the caller frees it. NULL: it is not
 * a later part. */
char *split_first(const char *path);

#endif
