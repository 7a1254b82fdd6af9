/* Copies a file's bytes from the image to a descriptor, hashing on the way. */
#ifndef BURIN_CARVE_COPY_H
#define BURIN_CARVE_COPY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"
#include "evidence/image.h"
#include "hashing/hash.h"

/* A thread's own room for copying. */
struct copier {
	struct hasher *hasher;
	uint8_t *buffer;
	const struct hash_sets *sets; /* to look files up in; NULL: in none */
	bool skip_known;              /* what is known, and not wanted, is left out */
};

void copier_init(struct copier *copier, uint32_t hash_mask);
void copier_free(struct copier *copier);

/* Copies the runs, in order, to fd. unreadable: bytes that could not be read and were written as
 * zeros. cancel: looked at now and then; when it becomes true the copy ends with -ECANCELED.
 * Returns 0 or the negative errno of a write. */
int copy_runs(struct copier *copier, struct image *image, const struct range *runs,
	size_t run_count, int fd, const atomic_bool *cancel, struct hashes *hashes,
	uint64_t *unreadable);

struct error;
struct file_record;
struct output_dir;

/* Looks the hashes of a file up. Returns 0 or a negative errno with error set. */
int mark_known(const struct hash_sets *sets, bool skip_known, struct file_record *record,
	struct error *error);
/* Writes the file of a record to the output_dir, unless it is left out, and fills in its hashes and
 * unreadable bytes. Returns 0 or a negative errno with error set; nothing is left of a file that
 * could not be completed. */
int copy_file(struct copier *copier, struct image *image, struct output_dir *output_dir,
	struct file_record *record, const atomic_bool *cancel, struct error *error);

#endif
