/*
 * libtsk walks in a child (walk_process.h): once for the list of volumes, and for each file system once
 * for its allocation and once for its files. A child that crashes costs that walk alone, for the next one
 * has another child.
 * What the child reports is checked like anything that comes from the evidence.
 */
#include "evidence/volumes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/file_map.h"
#include "evidence/inner.h"
#include "evidence/walk_process.h"

#define VOLUMES_MAX 1024
#define PROBLEMS_MAX 16
/* Allocated ranges of one file system: 64 MiB of memory. Only a hostile one has more. */
#define RANGES_MAX ((size_t)4 << 20)
/* NTFS has its tables in its first files: they always change, and hold nothing but tables. */
#define NTFS_OWN_FILES 24

struct volumes {
	struct volume *items;
	size_t count, capacity;
	char table[32];
	char *problems[PROBLEMS_MAX + 1];
	size_t problem_count;
	struct ranges in_use, slack, free_records, unknown;
	bool any_allocation;
	struct file_map *file_map;
};

/* Ranges in any order. */
struct range_list {
	struct range *items;
	size_t count, capacity;
};

/* The reading of an image's volumes. */
struct reading {
	struct volumes *volumes;
	struct image *image,
		*walked; /* walked: whose bytes libtsk reads; another one's for a row of streams */
	bool (*interrupted)(void);
	/* Of the current walk: */
	enum evidence_work work;
	struct range_list in_use, free_records, slack;
	struct walk_end end;
	struct sandbox_child *child; /* of the walk before */
};

static void add_problem(struct volumes *volumes, char *sentence)
{
	if (volumes->problem_count < PROBLEMS_MAX)
		volumes->problems[volumes->problem_count++] = sentence;
	else
		free(sentence);
}

/* ---- what a child tells -------------------------------------------------------------------- */

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

static bool add_volume(struct reading *reading, const void *bytes, size_t len)
{
	struct volumes *volumes = reading->volumes;
	uint64_t size = image_info(reading->image)->size;
	struct volume volume;

	if (len != sizeof(volume) || volumes->count == VOLUMES_MAX)
		return false;
	memcpy(&volume, bytes, sizeof(volume));
	if (volume.offset > size || volume.length > size - volume.offset ||
		volume.kind > VOLUME_POOLED)
		return false;
	END_TEXT(volume.description);
	END_TEXT(volume.file_system);
	END_TEXT(volume.label);
	END_TEXT(volume.id);
	END_TEXT(volume.note);
	volume.mapped = false;
	volumes->items =
		xgrow(volumes->items, &volumes->capacity, volumes->count, sizeof(*volumes->items));
	volumes->items[volumes->count++] = volume;
	return true;
}

/* False when a range is not inside the image. */
static bool check_ranges(const struct reading *reading, const struct range *ranges, size_t count)
{
	uint64_t size = image_info(reading->image)->size;

	for (size_t i = 0; i < count; i++)
		if (ranges[i].offset > size || ranges[i].length > size - ranges[i].offset)
			return false;
	return true;
}

static bool add_to_list(struct range_list *list, const struct range *ranges, size_t count)
{
	if (count > RANGES_MAX - list->count)
		return false;
	for (size_t i = 0; i < count; i++) {
		list->items =
			xgrow(list->items, &list->capacity, list->count, sizeof(*list->items));
		list->items[list->count++] = ranges[i];
	}
	return true;
}

static bool add_ranges(
	struct reading *reading, enum walk_message what, const void *bytes, size_t len)
{
	const struct range *ranges = bytes;
	size_t count = len / sizeof(*ranges);

	if (len % sizeof(*ranges) || count > WALK_RANGES_MAX)
		return false;
	if (!check_ranges(reading, ranges, count))
		return false;
	return add_to_list(what == WALK_IN_USE ? &reading->in_use
			   : what == WALK_FREE ? &reading->free_records
					       : &reading->slack,
		ranges, count);
}

