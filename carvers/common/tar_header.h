/* The header of a tar archive's member, for the tar carver and for those that decompress one. */
#ifndef BURIN_CARVERS_COMMON_TAR_HEADER_H
#define BURIN_CARVERS_COMMON_TAR_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#define TAR_BLOCK ((uint64_t)512)

/* Whether the 512 bytes at block are a header: their checksum matches, and they have a name. */
bool tar_header(const uint8_t *block);

#endif
