/* A file of patterns, one a line, in place of rules: for measuring. */
#ifndef BURIN_PATTERNS_PATTERN_LIST_H
#define BURIN_PATTERNS_PATTERN_LIST_H

#include "patterns/pattern_set.h"

/* Adds the file's patterns to the set; empty lines are passed over. Returns 0 or a negative errno
 * with error set (EXIT_USAGE): it can't be read, holds none, or a line is no pattern. */
int pattern_list_read(struct pattern_set *set, const char *path, struct error *error);

#endif
