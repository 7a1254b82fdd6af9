#include "carve/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "hashing/hash_sets.h"
#include "report/record.h"
#include "output/output_dir.h"

/* It is hashed and written while it is in a processor's cache. */
#define COPY_LEN ((size_t)256 * 1024)

void copier_init(struct copier *copier, uint32_t hash_mask, const struct hash_sets *sets)
{
	for (int i = 0; i < COPY_LANES; i++) {
		copier->hashers[i] = hasher_new(hash_mask);
		copier->buffers[i] = xmalloc(COPY_LEN);
	}
	copier->sets = sets;
}

void copier_free(struct copier *copier)
{
	for (int i = 0; i < COPY_LANES; i++) {
		hasher_free(copier->hashers[i]);
		free(copier->buffers[i]);
	}
}

int mark_known(const struct hash_sets *sets, struct file_record *record, struct error *error)
{
	int status = hash_sets_find(sets, &record->hashes, &record->known, &record->alert, error);

	record->left_out =
		!status && hash_sets_skips_known(sets) && record->known && !record->alert;
	return status;
}

/* ---- a lane, which has one file at a time --------------------------------------------------- */

struct lane {
	const struct copier *copier;
	const struct copy_list *list;
	struct hasher *hasher;
	uint8_t *buffer;
	struct file_record *record; /* NULL: there is no file */
	void *file;                 /* of the list */
	struct output_dir_file output;
	uint32_t run;      /* the next bytes to be read are in this one, */
	uint64_t run_done; /* after so many */
	size_t part_len,
		part_hashed; /* what is in the buffer; it is written when all of it is hashed */
	struct error error;
};

/* As image_read_around; counts in the record what can't be read. */
static void read_counting(struct lane *lane, uint64_t offset, size_t len)
{
	struct file_record *record = lane->record;
	struct ranges bad = { 0 };
	size_t unread = image_read_noting(
		lane->list->image, offset, lane->buffer, len, record->unreadable ? NULL : &bad);

	if (bad.count)
		record->unreadable_at = bad.items[0].offset;
	record->unreadable += unread;
	ranges_free(&bad);
}

/* Reads the next bytes, of one run; none: there are no more. Returns 0 or -ECANCELED. */
static int read_part(struct lane *lane)
{
	const struct file_record *record = lane->record;
	const struct range *run;
	uint64_t left;

	lane->part_len = lane->part_hashed = 0;
	while (lane->run < record->run_count && lane->run_done == record->runs[lane->run].length) {
		lane->run++;
		lane->run_done = 0;
	}
	if (lane->run == record->run_count)
		return 0;
	if (atomic_load_explicit(lane->list->cancel, memory_order_relaxed))
		return -ECANCELED;
	run = &record->runs[lane->run];
	left = run->length - lane->run_done;
	lane->part_len = left < COPY_LEN ? (size_t)left : COPY_LEN;
	read_counting(lane, run->offset + lane->run_done, lane->part_len);
	lane->run_done += lane->part_len;
	return image_was_cut(lane->list->image) ? -ECANCELED : 0;
}

/* Not every file system can store every time. */
static void set_time(int fd, int64_t seconds)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = seconds } };

	(void)futimens(fd, times);
}

/* All of the file was read, hashed and written. Returns 0 or a negative errno with the lane's error set. */
static int complete(struct lane *lane)
{
	struct output_dir *output_dir = lane->list->output_dir;
	struct file_record *record = lane->record;
	int status = 0;

	hasher_finish(lane->hasher, &record->hashes);
	if (lane->copier->sets)
		status = mark_known(lane->copier->sets, record, &lane->error);
	if (!output_dir)
		return status;
	if (record->file_time)
		set_time(lane->output.fd, record->file_time);
	if (!status && !record->left_out)
		return output_dir_finish(output_dir, record->path, &lane->output, &lane->error);
	output_dir_drop(&lane->output);
	return status;
}

/* The same of a file of which some could not be copied. */
static int give_up(struct lane *lane, int status)
{
	struct output_dir *output_dir = lane->list->output_dir;

	if (!output_dir)
		return status;
	output_dir_drop(&lane->output);
	return output_dir_error(output_dir, lane->record->path, -status, &lane->error);
}

