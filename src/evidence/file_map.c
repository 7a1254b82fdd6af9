/*
 * A run, a file and a folder are small records in growing arrays, names lie one behind the other in
 * one buffer, and a path is put together when it is asked for, which is once a carved file.
 *
 * Runs of files that are there and of deleted ones are kept apart, so that a deleted file's claim
 * to blocks that another has taken over is not heard. Within each, runs may still overlap (hard
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

struct owner_run {
	uint64_t offset, length;
	uint32_t file, number; /* number: as they came, for a stable order */
};

struct owner_file {
	uint32_t folder, text, len;
	char *path; /* NULL until asked for */
};

struct owner_folder {
	uint32_t text, len;
};

struct owner_runs {
	struct owner_run *items;
	size_t count, capacity;
};

struct file_map {
	struct owner_runs runs[2]; /* of files that are there, of deleted ones */
	struct owner_file *files;
	size_t file_count, file_capacity;
	struct owner_folder *folders;
	size_t folder_count, folder_capacity;
	char *text;
	size_t text_len, text_capacity;
	bool deleted; /* the last file */
	struct {
		size_t runs[2], files, folders, text_len;
	} mark;
};

struct file_map *file_map_new(void)
{
	struct file_map *owners = xcalloc(1, sizeof(*owners));

	owners->text_capacity = 1; /* so that it is never NULL */
	owners->text = xmalloc(owners->text_capacity);
	return owners;
}

static bool add_text(struct file_map *owners, const char *text, size_t len)
{
	if (len > TEXT_MAX - owners->text_len)
		return false;
	if (owners->text_capacity - owners->text_len < len) {
		owners->text_capacity = (owners->text_len + len) * 2;
		owners->text = xreallocarray(owners->text, owners->text_capacity, 1);
	}
	memcpy(owners->text + owners->text_len, text, len);
	owners->text_len += len;
	return true;
}

bool file_map_folder(struct file_map *owners, const char *path, size_t len)
{
	uint32_t at = (uint32_t)owners->text_len;

	if (owners->folder_count == FILES_MAX || !add_text(owners, path, len))
		return false;
	owners->folders = xgrow(owners->folders, &owners->folder_capacity, owners->folder_count,
		sizeof(*owners->folders));
	owners->folders[owners->folder_count++] = (struct owner_folder){ at, (uint32_t)len };
	return true;
}

bool file_map_file(struct file_map *owners, const char *name, size_t len, bool deleted)
{
	uint32_t at = (uint32_t)owners->text_len;

	if (owners->file_count == FILES_MAX || !owners->folder_count ||
		!add_text(owners, name, len))
		return false;
	owners->files = xgrow(
		owners->files, &owners->file_capacity, owners->file_count, sizeof(*owners->files));
	owners->files[owners->file_count++] = (struct owner_file){
		.folder = (uint32_t)owners->folder_count - 1, .text = at, .len = (uint32_t)len
	};
	owners->deleted = deleted;
	return true;
}

bool file_map_runs(struct file_map *owners, const struct range *runs, size_t count)
{
	struct owner_runs *all = &owners->runs[owners->deleted];

	if (!owners->file_count || count > RUNS_MAX - owners->runs[0].count - owners->runs[1].count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!runs[i].length)
			continue;
		all->items = xgrow(all->items, &all->capacity, all->count, sizeof(*all->items));
		all->items[all->count] = (struct owner_run){ runs[i].offset, runs[i].length,
			(uint32_t)owners->file_count - 1, (uint32_t)all->count };
		all->count++;
	}
	return true;
}

void file_map_mark(struct file_map *owners)
{
	owners->mark.runs[0] = owners->runs[0].count;
	owners->mark.runs[1] = owners->runs[1].count;
	owners->mark.files = owners->file_count;
	owners->mark.folders = owners->folder_count;
	owners->mark.text_len = owners->text_len;
}

void file_map_take_back(struct file_map *owners)
{
	owners->runs[0].count = owners->mark.runs[0];
	owners->runs[1].count = owners->mark.runs[1];
	owners->file_count = owners->mark.files;
	owners->folder_count = owners->mark.folders;
	owners->text_len = owners->mark.text_len;
}

static int compare(const void *a, const void *b)
{
	const struct owner_run *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_and_cut(struct owner_runs *runs)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (runs->count)
		qsort(runs->items, runs->count, sizeof(*runs->items), compare);
	for (size_t i = 0; i < runs->count; i++) {
		struct owner_run run = runs->items[i];

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

void file_map_finish(struct file_map *owners)
{
	sort_and_cut(&owners->runs[0]);
	sort_and_cut(&owners->runs[1]);
}

static const struct owner_run *find_run(const struct owner_runs *runs, uint64_t offset)
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

const char *file_map_find(struct file_map *owners, uint64_t offset)
{
	const struct owner_run *run = find_run(&owners->runs[0], offset);
	struct owner_file *file;
	const struct owner_folder *folder;

	if (!run)
		run = find_run(&owners->runs[1], offset);
	if (!run)
		return NULL;
	file = &owners->files[run->file];
	folder = &owners->folders[file->folder];
	if (!file->path) {
		file->path = xcalloc(1, (size_t)folder->len + file->len + 1);
		memcpy(file->path, owners->text + folder->text, folder->len);
		memcpy(file->path + folder->len, owners->text + file->text, file->len);
	}
	return file->path;
}

void file_map_free(struct file_map *owners)
{
	if (!owners)
		return;
	for (size_t i = 0; i < owners->file_count; i++)
		free(owners->files[i].path);
	free(owners->runs[0].items);
	free(owners->runs[1].items);
	free(owners->files);
	free(owners->folders);
	free(owners->text);
	free(owners);
}
