/*
 * libtsk sees the image through a callback, so that it reads whatever burin reads. Of each volume
 * it is asked for each kind of file system by itself: its own guessing refuses a volume that looks
 * like two, and knows a kind (YAFFS) that it guesses from little.
 *
 * A file system's blocks are walked without their content, those in use only, so that a file system
 * that turns out damaged midway counts as unused behind that place, and is told as not known at
 * all.
 */
#include "evidence/tsk_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tsk/libtsk.h>

#include "evidence/signatures.h"
#include "evidence/fs_label.h"

/* libtsk asks for pieces of any size. */
#define READ_MAX ((size_t)1 << 20)

struct walk_image {
	TSK_IMG_INFO info; /* first: libtsk's pointer is ours */
	struct walk_host *host;
};

/* Ranges that are known and not told yet. */
struct bundle {
	struct walk_host *host;
	enum told what;
	uint64_t offset, block_size; /* of the file system, bytes; offset is the image's */
	struct range ranges[TOLD_RANGES];
	size_t count;
	bool gone; /* nobody listens */
};

/* ---- the image ---------------------------------------------------------------------------------
 */

static ssize_t read_image(TSK_IMG_INFO *info, TSK_OFF_T offset, char *buffer, size_t len)
{
	struct walk_host *host = ((struct walk_image *)info)->host;
	uint64_t at = (uint64_t)offset, left = offset < 0 || at >= host->size ? 0 : host->size - at;

	if (len > left)
		len = (size_t)left;
	for (size_t done = 0; done < len;) {
		size_t piece_len = len - done < READ_MAX ? len - done : READ_MAX;

		if (!host->read(host, at + done, buffer + done, piece_len))
			return -1;
		done += piece_len;
	}
	return (ssize_t)len;
}

static void close_image(TSK_IMG_INFO *info)
{
	free(info);
}

static void describe_image(TSK_IMG_INFO *info, FILE *stream)
{
	(void)info;
	(void)stream;
}

static TSK_IMG_INFO *open_image(struct walk_host *host)
{
	struct walk_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->host = host;
	if (tsk_img_open_external(&image->info, (TSK_OFF_T)host->size, host->sector_size,
		    read_image, close_image, describe_image))
		return &image->info;
	free(image);
	return NULL;
}

/* ---- telling -----------------------------------------------------------------------------------
 */

static void bundle_tell(struct bundle *bundle)
{
	if (bundle->count && !bundle->host->tell(bundle->host, bundle->what, bundle->ranges,
				     bundle->count * sizeof(*bundle->ranges)))
		bundle->gone = true;
	bundle->count = 0;
}

/* Adds blocks of the file system, as far as they lie in the image. */
static void bundle_add(struct bundle *bundle, uint64_t block, uint64_t count)
{
	uint64_t from, len, size = bundle->host->size;
	struct range *last = bundle->count ? &bundle->ranges[bundle->count - 1] : NULL;

	if (__builtin_mul_overflow(block, bundle->block_size, &from) ||
		__builtin_add_overflow(from, bundle->offset, &from) || from >= size)
		return;
	if (__builtin_mul_overflow(count, bundle->block_size, &len) || len > size - from)
		len = size - from;
	if (last && last->offset + last->length == from) {
		last->length += len;
		return;
	}
	if (bundle->count == TOLD_RANGES)
		bundle_tell(bundle);
	bundle->ranges[bundle->count++] = (struct range){ from, len };
}

static void tell_problem(struct walk_host *host, const char *what)
{
	const char *reason = tsk_error_get_errno() ? tsk_error_get_errstr() : "";
	char text[512];
	int len = snprintf(text, sizeof(text), "%s%s%.300s", what, *reason ? ": " : "", reason);

	host->tell(host, TOLD_PROBLEM, text, (size_t)len);
}

/* ---- which file system -------------------------------------------------------------------------
 */

/* Only what says so in its first bytes is offered, the likeliest first. */
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

/* By burin's own eyes: what libtsk does not read. */
static void describe_unread(struct walk_host *host, struct volume *volume)
{
	static uint8_t head[SIGNATURES_LEN];
	size_t len = volume->length < sizeof(head) ? (size_t)volume->length : sizeof(head);
	const char *name;

	if (!host->read(host, volume->offset, head, len))
		return;
	name = signatures_find(head, len, &volume->encrypted);
	if (name) {
		snprintf(volume->file_system, sizeof(volume->file_system), "%s", name);
		snprintf(volume->note, sizeof(volume->note),
			volume->encrypted ? "encrypted: there is nothing to carve in it before it "
					    "is decrypted"
					  : "burin does not read its structures");
	} else if (signatures_look_random(head + 512, len > 512 ? len - 512 : 0)) {
		snprintf(volume->note, sizeof(volume->note),
			"no known file system; its bytes look random, so it may be encrypted");
	} else {
		snprintf(volume->note, sizeof(volume->note), "no known file system");
	}
}

