/*
 * Decompressed chunks, shared by all threads: a chunk that several want at once is decompressed by
 * one of them. For small scattered reads (carvers). A thread that decompresses chunks in order may
 * leave them here for others that look at the same places soon after.
 */
#ifndef BURIN_EVIDENCE_CHUNK_CACHE_H
#define BURIN_EVIDENCE_CHUNK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk_cache;

/* len: bytes of a chunk; memory: bytes for all of them, allocated as they are used, with room for
 * at least eight. All functions are thread-safe. */
struct chunk_cache *chunk_cache_new(size_t len, size_t memory);
/* Copies len bytes at `from` of the chunk to buffer. load fills a chunk that is not cached and
 * returns 0 or a negative errno; it is called without a lock. Returns what load returned, or
 * -ENOMEM. */
int chunk_cache_read(struct chunk_cache *cache, uint64_t number, size_t from, void *buffer,
	size_t len, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg);
/* Copies the whole chunk to `to`, if it is cached. */
bool chunk_cache_get(struct chunk_cache *cache, uint64_t number, uint8_t *to);
/* Keeps a copy of the whole chunk, if an entry is free. */
void chunk_cache_put(struct chunk_cache *cache, uint64_t number, const uint8_t *bytes);
/* NULL is fine. */
void chunk_cache_free(struct chunk_cache *cache);

#endif
