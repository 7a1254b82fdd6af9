/* The part of the regex parser that reads one set of bytes: a character, an escape, a class. */
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
	size_t column; /* what errors call text[0] */
	bool nocase;
	unsigned depth;    /* groups that are open */
	struct strbuf out; /* the canonical text so far */
	struct error *error;
};

/* Sets the error, with the column of text[at], and returns -EINVAL. */
int regex_fail(struct regex_parser *p, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The byte at `ahead` from here, 0 behind the end (a regex holds no zero: it comes from a C
 * string). */
static inline char regex_peek(const struct regex_parser *p, size_t ahead)
{
	return p->len - p->at > ahead ? p->text[p->at + ahead] : '\0';
}

/* Reads what matches one byte; set must be empty. */
int regex_parse_set(struct regex_parser *p, struct byteset *set);
/* Writes a set down in canonical form. */
void regex_print_set(struct strbuf *out, const struct byteset *set);

#endif
