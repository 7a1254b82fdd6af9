#include "carve/lacks.h"

#include <string.h>

#define RANGES_MAX 256 /* of one search */

/* The place of the words, or the first free one; LACKS_MAX: there is neither. */
static size_t find(const struct lacks *lacks, const char *words)
{
	size_t i = 0;

	while (i < LACKS_MAX && lacks->items[i].words && lacks->items[i].words != words &&
		strcmp(lacks->items[i].words, words) != 0)
		i++;
	return i;
}

bool lacks_cover(const struct lacks *lacks, const char *words, uint64_t at, size_t len)
{
	size_t i = find(lacks, words);
	const struct range *range =
		i < LACKS_MAX ? ranges_after(&lacks->items[i].ranges, at) : NULL;

	return range && range->offset <= at && range->length - (at - range->offset) >= len;
}

void lacks_add(struct lacks *lacks, const char *words, uint64_t at, size_t len)
{
	size_t i = find(lacks, words);

	if (i == LACKS_MAX)
		return;
	lacks->items[i].words = words;
	if (lacks->items[i].ranges.count < RANGES_MAX)
		ranges_add(&lacks->items[i].ranges, at, len);
}

void lacks_free(struct lacks *lacks)
{
	for (size_t i = 0; i < LACKS_MAX; i++)
		ranges_free(&lacks->items[i].ranges);
	*lacks = (struct lacks){ 0 };
}
