/* Sorted lists of hits: merging the hits of a chunk's pieces. */
#ifndef BURIN_SCAN_HITS_H
#define BURIN_SCAN_HITS_H

#include "scan/scan.h"

/* Sorts hits by (offset, pattern) and removes duplicates. spare: room for count elements, its
 * content is lost. Allocates nothing; nearly sorted input is fast. Returns the new count. */
size_t hits_sort(struct hit *hits, size_t count, struct hit *spare);

/*
 * Inserts a sorted batch into a sorted list of count hits. All offsets of the batch lie in one gap
 * of the list: the list holds no hit between the first and the last of the batch. Hits at or after
 * *limit are left out. If the list grows past capacity, its last hits are dropped, never between
 * hits at one offset, and *limit sinks to the first dropped offset. So whatever the order of the
 * batches, the list ends up with all hits before *limit, and *limit is as high as capacity allows. Returns the new count.
 */
size_t hits_insert(struct hit *list, size_t count, size_t capacity, const struct hit *batch,
	size_t batch_count, uint64_t *limit);

#endif
