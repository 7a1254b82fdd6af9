/* The header of a tar archive's member, for the tar carver and for those that unpack one. */
#ifndef BURIN_CARVERS_COMMON_TAR_H
#define BURIN_CARVERS_COMMON_TAR_H

#include <stdbool.h>
#include <stdint.h>

#define TAR_BLOCK ((uint64_t)512)

/* Whether the 512 bytes at block are a header: they have the checksum that they say, and a name. */
bool tar_header(const uint8_t *block);

#endif
