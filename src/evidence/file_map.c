/*
 * A run, a file and a folder are small records in growing arrays, names are stored one after
 * another in one buffer, and a path is put together on request, which is once per carved file.
 *
 * A file's runs follow one another in file order; indexes sort them by their place in the image. Runs
 * of allocated files and of deleted ones have separate indexes, because a deleted file's claim to
 * blocks that another file took over is out of date; so have file records, because they are inside
 * the file system's own file of records ($MFT). In one index runs may still overlap (hard links,
 * damage): the first in the walk's order wins where both would.
 */
#include "evidence/file_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Together some 300 MiB at most. */
#define RUNS_MAX 3000000
#define FILES_MAX 2000000
#define TEXT_MAX ((size_t)64 << 20)
/* Of one file: its bytes after them count as unknown. */
#define EXTENTS_MAX 65536
/* Deleted files with the same first block that are compared. */
#define STARTS_MAX 1000

struct mapped_file {
	struct walk_file info;
	uint64_t volume;
	uint32_t folder, text, len;
	uint32_t first_run;
	uint32_t path; /* one more than its index in paths; 0 until requested */
};

struct mapped_folder {
	uint32_t text, len;
};

enum layer { LAYER_RECORDS, LAYER_THERE, LAYER_DELETED, LAYER_COUNT, LAYER_NONE };

/* Numbers of runs, sorted by where they start. */
struct run_index {
	uint32_t *items;
	size_t count;
};

struct file_map {
	struct walk_run *runs;
	size_t run_count, run_capacity;
	struct mapped_file *files;
	size_t file_count, file_capacity;
	struct mapped_folder *folders;
	size_t folder_count, folder_capacity;
	char *text;
	size_t text_len, text_capacity;
	uint64_t volume;  /* of the files that are being added */
	uint64_t reached; /* offset in the last file where its runs end so far */
	struct strpool paths;
	/* Without those that are inside others, so that their ends rise too. */
	struct run_index cover[LAYER_COUNT];
	struct run_index starts; /* first runs of deleted files */
	struct {
		size_t runs, files, folders, text_len;
	} rollback;
};

struct file_map *file_map_new(void)
{
	struct file_map *file_map = xcalloc(1, sizeof(*file_map));

	file_map->text_capacity = 1; /* so that it is never NULL */
	file_map->text = xmalloc(file_map->text_capacity);
	return file_map;
}

/* ---- adding -------------------------------------------------------------------------------- */

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

