/* Reading the medium of an E01 set from its chunks, in as many threads as ask. */
#ifndef BURIN_EVIDENCE_E01_CHUNKS_H
#define BURIN_EVIDENCE_E01_CHUNKS_H

#include "evidence/e01_set.h"

struct e01_chunks;

/* For a set of the common layout, which must outlive it. */
struct e01_chunks *e01_chunks_new(const struct e01_set *set);
/* Reads len bytes at offset, all inside the medium. 0, -EIO when a chunk of them can't be had
 * whole, -ENOMEM. Thread-safe. */
int e01_chunks_read(struct e01_chunks *chunks, uint64_t offset, void *buffer, size_t len);
/* Why the chunk at offset can't be read, in words, with the segment that it is about; the caller
 * frees it. NULL when it can. Thread-safe. */
char *e01_chunks_why(struct e01_chunks *chunks, uint64_t offset);
/* NULL is fine. */
void e01_chunks_free(struct e01_chunks *chunks);

#endif
