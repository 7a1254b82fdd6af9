/*
 * Unpacked chunks, shared by all threads: a chunk that several want at once is unpacked by one of
 * them. For small reads here and there (carvers); long reads in order go past it.
 */
#ifndef BURIN_EVIDENCE_CHUNK_CACHE_H
#define BURIN_EVIDENCE_CHUNK_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct chunk_cache;

/* len: bytes of a chunk. Takes at most 32 MiB, but room for four chunks at least, as it is used. */
struct chunk_cache *chunk_cache_new(size_t len);
/* Copies len bytes at `from` of the chunk to buffer. load fills a chunk that is not there and
 * returns 0 or a negative errno; it is called without a lock. Returns what load returned, or
 * -ENOMEM. Thread-safe. */
int chunk_cache_read(struct chunk_cache *cache, uint64_t number, size_t from, void *buffer,
	size_t len, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg);
/* NULL is fine. */
void chunk_cache_free(struct chunk_cache *cache);

#endif
