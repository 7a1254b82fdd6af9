/*
 * A file system's blocks are walked without their content, those in use only, so that a file system
 * that turns out damaged midway counts as unused behind that place, and is told as not known at
 * all.
 */
#include "evidence/tsk_walk.h"

#include <stdio.h>
#include <string.h>

#include "evidence/tsk_image.h"

/* Ranges that are known and not told yet. */
struct bundle {
	struct walk_host *host;
	enum told what;
	uint64_t offset, block_size; /* of the file system, bytes; offset is the image's */
	struct range ranges[TOLD_RANGES];
	size_t count;
	bool gone; /* nobody listens */
};

/* ---- telling ------------------------------------------------------------------------------- */

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

/* ---- what is in use ------------------------------------------------------------------------ */

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
	TSK_IMG_INFO *image = tsk_image_open(host);
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

/* ---- its files ----------------------------------------------------------------------------- */

struct dirfd_walk {
	struct bundle bundle;
	char folder[4096]; /* that was told last */
};

static void tell_file(struct dirfd_walk *walk, const TSK_FS_NAME *name, const char *folder)
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
	struct dirfd_walk *walk = arg;
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
	struct dirfd_walk walk = { .bundle = { .host = host,
					   .what = TOLD_RUNS,
					   .offset = volume->offset,
					   .block_size = volume->block_size } };
	TSK_IMG_INFO *image = tsk_image_open(host);
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
