/* What an AFF file says of itself, which libtsk does not pass on. */
#ifndef BURIN_EVIDENCE_AFF_H
#define BURIN_EVIDENCE_AFF_H

#include "evidence/image.h"

/* Walks its segments: fills in the stored hashes, and *page_len, the bytes that are packed together
 * (0 where it is not said). */
void aff_describe(const char *path, struct image_info *info, uint64_t *page_len);

#endif
