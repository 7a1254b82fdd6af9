/*
 * A file system's allocated blocks are walked, without their content. A file system that turns out
 * to be damaged midway is reported as entirely unknown, because what follows the damage would count
 * as unused.
 */
#include "filesystems/tsk_walk.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "filesystems/tsk_image.h"
#include "evidence/evidence_job.h"

#include <tsk/fs/tsk_ntfs.h>

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

/* Where blocks of the file system are in the image, as far as they are inside it. */
static bool place_blocks(const struct walk_host *host, uint64_t offset, uint64_t block_size,
	uint64_t block, uint64_t count, struct range *place)
{
	uint64_t from, len;

	if (__builtin_mul_overflow(block, block_size, &from) ||
		__builtin_add_overflow(from, offset, &from) || from >= host->size)
		return false;
	if (__builtin_mul_overflow(count, block_size, &len) || len > host->size - from)
		len = host->size - from;
	*place = (struct range){ from, len };
	return true;
}

static void batch_add_range(struct batch *batch, uint64_t offset, uint64_t len)
{
	struct range *last = batch->count ? &batch->ranges[batch->count - 1] : NULL;

	if (last && last->offset + last->length == offset) {
		last->length += len;
		return;
	}
	if (batch->count == WALK_RANGES_MAX)
		batch_report(batch);
	batch->ranges[batch->count++] = (struct range){ offset, len };
}

