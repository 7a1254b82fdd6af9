/*
 * Regular expressions of bounded width over bytes. A small parser of our own decides what is
 * accepted, computes the shortest and longest match, and rewrites the expression in a canonical
 * form that means the same to PCRE2 and to Vectorscan; PCRE2 matches.
 *
 * Accepted: literals; \xHH \0oo \a \e \f \n \r \t and a backslash before punctuation; . (any byte)
 * \d \D \w \W \s \S; classes with ranges, negation and [:names:]; ( ) and (?: ); |; ? {m} {m,n},
 * each with an optional lazy ?. Everything is bytes and ASCII, never UTF-8. Refused, with the
 * reason: * + {m,} (no bound), ^ $ \b and lookaround (no width), back-references, flags inside,
 * possessive repeats, an expression that can match the empty string.
 */
#ifndef BURIN_PATTERNS_REGEX_H
#define BURIN_PATTERNS_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Maximum length of a match of a regex, bytes. */
#define REGEX_MAX_WIDTH 4096u

struct regex;

/* Compiles source[0 .. len). nocase: ASCII letters match in either case. column: of the first byte
 * of source in error messages (1-based). -EINVAL with an error that says what is wrong, at which
 * column and why. On success the caller owns *regex, which is immutable and may be shared by all
 * threads. */
int regex_new(struct regex **regex, const char *source, size_t len, bool nocase, size_t column,
	struct error *error);
/* NULL is fine. */
void regex_free(struct regex *regex);

/* The shortest and the longest match, bytes; 1 <= min <= max <= REGEX_MAX_WIDTH. */
uint32_t regex_min_len(const struct regex *regex);
uint32_t regex_max_len(const struct regex *regex);

/* The expression in canonical form: alphanumeric literals, \xHH, bracketed classes of \xHH and
 * ranges (also for `.`), (?: ), | and repeats. It needs no flags: case is written out, so CASELESS
 * and DOTALL change nothing. Two regexes that are equal here are the same pattern. */
const char *regex_source(const struct regex *regex);

/* An upper bound of the probability that it matches at a given offset of random data, 0 .. 1. */
double regex_chance(const struct regex *regex);

/* Length of the match that starts at text, 0 when there is none. len: bytes that can be read.
 * Thread-safe. */
size_t regex_match_len(const struct regex *regex, const uint8_t *text, size_t len);

/* The start of the first match that starts in text[from .. to), `to` when there is none. A match
 * starts exactly where regex_match_len is not 0. len: bytes that can be read, at least to.
 * Thread-safe. */
size_t regex_find(
	const struct regex *regex, const uint8_t *text, size_t from, size_t to, size_t len);

#endif
