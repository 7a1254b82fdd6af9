/* "Did you mean ...?": the nearest of some names to a word that was mistyped. */
#ifndef BURIN_BASE_SUGGEST_H
#define BURIN_BASE_SUGGEST_H

#include <stddef.h>

/* Set word, zero the rest, offer the names, then look at best. */
struct suggestion {
	const char *word;
	const char *best; /* the nearest name, or NULL when none is near enough to be meant */
	size_t distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *name);

/* Edits (insert, delete, replace, swap neighbours) that make one word of the other; SIZE_MAX for
 * words above 63 bytes. */
size_t edit_distance(const char *a, const char *b);

#endif
