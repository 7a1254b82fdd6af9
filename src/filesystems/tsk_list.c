/*
 * The list of volumes. Each is tried with each kind of file system in turn: libtsk's own detection
 * refuses a volume that looks like two, and knows a kind (YAFFS) that it infers from too little.
 */
#include "filesystems/tsk_walk.h"

#include <stdio.h>
#include <string.h>

#include "filesystems/fs_label.h"
#include "evidence/md_superblock.h"
#include "evidence/signatures.h"
#include "filesystems/tsk_image.h"

/* ---- which file system --------------------------------------------------------------------- */

/* Only kinds with a signature in their first bytes, the likeliest first. */
static const TSK_FS_TYPE_ENUM kinds[] = { TSK_FS_TYPE_NTFS_DETECT, TSK_FS_TYPE_FAT_DETECT,
	TSK_FS_TYPE_EXT_DETECT, TSK_FS_TYPE_HFS_DETECT, TSK_FS_TYPE_ISO9660_DETECT,
	TSK_FS_TYPE_FFS_DETECT };

static TSK_FS_INFO *open_any(TSK_IMG_INFO *image, uint64_t offset)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		TSK_FS_INFO *fs = tsk_fs_open_img(image, (TSK_OFF_T)offset, kinds[i]);

		if (fs && fs->block_size && fs->block_count)
			return fs;
		if (fs)
			tsk_fs_close(fs);
	}
	return NULL;
}

static void describe_fs(struct walk_host *host, TSK_FS_INFO *fs, struct volume *volume)
{
	const char *name = tsk_fs_type_toname(fs->ftype);
	uint64_t left = host->size - volume->offset, len;

	snprintf(volume->file_system, sizeof(volume->file_system), "%s", name ? name : "?");
	volume->type = (uint32_t)fs->ftype;
	volume->block_size = fs->block_size;
	if (__builtin_mul_overflow(fs->last_block + 1, (uint64_t)fs->block_size, &len) ||
		len > left) {
		snprintf(volume->note, sizeof(volume->note),
			"the image ends before the file system does");
		len = left;
	}
	if (volume->kind == VOLUME_WHOLE)
		volume->length = len;
	fs_label_find(host, volume);
}

/* What a volume begins with, and what burin itself recognises by that. */
struct start {
	uint8_t bytes[SIGNATURES_LEN];
	size_t len;
	bool readable, encrypted;
	const char *name; /* NULL: nothing */
};

static void read_start(struct walk_host *host, const struct volume *volume, struct start *start)
{
	start->len = volume->length < sizeof(start->bytes) ? (size_t)volume->length
							   : sizeof(start->bytes);
	start->encrypted = false;
	start->readable = host->read(host, volume->offset, start->bytes, start->len);
	start->name = start->readable ? signatures_find(start->bytes, start->len, &start->encrypted)
				      : NULL;
}

/* What libtsk does not read. */
static void describe_unread(struct volume *volume, const struct start *start)
{
	if (!start->readable)
		return;
	volume->encrypted = start->encrypted;
	if (start->name) {
		snprintf(volume->file_system, sizeof(volume->file_system), "%s", start->name);
		snprintf(volume->note, sizeof(volume->note),
			volume->encrypted ? "encrypted: there is nothing to carve in it until it "
					    "is decrypted (--password-file)"
			: strcmp(start->name, "LVM2")
				? "burin does not read its structures"
				: "--open carves the volumes in it as images of their own");
	} else if (signatures_look_random(
			   start->bytes + 512, start->len > 512 ? start->len - 512 : 0)) {
		snprintf(volume->note, sizeof(volume->note),
			"no known file system; its bytes look random, so it may be encrypted");
	} else {
		snprintf(volume->note, sizeof(volume->note), "no known file system");
	}
}

struct part {
	struct walk_host *host;
	uint64_t offset;
};

static bool read_part(void *context, uint64_t offset, void *buffer, size_t len)
{
	const struct part *part = context;

	return part->host->read(part->host, part->offset + offset, buffer, len);
}

/* What a member of an array begins with may be the start of a file system that goes on in others. A member
 * of RAID 1 whose superblock is at its end has all of it. */
static bool describe_member(struct walk_host *host, struct volume *volume)
{
	struct part part = { host, volume->offset };
	struct md_superblock superblock;

	if (!md_superblock_read(read_part, &part, volume->length, &superblock) ||
		(superblock.level == 1 && !superblock.data_at))
		return false;
	snprintf(volume->file_system, sizeof(volume->file_system), "Linux RAID");
	snprintf(volume->note, sizeof(volume->note),
		"a member of an array, which --open carves as an image of its own");
	return true;
}

static void report_volume(struct walk_host *host, const struct volume *volume)
{
	host->report(host, WALK_VOLUME, volume, sizeof(*volume));
}

/* ---- APFS ---------------------------------------------------------------------------------- */

static void report_pooled(
	struct walk_host *host, const struct volume *container, const TSK_POOL_VOLUME_INFO *pooled)
{
	struct volume volume = *container;

