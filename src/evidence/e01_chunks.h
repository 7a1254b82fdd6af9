/* Reads the medium of an E01 set from its chunks, in any number of threads. */
#ifndef BURIN_EVIDENCE_E01_CHUNKS_H
#define BURIN_EVIDENCE_E01_CHUNKS_H

#include "evidence/e01_set.h"

struct e01_chunks;

/* For a set of the common layout, which must outlive the result. */
struct e01_chunks *e01_chunks_new(const struct e01_set *set);
/* Reads len bytes at offset, all inside the medium. 0, -EIO when one of their chunks is missing or
 * damaged, -ENOMEM. Thread-safe. */
int e01_chunks_read(struct e01_chunks *chunks, uint64_t offset, void *buffer, size_t len);
/* Why the chunk at offset can't be read, and in which segment it is; the caller frees the text.
 * NULL when it can. Thread-safe. */
char *e01_chunks_why(struct e01_chunks *chunks, uint64_t offset);
/* NULL is fine. */
void e01_chunks_free(struct e01_chunks *chunks);

#endif