void file_map_volume(struct file_map *file_map, uint64_t offset)
{
	file_map->volume = offset;
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

bool file_map_file(
	struct file_map *file_map, const struct walk_file *file, const char *name, size_t len)
{
	uint32_t at = (uint32_t)file_map->text_len;

	if (file_map->file_count == FILES_MAX || !file_map->folder_count ||
		!add_text(file_map, name, len))
		return false;
	file_map->files = xgrow(file_map->files, &file_map->file_capacity, file_map->file_count,
		sizeof(*file_map->files));
	file_map->files[file_map->file_count++] = (struct mapped_file){ .info = *file,
		.volume = file_map->volume,
		.folder = (uint32_t)file_map->folder_count - 1,
		.text = at,
		.len = (uint32_t)len,
		.first_run = (uint32_t)file_map->run_count };
	file_map->reached = 0;
	return true;
}

bool file_map_runs(struct file_map *file_map, const struct walk_run *runs, size_t count)
{
	if (!file_map->file_count || count > RUNS_MAX - file_map->run_count)
		return false;
	for (size_t i = 0; i < count; i++) {
		bool is_record = runs[i].at == WALK_RECORD;

		/* In a damaged file runs may be out of order. */
		if (!runs[i].length || (!is_record && runs[i].at < file_map->reached))
			continue;
		if (!is_record)
			file_map->reached = runs[i].at + runs[i].length;
		file_map->runs = xgrow(file_map->runs, &file_map->run_capacity, file_map->run_count,
			sizeof(*file_map->runs));
		file_map->runs[file_map->run_count++] = runs[i];
	}
	return true;
}

void file_map_set_rollback(struct file_map *file_map)
{
	file_map->rollback.runs = file_map->run_count;
	file_map->rollback.files = file_map->file_count;
	file_map->rollback.folders = file_map->folder_count;
	file_map->rollback.text_len = file_map->text_len;
}

void file_map_roll_back(struct file_map *file_map)
{
	file_map->run_count = file_map->rollback.runs;
	file_map->file_count = file_map->rollback.files;
	file_map->folder_count = file_map->rollback.folders;
	file_map->text_len = file_map->rollback.text_len;
}

size_t file_map_flagged(const struct file_map *file_map, unsigned flag)
{
	size_t count = 0;

	for (size_t f = file_map->rollback.files; f < file_map->file_count; f++)
		count += (file_map->files[f].info.flags & flag) != 0;
	return count;
}

/* ---- sorting ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b, void *arg)
{
	const struct walk_run *runs = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (runs[x].offset != runs[y].offset)
		return runs[x].offset < runs[y].offset ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort(const struct file_map *file_map, struct run_index *index)
{
	if (index->count)
		qsort_r(index->items, index->count, sizeof(*index->items), compare, file_map->runs);
}

static uint64_t end_of(const struct walk_run *run)
{
	return run->offset + run->length;
}

/* Removes the runs that are inside earlier ones. */
static void remove_covered(const struct file_map *file_map, struct run_index *index)
{
	uint64_t end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < index->count; i++) {
		const struct walk_run *run = &file_map->runs[index->items[i]];

		if (end_of(run) <= end)
			continue;
		end = end_of(run);
		index->items[kept++] = index->items[i];
	}
	index->count = kept;
}

static size_t end_of_runs(const struct file_map *file_map, size_t file)
{
	return file + 1 < file_map->file_count ? file_map->files[file + 1].first_run
					       : file_map->run_count;
}

/* The content of a resident file is found through its record. */
static enum layer layer_of(const struct mapped_file *file, const struct walk_run *run)
{
	if (run->at == WALK_RECORD)
		return LAYER_RECORDS;
	if (file->info.flags & FS_RESIDENT)
		return LAYER_NONE;
	return file->info.flags & FS_DELETED ? LAYER_DELETED : LAYER_THERE;
}

static void add_to_index(struct run_index *index, size_t *capacity, size_t run)
{
	index->items = xgrow(index->items, capacity, index->count, sizeof(*index->items));
	index->items[index->count++] = (uint32_t)run;
}

void file_map_finish(struct file_map *file_map)
{
	size_t capacities[LAYER_COUNT] = { 0 }, start_capacity = 0;

	for (size_t f = 0; f < file_map->file_count; f++) {
		const struct mapped_file *file = &file_map->files[f];

		for (size_t r = file->first_run; r < end_of_runs(file_map, f); r++) {
			enum layer layer = layer_of(file, &file_map->runs[r]);

			if (layer != LAYER_NONE)
				add_to_index(&file_map->cover[layer], &capacities[layer], r);
			if (layer == LAYER_DELETED && !file_map->runs[r].at)
				add_to_index(&file_map->starts, &start_capacity, r);
		}
	}
	for (size_t i = 0; i < LAYER_COUNT; i++) {
		sort(file_map, &file_map->cover[i]);
		remove_covered(file_map, &file_map->cover[i]);
	}
	sort(file_map, &file_map->starts);
}

/* ---- answers ------------------------------------------------------------------------------- */

/* The first run of the index that ends after offset, if it has the byte there. */
static const struct walk_run *find_run(
	const struct file_map *file_map, const struct run_index *index, uint64_t offset)
{
	size_t low = 0, high = index->count;
	const struct walk_run *run;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(&file_map->runs[index->items[middle]]) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->count)
		return NULL;
	run = &file_map->runs[index->items[low]];
	return run->offset <= offset ? run : NULL;
}

