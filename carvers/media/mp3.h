/* Shared by the files that check MPEG audio: mp3.c, mp3_info.c. */
#ifndef BURIN_CARVERS_MEDIA_MP3_H
#define BURIN_CARVERS_MEDIA_MP3_H

#include <stdbool.h>

#include "carver.h"

struct mp3_frame {
	unsigned layer;   /* 1 to 3 */
	unsigned version; /* 1: MPEG-1, 2: MPEG-2, 3: MPEG-2.5 */
	unsigned rate;    /* index of the sample rate */
	uint32_t len;     /* bytes, with its header */
	bool mono;
	uint8_t flags; /* what an encoder sets once: CRC, private, copyright, original, emphasis */
};

/* What an encoder stated about the file in its first frame. */
struct mp3_info {
	uint32_t frame_count; /* after the first frame; 0: not stated */
	uint32_t byte_count;  /* with the first frame; 0: not stated */
	uint16_t crc;         /* of all frames but the first */
	bool has_crc;
};

/* Looks for them in the frame at `at`: false if it holds audio. */
bool mp3_read_info(
	struct view *view, uint64_t at, const struct mp3_frame *frame, struct mp3_info *info);

#endif
