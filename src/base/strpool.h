/* Texts that are kept for as long as somebody may point to them. There are few different ones. */
#ifndef BURIN_BASE_STRPOOL_H
#define BURIN_BASE_STRPOOL_H

#include <stddef.h>

/* Zero-initialise; strpool_free when done. */
struct strpool {
	char **items;
	size_t count, capacity;
};

/* A copy of text that lives until strpool_free. */
const char *strpool_keep(struct strpool *texts, const char *text);
/* The same of a text that no other is expected to be equal to. */
const char *strpool_add(struct strpool *texts, const char *text);
void strpool_free(struct strpool *texts);

#endif
