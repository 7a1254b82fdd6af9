/*
 * The video of an AVI file, if it is MPEG-4 (part 2): the list 'hdrl' describes the streams, each by
 * 'strh' (its kind, the codec) and 'strf' (of video a BITMAPINFOHEADER, perhaps the video's own
 * headers after it). The n-th has chunks that are named after it.
 */
#include "riff_avi.h"

#include <string.h>

#include "bytes.h"

#define BITMAP_LEN 40
#define STREAMS_MAX 100 /* two digits */

/* Codecs that write the standard's video, in capital letters. */
static bool is_mpeg4(const uint8_t *codec)
{
	static const char codecs[] = "FMP4 DIVX DX50 XVID MP4V MP4S M4S2 3IV2 RMP4 SEDG BLZ0 WV1F "
				     "SMP4 GEOX HDX4 DIGI EPHV FVFW INMC LMP4 M4CC NDIG PM4V QMP4 "
				     "SIPP VIDM VSPX XVIX DYM4 SEQ4";
	char name[5] = "";

	for (int i = 0; i < 4; i++)
		name[i] = (char)(codec[i] >= 'a' && codec[i] <= 'z' ? codec[i] - 32 : codec[i]);
	for (const char *known = codecs;; known += 5) {
		if (memcmp(known, name, 4) == 0)
			return true;
		if (!known[4])
			return false;
	}
}

void riff_avi_read_stream(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_avi_video *video)
{
	size_t len = riff_is(chunk->id, "strh") ? 8 : riff_is(chunk->id, "strf") ? 20 : 0;
	const uint8_t *p =
		len && chunk->len >= len ? view_peek(riff->view, chunk->data, len) : NULL;

	if (!p || video->streams >= STREAMS_MAX)
		return;
	if (len == 8) {
		bool is_video = memcmp(p, "vids", 4) == 0;

		if (is_video && !video->found && is_mpeg4(p + 4)) {
			video->found = true;
			video->number = video->streams;
		}
		video->is_video = is_video;
		video->streams++;
		return;
	}
	if (video->is_video && !video->found && is_mpeg4(p + 16)) {
		video->found = true;
		video->number = (uint8_t)(video->streams - 1);
	}
	if (video->found && video->number + 1 == video->streams && chunk->len > BITMAP_LEN)
		mpeg4_read_headers(
			riff->view, &video->stream.video, chunk->data + BITMAP_LEN, chunk->end);
}

bool riff_avi_is_frame(const struct riff_avi_video *video, const char *id)
{
	return id[0] == '0' + video->number / 10 && id[1] == '0' + video->number % 10 &&
	       id[2] == 'd' && (id[3] == 'c' || id[3] == 'b');
}

enum mpeg4_state riff_avi_check_chunk(struct view *view, struct riff_avi_video *video,
	const struct riff_chunk *chunk, uint64_t *at)
{
	enum mpeg4_state state = MPEG4_VALID;
	uint64_t place;

	if (riff_avi_is_frame(video, chunk->id) && chunk->len)
		state = mpeg4_check_frame(view, &video->stream, chunk->data, chunk->end, &place);
	if (state == MPEG4_BROKEN)
		*at = place;
	else if (chunk->end > view_size(view))
		*at = view_size(view);
	return state;
}
