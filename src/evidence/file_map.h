/* Which file each byte of an image belongs to: sorted runs, and names. Bounded in memory. */
#ifndef BURIN_EVIDENCE_FILE_MAP_H
#define BURIN_EVIDENCE_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"

struct file_map;

struct file_map *file_map_new(void);
/* The files added next are in this folder: len bytes, with a slash at the end unless it is the
 * root. False, like all functions that add: there is no room for more. */
bool file_map_folder(struct file_map *file_map, const char *path, size_t len);
bool file_map_file(struct file_map *file_map, const char *name, size_t len, bool deleted);
/* Where the last file's bytes are in the image. */
bool file_map_runs(struct file_map *file_map, const struct range *runs, size_t count);
/* Sets a rollback point, and returns to it: results of an unfinished walk are discarded, because
 * where it stopped is arbitrary. */
void file_map_set_rollback(struct file_map *file_map);
void file_map_roll_back(struct file_map *file_map);
/* Sorts; to be called after everything was added. */
void file_map_finish(struct file_map *file_map);

/* The path of the file that has the byte at offset; a deleted one only if no other file claims it.
 * NULL: none. The text is valid until file_map_free. One thread at a time. */
const char *file_map_find(struct file_map *file_map, uint64_t offset);
/* NULL is fine. */
void file_map_free(struct file_map *file_map);

#endif
