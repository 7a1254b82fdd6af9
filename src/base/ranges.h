/* A sorted list of ranges that don't touch: unreadable parts of an image, runs of a file. */
#ifndef BURIN_BASE_RANGES_H
#define BURIN_BASE_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t offset, length; /* bytes */
};

/* Zero-initialise; ranges_free when done. */
struct ranges {
	struct range *items;
	size_t count, capacity;
};

/* Adds [offset, offset + length), merging with what it overlaps or touches. A length of 0 is
 * ignored. */
void ranges_add(struct ranges *ranges, uint64_t offset, uint64_t length);
/* How many bytes of [offset, offset + length) lie in the ranges. */
uint64_t ranges_overlap(const struct ranges *ranges, uint64_t offset, uint64_t length);
/* How many bytes there are in all. */
uint64_t ranges_bytes(const struct ranges *ranges);
/* The first range that reaches behind offset, which it may hold; NULL when there is none. */
const struct range *ranges_behind(const struct ranges *ranges, uint64_t offset);
struct codec_writer;
struct codec_reader;
/* What lies before limit. */
void ranges_save(const struct ranges *ranges, uint64_t limit, struct codec_writer *writer);
/* Adds what was saved. */
void ranges_load(struct ranges *ranges, uint64_t limit, struct codec_reader *reader);
void ranges_free(struct ranges *ranges);

#endif
