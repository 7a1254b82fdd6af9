/* CRC-32C (Castagnoli's), which zlib does not have. */
#ifndef BURIN_CARVERS_COMMON_CRC32C_H
#define BURIN_CARVERS_COMMON_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues a CRC, 0 at first, over len bytes, at most VIEW_MAX_PEEK. */
uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t len);

#endif
