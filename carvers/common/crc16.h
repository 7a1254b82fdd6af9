/* The CRC-16 of audio frames: polynomial 8005h, highest bit first. */
#ifndef BURIN_CARVERS_COMMON_CRC16_H
#define BURIN_CARVERS_COMMON_CRC16_H

#include <stdbool.h>

#include "carver.h"

/* Whether it is 0 over [at, end), which ends with it (or has two bytes anywhere that make it so). False if the
 * bytes are not all inside the view. */
bool crc16_holds(struct view *view, uint64_t at, uint64_t end);

#endif
