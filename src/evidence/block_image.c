/*
 * A disk image in one file that is kept in blocks: QCOW2, VDI, and raw ones compressed in parts. burin-evidence
 * parses the file and unpacks what is packed (block_file.h). Where the bytes are it lists as extents, of which the
 * last windows are kept; what is stored as it is, and the image that this one has the changes to, is read here.
 *
 * Nothing is trusted: not the extents, and not that the chain of parents ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "evidence/block_job.h"
#include "evidence/block_parent.h"
#include "evidence/evidence_job.h"
#include "evidence/reader_ring.h"
#include "evidence/served.h"

/* A failed block is read again in units of this size. */
#define UNIT_LEN 4096
#define SECTOR_LEN 512
/* A chain of snapshots is seldom longer than ten. */
#define DEPTH_MAX 64
/* Processes that unpack, each its own part of the image. */
#define WORKERS_MAX 16
#define WINDOWS 16
/* Places that are looked up at a time: more where reading goes on in order. */
#define EFFORT_MIN ((size_t)256)
#define EFFORT_MAX ((size_t)65536)

struct window {
	uint64_t begin, end, used;
	size_t count;
	struct block_extent *extents; /* rising, without gaps */
};

struct block_image {
	struct image image; /* first */
	const struct block_format *format;
	struct block_about about;
	int fd;
	struct image *parent; /* NULL: none */
	struct block_job *job;
	size_t job_len;
	uint64_t group_len;                        /* what one worker unpacks at a time */
	pthread_mutex_t lock;                      /* over what follows */
	struct served_image *workers[WORKERS_MAX]; /* but for the first, NULL until it is needed */
	unsigned worker_count;
	struct window windows[WINDOWS];
	uint64_t uses, next; /* next: the end of the last window */
	size_t effort;
};

/* Of the image that this thread is opening: parents are opened by image_open, which is not told. */
static _Thread_local unsigned depth;

/* ---- processes ----------------------------------------------------------------------------- */

/* 0, or a negative errno with the reason, and *opened is NULL. */
static int open_worker(const struct block_image *block, struct served_image **opened, char *reason,
	size_t reason_len)
{
	struct served_image *worker = xcalloc(1, sizeof(*worker));
	int status;

	worker->kind = "blocks";
	worker->arg = xmalloc(block->job_len);
	memcpy(worker->arg, block->job, block->job_len);
	worker->arg_len = block->job_len;
	worker->unit = UNIT_LEN;
	worker->image.interrupted = block->image.interrupted;
	status = served_open(worker, reason, reason_len);
	*opened = status ? NULL : worker;
	if (status)
		served_close(&worker->image);
	return status;
}

/* The one that unpacks the byte at offset: neighbours go to the same one, which has them in memory. Where no
 * further one can be started, those that run share the work. */
static struct served_image *worker_for(struct block_image *block, uint64_t offset)
{
	struct served_image *worker;
	unsigned number;
	char reason[512];

	pthread_mutex_lock(&block->lock);
	number = (unsigned)(offset / block->group_len % block->worker_count);
	if (!block->workers[number] &&
		open_worker(block, &block->workers[number], reason, sizeof(reason))) {
		block->worker_count = number;
		number = 0;
	}
	worker = block->workers[number];
	if (worker->image.interrupted != block->image.interrupted)
		worker->image.interrupted = block->image.interrupted;
	pthread_mutex_unlock(&block->lock);
	return worker;
}

/* ---- where bytes are ----------------------------------------------------------------------- */

static bool is_valid(const struct block_image *block, const struct block_extent *extents,
	size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++) {
		if (extents[i].offset != offset || !extents[i].len ||
			extents[i].len > block->image.info.size - offset ||
			extents[i].kind > BLOCK_LOST || extents[i].at > INT64_MAX)
			return false;
		offset += extents[i].len;
	}
	return count > 0;
}

/* Asks for the extents from offset on; returns how many, 0 where none can be told. */
static size_t list_extents(
	struct block_image *block, uint64_t offset, size_t effort, struct block_extent *extents)
{
	size_t len = BLOCK_EXTENTS_MAX * sizeof(*extents);
	size_t count;

	if (served_list_at(worker_for(block, 0), offset, effort, extents, &len))
		return 0;
	count = len / sizeof(*extents);
	return is_valid(block, extents, count, offset) ? count : 0;
}

