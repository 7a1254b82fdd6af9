/*
 * IVF, video as the encoders of VP8, VP9 and AV1 write it (libvpx, ivfdec.c).
 *
 *	header: 'DKIF', version 0 (2, little-endian), 32 (2), codec (4 letters), width, height (2 each), rate (4), scale
 *	        (4), frames (4), 0 (4)
 *	frame:  length (4), time (8), data
 *
 * Times rise. As many frames as the header states end the file; programs that can't go back state another
 * number: then the file is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEAD_LEN 32
#define FRAME_HEAD_LEN 12
#define FRAME_MAX (64u << 20)

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, size = view_size(view), time = 0;
	uint32_t stated = p ? le32(p + 24) : 0, count = 0;

	if (!p || memcmp(p, "DKIF\0\0\x20", 8) != 0 || !le16(p + 12) || !le16(p + 14))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (; !stated || count < stated; count++) {
		uint64_t end;

		p = view_peek(view, at, FRAME_HEAD_LEN);
		if (!p || !le32(p) || le32(p) > FRAME_MAX || (count && le64(p + 4) <= time) ||
			le64(p + 4) > time + (1u << 24))
			break;
		end = at + FRAME_HEAD_LEN + le32(p);
		if (end > size)
			return walk_cut(view, finding, end, size);
		time = le64(p + 4);
		view_unverified(view, at + FRAME_HEAD_LEN, end);
		at = end;
	}
	finding->length = count ? at : 0;
	if (!count)
		return verdict_because(CARVE_REJECT, finding, "no frame at %d", HEAD_LEN);
	if (stated && count < stated && at + FRAME_HEAD_LEN > size)
		return walk_cut(view, finding, at + FRAME_HEAD_LEN, at);
	if (stated && count < stated)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no frame at %" PRIu64 ": %" PRIu32 " of %" PRIu32, at, count, stated);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies the %" PRIu32 " frames before %" PRIu64, count, at);
}

const struct carver ivf_carver = {
	.name = "ivf",
	.summary = "IVF video, by its frames",
	.check = check,
};