static void batch_add(struct batch *batch, uint64_t block, uint64_t count)
{
	struct range place;

	if (place_blocks(batch->host, batch->offset, batch->block_size, block, count, &place))
		batch_add_range(batch, place.offset, place.length);
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

/* ---- file records of NTFS ------------------------------------------------------------------ */

#define RECORD_MAX 65536
#define RECORD_LEN_MIN 512
#define RECORD_MAGIC "FILE"
#define RECORD_FLAGS_AT 22 /* bit 0: in use */
#define RECORD_USED_AT 24
#define RECORD_HEAD_LEN 42
/* In each sector of a record the last two bytes are a check; what belongs there is in its head. */
#define FIXUP_SECTOR 512
#define FIXUP_LEN 2
#define FIXUPS_AT 4
#define FIXUPS_COUNT_AT 6
#define ATTRIBUTES_AT 20
#define ATTRIBUTE_END 0xffffffff
#define ATTRIBUTE_HEAD_LEN 24

/* The file system's file of file records. */
struct records {
	struct walk_host *host;
	TSK_FS_INFO *fs;
	TSK_FS_FILE *file;
	const TSK_FS_ATTR *content;
	uint64_t offset; /* of the volume */
	uint32_t record_len;
};

/* False: not NTFS, or it can't be read. */
static bool records_open(
	struct records *records, struct walk_host *host, TSK_FS_INFO *fs, uint64_t offset)
{
	*records = (struct records){ .host = host, .fs = fs, .offset = offset };
	if (!TSK_FS_TYPE_ISNTFS(fs->ftype))
		return false;
	records->record_len = ((NTFS_INFO *)fs)->mft_rsize_b;
	if (records->record_len < RECORD_LEN_MIN || records->record_len > RECORD_MAX ||
		records->record_len % FIXUP_SECTOR)
		return false;
	records->file = tsk_fs_file_open_meta(fs, NULL, 0);
	if (records->file)
		records->content =
			tsk_fs_file_attr_get_type(records->file, TSK_FS_ATTR_TYPE_NTFS_DATA, 0, 0);
	if (records->content && records->content->flags & TSK_FS_ATTR_NONRES)
		return true;
	if (records->file)
		tsk_fs_file_close(records->file);
	return false;
}

static void records_close(struct records *records)
{
	tsk_fs_file_close(records->file);
}

/* What of the run consists of whole records: their place in the image, and the first one's number.
 */
static bool records_in_run(const struct records *records, const TSK_FS_ATTR_RUN *run,
	struct range *place, uint64_t *number)
{
	uint64_t at, end, size = (uint64_t)records->content->size, len = records->record_len, skip;

	if (run->flags & (TSK_FS_ATTR_RUN_FLAG_FILLER | TSK_FS_ATTR_RUN_FLAG_SPARSE) ||
		!place_blocks(records->host, records->offset, records->fs->block_size, run->addr,
			run->len, place) ||
		__builtin_mul_overflow(run->offset, (uint64_t)records->fs->block_size, &at) ||
		at >= size)
		return false;
	end = size - at < place->length ? size : at + place->length;
	skip = (len - at % len) % len;
	if (skip >= end - at || end - at - skip < len)
		return false;
	place->offset += skip;
	place->length = (end - at - skip) / len * len;
	*number = (at + skip) / len;
	return true;
}

/* Where the record is in the image. */
static bool records_find(const struct records *records, uint64_t number, uint64_t *offset)
{
	for (const TSK_FS_ATTR_RUN *run = records->content->nrd.run; run; run = run->next) {
		struct range place;
		uint64_t first;

		if (!records_in_run(records, run, &place, &first) || number < first ||
			number - first >= place.length / records->record_len)
			continue;
		*offset = place.offset + (number - first) * records->record_len;
		return true;
	}
	return false;
}

static uint32_t le(const uint8_t *bytes, unsigned width)
{
	return (uint32_t)endian_get(bytes, width);
}

static bool is_record(const uint8_t *record)
{
	return !memcmp(record, RECORD_MAGIC, 4);
}

static bool is_in_use(const uint8_t *record)
{
	return le(record + RECORD_FLAGS_AT, 2) & 1;
}

/* Reports the free ones, and the unused ends of the others. */
static void report_records(const struct records *records, const struct range *place)
{
	static uint8_t bytes[WALK_READ_MAX];
	static struct batch free_ones, slack;
	uint64_t len = records->record_len, part_len;

	free_ones = (struct batch){ .host = records->host, .what = WALK_FREE };
	slack = (struct batch){ .host = records->host, .what = WALK_SLACK };
	for (uint64_t done = 0; done < place->length && !free_ones.stopped && !slack.stopped;
		done += part_len) {
		part_len = place->length - done < sizeof(bytes) / len * len
				   ? place->length - done
				   : sizeof(bytes) / len * len;
		if (!records->host->read(
			    records->host, place->offset + done, bytes, (size_t)part_len))
			return;
		for (uint64_t at = 0; at < part_len; at += len) {
			const uint8_t *record = bytes + at;
			uint64_t offset = place->offset + done + at;
			uint32_t used = le(record + RECORD_USED_AT, 4);

			if (!is_record(record))
				continue;
			if (!is_in_use(record))
				batch_add_range(&free_ones, offset, len);
			else if (used >= RECORD_HEAD_LEN && used < len)
				batch_add_range(&slack, offset + used, len - used);
		}
	}
	batch_report(&free_ones);
	batch_report(&slack);
}

static void report_all_records(struct walk_host *host, TSK_FS_INFO *fs, uint64_t offset)
{
	struct records records;

	if (!records_open(&records, host, fs, offset))
		return;
	for (const TSK_FS_ATTR_RUN *run = records.content->nrd.run; run; run = run->next) {
		struct range place;
		uint64_t number;

		if (!records_in_run(&records, run, &place, &number))
			continue;
		report_records(&records, &place);
	}
	records_close(&records);
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
	if (fs) {
		report_all_records(host, fs, volume->offset);
		tsk_fs_close(fs);
	}
	if (image)
		tsk_img_close(image);
}

/* The row of streams may be this many times as long as the volume: NTFS compresses 16 to 1 at best, and a
 * file that is nearly all hole can have any length. */
#define ROW_FACTOR 16

/* ---- its files ----------------------------------------------------------------------------- */

struct file_walk {
	struct walk_host *host;
	uint64_t offset, block_size; /* of the volume */
	struct records records;
	bool has_records;
	struct walk_run runs[WALK_RANGES_MAX]; /* not reported yet */
	size_t run_count;
	char folder[4096];         /* the last one reported */
	bool stopped;              /* the host wants no more */
	bool has_fragments;        /* a file's last block may have parts of others (UFS) */
	uint64_t row_len, row_max; /* walk_streams */
};

static void report_runs(struct file_walk *walk)
{
	if (walk->run_count && !walk->host->report(walk->host, WALK_RUNS, walk->runs,
				       walk->run_count * sizeof(*walk->runs)))
		walk->stopped = true;
	walk->run_count = 0;
}

static void add_run(struct file_walk *walk, uint64_t offset, uint64_t len, uint64_t at)
{
	struct walk_run *last = walk->run_count ? &walk->runs[walk->run_count - 1] : NULL;

	if (last && last->offset + last->length == offset && last->at != WALK_RECORD &&
		last->at + last->length == at) {
		last->length += len;
		return;
	}
	if (walk->run_count == WALK_RANGES_MAX)
		report_runs(walk);
	walk->runs[walk->run_count++] = (struct walk_run){ offset, len, at };
}

/* Of a name, bytes. */
#define PART_MAX 1023

/* Reports the folder of the files that follow, when it is another than before. */
static void report_folder(struct file_walk *walk, const char *folder)
{
	if (*walk->folder && !strncmp(folder, walk->folder, sizeof(walk->folder) - 1))
		return;
	snprintf(walk->folder, sizeof(walk->folder), "%s", folder);
	walk->host->report(walk->host, WALK_FOLDER, walk->folder, strlen(walk->folder));
}

static size_t add_name(char *to, size_t room, const char *name)
{
	size_t len = strnlen(name, room);

	memcpy(to, name, len);
	return len;
}

/* "name", or "name:stream" for a stream with a name of its own. */
static void report_name(struct file_walk *walk, const TSK_FS_NAME *name, const char *folder,
	const TSK_FS_ATTR *attribute, const struct walk_file *file)
{
	struct {
		struct walk_file file;
		char name[2 * PART_MAX + 1];
	} message;
	bool named = attribute->type == TSK_FS_ATTR_TYPE_NTFS_DATA && attribute->name &&
		     *attribute->name && strcmp(attribute->name, "N/A");
	size_t len = add_name(message.name, PART_MAX, name->name);

	message.file = *file;
	if (named) {
		message.name[len++] = ':';
		len += add_name(message.name + len, PART_MAX, attribute->name);
	}
	report_folder(walk, folder);
	if (!walk->host->report(
		    walk->host, WALK_FILE, &message, offsetof(typeof(message), name) + len))
		walk->stopped = true;
}

static uint32_t clamp_time(time_t time)
{
	return time < 0 || time > UINT32_MAX ? 0 : (uint32_t)time;
}

static uint64_t not_negative(TSK_OFF_T number)
{
	return number < 0 ? 0 : (uint64_t)number;
}

static bool is_content(const TSK_FS_ATTR *attribute)
{
	switch (attribute->type) {
	case TSK_FS_ATTR_TYPE_DEFAULT:
	case TSK_FS_ATTR_TYPE_NTFS_DATA:
	case TSK_FS_ATTR_TYPE_HFS_DATA:
	case TSK_FS_ATTR_TYPE_HFS_RSRC:
		return true;
	default:
		return false;
	}
}

/* FAT keeps only the start of a deleted file. */
static bool is_guessed(const TSK_FS_INFO *fs, unsigned flags)
{
	return flags & FS_DELETED && TSK_FS_TYPE_ISFAT(fs->ftype);
}

static struct walk_file describe(const TSK_FS_FILE *file, const TSK_FS_ATTR *attribute)
{
	static const struct {
		TSK_FS_ATTR_FLAG_ENUM theirs;
		unsigned ours;
	} flags[] = { { TSK_FS_ATTR_RES, FS_RESIDENT }, { TSK_FS_ATTR_COMP, FS_COMPRESSED },
		{ TSK_FS_ATTR_ENC, FS_ENCRYPTED }, { TSK_FS_ATTR_SPARSE, FS_SPARSE },
		{ TSK_FS_ATTR_RECOVERY, FS_GUESSED } };
	const TSK_FS_META *meta = file->meta;
	struct walk_file info = { .inode = meta->addr,
		.size = not_negative(attribute->size),
		.times = { clamp_time(meta->mtime), clamp_time(meta->atime),
			clamp_time(meta->ctime), clamp_time(meta->crtime) },
		.type = attribute->type,
		.id = attribute->id };
	uint64_t initialised = not_negative(attribute->nrd.initsize);

	info.valid = attribute->flags & TSK_FS_ATTR_NONRES && initialised < info.size ? initialised
										      : info.size;
	if (file->name->flags & TSK_FS_NAME_FLAG_UNALLOC || meta->flags & TSK_FS_META_FLAG_UNALLOC)
		info.flags |= FS_DELETED;
	if (!is_content(attribute))
		info.flags |= FS_METADATA;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (attribute->flags & flags[i].theirs)
			info.flags |= flags[i].ours;
	if (is_guessed(file->fs_info, info.flags))
		info.flags |= FS_GUESSED;
	return info;
}

/* Cuts what is after the attribute's last block: libtsk gives ext4's extents in units that are not
 * blocks, and UFS's files whole blocks where they have fragments. False: all of it is. */
static bool clip(struct range *place, uint64_t at, uint64_t size, uint64_t block_size)
{
	uint64_t blocks = size / block_size + (size % block_size != 0);

	if (at >= blocks * block_size)
		return false;
	if (place->length > blocks * block_size - at)
		place->length = blocks * block_size - at;
	return true;
}

static void take_runs(struct file_walk *walk, const TSK_FS_ATTR *attribute)
{
	for (const TSK_FS_ATTR_RUN *run = attribute->nrd.run; run && !walk->stopped;
		run = run->next) {
		uint64_t skip = attribute->nrd.skiplen, at;
		struct range place;

		if (run->flags & (TSK_FS_ATTR_RUN_FLAG_FILLER | TSK_FS_ATTR_RUN_FLAG_SPARSE) ||
			!place_blocks(walk->host, walk->offset, walk->block_size, run->addr,
				run->len, &place) ||
			__builtin_mul_overflow(run->offset, walk->block_size, &at) ||
			at > INT64_MAX)
			continue;
		if ((!is_content(attribute) || walk->has_fragments) &&
			!clip(&place, at, (uint64_t)attribute->size, walk->block_size))
			continue;
		skip = at < skip ? skip - at : 0;
		at -= at < attribute->nrd.skiplen ? at : attribute->nrd.skiplen;
		if (skip < place.length)
			add_run(walk, place.offset + skip, place.length - skip, at);
	}
}

/* The attribute's bytes in its record, but for those in the record's head. */
static void take_resident(struct file_walk *walk, const uint8_t *record, uint64_t offset,
	const TSK_FS_ATTR *attribute)
{
	size_t record_len = walk->records.record_len, at = le(record + ATTRIBUTES_AT, 2);
	size_t fixups = le(record + FIXUPS_AT, 2), fixup_count = le(record + FIXUPS_COUNT_AT, 2);
	size_t begin, end;

	for (;; at += le(record + at + 4, 4)) {
		if (at + ATTRIBUTE_HEAD_LEN > record_len || le(record + at, 4) == ATTRIBUTE_END ||
			le(record + at + 4, 4) < ATTRIBUTE_HEAD_LEN ||
			le(record + at + 4, 4) > record_len - at)
			return;
		if (le(record + at, 4) == attribute->type && !record[at + 8] &&
			le(record + at + 14, 2) == attribute->id)
			break;
	}
	begin = at + le(record + at + 20, 2);
	end = begin + le(record + at + 16, 4);
	if (end > record_len || begin > end || end - begin != not_negative(attribute->size))
		return;
	for (size_t from = begin; from < end;) {
		size_t sector = from / FIXUP_SECTOR,
		       fixup = (sector + 1) * FIXUP_SECTOR - FIXUP_LEN;
		bool in_head = from >= fixup;
		size_t to = in_head ? fixup + FIXUP_LEN : fixup;
		size_t head = fixups + FIXUP_LEN * (sector + 1) + (from - fixup);

		if (to > end)
			to = end;
		if (!in_head)
			add_run(walk, offset + from, to - from, from - begin);
		else if (sector + 1 < fixup_count && head + FIXUP_LEN <= record_len)
			add_run(walk, offset + head, to - from, from - begin);
		from = to;
	}
}

/* Reports the record of a deleted file or a resident one, because the file system's file of records
 * has its bytes otherwise. */
static void take_record(struct file_walk *walk, const TSK_FS_FILE *file,
	const TSK_FS_ATTR *attribute, const struct walk_file *info)
{
	static uint8_t record[RECORD_MAX];
	size_t len = walk->records.record_len;
	uint64_t offset;

	if (!walk->has_records || !(info->flags & (FS_DELETED | FS_RESIDENT)) ||
		!records_find(&walk->records, file->meta->addr, &offset) ||
		tsk_img_read(walk->records.fs->img_info, (TSK_OFF_T)offset, (char *)record, len) !=
			(ssize_t)len ||
		!is_record(record))
		return;
	walk->runs[walk->run_count++] = (struct walk_run){ offset, len, WALK_RECORD };
	if (info->flags & FS_RESIDENT)
		take_resident(walk, record, offset, attribute);
}

/* A deleted file's entry may belong to another file since: then its blocks are that file's. */
static bool has_own_blocks(const TSK_FS_FILE *file)
{
	return file->name && file->name->name && file->meta &&
	       file->meta->type != TSK_FS_META_TYPE_DIR &&
	       !(file->name->flags & TSK_FS_NAME_FLAG_UNALLOC &&
		       file->meta->flags & TSK_FS_META_FLAG_ALLOC);
}

/* Other resident attributes (names, times) are no place for files. */
static bool is_wanted(const struct file_walk *walk, const TSK_FS_ATTR *attribute)
{
	return attribute && (attribute->flags & TSK_FS_ATTR_NONRES ||
				    (walk->has_records && is_content(attribute)));
}

static TSK_WALK_RET_ENUM take_file(TSK_FS_FILE *file, const char *folder, void *arg)
{
	struct file_walk *walk = arg;
	int count;

	if (!has_own_blocks(file))
		return TSK_WALK_CONT;
	count = tsk_fs_file_attr_getsize(file);
	for (int i = 0; i < count && !walk->stopped; i++) {
		const TSK_FS_ATTR *attribute = tsk_fs_file_attr_get_idx(file, i);
		struct walk_file info;

		if (!is_wanted(walk, attribute))
			continue;
		info = describe(file, attribute);
		report_name(walk, file->name, folder, attribute, &info);
		take_record(walk, file, attribute, &info);
		if (attribute->flags & TSK_FS_ATTR_NONRES)
			take_runs(walk, attribute);
		report_runs(walk);
	}
	return walk->stopped ? TSK_WALK_STOP : TSK_WALK_CONT;
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

/* Calls take for each name. */
static void walk_names(struct walk_host *host, const struct volume *volume,
	TSK_FS_DIR_WALK_FLAG_ENUM flags, TSK_FS_DIR_WALK_CB take)
{
	struct file_walk walk = {
		.host = host, .offset = volume->offset, .block_size = volume->block_size
	};
	TSK_IMG_INFO *image = tsk_image_open(host);
	const TSK_POOL_INFO *pool = NULL;
	TSK_FS_INFO *fs = image ? open_again(image, volume, &pool) : NULL;

	walk.row_max =
		volume->length > UINT64_MAX / ROW_FACTOR ? UINT64_MAX : volume->length * ROW_FACTOR;
	walk.has_records = fs && records_open(&walk.records, host, fs, volume->offset);
	walk.has_fragments = fs && TSK_FS_TYPE_ISFFS(fs->ftype);
	if (!fs || tsk_fs_dir_walk(fs, fs->root_inum,
			   flags | TSK_FS_DIR_WALK_FLAG_RECURSE | TSK_FS_DIR_WALK_FLAG_NOORPHAN,
			   take, &walk))
		report_problem(host, "its folders are damaged");
	if (walk.has_records)
		records_close(&walk.records);
	if (fs)
		tsk_fs_close(fs);
	if (pool)
		tsk_pool_close(pool);
	if (image)
		tsk_img_close(image);
}

void walk_files(struct walk_host *host, const struct volume *volume)
{
	walk_names(
		host, volume, TSK_FS_DIR_WALK_FLAG_ALLOC | TSK_FS_DIR_WALK_FLAG_UNALLOC, take_file);
}

/* ---- its compressed and sparse files ------------------------------------------------------- */

static bool has_holes(const TSK_FS_ATTR *attribute)
{
	for (const TSK_FS_ATTR_RUN *run = attribute->nrd.run; run; run = run->next)
		if (run->flags & TSK_FS_ATTR_RUN_FLAG_SPARSE)
			return true;
	return false;
}

static bool is_stream(const TSK_FS_ATTR *attribute)
{
	if (!attribute || !is_content(attribute) || attribute->size <= 0 ||
		attribute->flags & TSK_FS_ATTR_ENC)
		return false;
	return attribute->flags & TSK_FS_ATTR_COMP ||
	       (attribute->flags & TSK_FS_ATTR_NONRES && has_holes(attribute));
}

/* A file with several names is taken by the one that its record has first. */
static bool is_first_name(const TSK_FS_FILE *file)
{
	const TSK_FS_META_NAME_LIST *first = file->meta->name2;

	return !first ||
	       (first->par_inode == file->name->par_addr && !strcmp(first->name, file->name->name));
}

static void take_stream(struct file_walk *walk, const TSK_FS_FILE *file, const char *folder,
	const TSK_FS_ATTR *attribute)
{
	const uint64_t gap = WALK_STREAM_ALIGN - 1, size = (uint64_t)attribute->size;
	struct walk_file info = describe(file, attribute);

	if (size > walk->row_max - walk->row_len || walk->row_max - walk->row_len - size < gap) {
		report_problem(walk->host, "a sparse file is too long");
		return;
	}
	info.flags &= ~(uint32_t)FS_COMPRESSED; /* not in the row */
	report_name(walk, file->name, folder, attribute, &info);
	add_run(walk, walk->row_len, size, 0);
	report_runs(walk);
	walk->row_len += (size + gap) / WALK_STREAM_ALIGN * WALK_STREAM_ALIGN;
}

static TSK_WALK_RET_ENUM take_streams(TSK_FS_FILE *file, const char *folder, void *arg)
{
	struct file_walk *walk = arg;
	int count;

	if (!has_own_blocks(file) || file->meta->flags & TSK_FS_META_FLAG_UNALLOC ||
		!is_first_name(file))
		return TSK_WALK_CONT;
	count = tsk_fs_file_attr_getsize(file);
	for (int i = 0; i < count && !walk->stopped; i++) {
		const TSK_FS_ATTR *attribute = tsk_fs_file_attr_get_idx(file, i);

		if (is_stream(attribute))
			take_stream(walk, file, folder, attribute);
	}
	return walk->stopped ? TSK_WALK_STOP : TSK_WALK_CONT;
}

void walk_streams(struct walk_host *host, const struct volume *volume)
{
	walk_names(host, volume, TSK_FS_DIR_WALK_FLAG_ALLOC, take_streams);
}
