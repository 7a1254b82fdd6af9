/* Which file each byte of an image belongs to: runs, sorted, and names. Bounded in memory. */
#ifndef BURIN_EVIDENCE_FILE_MAP_H
#define BURIN_EVIDENCE_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"

struct owners;

struct owners *owners_new(void);
/* The files that follow lie in the folder: len bytes, with a slash at the end unless it is the top.
 * False, as of all that adds: there is no room for more. */
bool owners_folder(struct owners *owners, const char *path, size_t len);
bool owners_file(struct owners *owners, const char *name, size_t len, bool deleted);
/* Where bytes of the last file lie in the image. */
bool owners_runs(struct owners *owners, const struct range *runs, size_t count);
/* What was added from now on can be taken back, all of it: how far a walk came that did not come to
 * its end is chance. */
void owners_mark(struct owners *owners);
void owners_take_back(struct owners *owners);
/* Sorts. Nothing is added behind it. */
void owners_finish(struct owners *owners);

/* The path of the file with the byte at offset; a deleted one's where no other claims it. NULL:
 * none. The text is good until owners_free. One thread. */
const char *owners_find(struct owners *owners, uint64_t offset);
/* NULL is fine. */
void owners_free(struct owners *owners);

#endif
