/* Allocates the paths of carved files for output_dir.c, the same in every run. Serial, but for path_alloc_print. */
#ifndef BURIN_OUTPUT_PATH_ALLOC_H
#define BURIN_OUTPUT_PATH_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "base/codec.h"

struct path_alloc;

/* What of a path is allocated; the rest follows from the file. */
struct path_claim {
	const char *folder; /* with a slash; "": none. Until path_alloc_free */
	uint32_t number;    /* 1 for the first of its type with its offset and extension */
};

/* Never NULL. */
struct path_alloc *path_alloc_new(void);
/* As output_dir_claim. */
void path_alloc_claim(struct path_alloc *path_alloc, const char *type, uint64_t offset,
	const char *extension, struct path_claim *claim);
/* As output_dir_claimed_name. */
char *path_alloc_print(const struct path_claim *claim, uint64_t offset, const char *label,
	const char *extension, unsigned digits, char *room, size_t room_len);
/* As output_dir_reserve. */
void path_alloc_reserve(struct path_alloc *path_alloc, const char *name);
void path_alloc_save(const struct path_alloc *path_alloc, struct codec_writer *writer);
/* Into a new one. */
void path_alloc_load(struct path_alloc *path_alloc, struct codec_reader *reader);
/* NULL is fine. */
void path_alloc_free(struct path_alloc *path_alloc);

#endif
