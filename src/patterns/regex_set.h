/* The part of the regex parser that reads a set of bytes: a character, an escape or a class. */
#ifndef BURIN_PATTERNS_REGEX_SET_H
#define BURIN_PATTERNS_REGEX_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "patterns/byteset.h"

struct regex_parser {
	const char *text;
	size_t len, at;
	size_t column; /* of text[0] in error messages */
	bool nocase;
	unsigned depth;    /* number of open groups */
	struct strbuf out; /* the canonical text so far */
	struct error *error;
};

/* Sets the error, with the column of text[at], and returns -EINVAL. */
int regex_fail(struct regex_parser *p, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The byte `ahead` bytes from here, 0 after the end (a regex contains no zero: it comes from a C
 * string). */
static inline char regex_peek(const struct regex_parser *p, size_t ahead)
{
	return p->len - p->at > ahead ? p->text[p->at + ahead] : '\0';
}

/* Reads the next part that matches one byte; set must be empty. */
int regex_parse_set(struct regex_parser *p, struct byteset *set);
/* Writes a set in canonical form. */
void regex_print_set(struct strbuf *out, const struct byteset *set);

#endif
