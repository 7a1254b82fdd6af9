/* Which file each byte of an image belongs to, and where each file's bytes are. Bounded in memory. */
#ifndef BURIN_EVIDENCE_FILE_MAP_H
#define BURIN_EVIDENCE_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"
#include "evidence/walk_messages.h"
#include "evidence/volumes.h"

struct file_map;

struct file_map *file_map_new(void);
/* The files added next are in the volume that starts there. */
void file_map_volume(struct file_map *file_map, uint64_t offset);
/* The files added next are in this folder: len bytes, with a slash at the end unless it is the
 * root. False, like all functions that add: there is no room for more. */
bool file_map_folder(struct file_map *file_map, const char *path, size_t len);
bool file_map_file(
	struct file_map *file_map, const struct walk_file *file, const char *name, size_t len);
/* Where the last file's bytes are in the image. */
bool file_map_runs(struct file_map *file_map, const struct walk_run *runs, size_t count);
/* Sets a rollback point, and returns to it: results of an unfinished walk are discarded, because
 * where it stopped is arbitrary. */
void file_map_set_rollback(struct file_map *file_map);
void file_map_roll_back(struct file_map *file_map);
/* How many of the files since the rollback point have the flag. */
size_t file_map_flagged(const struct file_map *file_map, unsigned flag);
/* Sorts; to be called after everything was added. Then functions may be called by any thread, except
 * file_map_path. */
void file_map_finish(struct file_map *file_map);

/* As volumes_find, volumes_extents. */
bool file_map_find(const struct file_map *file_map, uint64_t offset, struct fs_file *file);
struct range *file_map_extents(
	const struct file_map *file_map, const struct fs_file *file, size_t *count);
/* Adds the bytes that belong to files that are there, and are after what was written of them. */
void file_map_slack(const struct file_map *file_map, struct ranges *slack);
/* The runs of the files, from this inode on, that have some of their content in the ranges, but not all of
 * it: *count in any order, which the caller frees. */
struct range *file_map_partly_in(const struct file_map *file_map, const struct ranges *ranges,
	uint64_t first_inode, size_t *count);
/* The path of the file with that index, valid until file_map_free. One thread at a time. */
const char *file_map_path(struct file_map *file_map, uint32_t index);
/* NULL is fine. */
void file_map_free(struct file_map *file_map);

#endif
