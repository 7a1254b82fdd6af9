/*
 * libtsk walks in a child (walk_process.h): once for the list of volumes, and for each file system once
 * for its allocation and once for its files. A child that crashes costs that walk alone, for the next one
 * has another child.
 *
 * The list is short work. The walks of file systems with many files are not: they go on in a thread, beside
 * the scan, and code that asks for what they find waits for all of them.
 *
 * What the child reports is checked like anything that comes from the evidence.
 */
#include "evidence/volumes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
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
#define WAIT_SECONDS 0.1

struct volumes {
	struct volume *items;
	size_t count, capacity;
	char table[32];
	char *problems[PROBLEMS_MAX + 1];
	size_t problem_count;
	struct ranges in_use, slack, free_records, unknown;
	bool any_allocation;
	struct file_map *file_map;
	struct reading *reading;
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

	pthread_t thread; /* of the walks of file systems, if there is one */
	bool has_thread;
	atomic_bool cancelled;
	_Atomic enum { WALKING, WALKS_CUT, WALKS_DONE } state; /* changes once, under the lock */
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

static bool is_cut(const struct reading *reading)
{
	return atomic_load(&reading->cancelled) || (reading->interrupted && reading->interrupted());
}

static void add_problem(struct volumes *volumes, char *sentence)
{
	if (volumes->problem_count < PROBLEMS_MAX)
		volumes->problems[volumes->problem_count++] = sentence;
	else
		free(sentence);
}

/* ---- what a child says --------------------------------------------------------------------- */

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

	if (!is_expected(reading->work, what) || atomic_load(&reading->cancelled))
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
static void list_streams(struct reading *reading, const struct volume *streams)
{
	struct volumes *volumes = reading->volumes;
	struct volume volume = { .length = image_info(reading->image)->size,
		.kind = VOLUME_STREAMS,
		.type = streams->type };

	snprintf(volume.file_system, sizeof(volume.file_system), "streams of %.20s",
		streams->file_system);
	volumes->items = xgrow(volumes->items, &volumes->capacity, 0, sizeof(*volumes->items));
	volumes->items[volumes->count++] = volume;
}

static void read_streams(struct reading *reading, const struct volume *streams)
{
	struct volumes *volumes = reading->volumes;

	volumes->items[0].mapped = true;
	volumes->any_allocation = true;
	ranges_add(&volumes->in_use, 0, volumes->items[0].length);
	reading->walked = reading->image->outer;
	file_map_volume(volumes->file_map, 0);
	walk(reading, EVIDENCE_WALK_STREAMS, streams);
	reading->walked = reading->image;
	if (*reading->end.problem)
		add_volume_problem(reading, &volumes->items[0], "not all of them are in the row");
}

static void read_volume(struct reading *reading, struct volume *volume)
{
	if (volume->kind == VOLUME_STREAMS)
		return read_streams(reading, inner_streams_of(reading->image));
	if (volume->kind != VOLUME_POOLED)
		read_allocation(reading, volume);
	if (strcmp(volume->file_system, "APFS container"))
		read_files(reading, volume);
}

/* Those that wait go on. */
static void end_reading(struct reading *reading)
{
	struct volumes *volumes = reading->volumes;

	walk_process_end(reading->child);
	free(reading->in_use.items);
	free(reading->free_records.items);
	free(reading->slack.items);
	note_unknown(volumes);
	file_map_finish(volumes->file_map);
	sort_out(volumes);
	pthread_mutex_lock(&reading->lock);
	atomic_store(&reading->state, is_cut(reading) ? WALKS_CUT : WALKS_DONE);
	pthread_cond_broadcast(&reading->ended);
	pthread_mutex_unlock(&reading->lock);
}

static void *read_all(void *arg)
{
	struct reading *reading = arg;
	struct volumes *volumes = reading->volumes;

	for (size_t i = 0; i < volumes->count && !is_cut(reading); i++)
		if (volumes->items[i].type)
			read_volume(reading, &volumes->items[i]);
	end_reading(reading);
	return NULL;
}

static bool has_file_system(const struct volumes *volumes)
{
	for (size_t i = 0; i < volumes->count; i++)
		if (volumes->items[i].type)
			return true;
	return false;
}

static struct reading *new_reading(
	struct volumes *volumes, struct image *image, bool (*interrupted)(void))
{
	struct reading *reading = xcalloc(1, sizeof(*reading));

