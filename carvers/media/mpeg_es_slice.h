/* The last slice of a picture of MPEG video, read to find its end. */
#ifndef BURIN_CARVERS_MEDIA_MPEG_ES_SLICE_H
#define BURIN_CARVERS_MEDIA_MPEG_ES_SLICE_H

#include "carver.h"

struct mpeg_es_picture {
	uint64_t head;          /* its start code */
	uint64_t coding;        /* that of its coding extension; 0: MPEG-1 */
	uint32_t width, height; /* of a frame, in macroblocks */
	unsigned chroma;        /* MPEG-2: 1, 2, 3 for 4:2:0, 4:2:2, 4:4:4 */
};

/* Where a stream without an end code ends: after the slice whose start code is at `slice`. 0: the
 * slice breaks off before the picture's last macroblock, or the picture's type is not known. */
uint64_t mpeg_es_slice_end(
	struct view *view, const struct mpeg_es_picture *picture, uint64_t slice);

#endif
