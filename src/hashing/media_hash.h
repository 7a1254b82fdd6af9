/*
 * Hashes of the evidence, computed in the pass that searches it. Each algorithm has a thread of its
 * own, because none can be split; all read the same memory, in order.
 */
#ifndef BURIN_HASHING_MEDIA_HASH_H
#define BURIN_HASHING_MEDIA_HASH_H

#include <stdbool.h>

#include "hashing/hash.h"

struct media_hash;

/* mask: enum hash_kind or-ed together, not 0. capacity: how many chunks may be with the threads at
 * a time. spare: the threads run only on otherwise idle processors. NULL when no thread can be
 * started. All functions are called by one thread. */
struct media_hash *media_hash_new(uint32_t mask, unsigned capacity, bool spare);

/* The next len bytes of the evidence. They must not change until media_hash_done counts the chunk.
 */
void media_hash_add(struct media_hash *hash, const void *bytes, size_t len);

/* How many chunks all threads are done with since the start, in the order in which they came;
 * media_hash_await waits until there are more than more_than, of which at least that many plus one
 * must have been added. */
uint64_t media_hash_done(struct media_hash *hash);
void media_hash_await(struct media_hash *hash, uint64_t more_than);

/* The digests of the longest beginning of the evidence that ended with a chunk, has at most until
 * bytes, and that all threads are done with, among the last 2 * capacity chunks of each. Returns its
 * length; 0: there is none. */
uint64_t media_hash_beginning(struct media_hash *hash, uint64_t until, struct hashes *hashes);

/* Waits until everything is hashed and returns the digests requested. */
void media_hash_finish(struct media_hash *hash, struct hashes *hashes);

/* Stops soon, even in the middle of a chunk; no chunk is read afterwards. NULL is fine. */
void media_hash_free(struct media_hash *hash);

#endif
