#include "base/strpool.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Among more, nobody looks for an equal one: they would be made to cost time. */
#define LOOKED_AT_MOST 1000

const char *strpool_keep(struct strpool *texts, const char *text)
{
	for (size_t i = 0; i < texts->count && i < LOOKED_AT_MOST; i++)
		if (strcmp(texts->items[i], text) == 0)
			return texts->items[i];
	return strpool_add(texts, text);
}

const char *strpool_add(struct strpool *texts, const char *text)
{
	texts->items = xgrow(texts->items, &texts->capacity, texts->count, sizeof(*texts->items));
	return texts->items[texts->count++] = xstrdup(text);
}

void strpool_free(struct strpool *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct strpool){ 0 };
}
