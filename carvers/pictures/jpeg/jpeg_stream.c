/*
 * Motion JPEG without a container, as network cameras and recorders write it: pictures of one size, one after the other
 * without anything between. Files in a file system do not follow each other so: each starts at a sector. So a few joints
 * within sectors prove a stream. Its frames are named as parts. Nothing states their number.
 */
#include <stdlib.h>

#include "bytes.h"
#include "jpeg.h"
#include "walk.h"

#define FRAMES_MIN 4
#define BASELINE 0xc0

/* Whether a frame begins at `at`: within a sector, until it is known that it is a stream. */
static bool frame_starts(const struct jpeg *first, uint64_t at, bool known)
{
	const uint8_t *p = view_peek(first->view, at, 3);

	return p && (known || at % SECTOR) && be16(p) == 0xff00 + JPEG_SOI && p[2] == 0xff;
}

/* Walks the frame at `at`; *end: after it, or after what is valid of it. */
static enum jpeg_walk walk_frame(const struct jpeg *first, uint64_t at, uint64_t *end)
{
	struct finding ignored = { 0 };
	struct jpeg frame = { .view = first->view, .finding = &ignored };
	const char *problem;
	enum jpeg_walk state = jpeg_walk(&frame, at, &problem);

	free(frame.history);
	*end = frame.valid_end;
	if (!frame.scan_count || frame.sof != first->sof || frame.width != first->width ||
		frame.height != first->height || frame.component_count != first->component_count)
		return JPEG_WALK_BROKEN;
	return state == JPEG_WALK_BROKEN ? JPEG_WALK_SHORT : state;
}

bool jpeg_walk_stream(struct jpeg *first, struct jpeg_stream *stream)
{
	uint64_t starts[FRAMES_MIN], at = first->valid_end, end;
	enum jpeg_walk state = JPEG_WALK_DONE;

	*stream = (struct jpeg_stream){ .frames = 1, .end = at };
	if (first->sof != BASELINE || view_wants_states(first->view))
		return false;
	while (state == JPEG_WALK_DONE && frame_starts(first, at, stream->frames >= FRAMES_MIN)) {
		state = walk_frame(first, at, &end);
		if (state == JPEG_WALK_BROKEN)
			break;
		if (stream->frames < FRAMES_MIN)
			starts[stream->frames] = at;
		else
			view_part(first->view, at);
		if (++stream->frames == FRAMES_MIN)
			for (unsigned i = 1; i < FRAMES_MIN; i++)
				view_part(first->view, starts[i]);
		at = end;
		stream->end = at;
	}
	stream->cut = state == JPEG_WALK_CUT || state == JPEG_WALK_SHORT;
	return stream->frames >= FRAMES_MIN;
}
