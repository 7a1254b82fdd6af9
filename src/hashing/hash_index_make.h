/* Makes the file of an index (hash_index_file.h) from a list of hashes. */
#ifndef BURIN_HASHING_HASH_INDEX_MAKE_H
#define BURIN_HASHING_HASH_INDEX_MAKE_H

#include <stddef.h>

#include "hashing/hash_index_file.h"

/* Writes the index into fd, an empty file, and fills in what head does not know of the list yet.
 * folder: for temporary files. memory: bytes to use, for each kind of hash. Says on stderr that it
 * is made. Returns 0 or a negative errno with error set: the list can't be read or holds no hash,
 * or the index can't be written. */
int hash_index_make(int fd, struct hash_index_head *head, const char *list_path, const char *folder,
	size_t memory, struct error *error);

#endif
