/* The segment files of an EWF set, by their names. */
#ifndef BURIN_EVIDENCE_E01_NAMES_H
#define BURIN_EVIDENCE_E01_NAMES_H

#include <stddef.h>

/* Finds the files whose names make them segments of one set with path: disk.E01 ... disk.E99,
 * disk.EAA ... disk.ZZZ (or .s01 ..., in either case), in that order. Those after a gap in the
 * names belong to it only if they are segments with the number that their name has. A file with any
 * other name is a set by itself. paths: *count copies, which the caller frees with the array. */
void e01_find_names(const char *path, char ***paths, size_t *count);
/* The path of the first segment, which exists, if path has the name of a later one; the caller frees
 * it. NULL: it has not. */
char *e01_first_name(const char *path);

#endif
