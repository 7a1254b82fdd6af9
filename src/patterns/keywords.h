/*
 * Keywords: what algorithms that know only exact strings search for in place of patterns with
 * masks. Of each pattern the whole, if no bit of it is wild and it is not too long, or else a run
 * of its bytes in which the wild bits can be written out in few variants (letters without case,
 * say). Where a keyword stands, the patterns that it was taken from are confirmed.
 */
#ifndef BURIN_PATTERNS_KEYWORDS_H
#define BURIN_PATTERNS_KEYWORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "patterns/pattern_set.h"

/* A pattern that a keyword was taken from. */
struct keyword_record {
	uint32_t pattern;
	uint16_t back;  /* where in the pattern the keyword begins, bytes */
	uint16_t whole; /* the keyword is the whole pattern: there is nothing to confirm */
};

struct keyword {
	const uint8_t *bytes;
	uint32_t len;          /* at least 1 */
	uint32_t first, count; /* its records; at least one */
};

struct keyword_set {
	struct keyword *items; /* sorted by their bytes, each once */
	uint32_t count;
	struct keyword_record *records;
	uint32_t record_count;
	uint32_t shortest, longest; /* bytes; 0 when there are none */
	uint32_t reach; /* a keyword begins at most so many bytes behind the start of its pattern */
	uint8_t *memory; /* of all bytes */
};

/* The most ways in which the wild bits of one keyword are written out; a byte with one fixed bit
 * has so many. */
#define KEYWORD_VARIANTS_MAX 128

/* Chooses keywords of at most `longest` bytes (at least 1): of each pattern the run that is the
 * rarest on disks. The patterns must be no regexes and shorter than 64 KiB; those with len 0 are
 * passed over. keywords_free when done. */
void keywords_make(struct keyword_set *keywords, const struct pattern_set *set, uint32_t longest);
void keywords_free(struct keyword_set *keywords);

/* How many bytes they would have in all. */
uint64_t keywords_len(const struct pattern_set *set, uint32_t longest);

#endif
