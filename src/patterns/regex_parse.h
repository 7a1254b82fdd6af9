/* The parser of patterns/regex.c: from text to canonical text and widths. */
#ifndef BURIN_PATTERNS_REGEX_PARSE_H
#define BURIN_PATTERNS_REGEX_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "patterns/byteset.h"

/* Facts about an expression or a part of it. */
struct regex_facts {
	uint32_t min, max;    /* bytes of a match */
	double chance;        /* upper bound of the probability of a match at an offset of random
			       * data */
	struct byteset first; /* what a match can start with */
};

/* Like regex_new; *source: the canonical text, which the caller frees. */
int regex_parse(char **source, struct regex_facts *facts, const char *text, size_t len, bool nocase,
	size_t column, struct error *error);

#endif
