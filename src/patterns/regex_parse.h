/* The parser of patterns/regex.c: text in, canonical text and widths out. */
#ifndef BURIN_PATTERNS_REGEX_PARSE_H
#define BURIN_PATTERNS_REGEX_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "patterns/byteset.h"

/* What is known of a part of an expression, and of the whole. */
struct regex_facts {
	uint32_t min, max;    /* bytes of a match */
	double chance;        /* of a match at a place of random data, from above */
	struct byteset first; /* what a match can start with */
};

/* As regex_new; *source is the canonical text, the caller's to free. */
int regex_parse(char **source, struct regex_facts *facts, const char *text, size_t len, bool nocase,
	size_t column, struct error *error);

#endif
