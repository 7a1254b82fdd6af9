/* Where pixels, samples or other data that are stored as they are give way to another file's bytes at a cluster. */
#ifndef BURIN_CARVERS_COMMON_TURNING_H
#define BURIN_CARVERS_COMMON_TURNING_H

#include "carver.h"

/* The first cluster in the last MiB of [start, end) from which on the bytes are distributed otherwise than before, if
 * they change within a few bytes of its start, and nowhere else so sharply; end when there is none. step: bytes of a
 * pixel or sample, at least 1. Not for data that may be divided into parts at multiples of a cluster. */
uint64_t turning_cluster(struct view *view, uint64_t start, uint64_t end, uint64_t step);

/* The cluster that starts inside the last unit [unit, end) of coded data, of which nothing verifies that it is whole, if
 * the bytes from it on, also those after end, are distributed otherwise than those before; end when it is not so. */
uint64_t turning_in_unit(struct view *view, uint64_t unit, uint64_t end);

/* The verdict on frames or the like ("frame") whose number is not stored, the last of which is [unit, end):
 * CARVE_UNVERIFIED, or CARVE_TRUNCATED at the cluster that turning_in_unit finds. */
enum verdict turning_uncounted(
	struct view *view, struct finding *finding, uint64_t unit, uint64_t end, const char *name);

#endif
