/* The heads of frames of Dolby Digital and Dolby Digital Plus (ATSC A/52:2018, 5 and annex E). */
#ifndef BURIN_CARVERS_COMMON_AC3_FRAME_H
#define BURIN_CARVERS_COMMON_AC3_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define AC3_HEAD_LEN 6

struct ac3_frame {
	uint32_t len; /* bytes; the CRC-16 of all but the first two is 0 (crc16.h) */
	uint8_t version, rate;
};

/* p: AC3_HEAD_LEN bytes. False: no frame begins so. */
bool ac3_frame_read(const uint8_t *p, struct ac3_frame *frame);

#endif