static void end_file(struct lane *lane, int status)
{
	lane->record = NULL;
	lane->list->done(lane->list->context, lane->file, status, &lane->error);
}

/* Begins the list's next file. False: there is none. */
static bool begin_file(struct lane *lane)
{
	struct output_dir *output_dir = lane->list->output_dir;
	struct file_record *record = lane->list->next(lane->list->context, &lane->file);
	int status = 0;

	if (!record)
		return false;
	lane->record = record;
	lane->error.code = 0;
	lane->run = 0;
	lane->run_done = 0;
	lane->part_len = lane->part_hashed = 0;
	record->unreadable = 0;
	hasher_reset(lane->hasher);
	if (output_dir)
		status = output_dir_begin(output_dir, record->path, &lane->output, &lane->error);
	if (status)
		end_file(lane, status);
	return true;
}

/* Writes the part that was hashed, and reads the next, or ends the file. */
static void go_on(struct lane *lane)
{
	int status = 0;

	if (lane->part_len && lane->list->output_dir)
		status = file_write(lane->output.fd, lane->buffer, lane->part_len);
	if (!status)
		status = read_part(lane);
	if (status)
		end_file(lane, give_up(lane, status));
	else if (!lane->part_len)
		end_file(lane, complete(lane));
}

/* Goes on until there are bytes to be hashed. False: there is no file any more. */
static bool load(struct lane *lane)
{
	while (lane->record || begin_file(lane)) {
		if (lane->record && lane->part_hashed < lane->part_len)
			return true;
		if (lane->record)
			go_on(lane);
	}
	return false;
}

/* ---- files ---------------------------------------------------------------------------------- */

static size_t unhashed(const struct lane *lane)
{
	return lane->part_len - lane->part_hashed;
}

static void hash_one(struct lane *lane)
{
	hasher_update(lane->hasher, lane->buffer + lane->part_hashed, unhashed(lane));
	lane->part_hashed = lane->part_len;
}

/* As much as both have, in whole blocks of the one that has more; or else all of the other. */
static void hash_two(struct lane *one, struct lane *other)
{
	struct hasher *const hashers[2] = { one->hasher, other->hasher };
	const uint8_t *const bytes[2] = { one->buffer + one->part_hashed,
		other->buffer + other->part_hashed };
	struct lane *less = unhashed(one) < unhashed(other) ? one : other;
	size_t len = unhashed(less);

	if (unhashed(one) != unhashed(other))
		len -= len % HASH_BLOCK;
	if (!len) {
		hash_one(less);
		return;
	}
	hasher_update_two(hashers, bytes, len);
	one->part_hashed += len;
	other->part_hashed += len;
}

void copy_files(struct copier *copier, const struct copy_list *list)
{
	struct lane lanes[COPY_LANES];
	bool has[COPY_LANES];

	for (int i = 0; i < COPY_LANES; i++)
		lanes[i] = (struct lane){ .copier = copier,
			.list = list,
			.hasher = copier->hashers[i],
			.buffer = copier->buffers[i] };
	for (;;) {
		for (int i = 0; i < COPY_LANES; i++)
			has[i] = load(&lanes[i]);
		if (has[0] && has[1])
			hash_two(&lanes[0], &lanes[1]);
		else if (has[0] || has[1])
			hash_one(&lanes[has[1]]);
		else
			return;
	}
}

struct only_file {
	struct file_record *record; /* NULL: it was begun */
	int status;
	struct error *error;
};

static struct file_record *next_only(void *context, void **file)
{
	struct only_file *only = context;
	struct file_record *record = only->record;

	(void)file;
	only->record = NULL;
	return record;
}

static void only_done(void *context, void *file, int status, const struct error *error)
{
	struct only_file *only = context;

	(void)file;
	only->status = status;
	if (status)
		*only->error = *error;
}

int copy_file(struct copier *copier, struct image *image, struct output_dir *output_dir,
	struct file_record *record, const atomic_bool *cancel, struct error *error)
{
	struct only_file only = { record, 0, error };
	const struct copy_list list = { image, output_dir, cancel, next_only, only_done, &only };

	copy_files(copier, &list);
	return only.status;
}