/* Under the lock. NULL: none of them has it. */
static const struct block_extent *look_up(struct block_image *block, uint64_t offset)
{
	struct window *window = NULL;
	size_t low = 0, high;

	for (size_t i = 0; i < WINDOWS && !window; i++)
		if (offset >= block->windows[i].begin && offset < block->windows[i].end)
			window = &block->windows[i];
	if (!window)
		return NULL;
	window->used = ++block->uses;
	for (high = window->count; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (window->extents[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &window->extents[low];
}

/* Under the lock. Takes over extents. */
static void add_window(struct block_image *block, struct block_extent *extents, size_t count)
{
	struct window *window = &block->windows[0];

	for (size_t i = 1; i < WINDOWS; i++)
		if (block->windows[i].used < window->used)
			window = &block->windows[i];
	free(window->extents);
	*window = (struct window){ .begin = extents[0].offset,
		.end = extents[count - 1].offset + extents[count - 1].len,
		.used = ++block->uses,
		.count = count,
		.extents = xreallocarray(extents, count, sizeof(*extents)) };
	block->next = window->end;
}

static void load_window(struct block_image *block, uint64_t offset, struct block_extent *extent)
{
	struct block_extent *extents = xmalloc(BLOCK_EXTENTS_MAX * sizeof(*extents));
	size_t count, effort;

	pthread_mutex_lock(&block->lock);
	effort = offset == block->next ? block->effort * 8 : EFFORT_MIN;
	block->effort = effort < EFFORT_MAX ? effort : EFFORT_MAX;
	effort = block->effort;
	pthread_mutex_unlock(&block->lock);
	count = list_extents(block, offset, effort, extents);
	/* What can't be told may be of another place than this one. */
	if (!count)
		count = list_extents(block, offset, 1, extents);
	*extent = count ? extents[0]
			: (struct block_extent){ .offset = offset,
				  .len = UNIT_LEN - offset % UNIT_LEN,
				  .kind = BLOCK_LOST,
				  .fault = BLOCK_NO_TABLE };
	if (!count) {
		free(extents);
		return;
	}
	pthread_mutex_lock(&block->lock);
	add_window(block, extents, count);
	pthread_mutex_unlock(&block->lock);
}

/* *extent: from offset on. */
static void find(struct block_image *block, uint64_t offset, struct block_extent *extent)
{
	const struct block_extent *known;
	uint64_t inside;

	pthread_mutex_lock(&block->lock);
	known = look_up(block, offset);
	if (known)
		*extent = *known;
	pthread_mutex_unlock(&block->lock);
	if (!known)
		load_window(block, offset, extent);
	inside = offset - extent->offset;
	extent->offset = offset;
	extent->len -= inside;
	if (extent->kind == BLOCK_STORED)
		extent->at += inside;
	if (extent->kind == BLOCK_PARENT && !block->parent)
		extent->kind = BLOCK_ZEROS;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* As much of the parent as it has; it may be smaller than this image. */
static int read_parent(struct image *parent, uint64_t offset, uint8_t *to, size_t len)
{
	uint64_t size = parent->info.size;
	size_t part_len = offset >= size ? 0 : size - offset < len ? (size_t)(size - offset) : len;

	memset(to + part_len, 0, len - part_len);
	return part_len ? image_read_at(parent, offset, to, part_len) : 0;
}

static int read_extent(
	struct block_image *block, const struct block_extent *extent, uint8_t *to, size_t len)
{
	switch (extent->kind) {
	case BLOCK_ZEROS:
		memset(to, 0, len);
		return 0;
	case BLOCK_STORED:
		return file_read_all_at(block->fd, to, len, extent->at);
	case BLOCK_PARENT:
		return read_parent(block->parent, extent->offset, to, len);
	case BLOCK_PACKED:
		return served_read_at(
			&worker_for(block, extent->offset)->image, extent->offset, to, len);
	default:
		return -EIO;
	}
}

static int read_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct block_image *block = state;
	uint64_t left = block->group_len - offset % block->group_len;
	struct block_extent extent;

	find(block, offset, &extent);
	if (extent.kind == BLOCK_PACKED && left < *len)
		*len = (size_t)left;
	if (extent.len < *len)
		*len = (size_t)extent.len;
	return read_extent(block, &extent, to, *len);
}

static int block_image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_part);
}

static bool block_image_hole(struct image *image, uint64_t offset, uint64_t *len)
{
	struct block_image *block = (struct block_image *)image;
	struct block_extent extent;
	bool hole;

	find(block, offset, &extent);
	*len = extent.len;
	if (extent.kind != BLOCK_PARENT || offset >= block->parent->info.size)
		return extent.kind == BLOCK_ZEROS || extent.kind == BLOCK_PARENT;
	hole = image_hole(block->parent, offset, len);
	if (*len > extent.len)
		*len = extent.len;
	return hole;
}

/* The unit that failed may begin well. */
static char *block_image_why(struct image *image, uint64_t offset)
{
	struct block_image *block = (struct block_image *)image;
	struct block_extent *extents = xmalloc(BLOCK_EXTENTS_MAX * sizeof(*extents));
	uint64_t end = (offset / UNIT_LEN + 1) * UNIT_LEN, len = 1;
	const char *path = image->info.paths[0];
	char *why = NULL;

	for (; !why && offset < end && offset < image->info.size; offset += len) {
		/* One place, for an extent's other units have places of their own. */
		size_t count = list_extents(block, offset, 1, extents);
		struct image *worker = &worker_for(block, count ? offset : 0)->image;
		char *lost = served_why(worker, offset);

		len = count ? extents[0].len : end - offset;
		if (lost)
			why = xasprintf("%s: %s", path, lost);
		else if (!count || extents[0].kind == BLOCK_LOST)
			why = xasprintf("%s: %s", path,
				block_fault_text(count ? extents[0].fault : BLOCK_NO_TABLE));
		else if (extents[0].kind == BLOCK_PACKED)
			why = xasprintf(
				"%s: the compressed block at byte %llu of the file is damaged",
				path, (unsigned long long)extents[0].at);
		else if (extents[0].kind == BLOCK_PARENT && block->parent)
			why = image_why(block->parent, offset, &len);
		free(lost);
	}
	free(extents);
	return why;
}

static void block_image_close(struct image *image)
{
	struct block_image *block = (struct block_image *)image;

	for (unsigned i = 0; i < WORKERS_MAX; i++)
		if (block->workers[i])
			served_close(&block->workers[i]->image);
	for (size_t i = 0; i < WINDOWS; i++)
		free(block->windows[i].extents);
	if (block->fd >= 0)
		close(block->fd);
	image_close(block->parent);
	pthread_mutex_destroy(&block->lock);
	free(block->job);
	free(block);
}

/* ---- opening ------------------------------------------------------------------------------- */

static const struct block_format *find_format(const struct image_ends *ends, size_t *number)
{
	const struct block_format *format;

	for (*number = 0; (format = block_format_at(*number)); ++*number)
		if (format->probe(ends))
			return format;
	return NULL;
}

static bool block_image_probe(const struct image_ends *ends)
{
	size_t number;

	return find_format(ends, &number) != NULL;
}

static int missing_parent(const struct block_image *block, struct error *error)
{
	const struct block_about *about = &block->about;
	char *name = about->parent == BLOCK_PARENT_ID
			     ? xasprintf("{%08x-%04x-%04x-...}", endian_u32(about->id),
				       (unsigned)endian_get(about->id + 4, 2),
				       (unsigned)endian_get(about->id + 6, 2))
			     : xasprintf("'%s'", about->name);
	int status = error_set(error, EXIT_IO, ENOENT,
		"%s has only the changes to another image, %s, which is missing: put it into the "
		"same folder",
		block->image.info.paths[0], name);

	free(name);
	return status;
}

static int open_found(struct block_image *block, const char *parent, struct error *error)
{
	const char *path = block->image.info.paths[0];
	const struct image_ends none = { .path = path };
	struct error why = { 0 };
	int status;

	if (depth == DEPTH_MAX)
		return error_set(error, EXIT_IO, ELOOP,
			"%s has the changes to an image that has the changes to another, and so on "
			"more than %d times",
			path, DEPTH_MAX);
	depth++;
	status = block->about.parent == BLOCK_PARENT_RAW
			 ? raw_backend.open(&block->parent, parent, &none, &why)
			 : image_open(&block->parent, parent, &why);
	depth--;
	if (status)
		error_set(error, EXIT_IO, -status, "%s%s%s", depth ? "" : path,
			depth ? "" : ": the image that it has the changes to: ", why.text);
	else
		image_add_paths(&block->image.info, &block->parent->info);
	return status;
}

static int open_parent(struct block_image *block, struct error *error)
{
	const char *path = block->image.info.paths[0];
	char *found;
	int status;

	if (block->about.parent == BLOCK_NO_PARENT)
		return 0;
	found = block->about.parent == BLOCK_PARENT_ID
			? block_parent_by_id(path, block->about.id)
			: block_parent_by_name(path, block->about.name);
	status = found ? open_found(block, found, error) : missing_parent(block, error);
	free(found);
	return status;
}

static int open_file(struct block_image *block, const char *path, struct error *error)
{
	struct image_info *info = &block->image.info;
	struct stat st;

	info->format = block->format->name;
	info->sector_size = SECTOR_LEN;
	info->paths = xcalloc(1, sizeof(*info->paths));
	info->paths[info->path_count++] = xstrdup(path);
	block->fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (block->fd >= 0 && !fstat(block->fd, &st) && S_ISREG(st.st_mode))
		return 0;
	return error_set(error, EXIT_IO, block->fd < 0 ? errno : EINVAL, "can't open %s: %s", path,
		block->fd < 0 ? strerror(errno) : "it is not a file");
}

/* What it says of the file is text for people, and not trusted to be. */
static void end_texts(struct block_about *about)
{
	char text[sizeof(about->refusal)];

	about->name[BLOCK_NAME_MAX] = 0;
	about->damage[sizeof(about->damage) - 1] = 0;
	snprintf(about->damage, sizeof(about->damage), "%s",
		text_clean(about->damage, text, sizeof(about->damage)));
}

static int start(struct block_image *block, const char *path, struct error *error)
{
	char reason[512], clean[512];
	struct served_image *worker;
	int status = open_worker(block, &worker, reason, sizeof(reason));

	block->workers[0] = worker;
	if (status) {
		text_clean(reason, clean, sizeof(clean));
		return error_set(error, EXIT_IO, -status, "%s%s%s", path,
			*clean == ' ' || *clean == ':' ? "" : " can't be read: ", clean);
	}
	served_answer(worker, &block->about, sizeof(block->about));
	end_texts(&block->about);
	block->image.info.size = worker->image.info.size;
	return 0;
}

static void describe(struct block_image *block, const char *path)
{
	struct image_info *info = &block->image.info;
	uint64_t unit_len = block->about.unit_len;

	if (*block->about.damage)
		info->damage = xasprintf("%s%s", path, block->about.damage);
	if (block->about.snapshots) {
		info->values = xcalloc(1, sizeof(*info->values));
		info->values[info->value_count++] = (struct image_value){ xstrdup("snapshots"),
			xasprintf(
				"%u, which were not searched", (unsigned)block->about.snapshots) };
	}
	block->group_len = SERVED_DATA_LEN;
	if (unit_len && unit_len <= INT64_MAX)
		block->group_len = unit_len >= SERVED_DATA_LEN
					   ? unit_len
					   : SERVED_DATA_LEN / unit_len * unit_len;
	block->worker_count = unit_len ? reader_thread_count() : 1;
	if (block->worker_count > WORKERS_MAX)
		block->worker_count = WORKERS_MAX;
}

static int block_image_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct block_image *block = xcalloc(1, sizeof(*block));
	size_t number, path_len = strlen(path) + 1;
	int status;

	pthread_mutex_init(&block->lock, NULL);
	block->image.backend = &block_backend;
	block->image.read_unit = UNIT_LEN;
	block->format = find_format(ends, &number);
	block->job_len = sizeof(*block->job) + path_len;
	block->job = xmalloc(block->job_len);
	block->job->format = (uint32_t)number;
	memcpy(block->job->path, path, path_len);
	block->group_len = block->worker_count = 1;
	block->effort = EFFORT_MIN;
	status = open_file(block, path, error);
	if (!status)
		status = start(block, path, error);
	if (!status)
		status = open_parent(block, error);
	if (status) {
		image_close(&block->image);
		return status;
	}
	describe(block, path);
	*image = &block->image;
	return 0;
}

const struct image_backend block_backend = {
	.name = "blocks",
	.probe = block_image_probe,
	.open = block_image_open,
	.read_at = block_image_read_at,
	.hole = block_image_hole,
	.why = block_image_why,
	.close = block_image_close,
};
