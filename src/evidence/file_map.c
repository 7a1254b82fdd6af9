/*
 * A run, a file and a folder are small records in growing arrays, names are stored one after
 * another in one buffer, and a path is put together on request, which is once per carved file.
 *
 * Runs of allocated files and of deleted ones are kept apart, because a deleted file's claim to
 * blocks that another file took over is out of date. Within each kind, runs may still overlap (hard
 * links, damage): the first in the walk's order wins, and the other is cut.
 */
#include "evidence/file_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Together some 200 MiB at most. */
#define RUNS_MAX 3000000
#define FILES_MAX 2000000
#define TEXT_MAX ((size_t)64 << 20)

struct mapped_run {
	uint64_t offset, length;
	uint32_t file, number; /* number: order of arrival, for a stable sort */
};

struct mapped_file {
	uint32_t folder, text, len;
	char *path; /* NULL until requested */
};

struct mapped_folder {
	uint32_t text, len;
};

struct mapped_runs {
	struct mapped_run *items;
	size_t count, capacity;
};

struct file_map {
	struct mapped_runs runs[2]; /* of allocated files, of deleted ones */
	struct mapped_file *files;
	size_t file_count, file_capacity;
	struct mapped_folder *folders;
	size_t folder_count, folder_capacity;
	char *text;
	size_t text_len, text_capacity;
	bool deleted; /* the last file */
	struct {
		size_t runs[2], files, folders, text_len;
	} rollback;
};

struct file_map *file_map_new(void)
{
	struct file_map *file_map = xcalloc(1, sizeof(*file_map));

	file_map->text_capacity = 1; /* so that it is never NULL */
	file_map->text = xmalloc(file_map->text_capacity);
	return file_map;
}

static bool add_text(struct file_map *file_map, const char *text, size_t len)
{
	if (len > TEXT_MAX - file_map->text_len)
		return false;
	if (file_map->text_capacity - file_map->text_len < len) {
		file_map->text_capacity = (file_map->text_len + len) * 2;
		file_map->text = xreallocarray(file_map->text, file_map->text_capacity, 1);
	}
	memcpy(file_map->text + file_map->text_len, text, len);
	file_map->text_len += len;
	return true;
}

bool file_map_folder(struct file_map *file_map, const char *path, size_t len)
{
	uint32_t at = (uint32_t)file_map->text_len;

	if (file_map->folder_count == FILES_MAX || !add_text(file_map, path, len))
		return false;
	file_map->folders = xgrow(file_map->folders, &file_map->folder_capacity,
		file_map->folder_count, sizeof(*file_map->folders));
	file_map->folders[file_map->folder_count++] = (struct mapped_folder){ at, (uint32_t)len };
	return true;
}

bool file_map_file(struct file_map *file_map, const char *name, size_t len, bool deleted)
{
	uint32_t at = (uint32_t)file_map->text_len;

	if (file_map->file_count == FILES_MAX || !file_map->folder_count ||
		!add_text(file_map, name, len))
		return false;
	file_map->files = xgrow(file_map->files, &file_map->file_capacity, file_map->file_count,
		sizeof(*file_map->files));
	file_map->files[file_map->file_count++] = (struct mapped_file){
		.folder = (uint32_t)file_map->folder_count - 1, .text = at, .len = (uint32_t)len
	};
	file_map->deleted = deleted;
	return true;
}

bool file_map_runs(struct file_map *file_map, const struct range *runs, size_t count)
{
	struct mapped_runs *all = &file_map->runs[file_map->deleted];

	if (!file_map->file_count ||
		count > RUNS_MAX - file_map->runs[0].count - file_map->runs[1].count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!runs[i].length)
			continue;
		all->items = xgrow(all->items, &all->capacity, all->count, sizeof(*all->items));
		all->items[all->count] = (struct mapped_run){ runs[i].offset, runs[i].length,
			(uint32_t)file_map->file_count - 1, (uint32_t)all->count };
		all->count++;
	}
	return true;
}

void file_map_set_rollback(struct file_map *file_map)
{
	file_map->rollback.runs[0] = file_map->runs[0].count;
	file_map->rollback.runs[1] = file_map->runs[1].count;
	file_map->rollback.files = file_map->file_count;
	file_map->rollback.folders = file_map->folder_count;
	file_map->rollback.text_len = file_map->text_len;
}

void file_map_roll_back(struct file_map *file_map)
{
	file_map->runs[0].count = file_map->rollback.runs[0];
	file_map->runs[1].count = file_map->rollback.runs[1];
	file_map->file_count = file_map->rollback.files;
	file_map->folder_count = file_map->rollback.folders;
	file_map->text_len = file_map->rollback.text_len;
}

static int compare(const void *a, const void *b)
{
	const struct mapped_run *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_and_cut(struct mapped_runs *runs)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (runs->count)
		qsort(runs->items, runs->count, sizeof(*runs->items), compare);
	for (size_t i = 0; i < runs->count; i++) {
		struct mapped_run run = runs->items[i];

		if (run.offset + run.length <= end)
			continue;
		if (run.offset < end) {
			run.length -= end - run.offset;
			run.offset = end;
		}
		end = run.offset + run.length;
		runs->items[kept++] = run;
	}
	runs->count = kept;
}

void file_map_finish(struct file_map *file_map)
{
	sort_and_cut(&file_map->runs[0]);
	sort_and_cut(&file_map->runs[1]);
}

static const struct mapped_run *find_run(const struct mapped_runs *runs, uint64_t offset)
{
	size_t low = 0, high = runs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs->items[middle].offset + runs->items[middle].length <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < runs->count && runs->items[low].offset <= offset ? &runs->items[low] : NULL;
}

const char *file_map_find(struct file_map *file_map, uint64_t offset)
{
	const struct mapped_run *run = find_run(&file_map->runs[0], offset);
	struct mapped_file *file;
	const struct mapped_folder *folder;

	if (!run)
		run = find_run(&file_map->runs[1], offset);
	if (!run)
		return NULL;
	file = &file_map->files[run->file];
	folder = &file_map->folders[file->folder];
	if (!file->path) {
		file->path = xcalloc(1, (size_t)folder->len + file->len + 1);
		memcpy(file->path, file_map->text + folder->text, folder->len);
		memcpy(file->path + folder->len, file_map->text + file->text, file->len);
	}
	return file->path;
}

void file_map_free(struct file_map *file_map)
{
	if (!file_map)
		return;
	for (size_t i = 0; i < file_map->file_count; i++)
		free(file_map->files[i].path);
	free(file_map->runs[0].items);
	free(file_map->runs[1].items);
	free(file_map->files);
	free(file_map->folders);
	free(file_map->text);
	free(file_map);
}
