/*
 * Patterns through Vectorscan (or Hyperscan, whose interface it has). It is an engine of its own,
 * and searches for what the CPU engine's other matchers do not take: regexes that begin with
 * anything, and sets of thousands of strings.
 */
#ifndef BURIN_SCAN_VECTORSCAN_H
#define BURIN_SCAN_VECTORSCAN_H

#include "scan/matcher.h"

struct vectorscan;

/* ids: count patterns of the set, which must outlive the result. Takes any; what Vectorscan refuses
 * or is slow with goes to pairs or PCRE2, and so does everything on a processor that it does not
 * support. */
struct vectorscan *vectorscan_new(
	const struct pattern_set *set, const uint32_t *ids, uint32_t count);
/* NULL is fine. */
void vectorscan_free(struct vectorscan *vectorscan);

enum { VECTORSCAN_PARTS = 3 };
/* How many patterns go which way. */
void vectorscan_describe(
	const struct vectorscan *vectorscan, struct matcher_part parts[VECTORSCAN_PARTS]);

/* As in struct matcher; the scratch space belongs to one thread. vectorscan_scratch_new(NULL) gives
 * what vectorscan_scratch_free takes. */
void *vectorscan_scratch_new(const struct vectorscan *vectorscan);
void vectorscan_scratch_free(void *scratch);
int vectorscan_find(const struct vectorscan *vectorscan, void *scratch, const uint8_t *text,
	size_t len, size_t text_len, uint64_t offset, struct hit_sink *sink);

#endif
