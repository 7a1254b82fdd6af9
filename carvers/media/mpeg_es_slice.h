/* Slices of MPEG video, read to their end. */
#ifndef BURIN_CARVERS_MEDIA_MPEG_ES_SLICE_H
#define BURIN_CARVERS_MEDIA_MPEG_ES_SLICE_H

#include <stdbool.h>

#include "carver.h"

struct mpeg_es_picture {
	uint64_t head;          /* its start code */
	uint64_t coding;        /* that of its coding extension; 0: MPEG-1 */
	uint32_t width, height; /* of a frame, in macroblocks */
	unsigned chroma;        /* MPEG-2: 1, 2, 3 for 4:2:0, 4:2:2, 4:4:4 */
};

struct mpeg_es_slice_result {
	uint64_t end;         /* after its last macroblock, or where it is invalid */
	uint64_t valid;       /* up to there macroblocks are valid */
	uint64_t first, last; /* macroblocks, counted from 0 */
	bool is_last;         /* the picture has no more */
};

/* Reads the slice whose start code is at `at`, before `limit`. False: it is invalid, is not over at `limit`, or the picture's
 * kind is not known. */
bool mpeg_es_read_slice(struct view *view, const struct mpeg_es_picture *picture, uint64_t at,
	uint64_t limit, struct mpeg_es_slice_result *result);

#endif
