/* Steps that the walks of many formats share. */
#ifndef BURIN_CARVERS_COMMON_WALK_H
#define BURIN_CARVERS_COMMON_WALK_H

#include <stdbool.h>

#include "carver.h"

/* As much of [offset, end) as one look gives: *len bytes, at least 1. NULL when nothing is there to
 * be seen. */
const uint8_t *walk_window(struct view *view, uint64_t offset, uint64_t end, size_t *len);

/* True when [at, end) is all zeros, and all there. */
bool walk_zeros(struct view *view, uint64_t at, uint64_t end);

/* The same for a stream of which `taken` bytes were taken: no more than twice those, since it may
 * end anywhere, and what is seen in vain counts against the budget. */
const uint8_t *walk_stream(
	struct view *view, uint64_t offset, uint64_t end, uint64_t taken, size_t *len);

/* The next `byte` in [*offset, end): true with *offset on it; false with *offset where the search
 * had to stop. */
bool walk_find(struct view *view, uint64_t *offset, uint64_t end, uint8_t byte);

/* CRC-32 (zlib's) of len bytes at offset, going on from crc (0 at first): false when they are not
 * all there. */
bool walk_crc32(struct view *view, uint64_t offset, uint64_t len, uint32_t *crc);

/* The verdict when bytes up to `wanted` could not be had: CARVE_TRUNCATED, length `sound`, and
 * why. */
enum verdict walk_cut(struct view *view, struct finding *finding, uint64_t wanted, uint64_t sound);

/* Where the bytes begin that broke a walk at `end`: in front of the run of equal bytes there (wiped
 * with zeros, erased to FF) if it is long, else at end. Coded data has no long runs, and a walk may
 * take much of one for data. Not before start. */
uint64_t walk_before_fill(struct view *view, uint64_t start, uint64_t end);

/* Sets the title, without blanks and NULs around it. An empty one changes nothing. */
void finding_set_title(struct finding *finding, const uint8_t *bytes, size_t len);

/* Seconds since 1970-01-01 of a date, taken as UTC; 0 when there is no such date. */
int64_t utc_seconds(int year, int month, int day, int hour, int minute, int second);

#endif
