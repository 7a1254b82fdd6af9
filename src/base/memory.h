/*
 * Small allocations die with a message when memory runs out, so callers have no branch for it.
 * Owners of large ones (ring slots, device buffers, tables) use mmap or malloc and fail cleanly.
 */
#ifndef BURIN_BASE_MEMORY_H
#define BURIN_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *xmalloc(size_t len);               /* len bytes, uninitialised */
void *xcalloc(size_t count, size_t len); /* zeroed; dies when count * len overflows */
/* One of len bytes, zeroed, at a multiple of `alignment`, a power of 2. Freed as the others. */
void *xcalloc_aligned(size_t alignment, size_t len);
void *xreallocarray(void *old, size_t count, size_t len);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ensures room for at least one more element in a growing array: returns the (perhaps moved) array.
 * *capacity: elements that fit, updated; count: elements in use; len: bytes of an element. */
void *xgrow(void *array, size_t *capacity, size_t count, size_t len);

bool is_all_zero(const void *bytes, size_t len);

/* Strings that live together. Zero-initialise; strpool_free when done. */
struct strpool {
	char **items;
	size_t count, capacity;
};

/* Returns a copy of text that lives until strpool_free; equal texts share one (of the first 1,000
 * in the pool: it is for a few different ones). */
const char *strpool_keep(struct strpool *pool, const char *text);
/* The same without looking for an equal one. */
const char *strpool_add(struct strpool *pool, const char *text);
void strpool_free(struct strpool *pool);

#endif