	reading->volumes = volumes;
	reading->image = reading->walked = image;
	reading->interrupted = interrupted;
	pthread_mutex_init(&reading->lock, NULL);
	thread_cond_init(&reading->ended);
	return reading;
}

struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void))
{
	struct volumes *volumes = xcalloc(1, sizeof(*volumes));
	struct reading *reading = new_reading(volumes, image, interrupted);

	volumes->file_map = file_map_new();
	volumes->reading = reading;
	if (depth != VOLUMES_OFF && inner_streams_of(image))
		list_streams(reading, inner_streams_of(image));
	else if (depth != VOLUMES_OFF)
		read_list(reading);
	if (depth != VOLUMES_MAP || !has_file_system(volumes))
		end_reading(reading);
	else if (!(reading->has_thread = !thread_start(&reading->thread, read_all, reading)))
		read_all(reading);
	return volumes;
}

bool volumes_known(const struct volumes *volumes)
{
	return atomic_load_explicit(&volumes->reading->state, memory_order_acquire) == WALKS_DONE;
}

static bool has_ended(const struct volumes *volumes)
{
	return atomic_load_explicit(&volumes->reading->state, memory_order_acquire) != WALKING;
}

bool volumes_wait_briefly(const struct volumes *volumes)
{
	struct reading *reading = volumes->reading;
	bool woken = true;

	if (has_ended(volumes))
		return true;
	pthread_mutex_lock(&reading->lock);
	while (!has_ended(volumes) && woken)
		woken = thread_cond_wait(&reading->ended, &reading->lock, WAIT_SECONDS);
	pthread_mutex_unlock(&reading->lock);
	return has_ended(volumes);
}

void volumes_wait(const struct volumes *volumes)
{
	while (!volumes_wait_briefly(volumes))
		;
}

void volumes_cancel(struct volumes *volumes)
{
	if (volumes)
		atomic_store(&volumes->reading->cancelled, true);
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

static void free_reading(struct reading *reading)
{
	if (reading->has_thread)
		pthread_join(reading->thread, NULL);
	pthread_cond_destroy(&reading->ended);
	pthread_mutex_destroy(&reading->lock);
	free(reading);
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
	volumes_wait(volumes);
	return index < volumes->problem_count ? volumes->problems[index] : NULL;
}

const struct ranges *volumes_in_use(const struct volumes *volumes)
{
	volumes_wait(volumes);
	return volumes->any_allocation ? &volumes->in_use : NULL;
}

bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length)
{
	volumes_wait(volumes);
	return ranges_overlap(&volumes->unknown, offset, length) > 0;
}

const struct ranges *volumes_slack(const struct volumes *volumes)
{
	volumes_wait(volumes);
	return &volumes->slack;
}

const struct ranges *volumes_free_records(const struct volumes *volumes)
{
	volumes_wait(volumes);
	return &volumes->free_records;
}

bool volumes_find(const struct volumes *volumes, uint64_t offset, struct fs_file *file)
{
	volumes_wait(volumes);
	return file_map_find(volumes->file_map, offset, file);
}

void volumes_add_path(struct volumes *volumes, struct fs_file *file)
{
	volumes_wait(volumes);
	file->path = file_map_path(volumes->file_map, file->index);
}

struct range *volumes_extents(
	const struct volumes *volumes, const struct fs_file *file, size_t *count)
{
	volumes_wait(volumes);
	return file_map_extents(volumes->file_map, file, count);
}

bool volumes_is_reallocated(const struct volumes *volumes, const struct fs_file *file)
{
	struct fs_file whole = *file;
	struct range *extents;
	uint64_t used = 0;
	size_t count;

	volumes_wait(volumes);
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
	volumes_wait(volumes);
	runs = file_map_partly_in(volumes->file_map, changed, NTFS_OWN_FILES, &count);
	ranges_add_all(changed, runs, count);
	free(runs);
}

void volumes_free(struct volumes *volumes)
{
	if (!volumes)
		return;
	volumes_cancel(volumes);
	free_reading(volumes->reading);
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
