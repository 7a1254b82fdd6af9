/* Sets of hashes in which carved files are looked up: known files, and alerts. */
#ifndef BURIN_HASHING_HASH_SETS_H
#define BURIN_HASHING_HASH_SETS_H

#include <stdbool.h>

#include "hashing/hash.h"

struct hash_sets;

/* known, alert: paths of lists (hashing/hash_list.h), each of which gets an index, which is stored
 * only with keep_indexes (hashing/hash_index.h). *sets is NULL when there are none. Returns 0 or a
 * negative errno with error set. */
int hash_sets_open(struct hash_sets **sets, const char *const *known, size_t known_count,
	const char *const *alert, size_t alert_count, bool keep_indexes, struct error *error);
/* From now on known files are left out of the output, unless they are also in a list of alerts. */
void hash_sets_skip_known(struct hash_sets *sets);
bool hash_sets_skips_known(const struct hash_sets *sets);
/* enum hash_kind or-ed together: the hashes that a file needs to be looked up everywhere. NULL is
 * fine: 0. */
uint32_t hash_sets_kinds(const struct hash_sets *sets);
/* Names and checksums of all sets, to distinguish runs. The caller frees it. NULL is fine. */
char *hash_sets_summary(const struct hash_sets *sets);
/* Looks the hashes up. *known, *alert: the name of the first set of each kind that has one of them,
 * or NULL; the names live as long as the sets. Thread-safe. Returns 0 or a negative errno with
 * error set. */
int hash_sets_find(const struct hash_sets *sets, const struct hashes *hashes, const char **known,
	const char **alert, struct error *error);
/* NULL is fine. */
void hash_sets_close(struct hash_sets *sets);

#endif
