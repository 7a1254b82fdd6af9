/*
 * The frames of a stream of MPEG-4 video. Encoders have their ways: some do not stuff a frame's last
 * byte as the standard says, and what all decoders forgive in theirs may be invalid. So a stream
 * whose first two frames are invalid is not followed, and frames may end otherwise than in stuffing as
 * long as those before did not all end in it.
 *
 * What a frame proves was measured: other clusters of films were put into frames of theirs, 2.1 million times. Where a
 * frame's rest is another one's, one in 8,000 still ends exactly (in 80,000, if more than 256 bytes are), of those near the
 * frame's end more. Where one cluster within the frame is another's and its end is right, one in 1,300 to 50,000; if
 * two clusters of the frame itself are exchanged, one in 240 to 900.
 */
#include "mpeg4_video.h"

#include <stddef.h>

#define FRAME_BITS 8      /* see view_proved */
#define PROVED_MIN 256    /* bytes of a frame that proves something, */
#define PROVED_COUNT 64   /* its macroblocks, */
#define UNPROVED_LEN 64   /* and its last bytes, for which it proves less */
#define EXACT_SURE 4      /* frames after which all end exactly */
#define PADDING_LOOK 4096 /* bytes */

/* Whether only zeros are there. */
static bool is_padding(struct view *view, uint64_t at, uint64_t to)
{
	const uint8_t *p = to - at <= PADDING_LOOK ? view_peek(view, at, (size_t)(to - at)) : NULL;

	for (size_t i = 0; p && i < to - at; i++)
		if (p[i])
			return false;
	return p;
}

static enum mpeg4_state add_exact(
	struct view *view, struct mpeg4_stream *stream, uint64_t from, uint64_t to, uint64_t count)
{
	stream->exact++;
	if (to - from >= PROVED_MIN && count >= PROVED_COUNT)
		view_proved(view, from, to - UNPROVED_LEN, FRAME_BITS);
	return stream->failed_at ? MPEG4_BROKEN : MPEG4_VALID;
}

static enum mpeg4_state add_invalid(struct mpeg4_stream *stream, uint64_t at)
{
	if (stream->exact)
		return MPEG4_BROKEN;
	if (!stream->failed_at)
		stream->failed_at = at;
	else if (stream->video.known)
		stream->given_up = true;
	return MPEG4_VALID;
}

enum mpeg4_state mpeg4_check_frame(
	struct view *view, struct mpeg4_stream *stream, uint64_t from, uint64_t to, uint64_t *at)
{
	enum mpeg4_state state = MPEG4_VALID;
	uint64_t count;

	if (stream->given_up)
		return MPEG4_VALID;
	switch (mpeg4_read_frame(view, &stream->video, from, to, at, &count)) {
	case MPEG4_EXACT:
		state = add_exact(view, stream, from, to, count);
		break;
	case MPEG4_LOOSE:
		if (stream->exact >= EXACT_SURE && !is_padding(view, *at, to))
			state = MPEG4_BROKEN;
		break;
	case MPEG4_INVALID:
		state = add_invalid(stream, *at);
		break;
	case MPEG4_CUT:
		return MPEG4_ENDS;
	case MPEG4_UNKNOWN:
		break;
	}
	if (state == MPEG4_BROKEN && stream->failed_at)
		*at = stream->failed_at;
	return state;
}

size_t mpeg4_stream_len(const struct mpeg4_stream *stream)
{
	size_t map_len = (stream->video.macroblocks + 7) / 8;

	if (map_len > sizeof(stream->video.skipped))
		map_len = sizeof(stream->video.skipped);
	return offsetof(struct mpeg4_stream, video.skipped) + map_len;
}
