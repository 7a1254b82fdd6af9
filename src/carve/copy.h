/* Copies carved files from the image to the output folder, hashing on the way. */
#ifndef BURIN_CARVE_COPY_H
#define BURIN_CARVE_COPY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"
#include "evidence/image.h"
#include "hashing/hash.h"

/* Files that are copied side by side: their hashes take less time than one after the other. */
#define COPY_LANES 2

/* A thread's scratch for copying. */
struct copier {
	struct hasher *hashers[COPY_LANES];
	uint8_t *buffers[COPY_LANES];
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

/* The files to be copied, and where to. cancel: read now and then; when it becomes true all copies end with
 * -ECANCELED, and so they do when the image was cut (image_was_cut). */
struct copy_list {
	struct image *image;
	struct output_dir *output_dir; /* NULL: nowhere, they are only hashed */
	const atomic_bool *cancel;
	/* The next file's record, and its `file` for `done`; NULL: there is none now. Asked again after another was done. */
	struct file_record *(*next)(void *context, void **file);
	/* As copy_file returned. */
	void (*done)(void *context, void *file, int status, const struct error *error);
	void *context;
};

/* Copies them, COPY_LANES at a time, until there are none. */
void copy_files(struct copier *copier, const struct copy_list *list);

/* Writes a record's file to the output folder (NULL: nowhere), unless it is left out, and fills in its hashes
 * and unreadable bytes. cancel: as in struct copy_list. Returns 0 or a negative errno with error set; a file that
 * could not be completed is removed. */
int copy_file(struct copier *copier, struct image *image, struct output_dir *output_dir,
	struct file_record *record, const atomic_bool *cancel, struct error *error);

#endif
