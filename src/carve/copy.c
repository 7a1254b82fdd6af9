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
	copier->hasher = hasher_new(hash_mask);
	copier->buffer = xmalloc(COPY_LEN);
	copier->sets = sets;
}

void copier_free(struct copier *copier)
{
	hasher_free(copier->hasher);
	free(copier->buffer);
}

/* As image_read_around; counts in the record what can't be read. */
static void read_counting(struct copier *copier, struct image *image, uint64_t offset, size_t len,
	struct file_record *record)
{
	struct ranges bad = { 0 };
	size_t unread = image_read_noting(
		image, offset, copier->buffer, len, record->unreadable ? NULL : &bad);

	if (bad.count)
		record->unreadable_at = bad.items[0].offset;
	record->unreadable += unread;
	ranges_free(&bad);
}

static int copy_run(struct copier *copier, struct image *image, const struct range *run, int fd,
	const atomic_bool *cancel, struct file_record *record)
{
	for (uint64_t done = 0; done < run->length;) {
		size_t len =
			run->length - done < COPY_LEN ? (size_t)(run->length - done) : COPY_LEN;
		int status;

		if (atomic_load_explicit(cancel, memory_order_relaxed))
			return -ECANCELED;
		read_counting(copier, image, run->offset + done, len, record);
		if (image_was_cut(image))
			return -ECANCELED;
		hasher_update(copier->hasher, copier->buffer, len);
		status = fd < 0 ? 0 : file_write(fd, copier->buffer, len);
		if (status)
			return status;
		done += len;
	}
	return 0;
}

/* Copies the record's runs, in order, to fd (-1: only hashes them). Returns 0 or the negative errno of a write. */
static int copy_runs(struct copier *copier, struct image *image, int fd, const atomic_bool *cancel,
	struct file_record *record)
{
	record->unreadable = 0;
	hasher_reset(copier->hasher);
	for (uint32_t i = 0; i < record->run_count; i++) {
		int status = copy_run(copier, image, &record->runs[i], fd, cancel, record);

		if (status)
			return status;
	}
	hasher_finish(copier->hasher, &record->hashes);
	return 0;
}

int mark_known(const struct hash_sets *sets, struct file_record *record, struct error *error)
{
	int status = hash_sets_find(sets, &record->hashes, &record->known, &record->alert, error);

	record->left_out =
		!status && hash_sets_skips_known(sets) && record->known && !record->alert;
	return status;
}

/* Not every file system can store every time. */
static void set_time(int fd, int64_t seconds)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = seconds } };

	(void)futimens(fd, times);
}

/* As copy_file, without a folder. */
static int hash_file(struct copier *copier, struct image *image, struct file_record *record,
	const atomic_bool *cancel, struct error *error)
{
	int status = copy_runs(copier, image, -1, cancel, record);

	return status || !copier->sets ? status : mark_known(copier->sets, record, error);
}

int copy_file(struct copier *copier, struct image *image, struct output_dir *output_dir,
	struct file_record *record, const atomic_bool *cancel, struct error *error)
{
	struct output_dir_file file;
	int status;

	if (!output_dir)
		return hash_file(copier, image, record, cancel, error);
	status = output_dir_begin(output_dir, record->path, &file, error);
	if (status)
		return status;
	status = copy_runs(copier, image, file.fd, cancel, record);
	if (status) {
		output_dir_drop(&file);
		return output_dir_error(output_dir, record->path, -status, error);
	}
	if (copier->sets)
		status = mark_known(copier->sets, record, error);
	if (record->file_time)
		set_time(file.fd, record->file_time);
	if (!status && !record->left_out)
		return output_dir_finish(output_dir, record->path, &file, error);
	output_dir_drop(&file);
	return status;
}
