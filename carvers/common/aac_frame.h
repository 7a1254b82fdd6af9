/*
 * A frame of AAC (raw_data_block of ISO/IEC 14496-3, 4.4.2), whose codes are followed, not decoded: object types Main, LC and
 * LTP, with frames of 1,024 or 960 samples. What SBR and PS add is in elements that have a length.
 */
#ifndef BURIN_CARVERS_COMMON_AAC_FRAME_H
#define BURIN_CARVERS_COMMON_AAC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aac_config {
	uint8_t object; /* 1 Main, 2 LC, 4 LTP; 0: frames are not followed */
	uint8_t rate;   /* the sampling rate's index, below 13 */
	bool is_960;    /* samples of a frame */
};

/* Reads an AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) of len bytes. False: it is cut, or its frames are not followed;
 * config->object is 0 then. */
bool aac_config_read(const uint8_t *bytes, size_t len, struct aac_config *config);

/* Whether the codes of a frame of len bytes are valid and end with its last byte. *at: where they were invalid, or
 * would have gone on; below len, or equal. config->object is not 0. */
bool aac_frame_follow(
	const uint8_t *bytes, size_t len, const struct aac_config *config, size_t *at);

#endif
