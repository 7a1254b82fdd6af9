#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *texts_keep(struct texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strcmp(texts->items[i], text) == 0)
			return texts->items[i];
	texts->items = xgrow(texts->items, &texts->capacity, texts->count, sizeof(*texts->items));
	return texts->items[texts->count++] = xstrdup(text);
}

void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct texts){ 0 };
}
