/*
 * Sorts any number of digests in bounded memory: what does not fit is sorted in parts, which go to
 * a temporary file and are merged at the end.
 */
#ifndef BURIN_HASHING_DIGEST_SORT_H
#define BURIN_HASHING_DIGEST_SORT_H

#include <stddef.h>
#include <stdint.h>

struct digest_sort;

/* digest_len: bytes of a digest, 1 to 32. memory: bytes to use, at least 64 digests. folder: for
 * the temporary file; must outlive the result. NULL when there is not enough memory. */
struct digest_sort *digest_sort_new(size_t digest_len, size_t memory, const char *folder);
/* Returns 0 or a negative errno. */
int digest_sort_add(struct digest_sort *sort, const uint8_t *digest);
/* After the last digest: passes all digests to take, in rising order, each once. Returns 0, a
 * negative errno, or what take returned when that was not 0. */
int digest_sort_finish(
	struct digest_sort *sort, int (*take)(void *context, const uint8_t *digest), void *context);
/* NULL is fine. */
void digest_sort_free(struct digest_sort *sort);

#endif
