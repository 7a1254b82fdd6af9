/*
 * A part of an image as an image of its own: ranges, one behind the other, in rising order. What is
 * found in it has offsets there, which image_gathered_* below turn back into the evidence's. Every
 * other image is its own evidence, so that callers need not ask.
 */
#ifndef BURIN_EVIDENCE_EXTENT_IMAGE_H
#define BURIN_EVIDENCE_EXTENT_IMAGE_H

#include "base/ranges.h"
#include "evidence/image.h"

/* The evidence stays the caller's and must outlive the result; so must the ranges, which lie inside
 * it and hold a byte at least. The info has the evidence's format, sector size and paths; what it
 * stores of hashes is not of this part. */
struct image *extent_image_open(struct image *evidence, const struct ranges *ranges);

/* What the bytes really lie in: the evidence, or image itself. */
struct image *extent_image_evidence(struct image *image);
/* Where the byte at offset lies in the evidence. */
uint64_t extent_image_place(const struct image *image, uint64_t offset);
/* The first offset whose byte lies at place in the evidence or behind; the image's size when there
 * is none. */
uint64_t extent_image_offset(const struct image *image, uint64_t place);
/* Where the byte at a place of the evidence lies in the image, and how many follow it there as they
 * do in the evidence. False when it is no part of the image. */
bool extent_image_find(const struct image *image, uint64_t place, uint64_t *offset, uint64_t *len);
/* The pieces of the evidence in which [offset, offset + length), inside the image, lies: *count of
 * them, which the caller frees. */
struct range *extent_image_runs(
	const struct image *image, uint64_t offset, uint64_t length, size_t *count);

#endif
