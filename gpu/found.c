#include "gpu/found.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void found_build(
	struct found *found, const struct keyword_set *keywords, const struct pattern_set *set)
{
	struct found_record *records = xcalloc(keywords->record_count, sizeof(*records));
	struct found_keyword *items = xcalloc(keywords->count, sizeof(*items));

	memset(found, 0, sizeof(*found));
	for (uint32_t i = 0; i < keywords->record_count; i++) {
		const struct keyword_record *record = &keywords->records[i];

		records[i] = (struct found_record){ record->pattern, record->back, record->whole };
	}
	for (uint32_t i = 0; i < keywords->count; i++) {
		const struct keyword *keyword = &keywords->items[i];

		items[i] = (struct found_keyword){ keyword->first, keyword->count, keyword->len };
	}
	found->records = records;
	found->record_count = keywords->record_count;
	found->keywords = items;
	found->keyword_count = keywords->count;
	found->reach = keywords->reach;
	confirm_build(&found->confirm, set, NULL, 0);
}

bool found_all_whole(const struct found *found)
{
	for (uint32_t i = 0; i < found->record_count; i++)
		if (!found->records[i].whole)
			return false;
	return true;
}

void found_free(struct found *found)
{
	free((void *)found->records);
	free((void *)found->keywords);
	confirm_free(&found->confirm);
	memset(found, 0, sizeof(*found));
}
