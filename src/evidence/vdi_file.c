/*
 * VirtualBox's VDI: a head, and a table with one number for each block of the disk. Of a snapshot the
 * file has only the changes to another one, which the head names by an identifier; its files are in
 * the folder Snapshots next to the first one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "evidence/block_file.h"

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
#define PARENT_AT 424
#define HEAD_LEN 512

#define TYPE_CHANGES 4
/* A block that was discarded; one more: a block that was never written. */
#define NUMBER_ZEROS 0xfffffffe
/* 256 MiB of memory for the table; 64 TiB in blocks of 1 MiB. */
#define BLOCKS_MAX ((uint32_t)64 << 20)

struct vdi {
	struct block_file file; /* first */
	uint64_t data_at;
	uint32_t block_len, extra_len, count; /* extra: in the file, in front of each block */
	uint8_t *table;
};

static void vdi_find(struct block_file *file, uint64_t offset, struct block_place *place)
{
	struct vdi *vdi = (struct vdi *)file;
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

static void vdi_free(struct block_file *file)
{
	free(((struct vdi *)file)->table);
}

static bool vdi_probe(const struct image_ends *ends)
{
	return ends->head_len >= MAGIC_AT + 4 && !memcmp(ends->head + MAGIC_AT, MAGIC, 4);
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool read_head(struct vdi *vdi, const uint8_t *head)
{
	struct block_about *about = &vdi->file.about;
	uint64_t size = endian_u64(head + SIZE_AT);

	if (vdi->file.len < HEAD_LEN)
		return block_file_damaged(&vdi->file, "the file ends within its head");
	if (endian_u32(head + VERSION_AT) >> 16 != 1)
		return block_file_refuse(&vdi->file,
			" is a VDI image in a version that burin does not know: convert it with "
			"`qemu-img convert -O raw FILE image.raw`");
	about->size = size;
	vdi->block_len = endian_u32(head + BLOCK_AT);
	vdi->extra_len = endian_u32(head + EXTRA_AT);
	vdi->count = endian_u32(head + COUNT_AT);
	vdi->data_at = endian_u32(head + DATA_AT);
	if (vdi->block_len < 512 || vdi->block_len % 512 || vdi->extra_len > vdi->block_len)
		return block_file_damaged(&vdi->file, "its blocks have an impossible size");
	if (!size || size > INT64_MAX || vdi->count > BLOCKS_MAX ||
		(size - 1) / vdi->block_len >= vdi->count)
		return block_file_damaged(&vdi->file, "its table does not cover the disk");
	vdi->count = (uint32_t)((size - 1) / vdi->block_len + 1);
	return true;
}

static bool vdi_open(struct block_file *file, const struct image_ends *ends)
{
	struct vdi *vdi = (struct vdi *)file;

	if (!read_head(vdi, ends->head))
		return false;
	vdi->table =
		block_file_copy(file, endian_u32(ends->head + TABLE_AT), (size_t)vdi->count * 4);
	if (!vdi->table)
		return block_file_damaged(file, "the file ends before its table does");
	if (endian_u32(ends->head + TYPE_AT) == TYPE_CHANGES) {
		file->about.parent = BLOCK_PARENT_ID;
		memcpy(file->about.id, ends->head + PARENT_AT, BLOCK_ID_LEN);
	}
	return true;
}

const struct block_format vdi_format = {
	.name = "vdi",
	.state_len = sizeof(struct vdi),
	.probe = vdi_probe,
	.open = vdi_open,
	.find = vdi_find,
	.free = vdi_free,
};
