/*
 * Part of an image as an image of its own: ranges of it, one after another, in rising order. What
 * is found in it has offsets there, which the functions below turn into offsets in the evidence.
 * Every other image is its own evidence, so that callers need not distinguish them.
 *
 * Small ranges, such as the slack of files, come before all others, in an order of their own:
 * between these they would separate the parts of a file that continues from one to the next.
 */
#ifndef BURIN_EVIDENCE_EXTENT_IMAGE_H
#define BURIN_EVIDENCE_EXTENT_IMAGE_H

#include "base/codec.h"
#include "base/ranges.h"
#include "evidence/image.h"

/* The evidence stays the caller's and must outlive the result. The ranges, `small` ones (NULL: none)
 * and others, are inside it and not empty, at least one in all; no byte is in both. The info has the evidence's format, sector size and paths, but not its stored
 * hashes, which do not apply to a part. */
struct image *extent_image_open(
	struct image *evidence, const struct ranges *small, const struct ranges *ranges);

/* For another process: which part of the evidence it is, or that it is all of it. */
void extent_image_save(const struct image *image, struct codec_writer *writer);
/* The same part of the evidence; NULL: what was saved is not valid. */
struct image *extent_image_load(struct image *evidence, struct codec_reader *reader);
/* The image that the bytes are in: the evidence, or image itself. */
struct image *extent_image_evidence(struct image *image);
/* The offset in the evidence of the byte at offset. */
uint64_t extent_image_to_evidence(const struct image *image, uint64_t offset);
/* Where the small ranges end. */
uint64_t extent_image_main(const struct image *image);
/* The first offset after the small ranges whose byte is at or after evidence_offset in the evidence;
 * the image's size when there is none. */
uint64_t extent_image_from_evidence(const struct image *image, uint64_t evidence_offset);
/* The offset in the image of the byte at an offset of the evidence, and how many bytes follow it in
 * both. False when the byte is not part of the image. */
bool extent_image_find(
	const struct image *image, uint64_t evidence_offset, uint64_t *offset, uint64_t *len);
/* Whether [offset, offset + length), inside the image, is one extent of the evidence: *run. */
bool extent_image_run(
	const struct image *image, uint64_t offset, uint64_t length, struct range *run);
/* The extents of the evidence that [offset, offset + length), inside the image, consists of: *count
 * of them, which the caller frees. */
struct range *extent_image_runs(
	const struct image *image, uint64_t offset, uint64_t length, size_t *count);

#endif
