/* AFF4 disk images, by the AFF4 Standard 1.0: one stream of compressed chunks, or a map over such streams. In one
 * file. One thread. */
#ifndef BURIN_EVIDENCE_AFF4_H
#define BURIN_EVIDENCE_AFF4_H

#include "evidence/aff4_zip.h"

struct aff4;

/* NULL with the reason set. The source is copied. */
struct aff4 *aff4_open(const struct aff4_source *source, char *reason, size_t reason_len);
/* Bytes of the disk. */
uint64_t aff4_size(const struct aff4 *aff4);
/* 0; -EIO when one of the bytes was not acquired, or can't be read. */
int aff4_read(struct aff4 *aff4, uint64_t offset, void *buffer, size_t len);
/* NULL is fine. */
void aff4_close(struct aff4 *aff4);

#endif
