/*
 * What the file lacks at its end is lost, not zeros: a copy that broke off must not look like an empty
 * disk. Nothing else here is trusted either: an image that says it is its own parent ends at a depth,
 * and a parent is only looked for where the image is, because its name may be that of any file of the
 * examiner's machine.
 */
#include "evidence/block_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

/* A failed block is read again in units of this size. */
#define UNIT_LEN 4096
#define SECTOR_LEN 512
/* Unpacked units in memory, but at least eight. */
#define UNITS_MEMORY ((size_t)8 << 20)
/* A chain of snapshots is seldom longer than ten. */
#define DEPTH_MAX 64

/* Of the image that this thread is opening: parents are opened by image_open, which is not told. */
static _Thread_local unsigned depth;

int block_image_open(struct block_image *block, const struct image_backend *backend,
	const char *path, struct error *error)
{
	struct image_info *info = &block->image.info;
	struct stat st;

	block->image.backend = backend;
	block->image.read_unit = UNIT_LEN;
	info->format = backend->name;
	info->sector_size = SECTOR_LEN;
	info->paths = xcalloc(1, sizeof(*info->paths));
	info->paths[info->path_count++] = xstrdup(path);
	block->fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (block->fd < 0 || fstat(block->fd, &st) || !S_ISREG(st.st_mode))
		return error_set(error, EXIT_IO, block->fd < 0 ? errno : EINVAL,
			"can't open %s: %s", path,
			block->fd < 0 ? strerror(errno) : "it is not a file");
	block->file_len = (uint64_t)st.st_size;
	return 0;
}

static bool is_inside(const struct block_image *block, uint64_t offset, size_t len)
{
	return offset <= block->file_len && len <= block->file_len - offset;
}

int block_image_file(struct block_image *block, uint64_t offset, void *buffer, size_t len)
{
	if (!is_inside(block, offset, len))
		return -EIO;
	return file_read_all_at(block->fd, buffer, len, offset);
}

uint8_t *block_image_copy(struct block_image *block, uint64_t offset, size_t len)
{
	uint8_t *bytes = is_inside(block, offset, len) ? xmalloc(len) : NULL;

	if (!bytes || !block_image_file(block, offset, bytes, len))
		return bytes;
	free(bytes);
	return NULL;
}

int block_image_damaged(const struct block_image *block, const char *what, struct error *error)
{
	return error_set(error, EXIT_IO, EIO, "%s looks like %s but can't be read as such: %s",
		block->image.info.paths[0], block->image.backend->name, what);
}

/* ---- the parent ---------------------------------------------------------------------------- */

/* Whether the name can lead out of the image's folder. */
static bool leads_out(const char *name)
{
	return *name == '/' || !strcmp(name, "..") || !strncmp(name, "../", 3) ||
	       strstr(name, "/../") || strchr(name, '\\');
}

/* The file's path if it is there; the caller frees it. */
static char *parent_path(const struct block_image *block, const char *name)
{
	const char *path = block->image.info.paths[0], *slash = strrchr(path, '/');
	int folder_len = slash ? (int)(slash + 1 - path) : 0;
	const char *last = name + strlen(name);
	char *found = leads_out(name) ? NULL : xasprintf("%.*s%s", folder_len, path, name);

	if (found && !access(found, F_OK))
		return found;
	free(found);
	while (last > name && last[-1] != '/' && last[-1] != '\\')
		last--;
	found = xasprintf("%.*s%s", folder_len, path, last);
	if (*last && !access(found, F_OK))
		return found;
	free(found);
	return NULL;
}

int block_image_take_parent(
	struct block_image *block, const char *parent, bool raw, struct error *error)
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
	status = raw ? raw_backend.open(&block->parent, parent, &none, &why)
		     : image_open(&block->parent, parent, &why);
	depth--;
	if (status)
		error_set(error, EXIT_IO, -status, "%s%s%s", depth ? "" : path,
			depth ? "" : ": the image that it has the changes to: ", why.text);
	else
		image_add_paths(&block->image.info, &block->parent->info);
	return status;
}

int block_image_open_parent(
	struct block_image *block, const char *name, bool raw, struct error *error)
{
	char *found = parent_path(block, name);
	int status;

	if (!found)
		return error_set(error, EXIT_IO, ENOENT,
			"%s has only the changes to another image, '%s', which is missing: put it "
			"into the same folder",
			block->image.info.paths[0], name);
	status = block_image_take_parent(block, found, raw, error);
	free(found);
	return status;
}

