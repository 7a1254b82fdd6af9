/* All patterns of a set of rules, each once: what engines are made for. */
#ifndef BURIN_PATTERNS_PATTERN_SET_H
#define BURIN_PATTERNS_PATTERN_SET_H

#include "patterns/pattern.h"

/* Immutable once built and shared by all threads without a lock. */
struct pattern_set {
	struct pattern *patterns; /* the index of a pattern is its id in hits */
	uint32_t count, capacity;
	uint32_t longest;            /* the largest len, bytes */
	struct pattern_index *index; /* finds identical patterns while the set is built */
};

/* Adds a pattern, or finds the identical one that is there already; takes over *pattern either way.
 * Returns its index. */
uint32_t pattern_set_add(struct pattern_set *set, struct pattern *pattern);
void pattern_set_free(struct pattern_set *set);

#endif
