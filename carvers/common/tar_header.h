/* The header of a tar archive's member, for the tar carver and for those that decompress one. */
#ifndef BURIN_CARVERS_COMMON_TAR_HEADER_H
#define BURIN_CARVERS_COMMON_TAR_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "carver.h"

#define TAR_BLOCK ((uint64_t)512)
/* Many programs fill the last record with zeros. */
#define TAR_RECORD (20 * TAR_BLOCK)

/* The length of the blocks that hold this many bytes. */
static inline uint64_t tar_whole_blocks(uint64_t len)
{
	return (len + TAR_BLOCK - 1) & ~(TAR_BLOCK - 1);
}

/* Whether the 512 bytes at block are a header: their checksum matches, and they have a name. */
bool tar_header(const uint8_t *block);
/* A header's number of len bytes, octal or, with the highest bit set, binary; false when it is neither, or larger than any
 * file. */
bool tar_number(const uint8_t *field, int len, uint64_t *value);
/* The length of the data after the header, before zeros fill the last block; false when it has none that can be. */
bool tar_data_len(const uint8_t *block, uint64_t *len);
/* Whether the block at `at` is a header; *len is as tar_data_len gives it. False also when its data has no length that can be. */
bool tar_member(struct view *view, uint64_t at, uint64_t *len);

#endif
