/* Texts that are kept for as long as somebody may point to them. There are few different ones. */
#ifndef BURIN_BASE_STRPOOL_H
#define BURIN_BASE_STRPOOL_H

#include <stddef.h>

/* Zero-initialise; texts_free when done. */
struct texts {
	char **items;
	size_t count, capacity;
};

/* A copy of text that lives until texts_free. */
const char *texts_keep(struct texts *texts, const char *text);
/* The same of a text that no other is expected to be equal to. */
const char *texts_add(struct texts *texts, const char *text);
void texts_free(struct texts *texts);

#endif
