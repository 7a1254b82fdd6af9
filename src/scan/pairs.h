/*
 * Finds byte patterns by two of their bytes: a table lists for each of the 65,536 pairs the patterns
 * that it may belong to. It takes any mask, and the table is made at once; the text is read byte by
 * byte.
 */
#ifndef BURIN_SCAN_PAIRS_H
#define BURIN_SCAN_PAIRS_H

#include "scan/matcher.h"

struct pairs;

/* ids: count indexes of patterns of the set that are not regexes; the set must outlive the result.
 * Never fails. */
struct pairs *pairs_new(const struct pattern_set *set, const uint32_t *ids, uint32_t count);
/* NULL is fine. */
void pairs_free(struct pairs *pairs);

/* As a matcher's find. Returns when the sink is full. Thread-safe. */
void pairs_find(const struct pairs *pairs, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink);

#endif
