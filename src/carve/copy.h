/* Copies carved files from the image to the output folder, hashing on the way. */
#ifndef BURIN_CARVE_COPY_H
#define BURIN_CARVE_COPY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"
#include "evidence/image.h"
#include "hashing/hash.h"

/* A thread's scratch for copying. */
struct copier {
	struct hasher *hasher;
	uint8_t *buffer;
	const struct hash_sets *sets;
};

/* sets live as long as the copier; NULL: files are not looked up. */
void copier_init(struct copier *copier, uint32_t hash_mask, const struct hash_sets *sets);
void copier_free(struct copier *copier);

struct error;
struct file_record;
struct output_dir;

/* Looks the file's hashes up in the sets and marks the record, also as left out. Returns 0 or a
 * negative errno with error set. */
int mark_known(const struct hash_sets *sets, struct file_record *record, struct error *error);
/* Writes a record's file to the output folder (NULL: nowhere), unless it is left out, and fills in its hashes
 * and unreadable bytes. cancel: read now and then; when it becomes true the copy ends with -ECANCELED,
 * and so it does when the image was cut (image_was_cut).
 * Returns 0 or a negative errno with error set; a file that could not be
 * completed is removed. */
int copy_file(struct copier *copier, struct image *image, struct output_dir *output_dir,
	struct file_record *record, const atomic_bool *cancel, struct error *error);

#endif