static void tell_volume(struct walk_host *host, const struct volume *volume)
{
	host->tell(host, TOLD_VOLUME, volume, sizeof(*volume));
}

/* ---- APFS --------------------------------------------------------------------------------------
 */

static void tell_pooled(
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
	tell_volume(host, &volume);
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
	tell_volume(host, volume);
	for (const TSK_POOL_VOLUME_INFO *each = pool->vol_list; each; each = each->next)
		tell_pooled(host, volume, each);
	tsk_pool_close(pool);
	return true;
}

/* What the container does not call free is in use. */
static void map_pool(struct bundle *bundle, TSK_IMG_INFO *image, const struct volume *volume)
{
	const TSK_POOL_INFO *pool =
		tsk_pool_open_img_sing(image, (TSK_OFF_T)volume->offset, TSK_POOL_TYPE_APFS);
	TSK_FS_ATTR_RUN *runs;
	uint64_t at = 0;

	if (!pool) {
		tell_problem(bundle->host, "the container can't be opened");
		return;
	}
	runs = tsk_pool_unallocated_runs(pool);
	for (const TSK_FS_ATTR_RUN *run = runs; run && !bundle->gone; run = run->next) {
		if (run->addr > at)
			bundle_add(bundle, at, run->addr - at);
		if (run->addr + run->len > at)
			at = run->addr + run->len;
	}
	if (at < pool->num_blocks)
		bundle_add(bundle, at, pool->num_blocks - at);
	tsk_fs_attr_run_free(runs);
	tsk_pool_close(pool);
}

/* ---- the list ----------------------------------------------------------------------------------
 */

/* True when something was recognised there. */
static bool list_volume(struct walk_host *host, TSK_IMG_INFO *image, struct volume *volume)
{
	TSK_FS_INFO *fs;
	uint8_t magic[4];

	if (volume->offset < host->size && host->size - volume->offset >= 4096 &&
		host->read(host, volume->offset + 32, magic, sizeof(magic)) &&
		!memcmp(magic, "NXSB", 4) && list_pool(host, image, volume))
		return true;
	fs = open_any(image, volume->offset);
	if (fs) {
		describe_fs(host, fs, volume);
		tsk_fs_close(fs);
	} else {
		describe_unread(host, volume);
	}
	if (fs || volume->kind == VOLUME_PARTITION || *volume->file_system)
		tell_volume(host, volume);
	return fs || *volume->file_system;
}

static void list_table(struct walk_host *host, TSK_IMG_INFO *image, TSK_VS_INFO *table, bool outer);

/* BSD's partitions lie in one of the outer table. */
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
	TSK_IMG_INFO *image = open_image(host);
	TSK_VS_INFO *table = image ? tsk_vs_open(image, 0, TSK_VS_TYPE_DETECT) : NULL;
	struct volume whole = { .kind = VOLUME_WHOLE, .length = host->size };
	const char *name = table ? tsk_vs_type_toname(table->vstype) : NULL;

	if (table) {
		host->tell(host, TOLD_TABLE, name ? name : "?", strlen(name ? name : "?"));
		list_table(host, image, table, true);
	}
	/* A disc image that also starts from USB has both. */
	if (image && (!table || !begins_at_start(table)))
		list_volume(host, image, &whole);
	if (table)
		tsk_vs_close(table);
	if (image)
		tsk_img_close(image);
}

/* ---- a file system -----------------------------------------------------------------------------
 */

static TSK_WALK_RET_ENUM take_block(const TSK_FS_BLOCK *block, void *arg)
{
	struct bundle *bundle = arg;

	bundle_add(bundle, block->addr, 1);
	return bundle->gone ? TSK_WALK_STOP : TSK_WALK_CONT;
}

static void map_blocks(struct bundle *bundle, TSK_FS_INFO *fs)
{
	if (tsk_fs_block_walk(fs, fs->first_block, fs->last_block_act,
		    TSK_FS_BLOCK_WALK_FLAG_ALLOC | TSK_FS_BLOCK_WALK_FLAG_CONT |
			    TSK_FS_BLOCK_WALK_FLAG_META | TSK_FS_BLOCK_WALK_FLAG_AONLY,
		    take_block, bundle))
		tell_problem(bundle->host, "its list of blocks is damaged");
}

