/*
 * Codes of layer III in frames that follow each other: whether they are one file's, and what they prove of where its pieces
 * meet.
 */
#ifndef BURIN_CARVERS_MEDIA_MP3_CODES_H
#define BURIN_CARVERS_MEDIA_MP3_CODES_H

#include <stdbool.h>

#include "carver.h"
#include "layer3.h"

/* Frames in whose room a frame's main data may lie: each of 24 bytes has 11. */
#define MP3_ROOMS 64

/* The bytes of a frame's room for main data. */
struct mp3_room {
	uint64_t at;
	uint16_t len;
};

/* What is known of them. Plain data. Zero-initialise. */
struct mp3_codes {
	uint8_t room[LAYER3_BEGIN_MAX]; /* the last bytes of all room */
	uint16_t room_len;
	uint16_t rest;                    /* bytes of it after the last frame's main data... */
	bool has_rest;                    /* ...if they are known */
	struct mp3_room rooms[MP3_ROOMS]; /* that of frame n is rooms[n % MP3_ROOMS] */
	uint32_t frames;
	uint16_t exact; /* frames whose codes ended exactly */
	bool varies;    /* one of the first was not, */
	bool fills;     /* or there were other bytes between two frames' data than usual */
	uint16_t ended; /* frames that are counted by how much is left after their main data */
	uint8_t ends[LAYER3_BEGIN_MAX + 1];
	struct layer3_habits habits;
};

/* Adds the frame at `at`, p its len bytes, and declares what it proves. varies: the frames' bit rate does. False: it is another
 * file's, or a part of it is. */
bool mp3_codes_add(struct mp3_codes *codes, struct view *view, uint64_t at, const uint8_t *p,
	size_t len, bool varies);

#endif
