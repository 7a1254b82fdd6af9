/*
 * MPEG-4 video (ISO/IEC 14496-2) of the Simple and Advanced Simple profiles, as DivX, Xvid and
 * FFmpeg write it: whether a frame's codes are valid, and end where its container says. No pixels.
 */
#ifndef BURIN_CARVERS_COMMON_MPEG4_VIDEO_H
#define BURIN_CARVERS_COMMON_MPEG4_VIDEO_H

#include <stdbool.h>

#include "carver.h"

/* Macroblocks of a picture: 4096 by 4096 pixels. Larger ones are not followed. */
#define MPEG4_MACROBLOCKS 65536

/* What a video's frames depend on. All zero before the first headers. Without pointers, so that a carve_state can
 * have it. */
struct mpeg4_video {
	bool known;      /* a video object layer was read */
	bool unfollowed; /* it uses what is not followed: nothing is said of its frames */
	bool interlaced, sprite, brightness;
	uint8_t time_bits, points; /* of a time; that a sprite is warped by */
	uint16_t width;            /* in macroblocks */
	uint32_t macroblocks;
	uint64_t pictures;                      /* decoded to their end */
	uint8_t skipped[MPEG4_MACROBLOCKS / 8]; /* macroblocks that the last reference left out */
};

enum mpeg4_result {
	MPEG4_EXACT, /* all macroblocks are valid, and then come the standard's stuffing bits to the
			  end; *at is there */
	MPEG4_LOOSE, /* all are valid, but something else is after them at *at */
	MPEG4_INVALID, /* noticed at *at */
	MPEG4_CUT,     /* the view ends first; up to there all is valid */
	MPEG4_UNKNOWN, /* nothing is known of such a frame */
};

/* Reads what is in [from, to) of a container's own copy of the headers; also none. */
void mpeg4_read_headers(struct view *view, struct mpeg4_video *video, uint64_t from, uint64_t to);

/* Reads the frame in [from, to): headers, and one picture or more. *count: macroblocks of those that were coded. The work
 * is linear in the bytes. */
enum mpeg4_result mpeg4_read_frame(struct view *view, struct mpeg4_video *video, uint64_t from,
	uint64_t to, uint64_t *at, uint64_t *count);

/* ---- streams (mpeg4_stream.c) ---- */

/* The state of checking a stream's frames, one after the other. All zero before the first. Without pointers. */
struct mpeg4_stream {
	uint32_t exact;     /* frames that ended exactly */
	bool given_up;      /* nothing more is said of them */
	uint64_t failed_at; /* where the first was invalid, 0: it was not */
	struct mpeg4_video video;
};

enum mpeg4_state {
	MPEG4_VALID,  /* or nothing is known of it */
	MPEG4_BROKEN, /* from *at on, or shortly before */
	MPEG4_ENDS    /* the view ends in it, and nothing is wrong with what is there */
};

/* Checks the next frame, and declares what it proves (view_proved). */
enum mpeg4_state mpeg4_check_frame(
	struct view *view, struct mpeg4_stream *stream, uint64_t from, uint64_t to, uint64_t *at);

/* Bytes of a stream that a carve_state needs, from its start on. */
size_t mpeg4_stream_len(const struct mpeg4_stream *stream);

#endif
