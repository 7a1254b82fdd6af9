/* What the file lacks at its end is lost, not zeros: a copy that broke off must not look like an empty disk. */
#include "evidence/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

/* Unpacked units in memory, but at least eight. */
#define UNITS_MEMORY ((size_t)8 << 20)

/* THE TABLE. */
static const struct block_format *const formats[] = { &qcow2_format, &vdi_format, &bgzf_format,
	&zstd_format };

const struct block_format *block_format_at(size_t number)
{
	return number < sizeof(formats) / sizeof(*formats) ? formats[number] : NULL;
}

const char *block_fault_text(uint32_t fault)
{
	static const char *const texts[BLOCK_FAULTS] = {
		[BLOCK_PAST_END] = "the file ends before the block that it says has these bytes",
		[BLOCK_CONTRADICTS] = "the block's entry in the table contradicts itself",
		[BLOCK_ASTRAY] = "the block's entry in the table does not lead to a cluster",
		[BLOCK_NO_TABLE] = "the table of these blocks can't be read",
	};

	return texts[fault < BLOCK_FAULTS ? fault : BLOCK_NO_TABLE];
}

/* ---- for the formats ----------------------------------------------------------------------- */

static bool is_inside(const struct block_file *file, uint64_t offset, size_t len)
{
	return offset <= file->len && len <= file->len - offset;
}

int block_file_bytes(struct block_file *file, uint64_t offset, void *buffer, size_t len)
{
	if (!is_inside(file, offset, len))
		return -EIO;
	return file_read_all_at(file->fd, buffer, len, offset);
}

uint8_t *block_file_copy(struct block_file *file, uint64_t offset, size_t len)
{
	uint8_t *bytes = is_inside(file, offset, len) ? xmalloc(len) : NULL;

	if (!bytes || !block_file_bytes(file, offset, bytes, len))
		return bytes;
	free(bytes);
	return NULL;
}

bool block_file_refuse(struct block_file *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(file->about.refusal, sizeof(file->about.refusal), format, args);
	va_end(args);
	file->about.refusal_errno = EMEDIUMTYPE;
	return false;
}

bool block_file_damaged(struct block_file *file, const char *what)
{
	block_file_refuse(
		file, " looks like %s but can't be read as such: %s", file->format->name, what);
	file->about.refusal_errno = EIO;
	return false;
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool open_file(struct block_file *file, const char *path)
{
	struct image_ends ends = { .path = path };
	struct stat st;

	file->fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &st) || image_read_ends(file->fd, &ends))
		return block_file_refuse(file, " can't be read: %s", strerror(errno));
	file->len = (uint64_t)st.st_size;
	if (!file->format->open(file, &ends))
		return false;
	if (file->about.unit_len)
		file->units = chunk_cache_new((size_t)file->about.unit_len,
			file->about.unit_len > UNITS_MEMORY / 8 ? 8 * (size_t)file->about.unit_len
								: UNITS_MEMORY);
	return true;
}

struct block_file *block_file_open(
	const struct block_format *format, const char *path, struct block_about *about)
{
	struct block_file *file = xcalloc(1, format->state_len);
	bool good;

	file->format = format;
	good = open_file(file, path);
	*about = file->about;
	if (good)
		return file;
	block_file_close(file);
	return NULL;
}

void block_file_close(struct block_file *file)
{
	if (!file)
		return;
	file->format->free(file);
	if (file->fd >= 0)
		close(file->fd);
	chunk_cache_free(file->units);
	free(file->packed);
	free(file);
}

/* ---- where bytes are ----------------------------------------------------------------------- */

/* Where the byte is. STORED and PACKED are inside the file, as far as len says. */
static void find(struct block_file *file, uint64_t offset, struct block_place *place)
{
	uint64_t left = file->about.size - offset;

	*place = (struct block_place){ .len = left };
	file->format->find(file, offset, place);
	if (place->kind == BLOCK_PACKED && place->len > place->unpacked_len - place->inside)
		place->len = place->unpacked_len - place->inside;
	if (place->len > left)
		place->len = left;
	if (place->kind != BLOCK_STORED && place->kind != BLOCK_PACKED)
		return;
	if (place->at >= file->len) {
		place->kind = BLOCK_LOST;
		place->fault = BLOCK_PAST_END;
	} else if (place->kind == BLOCK_STORED && place->len > file->len - place->at) {
		place->len = file->len - place->at;
	}
}

/* Whether the place, which follows the extent, is a part of it. */
static bool continues(const struct block_extent *extent, const struct block_place *place)
{
	if (extent->kind != place->kind)
		return false;
	if (place->kind == BLOCK_STORED)
		return extent->at + extent->len == place->at;
	return place->kind != BLOCK_LOST || extent->fault == place->fault;
}

size_t block_file_list(struct block_file *file, uint64_t offset, size_t effort,
	struct block_extent *extents, size_t room)
{
	struct block_place place;
	size_t count = 0;

	for (; offset < file->about.size; offset += place.len) {
		find(file, offset, &place);
		if (count && continues(&extents[count - 1], &place))
			extents[count - 1].len += place.len;
		else if (count == room)
			break;
		else
			extents[count++] = (struct block_extent){ offset, place.len, place.at,
				(uint32_t)place.kind, (uint32_t)place.fault };
		if (effort-- <= 1)
			break;
	}
	return count;
}

/* ---- what is packed ------------------------------------------------------------------------ */

struct load {
	struct block_file *file;
	const struct block_place *place;
};

/* All of a unit; what is after a short one is not read. */
static int load_unit(void *arg, uint64_t number, uint8_t *to)
{
	const struct load *load = arg;
	const struct block_place *place = load->place;
	struct block_file *file = load->file;
	uint64_t left = file->len - place->at;
	size_t packed_len = place->packed_len < left ? place->packed_len : (size_t)left;
	int status;

	(void)number;
	if (packed_len > file->packed_capacity) {
		free(file->packed);
		file->packed = xmalloc(packed_len);
		file->packed_capacity = packed_len;
	}
	status = file_read_all_at(file->fd, file->packed, packed_len, place->at);
	if (!status &&
		!file->format->unpack(file, file->packed, packed_len, to, place->unpacked_len))
		status = -EIO;
	return status;
}

/* A whole unit goes where it is wanted, and others into the cache. */
static int read_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct block_file *file = state;
	struct block_place place;
	struct load load = { file, &place };

	find(file, offset, &place);
	if (place.kind != BLOCK_PACKED)
		return -EIO;
	if (place.len < *len)
		*len = (size_t)place.len;
	if (*len == place.unpacked_len)
		return load_unit(&load, place.unit, to);
	return chunk_cache_read(file->units, place.unit, place.inside, to, *len, load_unit, &load);
}

int block_file_read(struct block_file *file, uint64_t offset, void *buffer, size_t len)
{
	if (offset > file->about.size || len > file->about.size - offset)
		return -EIO;
	return image_read_parts(file, offset, buffer, len, read_part);
}
