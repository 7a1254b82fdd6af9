/*
 * Statements in Turtle, which an AFF4 file describes itself with. The distribution's reader, libraptor2, brings
 * libcurl and libxslt; what AFF4's writers use of Turtle is small.
 */
#ifndef BURIN_EVIDENCE_AFF4_TURTLE_H
#define BURIN_EVIDENCE_AFF4_TURTLE_H

#include <stdbool.h>

#define AFF4_TERM_MAX 1024

/* Calls take for each statement about something with a name, with full names (of literals the text), which are
 * valid until it returns; `a` is "a". What is in brackets is left out. False: the text, which ends with a zero,
 * is not Turtle, or a name is longer than AFF4_TERM_MAX - 1 bytes; what came before was reported. */
bool aff4_turtle_read(const char *text,
	void (*take)(void *context, const char *subject, const char *predicate, const char *object),
	void *context);

#endif
