#include "carve/copy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "hashing/hash_sets.h"
#include "report/record.h"
#include "output/output_dir.h"

#define COPY_LEN ((size_t)1024 * 1024)

void copier_init(struct copier *copier, uint32_t hash_mask)
{
	copier->hasher = hasher_new(hash_mask);
	copier->buffer = xmalloc(COPY_LEN);
	copier->sets = NULL;
	copier->skip_known = false;
}

void copier_free(struct copier *copier)
{
	hasher_free(copier->hasher);
	free(copier->buffer);
}

static int copy_run(struct copier *copier, struct image *image, const struct range *run, int fd,
	const atomic_bool *cancel, uint64_t *unreadable)
{
	for (uint64_t done = 0; done < run->length;) {
		size_t len =
			run->length - done < COPY_LEN ? (size_t)(run->length - done) : COPY_LEN;
		int status;

		if (atomic_load_explicit(cancel, memory_order_relaxed))
			return -ECANCELED;
		*unreadable += image_read_around(image, run->offset + done, copier->buffer, len);
		hasher_update(copier->hasher, copier->buffer, len);
		status = file_write(fd, copier->buffer, len);
		if (status)
			return status;
		done += len;
	}
	return 0;
}

int copy_runs(struct copier *copier, struct image *image, const struct range *runs,
	size_t run_count, int fd, const atomic_bool *cancel, struct hashes *hashes,
	uint64_t *unreadable)
{
	*unreadable = 0;
	hasher_reset(copier->hasher);
	for (size_t i = 0; i < run_count; i++) {
		int status = copy_run(copier, image, &runs[i], fd, cancel, unreadable);

		if (status)
			return status;
	}
	hasher_finish(copier->hasher, hashes);
	return 0;
}

int mark_known(const struct hash_sets *sets, bool skip_known, struct file_record *record,
	struct error *error)
{
	int status = hash_sets_find(sets, &record->hashes, &record->known, &record->alert, error);

	record->left_out = !status && skip_known && record->known && !record->alert;
	return status;
}

int copy_file(struct copier *copier, struct image *image, struct output_dir *output_dir,
	struct file_record *record, const atomic_bool *cancel, struct error *error)
{
	struct output_dir_file file;
	int status = output_dir_begin(output_dir, record->path, &file, error);

	if (status)
		return status;
	status = copy_runs(copier, image, record->runs, record->run_count, file.fd, cancel,
		&record->hashes, &record->unreadable);
	if (status) {
		output_dir_drop(&file);
		return output_dir_error(output_dir, record->path, -status, error);
	}
	if (copier->sets)
		status = mark_known(copier->sets, copier->skip_known, record, error);
	if (!status && !record->left_out)
		return output_dir_finish(output_dir, record->path, &file, error);
	output_dir_drop(&file);
	return status;
}
