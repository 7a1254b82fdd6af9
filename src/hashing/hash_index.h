/*
 * An index of a list of hashes: a sorted file in which a hash is found with a few reads, however
 * long the list is. It is made once, next to the list (LIST.burin-index), or in the user's cache
 * folder where the list's folder is not writable, or, where neither is, for this run alone. It is
 * used again as long as it belongs to the list (size, time of change, a sample of its content) and
 * is undamaged, and is made anew otherwise.
 */
#ifndef BURIN_HASHING_HASH_INDEX_H
#define BURIN_HASHING_HASH_INDEX_H

#include <stdbool.h>

#include "hashing/hash.h"

struct hash_index;

/* memory: bytes for making it, for each kind of hash. keep: one that has to be made may be stored
 * for other runs; else it is for this one alone. Logs that it is made. Returns 0 or a negative errno
 * with error set: the list can't be read, or contains no hash. */
int hash_index_open(struct hash_index **index, const char *list_path, size_t memory, bool keep,
	struct error *error);
/* enum hash_kind or-ed together: the kinds that it contains. */
uint32_t hash_index_kinds(const struct hash_index *index);
uint64_t hash_index_count(const struct hash_index *index);
/* Lines of the list without a hash. */
uint64_t hash_index_ignored(const struct hash_index *index);
/* CRC-32 of all digests, to distinguish its content from another's. */
uint32_t hash_index_checksum(const struct hash_index *index);
/* 1: the digest is in it; 0: it is not; or a negative errno. Thread-safe. */
int hash_index_find(const struct hash_index *index, enum hash_kind kind, const uint8_t *digest);
/* NULL is fine. */
void hash_index_close(struct hash_index *index);

#endif
