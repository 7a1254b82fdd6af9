/* "Did you mean ...?": suggests the known name that is nearest to a mistyped word. */
#ifndef BURIN_BASE_SUGGEST_H
#define BURIN_BASE_SUGGEST_H

#include <stddef.h>

/* Set word, zero the rest, offer the names, then read best. */
struct suggestion {
	const char *word;
	const char *best; /* the nearest name; NULL when none is near enough */
	size_t distance;
};

/* The name becomes the best if it is near enough to the word, and nearer than all before it. It must outlive the suggestion. */
void suggestion_offer(struct suggestion *suggestion, const char *name);

/* What follows "unknown ... 'word'" in a message: "did you mean 'max_size'? Known are a, b, c", or
 * "known are a, b, c" where no name is near. A long list ends in "...". The caller frees it. */
char *suggest_names(const char *word, const char *const *names, size_t count);

/* The number of edits (insert, delete, replace, swap neighbours) that turn one word into the other;
 * SIZE_MAX for words over 63 bytes. */
size_t edit_distance(const char *a, const char *b);

#endif