void walk_map(struct walk_host *host, const struct volume *volume)
{
	struct bundle bundle = { .host = host,
		.what = TOLD_IN_USE,
		.offset = volume->offset,
		.block_size = volume->block_size };
	TSK_IMG_INFO *image = open_image(host);
	TSK_FS_INFO *fs = NULL;

	if (image && volume->type == TSK_FS_TYPE_APFS)
		map_pool(&bundle, image, volume);
	else if (image && (fs = tsk_fs_open_img(image, (TSK_OFF_T)volume->offset,
				   (TSK_FS_TYPE_ENUM)volume->type)))
		map_blocks(&bundle, fs);
	else
		tell_problem(host, "it can't be opened");
	bundle_tell(&bundle);
	if (fs)
		tsk_fs_close(fs);
	if (image)
		tsk_img_close(image);
}

/* ---- its files ---------------------------------------------------------------------------------
 */

struct folder_walk {
	struct bundle bundle;
	char folder[4096]; /* that was told last */
};

static void tell_file(struct folder_walk *walk, const TSK_FS_NAME *name, const char *folder)
{
	struct walk_host *host = walk->bundle.host;
	char text[1024];
	size_t len = strnlen(name->name, sizeof(text) - 1);

	if (strncmp(folder, walk->folder, sizeof(walk->folder) - 1) || !*walk->folder) {
		snprintf(walk->folder, sizeof(walk->folder), "%s", folder);
		host->tell(host, TOLD_FOLDER, walk->folder, strlen(walk->folder));
	}
	text[0] = !!(name->flags & TSK_FS_NAME_FLAG_UNALLOC);
	memcpy(text + 1, name->name, len);
	if (!host->tell(host, TOLD_FILE, text, 1 + len))
		walk->bundle.gone = true;
}

static void take_runs(struct bundle *bundle, const TSK_FS_ATTR *attribute)
{
	if (!attribute || !(attribute->flags & TSK_FS_ATTR_NONRES))
		return;
	for (const TSK_FS_ATTR_RUN *run = attribute->nrd.run; run && !bundle->gone; run = run->next)
		if (!(run->flags & (TSK_FS_ATTR_RUN_FLAG_FILLER | TSK_FS_ATTR_RUN_FLAG_SPARSE)))
			bundle_add(bundle, run->addr, run->len);
}

/* A deleted file's entry may have gone to another file since: what it holds is that one's then. */
static bool is_telling(const TSK_FS_FILE *file)
{
	return file->name && file->name->name && file->meta &&
	       file->meta->type != TSK_FS_META_TYPE_DIR &&
	       !(file->name->flags & TSK_FS_NAME_FLAG_UNALLOC &&
		       file->meta->flags & TSK_FS_META_FLAG_ALLOC);
}

static TSK_WALK_RET_ENUM take_file(TSK_FS_FILE *file, const char *folder, void *arg)
{
	struct folder_walk *walk = arg;
	int count;

	if (!is_telling(file))
		return TSK_WALK_CONT;
	count = tsk_fs_file_attr_getsize(file);
	if (count <= 0)
		return TSK_WALK_CONT;
	tell_file(walk, file->name, folder);
	for (int i = 0; i < count && !walk->bundle.gone; i++)
		take_runs(&walk->bundle, tsk_fs_file_attr_get_idx(file, i));
	bundle_tell(&walk->bundle);
	return walk->bundle.gone ? TSK_WALK_STOP : TSK_WALK_CONT;
}

static TSK_FS_INFO *open_again(
	TSK_IMG_INFO *image, const struct volume *volume, const TSK_POOL_INFO **pool)
{
	*pool = NULL;
	if (volume->kind == VOLUME_POOLED) {
		*pool = tsk_pool_open_img_sing(
			image, (TSK_OFF_T)volume->offset, TSK_POOL_TYPE_APFS);
		image = *pool ? (*pool)->get_img_info(*pool, volume->pool_block) : NULL;
	}
	if (!image)
		return NULL;
	return tsk_fs_open_img(image, (TSK_OFF_T)volume->offset, (TSK_FS_TYPE_ENUM)volume->type);
}

void walk_files(struct walk_host *host, const struct volume *volume)
{
	struct folder_walk walk = { .bundle = { .host = host,
					    .what = TOLD_RUNS,
					    .offset = volume->offset,
					    .block_size = volume->block_size } };
	TSK_IMG_INFO *image = open_image(host);
	const TSK_POOL_INFO *pool = NULL;
	TSK_FS_INFO *fs = image ? open_again(image, volume, &pool) : NULL;

	if (!fs || tsk_fs_dir_walk(fs, fs->root_inum,
			   TSK_FS_DIR_WALK_FLAG_ALLOC | TSK_FS_DIR_WALK_FLAG_UNALLOC |
				   TSK_FS_DIR_WALK_FLAG_RECURSE | TSK_FS_DIR_WALK_FLAG_NOORPHAN,
			   take_file, &walk))
		tell_problem(host, "its folders are damaged");
	if (fs)
		tsk_fs_close(fs);
	if (pool)
		tsk_pool_close(pool);
	if (image)
		tsk_img_close(image);
}
