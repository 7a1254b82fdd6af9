/* An AFF file's own metadata, which libtsk does not pass on. */
#ifndef BURIN_EVIDENCE_AFF_H
#define BURIN_EVIDENCE_AFF_H

#include "evidence/image.h"

/* Walks its segments: fills in the stored hashes, and *page_len, the bytes that are compressed
 * together (0 where the file does not say). */
void aff_describe(const char *path, struct image_info *info, uint64_t *page_len);

#endif
