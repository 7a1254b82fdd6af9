/* Which file each byte of an image belongs to: runs, sorted, and names. Bounded in memory. */
#ifndef BURIN_EVIDENCE_FILE_MAP_H
#define BURIN_EVIDENCE_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"

struct file_map;

struct file_map *file_map_new(void);
/* The files that follow lie in the folder: len bytes, with a slash at the end unless it is the top.
 * False, as of all that adds: there is no room for more. */
bool file_map_folder(struct file_map *owners, const char *path, size_t len);
bool file_map_file(struct file_map *owners, const char *name, size_t len, bool deleted);
/* Where bytes of the last file lie in the image. */
bool file_map_runs(struct file_map *owners, const struct range *runs, size_t count);
/* What was added from now on can be taken back, all of it: how far a walk came that did not come to
 * its end is chance. */
void file_map_mark(struct file_map *owners);
void file_map_take_back(struct file_map *owners);
/* Sorts. Nothing is added behind it. */
void file_map_finish(struct file_map *owners);

/* The path of the file with the byte at offset; a deleted one's where no other claims it. NULL:
 * none. The text is good until file_map_free. One thread. */
const char *file_map_find(struct file_map *owners, uint64_t offset);
/* NULL is fine. */
void file_map_free(struct file_map *owners);

#endif
