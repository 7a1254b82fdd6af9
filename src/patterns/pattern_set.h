/* All patterns of a rule set, each once: engines are built from these. */
#ifndef BURIN_PATTERNS_PATTERN_SET_H
#define BURIN_PATTERNS_PATTERN_SET_H

#include "patterns/pattern.h"

/* Immutable once built and shared by all threads without a lock. */
struct pattern_set {
	struct pattern *patterns; /* the index of a pattern is its id in hits */
	uint32_t count, capacity;
	uint32_t longest;            /* the largest len, bytes */
	struct pattern_index *index; /* finds identical patterns as the set is built */
};

/* Adds a pattern, or finds an identical one in the set; takes over *pattern either way. Returns its
 * index. */
uint32_t pattern_set_add(struct pattern_set *set, struct pattern *pattern);

/* Adds the patterns of a file, one a line; empty lines are ignored. Benchmarks use this in place of
 * rules. Returns 0 or a negative errno with error set (EXIT_USAGE): the file can't be read, holds
 * no patterns, or a line is not a pattern. */
int pattern_set_read(struct pattern_set *set, const char *path, struct error *error);

void pattern_set_free(struct pattern_set *set);

#endif
