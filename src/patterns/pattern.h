/*
 * Patterns: what the scan stage searches for. A pattern is either bytes with a mask (any bit may be
 * wild, letters without case included) or a regular expression of bounded width.
 */
#ifndef BURIN_PATTERNS_PATTERN_H
#define BURIN_PATTERNS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct regex; /* patterns/regex.h */

struct pattern {
	uint8_t *bytes;      /* len bytes, 0 in wild bits; NULL for a regex */
	uint8_t *mask;       /* len bytes: 1 in the bits that must match; not all 0 */
	uint32_t len;        /* bytes; for a regex the longest match, at most 4,096 */
	uint32_t min_len;    /* bytes; equals len except for a regex */
	struct regex *regex; /* NULL except for a regex */
	char *text;          /* the pattern in burin's syntax, for messages and reports */
};

/* Parses burin's pattern syntax: hex digit pairs with `?` as a wild nibble, 'text' (a quote is
 * written ''), i'text' (ASCII letters of either case), /regex/ (`\/` for a slash; a trailing i
 * after the closing slash: without case), blanks between. A regex must be the whole pattern. Errors
 * (-EINVAL) say what was expected and at which column (1-based) of text. On success the caller owns
 * *pattern. */
int pattern_parse(struct pattern *pattern, const char *text, struct error *error);

/* Makes a pattern, and its text, from bytes and mask (both copied). -EINVAL when all bits are wild
 * or len is 0. */
int pattern_from_bytes(struct pattern *pattern, const uint8_t *bytes, const uint8_t *mask,
	size_t len, struct error *error);
void pattern_free(struct pattern *pattern);

/* Whether the pattern (not a regex) matches at text; len: bytes that can be read. Inline: it is the
 * reference engine's inner loop. */
static inline bool pattern_matches(const struct pattern *pattern, const uint8_t *text, size_t len)
{
	if (len < pattern->len)
		return false;
	for (uint32_t i = 0; i < pattern->len; i++)
		if ((text[i] ^ pattern->bytes[i]) & pattern->mask[i])
			return false;
	return true;
}

/* Length of the match that starts at text, 0 when there is none. Regexes are matched anchored
 * (leftmost alternative, greedy, as PCRE2 does). len: bytes that can be read; a match never needs
 * more than pattern->len. Thread-safe. */
size_t pattern_match_len(const struct pattern *pattern, const uint8_t *text, size_t len);

#endif