	volume.kind = VOLUME_POOLED;
	volume.type = pooled->flags & TSK_POOL_VOLUME_FLAG_ENCRYPTED ? 0 : TSK_FS_TYPE_APFS;
	volume.pool_block = pooled->block;
	volume.encrypted = pooled->flags & TSK_POOL_VOLUME_FLAG_ENCRYPTED;
	snprintf(volume.file_system, sizeof(volume.file_system), "apfs");
	snprintf(volume.description, sizeof(volume.description), "volume of the container");
	snprintf(volume.label, sizeof(volume.label), "%s", pooled->desc ? pooled->desc : "");
	snprintf(volume.note, sizeof(volume.note), "%s",
		volume.encrypted ? "encrypted: there is nothing to carve in its files before it is "
				   "decrypted"
				 : "");
	report_volume(host, &volume);
}

static bool list_pool(struct walk_host *host, TSK_IMG_INFO *image, struct volume *volume)
{
	const TSK_POOL_INFO *pool =
		tsk_pool_open_img_sing(image, (TSK_OFF_T)volume->offset, TSK_POOL_TYPE_APFS);
	uint64_t left = host->size - volume->offset, len;

	if (!pool)
		return false;
	volume->type = TSK_FS_TYPE_APFS;
	volume->block_size = pool->block_size;
	if (__builtin_mul_overflow(pool->num_blocks, (uint64_t)pool->block_size, &len) ||
		len > left)
		len = left;
	volume->length = len;
	snprintf(volume->file_system, sizeof(volume->file_system), "APFS container");
	report_volume(host, volume);
	for (const TSK_POOL_VOLUME_INFO *each = pool->vol_list; each; each = each->next)
		report_pooled(host, volume, each);
	tsk_pool_close(pool);
	return true;
}

/* ---- the list ------------------------------------------------------------------------------ */

/* True when something was recognised there. */
static bool list_volume(struct walk_host *host, TSK_IMG_INFO *image, struct volume *volume)
{
	static struct start start;
	TSK_FS_INFO *fs = NULL;
	uint8_t magic[4];
	bool is_member;

	if (volume->offset < host->size && host->size - volume->offset >= 4096 &&
		host->read(host, volume->offset + 32, magic, sizeof(magic)) &&
		!memcmp(magic, "NXSB", 4) && list_pool(host, image, volume))
		return true;
	/* BitLocker To Go looks like FAT, in which there is nothing but a program that opens it. */
	read_start(host, volume, &start);
	is_member = !start.encrypted && describe_member(host, volume);
	if (!start.encrypted && !is_member)
		fs = open_any(image, volume->offset);
	if (fs) {
		describe_fs(host, fs, volume);
		tsk_fs_close(fs);
	} else if (!is_member) {
		describe_unread(volume, &start);
	}
	if (fs || volume->kind == VOLUME_PARTITION || *volume->file_system)
		report_volume(host, volume);
	return fs || *volume->file_system;
}

static void list_table(struct walk_host *host, TSK_IMG_INFO *image, TSK_VS_INFO *table, bool outer);

/* BSD's partitions are inside one of the outer table. */
static bool list_inner(struct walk_host *host, TSK_IMG_INFO *image, const struct volume *volume)
{
	TSK_VS_INFO *table;

	if (!strstr(volume->description, "BSD"))
		return false;
	table = tsk_vs_open(image, volume->offset, TSK_VS_TYPE_BSD);
	if (!table)
		return false;
	list_table(host, image, table, false);
	tsk_vs_close(table);
	return true;
}

static void list_table(struct walk_host *host, TSK_IMG_INFO *image, TSK_VS_INFO *table, bool outer)
{
	for (const TSK_VS_PART_INFO *part = table->part_list; part; part = part->next) {
		struct volume volume = { .kind = VOLUME_PARTITION };

		if (!(part->flags & TSK_VS_PART_FLAG_ALLOC) ||
			part->flags & TSK_VS_PART_FLAG_META ||
			__builtin_mul_overflow(
				part->start, (uint64_t)table->block_size, &volume.offset) ||
			volume.offset >= host->size)
			continue;
		if (__builtin_mul_overflow(
			    part->len, (uint64_t)table->block_size, &volume.length) ||
			volume.length > host->size - volume.offset)
			volume.length = host->size - volume.offset;
		snprintf(volume.description, sizeof(volume.description), "%s",
			part->desc ? part->desc : "");
		if (!outer || !list_inner(host, image, &volume))
			list_volume(host, image, &volume);
	}
}

static bool begins_at_start(const TSK_VS_INFO *table)
{
	for (const TSK_VS_PART_INFO *part = table->part_list; part; part = part->next)
		if (part->flags & TSK_VS_PART_FLAG_ALLOC && part->start == 0)
			return true;
	return false;
}

void walk_list(struct walk_host *host)
{
	TSK_IMG_INFO *image = tsk_image_open(host);
	TSK_VS_INFO *table = image ? tsk_vs_open(image, 0, TSK_VS_TYPE_DETECT) : NULL;
	struct volume whole = { .kind = VOLUME_WHOLE, .length = host->size };
	const char *name = table ? tsk_vs_type_toname(table->vstype) : NULL;

	if (table) {
		host->report(host, WALK_TABLE, name ? name : "?", strlen(name ? name : "?"));
		list_table(host, image, table, true);
	}
	/* A disc image that also boots from USB has both. */
	if (image && (!table || !begins_at_start(table)))
		list_volume(host, image, &whole);
	if (table)
		tsk_vs_close(table);
	if (image)
		tsk_img_close(image);
}
