/* Hundreds of byte patterns, found by three of their bytes, which are looked up at every other
 * place of the text. */
#ifndef BURIN_SCAN_GRAMS_H
#define BURIN_SCAN_GRAMS_H

#include "scan/matcher.h"

struct grams;

/* The ways to search; all find the same. */
enum grams_way {
	GRAMS_PLAIN,
	GRAMS_BMI2,
	GRAMS_SIEVE, /* with AVX-512 and VBMI */
	GRAMS_WAYS,
};

/* Whether this processor has what it needs. */
bool grams_can(enum grams_way way);
/* Else grams_find takes the last of them that this processor can: for tests. */
void grams_choose(struct grams *grams, enum grams_way way);

/* ids: of byte patterns in the set, which must outlive the result. Takes those whose bytes are rare
 * enough, and sets taken[id] for them. NULL, with none taken, when they are too few or too many to
 * be faster this way. */
struct grams *grams_new(
	const struct pattern_set *set, const uint32_t *ids, uint32_t count, bool *taken);
/* NULL is fine. */
void grams_free(struct grams *grams);
/* How many patterns were taken. */
uint32_t grams_count(const struct grams *grams);

/* As a matcher's find, for the patterns that were taken. Returns how many patterns and lists were
 * looked at, because their gram seemed to be there. Thread-safe. */
size_t grams_find(const struct grams *grams, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink);

#endif