static bool add_runs(struct reading *reading, const void *bytes, size_t len)
{
	const struct walk_run *runs = bytes;
	size_t count = len / sizeof(*runs);

	if (len % sizeof(*runs) || count > WALK_RANGES_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct range range = { runs[i].offset, runs[i].length };

		if (!check_ranges(reading, &range, 1) ||
			(runs[i].at != WALK_RECORD && runs[i].at > INT64_MAX))
			return false;
	}
	return file_map_runs(reading->volumes->file_map, runs, count);
}

static bool add_file(struct reading *reading, const void *bytes, size_t len)
{
	const char *name = bytes;
	struct walk_file file;

	if (len < sizeof(file))
		return false;
	memcpy(&file, bytes, sizeof(file));
	if (file.size > INT64_MAX || file.valid > file.size)
		return false;
	return file_map_file(
		reading->volumes->file_map, &file, name + sizeof(file), len - sizeof(file));
}

/* A process that was taken over could else add volumes, which moves them, while one is being walked. */
static bool is_expected(enum evidence_work work, enum walk_message what)
{
	switch (what) {
	case WALK_TABLE:
	case WALK_VOLUME:
		return work == EVIDENCE_LIST_VOLUMES;
	case WALK_IN_USE:
	case WALK_FREE:
	case WALK_SLACK:
		return work == EVIDENCE_WALK_ALLOCATION;
	default:
		return work == EVIDENCE_WALK_FILES || work == EVIDENCE_WALK_STREAMS;
	}
}

static bool on_message(void *context, enum walk_message what, const void *bytes, size_t len)
{
	struct reading *reading = context;
	struct volumes *volumes = reading->volumes;
	const char *text = bytes;

	if (!is_expected(reading->work, what))
		return false;
	switch (what) {
	case WALK_TABLE:
		snprintf(volumes->table, sizeof(volumes->table), "%.*s", (int)len, text);
		return true;
	case WALK_VOLUME:
		return add_volume(reading, bytes, len);
	case WALK_IN_USE:
	case WALK_FREE:
	case WALK_SLACK:
		return add_ranges(reading, what, bytes, len);
	case WALK_RUNS:
		return add_runs(reading, bytes, len);
	case WALK_FOLDER:
		return file_map_folder(volumes->file_map, text, len);
	case WALK_FILE:
		return add_file(reading, bytes, len);
	default:
		return false;
	}
}

/* ---- the walks ----------------------------------------------------------------------------- */

/* Leaves the outcome in reading->end. */
static void walk(struct reading *reading, enum evidence_work work, const struct volume *volume)
{
	const struct walk_process process = {
		.image = reading->walked,
		.child = &reading->child,
		.work = work,
		.volume = volume,
		.interrupted = reading->interrupted,
		.on_message = on_message,
		.context = reading,
	};

	reading->work = work;
	reading->in_use.count = reading->free_records.count = reading->slack.count = 0;
	walk_process_run(&process, &reading->end);
}

static void read_list(struct reading *reading)
{
	walk(reading, EVIDENCE_LIST_VOLUMES, NULL);
	if (*reading->end.problem)
		add_problem(reading->volumes,
			xasprintf("the image's volumes could not all be listed: %s",
				reading->end.problem));
}

static void add_volume_problem(struct reading *reading, struct volume *volume, const char *what)
{
	add_problem(reading->volumes, xasprintf("%s of the file system at byte %llu (%s): %s", what,
					      (unsigned long long)volume->offset,
					      volume->file_system, reading->end.problem));
	if (!*volume->note)
		snprintf(volume->note, sizeof(volume->note), "%s: %.200s", what,
			reading->end.problem);
}

/* Removes the parts of ranges that are in others, too. */
static void subtract(struct ranges *ranges, const struct ranges *others)
{
	struct ranges rest = { 0 };
	size_t next = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		uint64_t at = ranges->items[i].offset, end = at + ranges->items[i].length;

		while (next < others->count &&
			others->items[next].offset + others->items[next].length <= at)
			next++;
		for (size_t k = next; k < others->count && others->items[k].offset < end; k++) {
			if (others->items[k].offset > at)
				ranges_add(&rest, at, others->items[k].offset - at);
			at = others->items[k].offset + others->items[k].length;
		}
		if (at < end)
			ranges_add(&rest, at, end - at);
	}
	ranges_free(ranges);
	*ranges = rest;
}

