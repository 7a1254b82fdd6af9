/*
 * VirtualBox's VDI: a head, and a table with one number for each block of the disk. Of a snapshot the
 * file has only the changes to another one, which the head names by an identifier; its files are in
 * the folder Snapshots next to the first one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "evidence/block_image.h"

#define MAGIC "\x7f\x10\xda\xbe"
#define MAGIC_AT 64
#define VERSION_AT 68
#define TYPE_AT 76
#define TABLE_AT 340
#define DATA_AT 344
#define SIZE_AT 368
#define BLOCK_AT 376
#define EXTRA_AT 380
#define COUNT_AT 384
#define ID_AT 392
#define PARENT_AT 424
#define HEAD_LEN 512
#define ID_LEN 16

#define TYPE_CHANGES 4
/* A block that was discarded; one more: a block that was never written. */
#define NUMBER_ZEROS 0xfffffffe
/* 256 MiB of memory for the table; 64 TiB in blocks of 1 MiB. */
#define BLOCKS_MAX ((uint32_t)64 << 20)

struct vdi {
	struct block_image block; /* first */
	uint64_t data_at;
	uint32_t block_len, extra_len, count; /* extra: in the file, in front of each block */
	uint8_t *table;
};

static void vdi_find(struct block_image *block, uint64_t offset, struct block_place *place)
{
	struct vdi *vdi = (struct vdi *)block;
	uint64_t inside = offset % vdi->block_len;
	uint32_t number = endian_u32(vdi->table + offset / vdi->block_len * 4);

	place->len = vdi->block_len - inside;
	if (number >= NUMBER_ZEROS) {
		place->kind = number == NUMBER_ZEROS ? BLOCK_ZEROS : BLOCK_PARENT;
		return;
	}
	place->kind = BLOCK_STORED;
	place->at = vdi->data_at + (uint64_t)number * (vdi->block_len + vdi->extra_len) +
		    vdi->extra_len + inside;
}

static void vdi_free(struct block_image *block)
{
	free(((struct vdi *)block)->table);
}

static bool vdi_probe(const struct image_ends *ends)
{
	return ends->head_len >= MAGIC_AT + 4 && !memcmp(ends->head + MAGIC_AT, MAGIC, 4);
}

/* ---- the image that it has the changes to -------------------------------------------------- */

/* Whether the file is the VDI image with the identifier. */
static bool has_id(const char *path, const uint8_t id[ID_LEN])
{
	int fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint8_t head[HEAD_LEN];
	bool found = fd >= 0 && !file_read_all_at(fd, head, sizeof(head), 0) &&
		     !memcmp(head + MAGIC_AT, MAGIC, 4) && !memcmp(head + ID_AT, id, ID_LEN);

	if (fd >= 0)
		close(fd);
	return found;
}

/* Its path, which the caller frees; NULL: it is not in the folder. */
static char *find_in(const char *folder, const uint8_t id[ID_LEN])
{
	DIR *dir = opendir(*folder ? folder : ".");
	struct dirent *entry;
	char *found = NULL;

	while (dir && !found && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcasecmp(dot, ".vdi"))
			continue;
		found = xasprintf("%s%s", folder, entry->d_name);
		if (!has_id(found, id)) {
			free(found);
			found = NULL;
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

/* VirtualBox keeps the changes in a folder Snapshots next to the first image. */
static int open_parent(
	struct vdi *vdi, const char *path, const uint8_t id[ID_LEN], struct error *error)
{
	static const char *const folders[] = { "", "../", "Snapshots/" };
	const char *slash = strrchr(path, '/');
	char *found = NULL;
	int status;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !found; i++) {
		char *folder =
			xasprintf("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, folders[i]);

		found = find_in(folder, id);
		free(folder);
	}
	if (!found)
		return error_set(error, EXIT_IO, ENOENT,
			"%s has only the changes to another image, {%08x-%04x-%04x-...}, which is "
			"missing: put it into the same folder",
			path, endian_u32(id), (unsigned)endian_get(id + 4, 2),
			(unsigned)endian_get(id + 6, 2));
	status = block_image_take_parent(&vdi->block, found, false, error);
	free(found);
	return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int read_head(struct vdi *vdi, const char *path, const uint8_t *head, struct error *error)
{
	uint64_t size = endian_u64(head + SIZE_AT);

	if (vdi->block.file_len < HEAD_LEN)
		return block_image_damaged(&vdi->block, "the file ends within its head", error);
	if (endian_u32(head + VERSION_AT) >> 16 != 1)
		return error_set(error, EXIT_IO, EMEDIUMTYPE,
			"%s is a VDI image in a version that burin does not know: convert it with "
			"`qemu-img convert -O raw FILE image.raw`",
			path);
	vdi->block.image.info.size = size;
	vdi->block_len = endian_u32(head + BLOCK_AT);
	vdi->extra_len = endian_u32(head + EXTRA_AT);
	vdi->count = endian_u32(head + COUNT_AT);
	vdi->data_at = endian_u32(head + DATA_AT);
	if (vdi->block_len < 512 || vdi->block_len % 512 || vdi->extra_len > vdi->block_len)
		return block_image_damaged(
			&vdi->block, "its blocks have an impossible size", error);
	if (!size || size > INT64_MAX || vdi->count > BLOCKS_MAX ||
		(size - 1) / vdi->block_len >= vdi->count)
		return block_image_damaged(&vdi->block, "its table does not cover the disk", error);
	vdi->count = (uint32_t)((size - 1) / vdi->block_len + 1);
	return 0;
}

static int read_table(struct vdi *vdi, uint64_t at, struct error *error)
{
	vdi->table = block_image_copy(&vdi->block, at, (size_t)vdi->count * 4);
	return vdi->table ? 0
			  : block_image_damaged(
				    &vdi->block, "the file ends before its table does", error);
}

static int vdi_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct vdi *vdi = xcalloc(1, sizeof(*vdi));
	int status;

	vdi->block.find = vdi_find;
	vdi->block.free = vdi_free;
	status = block_image_open(&vdi->block, &vdi_backend, path, error);
	if (!status)
		status = read_head(vdi, path, ends->head, error);
	if (!status)
		status = read_table(vdi, endian_u32(ends->head + TABLE_AT), error);
	if (!status && endian_u32(ends->head + TYPE_AT) == TYPE_CHANGES)
		status = open_parent(vdi, path, ends->head + PARENT_AT, error);
	if (status) {
		image_close(&vdi->block.image);
		return status;
	}
	*image = &vdi->block.image;
	return 0;
}

const struct image_backend vdi_backend = {
	.name = "vdi",
	.probe = vdi_probe,
	.open = vdi_open,
	.read_at = block_image_read_at,
	.hole = block_image_hole,
	.why = block_image_why,
	.close = block_image_close,
};
