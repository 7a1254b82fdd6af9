#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"

static void *or_die(void *memory, size_t len)
{
	if (!memory)
		fatal("out of memory (%zu bytes wanted)", len);
	return memory;
}

void *xmalloc(size_t len)
{
	return or_die(malloc(len ? len : 1), len);
}

void *xcalloc(size_t count, size_t len)
{
	return or_die(calloc(count ? count : 1, len ? len : 1), count * len);
}

void *xcalloc_aligned(size_t alignment, size_t len)
{
	/* The length has to be a multiple of it, too. */
	size_t whole = (len + alignment - 1) / alignment * alignment;

	return memset(or_die(aligned_alloc(alignment, whole), whole), 0, whole);
}

void *xreallocarray(void *old, size_t count, size_t len)
{
	return or_die(reallocarray(old, count ? count : 1, len ? len : 1), count * len);
}

bool is_all_zero(const void *bytes, size_t len)
{
	const char *first = bytes;

	return !len || (!*first && !memcmp(first, first + 1, len - 1));
}

char *xstrdup(const char *text)
{
	return or_die(strdup(text), strlen(text) + 1);
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return or_die(text, 0);
}

void *xgrow(void *array, size_t *capacity, size_t count, size_t len)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 8;
	return xreallocarray(array, *capacity, len);
}

/* Limits the search, which hostile evidence could otherwise make slow. */
#define COMPARED_MAX 1000

const char *strpool_keep(struct strpool *pool, const char *text)
{
	for (size_t i = 0; i < pool->count && i < COMPARED_MAX; i++)
		if (strcmp(pool->items[i], text) == 0)
			return pool->items[i];
	return strpool_add(pool, text);
}

const char *strpool_add(struct strpool *pool, const char *text)
{
	pool->items = xgrow(pool->items, &pool->capacity, pool->count, sizeof(*pool->items));
	return pool->items[pool->count++] = xstrdup(text);
}

void strpool_free(struct strpool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		free(pool->items[i]);
	free(pool->items);
	*pool = (struct strpool){ 0 };
}
