/*
 * A list of hashes as a sorted file in which one is found with a few reads, however long the list
 * is. It is made once, beside the list (LIST.burin-index), or in the user's cache folder where the
 * list's is not writable, or, where neither is, for this run alone. It is used again as long as it
 * belongs to the list (size, time of change, a sample of its content) and is undamaged, and is made
 * anew otherwise.
 *
 * It is read with pread, not mapped: a file that is cut short meanwhile is an error, and no signal.
 */
#ifndef BURIN_HASHING_HASH_INDEX_H
#define BURIN_HASHING_HASH_INDEX_H

#include "hashing/hash.h"

struct hash_index;

/* memory: bytes that making it may use, for each kind of hash. Says on stderr when it is made.
 * Returns 0 or a negative errno with error set: the list can't be read, or holds no hash. */
int hash_index_open(
	struct hash_index **index, const char *list_path, size_t memory, struct error *error);
/* enum hash_kind or-ed together: of which it holds some. */
uint32_t hash_index_kinds(const struct hash_index *index);
uint64_t hash_index_count(const struct hash_index *index);
/* Lines of the list that held no hash. */
uint64_t hash_index_ignored(const struct hash_index *index);
/* A number that tells its content from others. */
uint32_t hash_index_checksum(const struct hash_index *index);
/* 1: it is among them; 0: not; or a negative errno. Thread-safe. */
int hash_index_find(const struct hash_index *index, enum hash_kind kind, const uint8_t *digest);
/* NULL is fine. */
void hash_index_close(struct hash_index *index);

#endif