/* What belongs to no file's content. */
static void sort_out(struct volumes *volumes)
{
	struct ranges slack = { 0 };

	file_map_slack(volumes->file_map, &slack);
	ranges_add_all(&volumes->slack, slack.items, slack.count);
	ranges_free(&slack);
	subtract(&volumes->in_use, &volumes->free_records);
	subtract(&volumes->slack, &volumes->free_records);
}

/* What the file system uses is known entirely or not at all. */
static void read_allocation(struct reading *reading, struct volume *volume)
{
	struct volumes *volumes = reading->volumes;

	walk(reading, EVIDENCE_WALK_ALLOCATION, volume);
	if (*reading->end.problem) {
		add_volume_problem(reading, volume, "what is in use is not known");
		return;
	}
	volume->mapped = true;
	volumes->any_allocation = true;
	ranges_add_all(&volumes->in_use, reading->in_use.items, reading->in_use.count);
	ranges_add_all(
		&volumes->free_records, reading->free_records.items, reading->free_records.count);
	ranges_add_all(&volumes->slack, reading->slack.items, reading->slack.count);
}

/* Files whose content the scan can't see. */
static void note_hidden(const struct file_map *file_map, struct volume *volume)
{
	size_t encrypted = file_map_flagged(file_map, FS_ENCRYPTED);
	size_t compressed = file_map_flagged(file_map, FS_COMPRESSED);
	int len = 0;

	if (*volume->note)
		return;
	if (encrypted)
		len = snprintf(volume->note, sizeof(volume->note),
			"encrypted files: %zu, which can't be carved", encrypted);
	if (compressed)
		snprintf(volume->note + len, sizeof(volume->note) - (size_t)len,
			"%scompressed files: %zu, which --open carves", len ? "; " : "",
			compressed);
}

static void read_files(struct reading *reading, struct volume *volume)
{
	file_map_set_rollback(reading->volumes->file_map);
	file_map_volume(reading->volumes->file_map, volume->offset);
	walk(reading, EVIDENCE_WALK_FILES, volume);
	if (reading->end.died)
		file_map_roll_back(reading->volumes->file_map);
	if (*reading->end.problem)
		add_volume_problem(reading, volume, "not all names are known");
	note_hidden(reading->volumes->file_map, volume);
}

/* Bytes that are in a volume, but not in a file system that was read. */
static void note_unknown(struct volumes *volumes)
{
	for (size_t i = 0; i < volumes->count; i++) {
		const struct volume *volume = &volumes->items[i];

		if (volume->kind != VOLUME_POOLED && !volume->mapped)
			ranges_add(&volumes->unknown, volume->offset, volume->length);
	}
}

/* A row of streams has nothing but files: all of it is one volume. */
static void read_streams(
	struct reading *reading, enum volumes_depth depth, const struct volume *streams)
{
	struct volumes *volumes = reading->volumes;
	struct volume volume = { .length = image_info(reading->image)->size,
		.kind = VOLUME_STREAMS,
		.mapped = depth == VOLUMES_MAP,
		.type = streams->type };

	snprintf(volume.file_system, sizeof(volume.file_system), "streams of %.20s",
		streams->file_system);
	volumes->items = xgrow(volumes->items, &volumes->capacity, 0, sizeof(*volumes->items));
	volumes->items[volumes->count++] = volume;
	if (depth != VOLUMES_MAP)
		return;
	volumes->any_allocation = true;
	ranges_add(&volumes->in_use, 0, volume.length);
	reading->walked = reading->image->outer;
	file_map_volume(volumes->file_map, 0);
	walk(reading, EVIDENCE_WALK_STREAMS, streams);
	reading->walked = reading->image;
	if (*reading->end.problem)
		add_volume_problem(reading, &volumes->items[0], "not all of them are in the row");
}

