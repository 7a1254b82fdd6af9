/* Finds the image that another has only the changes to. Its name comes from the evidence, and may be that of any
 * file of the examiner's machine: so it is looked for next to the image alone, and below. */
#ifndef BURIN_EVIDENCE_BLOCK_PARENT_H
#define BURIN_EVIDENCE_BLOCK_PARENT_H

#include <stdint.h>

#include "evidence/block_file.h"

/* path: of the image; name: as the image says. The path, which the caller frees; NULL: it is not there. */
char *block_parent_by_name(const char *path, const char *name);
/* A VDI image by its identifier. VirtualBox keeps the changes in a folder Snapshots next to the first image. */
char *block_parent_by_id(const char *path, const uint8_t id[BLOCK_ID_LEN]);

#endif
