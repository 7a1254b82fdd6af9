/* The CRC-16 of ARC and LHA: polynomial 8005h, lowest bit first. */
#ifndef BURIN_CARVERS_COMMON_CRC16_ARC_H
#define BURIN_CARVERS_COMMON_CRC16_ARC_H

#include <stddef.h>
#include <stdint.h>

/* Continues a CRC, 0 at first. It is 0 again over bytes and their CRC, little-endian. */
uint16_t crc16_arc(uint16_t crc, const uint8_t *bytes, size_t len);

#endif
