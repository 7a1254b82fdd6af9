/*
 * Sound and video in the packets of MPEG program streams: whether a packet's data go on where those of the one before ended.
 */
#ifndef BURIN_CARVERS_MEDIA_MPEG_PS_STREAMS_H
#define BURIN_CARVERS_MEDIA_MPEG_PS_STREAMS_H

#include <stdbool.h>

#include "carver.h"

#define MPEG_PS_STREAMS 4 /* of each kind; others are not followed */

/* MPEG audio: frames follow each other. */
struct mpeg_ps_sound {
	uint8_t id;
	bool found;    /* a frame was */
	uint8_t kind;  /* version, layer, and sampling rate */
	uint8_t count; /* of head */
	uint8_t head[4];
	uint32_t left;   /* bytes of the frame */
	uint32_t frames; /* that followed one another */
};

/* Video of MPEG-1 and MPEG-2: start codes are in order. */
struct mpeg_ps_video {
	uint8_t id;
	uint32_t word; /* the last four bytes */
	uint8_t skip;  /* bytes after a start code that are to be read */
	bool in_picture;
	uint8_t row, rows; /* of the last slice; that the last picture ended with, 0: none did */
	uint16_t pictures; /* of the group so far */
	uint16_t last,
		newest; /* the last picture's number in it; the last one's that others refer to */
	bool counted;   /* the group's pictures are, from its start on */
	uint32_t in_step, ended_alike,
		numbered; /* how often rows, ends and numbers were as expected; they count once that was often so... */
	bool odd_step, odd_end, odd_number; /* ...and never otherwise */
};

/* All zero before the first packet. Without pointers. */
struct mpeg_ps_streams {
	struct mpeg_ps_sound sounds[MPEG_PS_STREAMS];
	struct mpeg_ps_video videos[MPEG_PS_STREAMS];
	unsigned sound_count, video_count;
};

/* Follows the data of the packet at [at, end), which is in the view. False: they do not go on as those before. */
bool mpeg_ps_follow(struct view *view, struct mpeg_ps_streams *streams, uint64_t at, uint64_t end);

/* Whether a frame of sound ends exactly where its stream's last packet does, and a picture has its last slice: nothing else could
 * show that this is a file's end. */
bool mpeg_ps_end_together(const struct mpeg_ps_streams *streams);

#endif
