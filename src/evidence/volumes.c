/*
 * Each walk of libtsk has a child of its own (walk_process.h): the list of volumes, and for each
 * file system what it uses and its files. So the one that crashes costs no other. What the child
 * tells is checked like anything that comes from the evidence.
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
/* Pieces in use of one file system: 64 MiB of memory. More is told by none that is not hostile. */
#define PIECES_MAX ((size_t)4 << 20)

struct volumes {
	struct volume *items;
	size_t count, capacity;
	char table[32];
	char *problems[PROBLEMS_MAX + 1];
	size_t problem_count;
	struct ranges in_use, unknown;
	bool any_mapped;
	struct file_map *owners;
};

/* The reading of an image's volumes. */
struct reading {
	struct volumes *volumes;
	struct image *image;
	bool (*interrupted)(void);
	struct ranges pieces; /* TOLD_IN_USE of this walk, rising */
	struct walk_end end;  /* of this walk */
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

static bool take_volume(struct reading *reading, const void *bytes, size_t len)
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

static bool take_ranges(struct reading *reading, enum told what, const void *bytes, size_t len)
{
	const struct range *ranges = bytes;
	size_t count = len / sizeof(*ranges);

	if (len % sizeof(*ranges) || count > TOLD_RANGES)
		return false;
	if (!check_ranges(reading, ranges, count))
		return false;
	if (what == TOLD_RUNS)
		return file_map_runs(reading->volumes->owners, ranges, count);
	for (size_t i = 0; i < count; i++)
		ranges_add(&reading->pieces, ranges[i].offset, ranges[i].length);
	return reading->pieces.count <= PIECES_MAX;
}

static bool take(void *context, enum told what, const void *bytes, size_t len)
{
	struct reading *reading = context;
	struct volumes *volumes = reading->volumes;
	const char *text = bytes;

	switch (what) {
	case TOLD_TABLE:
		snprintf(volumes->table, sizeof(volumes->table), "%.*s", (int)len, text);
		return true;
	case TOLD_VOLUME:
		return take_volume(reading, bytes, len);
	case TOLD_IN_USE:
	case TOLD_RUNS:
		return take_ranges(reading, what, bytes, len);
	case TOLD_FOLDER:
		return file_map_folder(volumes->owners, text, len);
	case TOLD_FILE:
		return len > 0 && file_map_file(volumes->owners, text + 1, len - 1, text[0] != 0);
	default:
		return false;
	}
}

/* ---- the walks ----------------------------------------------------------------------------- */

/* reading->end says how it went. */
static void walk(struct reading *reading,
	void (*what)(struct walk_host *host, const struct volume *volume),
	const struct volume *volume)
{
	const struct walk_process process = {
		.image = reading->image,
		.walk = what,
		.volume = volume,
		.interrupted = reading->interrupted,
		.take = take,
		.context = reading,
	};

	reading->pieces.count = 0;
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

static void say_of(struct reading *reading, struct volume *volume, const char *what)
{
	add_problem(reading->volumes, xasprintf("%s of the file system at byte %llu (%s): %s", what,
					      (unsigned long long)volume->offset,
					      volume->file_system, reading->end.problem));
	if (!*volume->note)
		snprintf(volume->note, sizeof(volume->note), "%s: %.200s", what,
			reading->end.problem);
}

/* What the file system uses is known whole or not at all. */
static void read_map(struct reading *reading, struct volume *volume)
{
	struct volumes *volumes = reading->volumes;

	walk(reading, walk_map, volume);
	if (*reading->end.problem) {
		say_of(reading, volume, "what is in use is not known");
		return;
	}
	volume->mapped = true;
	volumes->any_mapped = true;
	for (size_t i = 0; i < reading->pieces.count; i++)
		ranges_add(&volumes->in_use, reading->pieces.items[i].offset,
			reading->pieces.items[i].length);
}

static void read_files(struct reading *reading, struct volume *volume)
{
	file_map_mark(reading->volumes->owners);
	walk(reading, walk_files, volume);
	if (reading->end.died)
		file_map_take_back(reading->volumes->owners);
	if (*reading->end.problem)
		say_of(reading, volume, "not all names are known");
}

/* What lies in no file system that was read, but in a volume. */
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
			read_map(reading, volume);
		if (volume->type && strcmp(volume->file_system, "APFS container"))
			read_files(reading, volume);
	}
	note_unknown(volumes);
	file_map_finish(volumes->owners);
}

struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void))
{
	struct volumes *volumes = xcalloc(1, sizeof(*volumes));
	struct reading reading = { .volumes = volumes, .image = image, .interrupted = interrupted };

	volumes->owners = file_map_new();
	if (depth == VOLUMES_OFF)
		return volumes;
	read_depth(&reading, depth);
	ranges_free(&reading.pieces);
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
	return volumes->any_mapped ? &volumes->in_use : NULL;
}

bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length)
{
	return ranges_overlap(&volumes->unknown, offset, length) > 0;
}

const char *volumes_owner(struct volumes *volumes, uint64_t offset)
{
	return file_map_find(volumes->owners, offset);
}

void volumes_free(struct volumes *volumes)
{
	if (!volumes)
		return;
	for (size_t i = 0; i < volumes->problem_count; i++)
		free(volumes->problems[i]);
	ranges_free(&volumes->in_use);
	ranges_free(&volumes->unknown);
	file_map_free(volumes->owners);
	free(volumes->items);
	free(volumes);
}