static size_t file_of(const struct file_map *file_map, const struct walk_run *run)
{
	size_t number = (size_t)(run - file_map->runs), low = 0, high = file_map->file_count;

	while (high - low > 1) { /* the last file whose first run is not after it */
		size_t middle = low + (high - low) / 2;

		if (file_map->files[middle].first_run <= number)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint32_t age_of(const struct file_map *file_map, uint32_t run)
{
	const struct walk_file *info =
		&file_map->files[file_of(file_map, &file_map->runs[run])].info;

	return info->times[FS_CREATED] ? info->times[FS_CREATED] : info->times[FS_MODIFIED];
}

/* Of the deleted files that start at offset, the first run of the newest, which has overwritten the
 * others. */
static const struct walk_run *find_start(const struct file_map *file_map, uint64_t offset)
{
	const struct run_index *index = &file_map->starts;
	size_t low = 0, high = index->count, newest;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file_map->runs[index->items[middle]].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	newest = low;
	for (size_t i = low; i < index->count && i - low < STARTS_MAX; i++) {
		if (file_map->runs[index->items[i]].offset != offset)
			break;
		if (age_of(file_map, index->items[i]) > age_of(file_map, index->items[newest]))
			newest = i;
	}
	if (low == index->count || file_map->runs[index->items[low]].offset != offset)
		return NULL;
	return &file_map->runs[index->items[newest]];
}

/* The part of a resident file's content that has the byte; NULL: the byte is elsewhere in its
 * record. */
static const struct walk_run *find_resident(
	const struct file_map *file_map, size_t index, uint64_t offset)
{
	if (!(file_map->files[index].info.flags & FS_RESIDENT))
		return NULL;
	for (size_t r = file_map->files[index].first_run; r < end_of_runs(file_map, index); r++) {
		const struct walk_run *run = &file_map->runs[r];

		if (run->at != WALK_RECORD && run->offset <= offset && offset < end_of(run))
			return run;
	}
	return NULL;
}

bool file_map_find(const struct file_map *file_map, uint64_t offset, struct fs_file *file)
{
	const struct walk_run *run = NULL;
	const struct mapped_file *found;
	const struct walk_file *info;
	size_t index;

	for (size_t layer = 0; layer < LAYER_COUNT && !run; layer++) {
		if (layer == LAYER_DELETED)
			run = find_start(file_map, offset);
		if (!run)
			run = find_run(file_map, &file_map->cover[layer], offset);
	}
	if (!run)
		return false;
	index = file_of(file_map, run);
	if (run->at == WALK_RECORD)
		run = find_resident(file_map, index, offset);
	found = &file_map->files[index];
	info = &found->info;
	*file = (struct fs_file){ .index = (uint32_t)index,
		.type = info->type,
		.id = info->id,
		.flags = info->flags,
		.volume = found->volume,
		.inode = info->inode,
		.size = info->size,
		.valid = info->valid,
		.offset = run ? run->at + (offset - run->offset) : 0,
		.has_offset = run && !(info->flags & FS_COMPRESSED) };
	memcpy(file->times, info->times, sizeof(file->times));
	return true;
}

/* The first of the file's runs, rising but for a record in front, that ends after the offset. */
static size_t run_at(const struct file_map *file_map, uint32_t index, uint64_t offset)
{
	size_t low = file_map->files[index].first_run, high = end_of_runs(file_map, index);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct walk_run *run = &file_map->runs[middle];

		if (run->at == WALK_RECORD || run->at + run->length <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct range *file_map_extents(
	const struct file_map *file_map, const struct fs_file *file, size_t *count)
{
	size_t end = end_of_runs(file_map, file->index), capacity = 0;
	uint64_t at = file->offset;
	struct range *extents = NULL;

	*count = 0;
	if (!file->has_offset || file->flags & (FS_COMPRESSED | FS_ENCRYPTED | FS_METADATA))
		return NULL;
	for (size_t r = run_at(file_map, file->index, at);
		r < end && at < file->valid && *count < EXTENTS_MAX; r++) {
		const struct walk_run *run = &file_map->runs[r];
		uint64_t skip, len;

		if (run->at > at)
			break;
		skip = at - run->at;
		len = run->length - skip;
		if (len > file->valid - at)
			len = file->valid - at;
		extents = xgrow(extents, &capacity, *count, sizeof(*extents));
		extents[(*count)++] = (struct range){ run->offset + skip, len };
		at += len;
	}
	return extents;
}

/* Each byte counts once, and is the first file's. Rising, so that adding is cheap. */
void file_map_slack(const struct file_map *file_map, struct ranges *slack)
{
	const struct run_index *index = &file_map->cover[LAYER_THERE];
	uint64_t reached = 0;

	for (size_t i = 0; i < index->count; i++) {
		const struct walk_run *run = &file_map->runs[index->items[i]];
		const struct walk_file *info = &file_map->files[file_of(file_map, run)].info;
		uint64_t valid = info->valid > run->at ? info->valid - run->at : 0;
		uint64_t from = run->offset + (valid < run->length ? valid : run->length);

		if (from < reached)
			from = reached;
		reached = end_of(run);
		if (from < reached && !(info->flags & (FS_METADATA | FS_COMPRESSED)))
			ranges_add(slack, from, reached - from);
	}
}

/* Whether some of the file's content, but not all of it, is in the ranges, which don't touch: what is all in
 * them is in one. */
static bool is_partly_in(const struct file_map *file_map, size_t index, const struct ranges *ranges)
{
	bool some = false, missing = false;

	for (size_t r = file_map->files[index].first_run; r < end_of_runs(file_map, index); r++) {
		const struct walk_run *run = &file_map->runs[r];
		const struct range *range = ranges_after(ranges, run->offset);

		if (run->at == WALK_RECORD || !run->length)
			continue;
		some |= range && range->offset < end_of(run);
		missing |= !range || range->offset > run->offset ||
			   range->offset + range->length < end_of(run);
	}
	return some && missing;
}

struct range *file_map_partly_in(const struct file_map *file_map, const struct ranges *ranges,
	uint64_t first_inode, size_t *count)
{
	struct range *runs = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t f = 0; f < file_map->file_count; f++) {
		const struct walk_file *info = &file_map->files[f].info;

		if (info->flags & (FS_METADATA | FS_RESIDENT) || info->inode < first_inode ||
			!is_partly_in(file_map, f, ranges))
			continue;
		for (size_t r = file_map->files[f].first_run; r < end_of_runs(file_map, f); r++) {
			const struct walk_run *run = &file_map->runs[r];

			if (run->at == WALK_RECORD)
				continue;
			runs = xgrow(runs, &capacity, *count, sizeof(*runs));
			runs[(*count)++] = (struct range){ run->offset, run->length };
		}
	}
	return runs;
}

const char *file_map_path(struct file_map *file_map, uint32_t index)
{
	struct mapped_file *file = &file_map->files[index];
	const struct mapped_folder *folder = &file_map->folders[file->folder];
	char *path;

	if (file->path)
		return file_map->paths.items[file->path - 1];
	path = xcalloc(1, (size_t)folder->len + file->len + 1);
	memcpy(path, file_map->text + folder->text, folder->len);
	memcpy(path + folder->len, file_map->text + file->text, file->len);
	strpool_add(&file_map->paths, path);
	file->path = (uint32_t)file_map->paths.count;
	free(path);
	return file_map->paths.items[file->path - 1];
}

void file_map_free(struct file_map *file_map)
{
	if (!file_map)
		return;
	for (size_t i = 0; i < LAYER_COUNT; i++)
		free(file_map->cover[i].items);
	free(file_map->starts.items);
	strpool_free(&file_map->paths);
	free(file_map->runs);
	free(file_map->files);
	free(file_map->folders);
	free(file_map->text);
	free(file_map);
}
