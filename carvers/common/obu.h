/* Open bitstream units (OBUs), in which AV1 is coded. */
#ifndef BURIN_CARVERS_COMMON_OBU_H
#define BURIN_CARVERS_COMMON_OBU_H

#include <stddef.h>
#include <stdint.h>

/* AV1 bitstream specification, 5.3: reads the head of an OBU in the len bytes at p, and the size of its payload in LEB128.
 * One without a size goes to the end of the data: *size is the rest of the len bytes. Returns the bytes of the
 * head; 0: not an OBU. */
size_t obu_head(const uint8_t *p, size_t len, uint64_t *size);

#endif
