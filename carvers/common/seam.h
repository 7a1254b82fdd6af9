/* Where pixels, samples or other data that are stored as they are give way to another file's bytes at a cluster. */
#ifndef BURIN_CARVERS_COMMON_SEAM_H
#define BURIN_CARVERS_COMMON_SEAM_H

#include "carver.h"

/* The first cluster in the last MiB of [start, end) from which on the bytes are distributed otherwise than before, if
 * they change within a few bytes of its start, and nowhere else so sharply; end when there is none. step: bytes of a
 * pixel or sample, at least 1. Not for data that may be divided into parts at multiples of a cluster. */
uint64_t seam_cluster(struct view *view, uint64_t start, uint64_t end, uint64_t step);

#endif
