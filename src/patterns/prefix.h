/*
 * Searching for a regex by bytes. Every match of a regex begins with bytes of which some bits are
 * certain; where these make up three bytes, they are a pattern with a mask that finds all places at
 * which the regex can match, and the regex itself is tried there.
 */
#ifndef BURIN_PATTERNS_PREFIX_H
#define BURIN_PATTERNS_PREFIX_H

#include "patterns/pattern_set.h"

/* A set of patterns without regexes, with the same indices as the one it was made from; patterns
 * that are not regexes are shared with it. */
struct prefix_set {
	struct pattern_set set;
	bool any_regex;
};

/* Makes the pattern to search for in place of a regex. False when too little is certain; else
 * pattern_free when done. */
bool prefix_pattern_make(struct pattern *made, const struct pattern *pattern);

/* -EINVAL with the reason when a regex has no three bytes at a fixed distance from its start. */
int prefix_set_make(
	struct prefix_set *prefixes, const struct pattern_set *set, struct error *error);
void prefix_set_free(struct prefix_set *prefixes, const struct pattern_set *set);

#endif
