/*
 * A file system's allocated blocks are walked, without their content. A file system that turns out
 * to be damaged midway is reported as entirely unknown, because what follows the damage would count
 * as unused.
 */
#include "evidence/tsk_walk.h"

#include <stdio.h>
#include <string.h>

#include "evidence/tsk_image.h"

/* Ranges that were found and not reported yet. */
struct batch {
	struct walk_host *host;
	enum walk_message what;
	uint64_t offset, block_size; /* bytes, of the file system; offset: in the image */
	struct range ranges[WALK_RANGES_MAX];
	size_t count;
	bool stopped; /* the host wants no more */
};

/* ---- reporting ----------------------------------------------------------------------------- */

static void batch_report(struct batch *batch)
{
	if (batch->count && !batch->host->report(batch->host, batch->what, batch->ranges,
				    batch->count * sizeof(*batch->ranges)))
		batch->stopped = true;
	batch->count = 0;
}

/* Adds blocks of the file system, as far as they are inside the image. */
static void batch_add(struct batch *batch, uint64_t block, uint64_t count)
{
	uint64_t from, len, size = batch->host->size;
	struct range *last = batch->count ? &batch->ranges[batch->count - 1] : NULL;

	if (__builtin_mul_overflow(block, batch->block_size, &from) ||
		__builtin_add_overflow(from, batch->offset, &from) || from >= size)
		return;
	if (__builtin_mul_overflow(count, batch->block_size, &len) || len > size - from)
		len = size - from;
	if (last && last->offset + last->length == from) {
		last->length += len;
		return;
	}
	if (batch->count == WALK_RANGES_MAX)
		batch_report(batch);
	batch->ranges[batch->count++] = (struct range){ from, len };
}

static void report_problem(struct walk_host *host, const char *what)
{
	const char *reason = tsk_error_get_errno() ? tsk_error_get_errstr() : "";
	char text[512];
	int len = snprintf(text, sizeof(text), "%s%s%.300s", what, *reason ? ": " : "", reason);

	host->report(host, WALK_PROBLEM, text, (size_t)len);
}

/* ---- what is in use ------------------------------------------------------------------------ */

/* What the container does not call free is in use. */
static void report_pool(struct batch *batch, TSK_IMG_INFO *image, const struct volume *volume)
{
	const TSK_POOL_INFO *pool =
		tsk_pool_open_img_sing(image, (TSK_OFF_T)volume->offset, TSK_POOL_TYPE_APFS);
	TSK_FS_ATTR_RUN *runs;
	uint64_t at = 0;

	if (!pool) {
		report_problem(batch->host, "the container can't be opened");
		return;
	}
	runs = tsk_pool_unallocated_runs(pool);
	for (const TSK_FS_ATTR_RUN *run = runs; run && !batch->stopped; run = run->next) {
		if (run->addr > at)
			batch_add(batch, at, run->addr - at);
		if (run->addr + run->len > at)
			at = run->addr + run->len;
	}
	if (at < pool->num_blocks)
		batch_add(batch, at, pool->num_blocks - at);
	tsk_fs_attr_run_free(runs);
	tsk_pool_close(pool);
}

static TSK_WALK_RET_ENUM take_block(const TSK_FS_BLOCK *block, void *arg)
{
	struct batch *batch = arg;

	batch_add(batch, block->addr, 1);
	return batch->stopped ? TSK_WALK_STOP : TSK_WALK_CONT;
}

static void report_blocks(struct batch *batch, TSK_FS_INFO *fs)
{
	if (tsk_fs_block_walk(fs, fs->first_block, fs->last_block_act,
		    TSK_FS_BLOCK_WALK_FLAG_ALLOC | TSK_FS_BLOCK_WALK_FLAG_CONT |
			    TSK_FS_BLOCK_WALK_FLAG_META | TSK_FS_BLOCK_WALK_FLAG_AONLY,
		    take_block, batch))
		report_problem(batch->host, "its list of blocks is damaged");
}

