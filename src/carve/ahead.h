/*
 * Coded data that is decoded ahead of its checks, elsewhere and many at a time (struct coded_scan of
 * scan/scan.h): described where headers are found, on the bytes that were just scanned; and what came of
 * it, for the checks. Its carver then reads the data all the same, and decides on everything else, but does not
 * decode it. Where nothing is known it does so; so this changes no result.
 */
#ifndef BURIN_CARVE_AHEAD_H
#define BURIN_CARVE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ahead;
struct carve_coded;
struct image;
struct rules;

/* What it is given must outlive it. threads: that call ahead_describe. */
struct ahead *ahead_new(const struct rules *rules, struct image *image, unsigned threads);
/* NULL is fine. */
void ahead_free(struct ahead *ahead);

/* Whether any rule has coded data. */
bool ahead_wanted(const struct ahead *ahead);
/* Whether there may be such data after a hit of the pattern. */
bool ahead_describes(const struct ahead *ahead, uint32_t pattern);
/* Describes the data of the candidate whose header is at the hit. bytes: the image's [offset, offset + len),
 * which hold the hit. *picture and *data: where it and its data begin, in the image. The caller frees the
 * result with free(); NULL: there is none, or more bytes are needed. From any thread; worker: its number. */
struct carve_coded *ahead_describe(struct ahead *ahead, unsigned worker, const uint8_t *bytes,
	uint64_t offset, size_t len, uint64_t hit, uint32_t pattern, uint64_t *picture,
	uint64_t *data);

/* The data at `data`, of the picture at `picture`, is valid up to the marker at `end`. Of many the oldest are
 * forgotten. From any thread, as ahead_end, which returns 0 for what is not known. */
void ahead_add(struct ahead *ahead, uint64_t picture, uint64_t data, uint64_t end);
uint64_t ahead_end(const struct ahead *ahead, uint64_t picture, uint64_t data);

#endif
