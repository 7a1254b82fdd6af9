/*
 * RAF, Fujifilm's raw photos (ExifTool, FujiFilm; LibRaw).
 *
 *	head: 'FUJIFILMCCD-RAW ', version (4), camera (8 and 32), version of the directory (4);
 *	      at 84, big-endian, offset and length of a JPEG, at 92 of the camera's data, at 100
 *	      of the sensor's
 *
 * The file ends where the last of the three does. Checked are the JPEG, which is walked (jpeg.c),
 * and that the others are not inside the head. Nothing verifies the sensor's data: everything but
 * head and JPEG is named as unverified, and so is a file that does not end with the JPEG.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "exif.h"
#include "jpeg/jpeg.h"
#include "walk.h"

#define HEAD_LEN 108
#define PARTS_AT 84

static enum jpeg_walk walk_preview(struct view *view, uint64_t at, uint64_t *valid_end,
	struct finding *finding, const char **problem)
{
	struct jpeg jpeg = { .view = view, .finding = finding };
	enum jpeg_walk state = jpeg_walk(&jpeg, at, problem);

	free(jpeg.history);
	*valid_end = jpeg.valid_end;
	return state;
}

static bool is_broken(enum jpeg_walk state)
{
	return state == JPEG_WALK_BROKEN || state == JPEG_WALK_CUT;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t end = HEAD_LEN, jpeg_at, jpeg_end, valid_end;
	const char *problem = NULL;
	enum jpeg_walk state;

	if (!p || memcmp(p, "FUJIFILMCCD-RAW ", 16) != 0)
		return verdict_because(CARVE_REJECT, finding, "no RAF head at 0");
	jpeg_at = be32(p + PARTS_AT);
	jpeg_end = jpeg_at + be32(p + PARTS_AT + 4);
	for (int i = 0; i < 3; i++) {
		uint64_t at = be32(p + PARTS_AT + 8 * i), len = be32(p + PARTS_AT + 8 * i + 4);

		if (len && at < HEAD_LEN)
			return verdict_because(CARVE_REJECT, finding, "an impossible offset at %d",
				PARTS_AT + 8 * i);
		if (len && at + len > end)
			end = at + len;
	}
	view_embedded(view, jpeg_at);
	state = walk_preview(view, jpeg_at, &valid_end, finding, &problem);
	if (state == JPEG_WALK_BROKEN && valid_end <= jpeg_at)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, jpeg_at);
	finding->length = valid_end < jpeg_end ? valid_end : jpeg_end;
	if (jpeg_end <= view_size(view) && (valid_end > jpeg_end || is_broken(state)))
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64,
			problem ? problem : "no end of the preview", finding->length);
	if (end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	finding->length = end;
	view_unverified(view, HEAD_LEN, jpeg_at);
	view_unverified(view, valid_end, end);
	if (end > jpeg_end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the sensor's data, up to %" PRIu64 ", cannot be verified", end);
	return CARVE_COMPLETE;
}

const struct carver raf_carver = {
	.name = "raf",
	.summary = "Fujifilm's raw photos (RAF), by their parts and the picture among them",
	.check = check,
};
