/* The last slice of a picture of MPEG-1 video, read to find its end. */
#ifndef BURIN_MPV_SLICE_H
#define BURIN_MPV_SLICE_H

#include "carver.h"

/* Where a stream without an end code ends: behind the slice whose start code stands at `slice`, of
 * the picture whose start code stands at `picture` and has width times height macroblocks. 0: the
 * slice breaks off before the picture's last macroblock, or the picture is of no known type. */
uint64_t mpv_slice_end(
	struct view *view, uint64_t picture, uint64_t slice, uint32_t width, uint32_t height);

#endif