void block_image_packs(struct block_image *block, size_t unit_len)
{
	block->unit_len = unit_len;
	block->units = chunk_cache_new(
		unit_len, unit_len > UNITS_MEMORY / 8 ? 8 * unit_len : UNITS_MEMORY);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Where the byte is. STORED and PACKED are inside the file, as far as len says. */
static void find(struct block_image *block, uint64_t offset, struct block_place *place)
{
	uint64_t left = block->image.info.size - offset;

	*place = (struct block_place){ .len = left };
	block->find(block, offset, place);
	if (place->len > left)
		place->len = left;
	if (place->kind == BLOCK_PARENT && !block->parent)
		place->kind = BLOCK_ZEROS;
	if (place->kind != BLOCK_STORED && place->kind != BLOCK_PACKED)
		return;
	if (place->kind == BLOCK_PACKED && place->len > place->unpacked_len - place->inside)
		place->len = place->unpacked_len - place->inside;
	if (place->at >= block->file_len) {
		place->kind = BLOCK_LOST;
		place->why = "the file ends before the block that it says has these bytes";
	} else if (place->kind == BLOCK_STORED && place->len > block->file_len - place->at) {
		place->len = block->file_len - place->at;
	}
}

struct load {
	struct block_image *block;
	const struct block_place *place;
};

/* A unit for the cache; what is after a short one is not read. */
static int load_unit(void *arg, uint64_t number, uint8_t *to)
{
	const struct load *load = arg;
	const struct block_place *place = load->place;
	struct block_image *block = load->block;
	uint64_t left = block->file_len - place->at;
	size_t packed_len = place->packed_len < left ? place->packed_len : (size_t)left;
	uint8_t *packed = xmalloc(packed_len ? packed_len : 1);
	int status = file_read_all_at(block->fd, packed, packed_len, place->at);

	(void)number;
	if (!status && !block->unpack(block, packed, packed_len, to, place->unpacked_len))
		status = -EIO;
	free(packed);
	return status;
}

/* As much of the parent as it has; it may be smaller than this image. */
static int read_parent(struct image *parent, uint64_t offset, uint8_t *to, size_t len)
{
	uint64_t size = parent->info.size;
	size_t part_len = offset >= size ? 0 : size - offset < len ? (size_t)(size - offset) : len;

	memset(to + part_len, 0, len - part_len);
	return part_len ? image_read_at(parent, offset, to, part_len) : 0;
}

static int read_place(struct block_image *block, const struct block_place *place, uint64_t offset,
	uint8_t *to, size_t len)
{
	struct load load = { block, place };

	switch (place->kind) {
	case BLOCK_ZEROS:
		memset(to, 0, len);
		return 0;
	case BLOCK_STORED:
		return file_read_all_at(block->fd, to, len, place->at);
	case BLOCK_PARENT:
		return read_parent(block->parent, offset, to, len);
	case BLOCK_PACKED:
		return chunk_cache_read(
			block->units, place->unit, place->inside, to, len, load_unit, &load);
	default:
		return -EIO;
	}
}

static int read_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct block_image *block = state;
	struct block_place place;

	find(block, offset, &place);
	if (place.len < *len)
		*len = (size_t)place.len;
	return read_place(block, &place, offset, to, *len);
}

int block_image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_part);
}

bool block_image_hole(struct image *image, uint64_t offset, uint64_t *len)
{
	struct block_image *block = (struct block_image *)image;
	struct block_place place;
	bool hole;

	find(block, offset, &place);
	*len = place.len;
	if (place.kind != BLOCK_PARENT || offset >= block->parent->info.size)
		return place.kind == BLOCK_ZEROS || place.kind == BLOCK_PARENT;
	hole = image_hole(block->parent, offset, len);
	if (*len > place.len)
		*len = place.len;
	return hole;
}

/* The unit that failed may begin well. */
char *block_image_why(struct image *image, uint64_t offset)
{
	struct block_image *block = (struct block_image *)image;
	uint64_t end = (offset / UNIT_LEN + 1) * UNIT_LEN, len;
	const char *path = image->info.paths[0];
	struct block_place place;
	char *why = NULL;

	for (; !why && offset < end && offset < image->info.size; offset += place.len) {
		find(block, offset, &place);
		if (place.kind == BLOCK_LOST)
			why = xasprintf("%s: %s", path, place.why);
		else if (place.kind == BLOCK_PACKED)
			why = xasprintf(
				"%s: the compressed block at byte %llu of the file is damaged",
				path, (unsigned long long)place.at);
		else if (place.kind == BLOCK_PARENT)
			why = image_why(block->parent, offset, &len);
	}
	return why;
}

void block_image_close(struct image *image)
{
	struct block_image *block = (struct block_image *)image;

	if (block->free)
		block->free(block);
	if (block->fd >= 0)
		close(block->fd);
	image_close(block->parent);
	chunk_cache_free(block->units);
	free(block);
}
