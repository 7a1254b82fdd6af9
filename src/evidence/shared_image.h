/*
 * An image for a process that may open nothing. It reads what is in plain files by descriptors that it was
 * given, and asks the process that opened the image for all else: what must be decompressed, or decrypted,
 * and places that can't be read.
 */
#ifndef BURIN_EVIDENCE_SHARED_IMAGE_H
#define BURIN_EVIDENCE_SHARED_IMAGE_H

#include "base/codec.h"
#include "base/sandbox.h"
#include "evidence/image.h"

/* The rest of a set of more parts is asked for. */
#define SHARED_PARTS_MAX SANDBOX_DESCRIPTORS

/* Bytes that are in a plain file. */
struct shared_part {
	uint64_t offset, len; /* in the evidence */
	uint64_t fd_offset;
	uint32_t descriptor; /* its number among those that are shared */
};

/* The most bytes that are asked for at a time. */
#define SHARED_ASK_MAX ((size_t)256 << 10)

/* Answers for the evidence: 0, or a negative errno if any of the bytes can't be read. */
typedef int shared_image_ask(uint64_t offset, void *buffer, size_t len);

/* What image_share_save saved; it is never closed. descriptors: in their order. interrupted: as
 * for image_set_interrupted. NULL: what was saved is not valid. */
struct image *shared_image_open(struct codec_reader *reader, const int *descriptors, size_t count,
	shared_image_ask *ask, bool (*interrupted)(void));

#endif
