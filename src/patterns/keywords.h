/*
 * Keywords: exact strings that algorithms without masks search for in place of patterns. The
 * keyword of a pattern is the whole pattern if it has no wild bits and is not too long, or else a
 * run of its bytes whose wild bits have few variants (letters of either case, for example). Where a
 * keyword is found, its patterns are verified.
 */
#ifndef BURIN_PATTERNS_KEYWORDS_H
#define BURIN_PATTERNS_KEYWORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "patterns/pattern_set.h"

/* A pattern that a keyword was taken from. */
struct keyword_record {
	uint32_t pattern;
	uint16_t back;  /* offset of the keyword in the pattern, bytes */
	uint16_t whole; /* the keyword is the whole pattern: nothing to verify */
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
	uint32_t reach;             /* the largest `back` of a record */
	uint8_t *memory;            /* the bytes of all keywords */
};

/* Maximum variants of one keyword: those of a byte with one fixed bit. */
#define KEYWORD_VARIANTS_MAX 128

/* Chooses keywords of at most `longest` bytes (at least 1): the run of each pattern that is rarest
 * on disks. The patterns must not be regexes and must be shorter than 64 KiB; those with len 0 are
 * skipped. keywords_free when done. */
void keywords_make(struct keyword_set *keywords, const struct pattern_set *set, uint32_t longest);
void keywords_free(struct keyword_set *keywords);

/* How many states a trie of them has, its root included. */
uint64_t keywords_states(const struct keyword_set *keywords);

/* The total length of the keywords that keywords_make would choose, bytes. */
uint64_t keywords_len(const struct pattern_set *set, uint32_t longest);

#endif