static void read_depth(struct reading *reading, enum volumes_depth depth)
{
	struct volumes *volumes = reading->volumes;

	if (inner_streams_of(reading->image))
		read_streams(reading, depth, inner_streams_of(reading->image));
	else
		read_list(reading);
	for (size_t i = 0; i < volumes->count && depth == VOLUMES_MAP; i++) {
		struct volume *volume = &volumes->items[i];

		if (reading->interrupted && reading->interrupted())
			return;
		if (volume->type && volume->kind == VOLUME_STREAMS)
			continue;
		if (volume->type && volume->kind != VOLUME_POOLED)
			read_allocation(reading, volume);
		if (volume->type && strcmp(volume->file_system, "APFS container"))
			read_files(reading, volume);
	}
	note_unknown(volumes);
	file_map_finish(volumes->file_map);
	sort_out(volumes);
}

struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void))
{
	struct volumes *volumes = xcalloc(1, sizeof(*volumes));
	struct reading reading = {
		.volumes = volumes, .image = image, .walked = image, .interrupted = interrupted
	};

	volumes->file_map = file_map_new();
	if (depth == VOLUMES_OFF)
		return volumes;
	read_depth(&reading, depth);
	walk_process_end(reading.child);
	free(reading.in_use.items);
	free(reading.free_records.items);
	free(reading.slack.items);
	return volumes;
}

const char *fs_flag_name(unsigned flag)
{
	static const char *const names[FS_FLAG_COUNT] = { "deleted", "resident", "compressed",
		"encrypted", "sparse", "guessed", "metadata", "reallocated" };

	return names[__builtin_ctz(flag)];
}

const char *fs_time_name(enum fs_time time)
{
	static const char *const names[] = { "modified", "accessed", "changed", "created" };

	return names[time];
}

/* ---- answers ------------------------------------------------------------------------------- */

const struct volume *volumes_list(const struct volumes *volumes, size_t *count)
{
	*count = volumes->count;
	return volumes->items;
}

const char *volumes_table(const struct volumes *volumes)
{
	return *volumes->table ? volumes->table : NULL;
}

const char *volumes_problem(const struct volumes *volumes, size_t index)
{
	return index < volumes->problem_count ? volumes->problems[index] : NULL;
}

const struct ranges *volumes_in_use(const struct volumes *volumes)
{
	return volumes->any_allocation ? &volumes->in_use : NULL;
}

bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length)
{
	return ranges_overlap(&volumes->unknown, offset, length) > 0;
}

const struct ranges *volumes_slack(const struct volumes *volumes)
{
	return &volumes->slack;
}

const struct ranges *volumes_free_records(const struct volumes *volumes)
{
	return &volumes->free_records;
}

bool volumes_find(const struct volumes *volumes, uint64_t offset, struct fs_file *file)
{
	return file_map_find(volumes->file_map, offset, file);
}

void volumes_add_path(struct volumes *volumes, struct fs_file *file)
{
	file->path = file_map_path(volumes->file_map, file->index);
}

struct range *volumes_extents(
	const struct volumes *volumes, const struct fs_file *file, size_t *count)
{
	return file_map_extents(volumes->file_map, file, count);
}

bool volumes_is_reallocated(const struct volumes *volumes, const struct fs_file *file)
{
	struct fs_file whole = *file;
	struct range *extents;
	uint64_t used = 0;
	size_t count;

	if (!(file->flags & FS_DELETED))
		return false;
	whole.offset = 0;
	whole.has_offset = true;
	whole.flags = 0;
	extents = file_map_extents(volumes->file_map, &whole, &count);
	for (size_t i = 0; i < count && !used; i++)
		used = ranges_overlap(&volumes->in_use, extents[i].offset, extents[i].length);
	free(extents);
	return used;
}

void volumes_complete(const struct volumes *volumes, struct ranges *changed)
{
	struct range *runs;
	size_t count;

	if (!changed->count)
		return;
	runs = file_map_partly_in(volumes->file_map, changed, NTFS_OWN_FILES, &count);
	ranges_add_all(changed, runs, count);
	free(runs);
}

void volumes_free(struct volumes *volumes)
{
	if (!volumes)
		return;
	for (size_t i = 0; i < volumes->problem_count; i++)
		free(volumes->problems[i]);
	ranges_free(&volumes->in_use);
	ranges_free(&volumes->slack);
	ranges_free(&volumes->free_records);
	ranges_free(&volumes->unknown);
	file_map_free(volumes->file_map);
	free(volumes->items);
	free(volumes);
}
