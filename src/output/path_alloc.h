/* Allocates the paths of carved files for output_dir.c, the same in every run. Serial. */
#ifndef BURIN_OUTPUT_PATH_ALLOC_H
#define BURIN_OUTPUT_PATH_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "base/codec.h"

struct path_alloc;

/* Never NULL. */
struct path_alloc *path_alloc_new(void);
/* As output_dir_name_in. */
char *path_alloc_name(struct path_alloc *path_alloc, const char *type, uint64_t offset,
	const char *label, const char *extension, unsigned digits, char *room, size_t room_len);
/* As output_dir_reserve. */
void path_alloc_reserve(struct path_alloc *path_alloc, const char *name);
void path_alloc_save(const struct path_alloc *path_alloc, struct codec_writer *writer);
/* Into a new one. */
void path_alloc_load(struct path_alloc *path_alloc, struct codec_reader *reader);
/* NULL is fine. */
void path_alloc_free(struct path_alloc *path_alloc);

#endif