void walk_allocation(struct walk_host *host, const struct volume *volume)
{
	struct batch batch = { .host = host,
		.what = WALK_IN_USE,
		.offset = volume->offset,
		.block_size = volume->block_size };
	TSK_IMG_INFO *image = tsk_image_open(host);
	TSK_FS_INFO *fs = NULL;

	if (image && volume->type == TSK_FS_TYPE_APFS)
		report_pool(&batch, image, volume);
	else if (image && (fs = tsk_fs_open_img(image, (TSK_OFF_T)volume->offset,
				   (TSK_FS_TYPE_ENUM)volume->type)))
		report_blocks(&batch, fs);
	else
		report_problem(host, "it can't be opened");
	batch_report(&batch);
	if (fs)
		tsk_fs_close(fs);
	if (image)
		tsk_img_close(image);
}

/* ---- its files ----------------------------------------------------------------------------- */

struct file_walk {
	struct batch batch;
	char folder[4096]; /* the last one reported */
};

static void report_name(struct file_walk *walk, const TSK_FS_NAME *name, const char *folder)
{
	struct walk_host *host = walk->batch.host;
	char text[1024];
	size_t len = strnlen(name->name, sizeof(text) - 1);

	if (strncmp(folder, walk->folder, sizeof(walk->folder) - 1) || !*walk->folder) {
		snprintf(walk->folder, sizeof(walk->folder), "%s", folder);
		host->report(host, WALK_FOLDER, walk->folder, strlen(walk->folder));
	}
	text[0] = !!(name->flags & TSK_FS_NAME_FLAG_UNALLOC);
	memcpy(text + 1, name->name, len);
	if (!host->report(host, WALK_FILE, text, 1 + len))
		walk->batch.stopped = true;
}

static void take_runs(struct batch *batch, const TSK_FS_ATTR *attribute)
{
	if (!attribute || !(attribute->flags & TSK_FS_ATTR_NONRES))
		return;
	for (const TSK_FS_ATTR_RUN *run = attribute->nrd.run; run && !batch->stopped;
		run = run->next)
		if (!(run->flags & (TSK_FS_ATTR_RUN_FLAG_FILLER | TSK_FS_ATTR_RUN_FLAG_SPARSE)))
			batch_add(batch, run->addr, run->len);
}

/* A deleted file's entry may belong to another file since: then its blocks are that file's. */
static bool has_own_blocks(const TSK_FS_FILE *file)
{
	return file->name && file->name->name && file->meta &&
	       file->meta->type != TSK_FS_META_TYPE_DIR &&
	       !(file->name->flags & TSK_FS_NAME_FLAG_UNALLOC &&
		       file->meta->flags & TSK_FS_META_FLAG_ALLOC);
}

static TSK_WALK_RET_ENUM take_file(TSK_FS_FILE *file, const char *folder, void *arg)
{
	struct file_walk *walk = arg;
	int count;

	if (!has_own_blocks(file))
		return TSK_WALK_CONT;
	count = tsk_fs_file_attr_getsize(file);
	if (count <= 0)
		return TSK_WALK_CONT;
	report_name(walk, file->name, folder);
	for (int i = 0; i < count && !walk->batch.stopped; i++)
		take_runs(&walk->batch, tsk_fs_file_attr_get_idx(file, i));
	batch_report(&walk->batch);
	return walk->batch.stopped ? TSK_WALK_STOP : TSK_WALK_CONT;
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
	struct file_walk walk = { .batch = { .host = host,
					  .what = WALK_RUNS,
					  .offset = volume->offset,
					  .block_size = volume->block_size } };
	TSK_IMG_INFO *image = tsk_image_open(host);
	const TSK_POOL_INFO *pool = NULL;
	TSK_FS_INFO *fs = image ? open_again(image, volume, &pool) : NULL;

	if (!fs || tsk_fs_dir_walk(fs, fs->root_inum,
			   TSK_FS_DIR_WALK_FLAG_ALLOC | TSK_FS_DIR_WALK_FLAG_UNALLOC |
				   TSK_FS_DIR_WALK_FLAG_RECURSE | TSK_FS_DIR_WALK_FLAG_NOORPHAN,
			   take_file, &walk))
		report_problem(host, "its folders are damaged");
	if (fs)
		tsk_fs_close(fs);
	if (pool)
		tsk_pool_close(pool);
	if (image)
		tsk_img_close(image);
}
