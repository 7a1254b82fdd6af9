/*
 * Byte patterns, masks and all, by vector instructions: a few dozen of them at the speed of memory.
 * After the algorithm of that name in Hyperscan, with AVX2, twice the buckets, and any wild bits.
 */
#ifndef BURIN_SCAN_TEDDY_H
#define BURIN_SCAN_TEDDY_H

#include "scan/matcher.h"

struct teddy;

/* The ways to search; both find the same. */
enum teddy_way { TEDDY_AVX2, TEDDY_VBMI, TEDDY_WAYS };

/* Whether this processor has what it needs. */
bool teddy_can(enum teddy_way way);
/* Else teddy_find takes the last of them that this processor can: for tests. */
void teddy_choose(struct teddy *teddy, enum teddy_way way);

/* ids: of byte patterns in the set, which must outlive the result. NULL when this processor lacks
 * AVX2, or when the patterns are too many or so common that too much would have to be confirmed. */
struct teddy *teddy_new(const struct pattern_set *set, const uint32_t *ids, uint32_t count);
/* NULL is fine. */
void teddy_free(struct teddy *teddy);

/* As the find of a matcher. Returns how many patterns were looked at. Thread-safe. */
size_t teddy_find(const struct teddy *teddy, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink);

#endif
