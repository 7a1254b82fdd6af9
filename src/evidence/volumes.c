/*
 * Each walk of libtsk has a child of its own (walk_process.h): one for the list of volumes, and for
 * each file system one for its allocation and one for its files. So a crash in one costs no other.
 * What the child reports is checked like anything that comes from the evidence.
 */
#include "evidence/volumes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/file_map.h"
#include "evidence/walk_process.h"

#define VOLUMES_MAX 1024
#define PROBLEMS_MAX 16
/* Allocated ranges of one file system: 64 MiB of memory. Only a hostile one has more. */
#define RANGES_MAX ((size_t)4 << 20)

struct volumes {
	struct volume *items;
	size_t count, capacity;
	char table[32];
	char *problems[PROBLEMS_MAX + 1];
	size_t problem_count;
	struct ranges in_use, unknown;
	bool any_allocation;
	struct file_map *file_map;
};

/* The reading of an image's volumes. */
struct reading {
	struct volumes *volumes;
	struct image *image;
	bool (*interrupted)(void);
	struct ranges in_use; /* WALK_IN_USE of the current walk, rising */
	struct walk_end end;  /* of the current walk */
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

static bool add_ranges(
	struct reading *reading, enum walk_message what, const void *bytes, size_t len)
{
	const struct range *ranges = bytes;
	size_t count = len / sizeof(*ranges);

	if (len % sizeof(*ranges) || count > WALK_RANGES_MAX)
		return false;
	if (!check_ranges(reading, ranges, count))
		return false;
	if (what == WALK_RUNS)
		return file_map_runs(reading->volumes->file_map, ranges, count);
	for (size_t i = 0; i < count; i++)
		ranges_add(&reading->in_use, ranges[i].offset, ranges[i].length);
	return reading->in_use.count <= RANGES_MAX;
}

static bool on_message(void *context, enum walk_message what, const void *bytes, size_t len)
{
	struct reading *reading = context;
	struct volumes *volumes = reading->volumes;
	const char *text = bytes;

	switch (what) {
	case WALK_TABLE:
		snprintf(volumes->table, sizeof(volumes->table), "%.*s", (int)len, text);
		return true;
	case WALK_VOLUME:
		return add_volume(reading, bytes, len);
	case WALK_IN_USE:
	case WALK_RUNS:
		return add_ranges(reading, what, bytes, len);
	case WALK_FOLDER:
		return file_map_folder(volumes->file_map, text, len);
	case WALK_FILE:
		return len > 0 && file_map_file(volumes->file_map, text + 1, len - 1, text[0] != 0);
	default:
		return false;
	}
}

/* ---- the walks ----------------------------------------------------------------------------- */

/* Leaves the outcome in reading->end. */
static void walk(struct reading *reading,
	void (*what)(struct walk_host *host, const struct volume *volume),
	const struct volume *volume)
{
	const struct walk_process process = {
		.image = reading->image,
		.walk = what,
		.volume = volume,
		.interrupted = reading->interrupted,
		.on_message = on_message,
		.context = reading,
	};

	reading->in_use.count = 0;
	walk_process_run(&process, &reading->end);
}

static void list_volumes(struct walk_host *host, const struct volume *volume)
{
	(void)volume;
	walk_list(host);
}

static void read_list(struct reading *reading)
{
	walk(reading, list_volumes, NULL);
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

/* What the file system uses is known entirely or not at all. */
static void read_allocation(struct reading *reading, struct volume *volume)
{
	struct volumes *volumes = reading->volumes;

	walk(reading, walk_allocation, volume);
	if (*reading->end.problem) {
		add_volume_problem(reading, volume, "what is in use is not known");
		return;
	}
	volume->mapped = true;
	volumes->any_allocation = true;
	for (size_t i = 0; i < reading->in_use.count; i++)
		ranges_add(&volumes->in_use, reading->in_use.items[i].offset,
			reading->in_use.items[i].length);
}

static void read_files(struct reading *reading, struct volume *volume)
{
	file_map_set_rollback(reading->volumes->file_map);
	walk(reading, walk_files, volume);
	if (reading->end.died)
		file_map_roll_back(reading->volumes->file_map);
	if (*reading->end.problem)
		add_volume_problem(reading, volume, "not all names are known");
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

static void read_depth(struct reading *reading, enum volumes_depth depth)
{
	struct volumes *volumes = reading->volumes;

	read_list(reading);
	for (size_t i = 0; i < volumes->count && depth == VOLUMES_MAP; i++) {
		struct volume *volume = &volumes->items[i];

		if (reading->interrupted && reading->interrupted())
			return;
		if (volume->type && volume->kind != VOLUME_POOLED)
			read_allocation(reading, volume);
		if (volume->type && strcmp(volume->file_system, "APFS container"))
			read_files(reading, volume);
	}
	note_unknown(volumes);
	file_map_finish(volumes->file_map);
}

struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void))
{
	struct volumes *volumes = xcalloc(1, sizeof(*volumes));
	struct reading reading = { .volumes = volumes, .image = image, .interrupted = interrupted };

	volumes->file_map = file_map_new();
	if (depth == VOLUMES_OFF)
		return volumes;
	read_depth(&reading, depth);
	ranges_free(&reading.in_use);
	return volumes;
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

const char *volumes_owner(struct volumes *volumes, uint64_t offset)
{
	return file_map_find(volumes->file_map, offset);
}

void volumes_free(struct volumes *volumes)
{
	if (!volumes)
		return;
	for (size_t i = 0; i < volumes->problem_count; i++)
		free(volumes->problems[i]);
	ranges_free(&volumes->in_use);
	ranges_free(&volumes->unknown);
	file_map_free(volumes->file_map);
	free(volumes->items);
	free(volumes);
}
