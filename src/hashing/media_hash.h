/*
 * Hashes of the evidence, computed in the pass that searches it. Each algorithm has a thread of its
 * own, for none can be cut into pieces; all go over the same memory, in order.
 */
#ifndef BURIN_HASHING_MEDIA_HASH_H
#define BURIN_HASHING_MEDIA_HASH_H

#include <stdbool.h>

#include "hashing/hash.h"

struct media_hash;

/* mask: enum hash_kind or-ed together, not 0. capacity: how many pieces may be with the threads at
 * a time. spare: the threads get only what time processors have to spare. NULL when no thread can
 * be started. All functions are called by one thread. */
struct media_hash *media_hash_new(uint32_t mask, unsigned capacity, bool spare);

/* The next len bytes of the evidence. They must stay as they are until the piece is counted by
 * media_hash_done. */
void media_hash_add(struct media_hash *hash, const void *bytes, size_t len);

/* How many pieces all threads are done with, since the start. more_than: waits until there are more
 * than so many; that many must have been given. Pieces are done in the order in which they came. */
uint64_t media_hash_done(struct media_hash *hash);
void media_hash_await(struct media_hash *hash, uint64_t more_than);

/* Waits until all is done and gives the digests, of those asked for. */
void media_hash_finish(struct media_hash *hash, struct hashes *hashes);

/* Stops soon, also in the middle of a piece; no piece is touched any more. NULL is fine. */
void media_hash_free(struct media_hash *hash);

#endif
