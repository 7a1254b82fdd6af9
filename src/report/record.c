#include "report/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *file_status_name(enum file_status status)
{
	static const char *const names[] = { "complete", "truncated", "unverified" };

	return names[status];
}

const char *file_end_name(enum file_end end)
{
	static const char *const names[] = { "carver", "length", "footer", "next", "max_size",
		"image" };

	return names[end];
}

const char *file_space_name(enum file_space space)
{
	static const char *const names[] = { NULL, "yes", "no", "partly", "slack" };

	return names[space];
}

const char *assembly_by_name(enum assembly_by by)
{
	static const char *const names[] = { "none", "file-system", "pointer-blocks", "run-list",
		"table", "near", "search" };

	return names[by];
}

bool file_record_is_original(const struct file_record *record)
{
	return record->fs_path && record->fs.has_offset && record->fs.offset == 0;
}

int64_t file_record_time(const struct file_record *record)
{
	if (file_record_is_original(record) && record->fs.times[FS_MODIFIED])
		return record->fs.times[FS_MODIFIED];
	return record->time;
}

/* Where name is or belongs; *found: whether it exists. */
static size_t place_of(const struct tallies *tallies, const char *name, bool *found)
{
	size_t low = 0, high = tallies->count;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(tallies->items[middle].name, name);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void file_record_clear(struct file_record *record)
{
	memset(record, 0, offsetof(struct file_record, reason));
	record->reason[0] = record->title[0] = '\0';
	record->hashes.md5[0] = record->hashes.sha1[0] = record->hashes.sha256[0] = '\0';
}

void file_sums_add(struct file_sums *sums, const struct file_record *record)
{
	sums->files++;
	sums->bytes += record->length;
	sums->unreadable += record->unreadable;
	sums->known += record->known != NULL;
	sums->alert += record->alert != NULL;
}

void tally_add(struct tallies *tallies, const char *name, uint64_t bytes)
{
	tally_add_many(tallies, name, 1, bytes);
}

void tally_add_many(struct tallies *tallies, const char *name, uint64_t count, uint64_t bytes)
{
	size_t *recent = &tallies->recent[((uintptr_t)name >> 4) % TALLY_RECENT], place = *recent;
	bool found = place < tallies->count && !strcmp(tallies->items[place].name, name);

	if (!count)
		return;
	if (!found)
		place = *recent = place_of(tallies, name, &found);
	if (!found) {
		tallies->items = xgrow(tallies->items, &tallies->capacity, tallies->count,
			sizeof(*tallies->items));
		memmove(&tallies->items[place + 1], &tallies->items[place],
			(tallies->count - place) * sizeof(*tallies->items));
		tallies->items[place] = (struct tally){ .name = xstrdup(name) };
		tallies->count++;
	}
	tallies->items[place].count += count;
	tallies->items[place].bytes += bytes;
}

void tallies_free(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		free(tallies->items[i].name);
	free(tallies->items);
	*tallies = (struct tallies){ 0 };
}
