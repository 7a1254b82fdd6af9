/* A sorted list of ranges that don't touch, such as unreadable parts of an image or the extents of
 * a file. */
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
/* Adds all items, which may be in any order and are sorted: with ranges_add, many that do not rise would
 * take time quadratic in their number. */
void ranges_add_all(struct ranges *ranges, struct range *items, size_t count);
/* How many bytes of [offset, offset + length) are in the ranges. */
uint64_t ranges_overlap(const struct ranges *ranges, uint64_t offset, uint64_t length);
/* Removes the ranges that end at or before offset. */
void ranges_forget_before(struct ranges *ranges, uint64_t offset);
/* The total length, bytes. */
uint64_t ranges_bytes(const struct ranges *ranges);
/* The first range that ends after offset (it may contain offset); NULL when there is none. */
const struct range *ranges_after(const struct ranges *ranges, uint64_t offset);
struct codec_writer;
struct codec_reader;
/* Saves the parts before limit. */
void ranges_save(const struct ranges *ranges, uint64_t limit, struct codec_writer *writer);
/* Adds the saved ranges. */
void ranges_load(struct ranges *ranges, uint64_t limit, struct codec_reader *reader);
void ranges_free(struct ranges *ranges);

#endif
