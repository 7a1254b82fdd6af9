/*
 * AAC in LATM, framed by LOAS (ISO/IEC 14496-3, 1.7), as in broadcasts and from some encoders.
 *
 *	frame:   11 bits of synchronisation (2B7), length of the rest (13 bits), a multiplex
 *	element: a bit: the configuration is the previous one's; else version, whether all streams
 *	         share their timing, numbers less one of frames, programs and layers, audio object
 *	         type (5 bits), sample rate, channels
 *
 * The first frame has a configuration; only the simplest is accepted, of one program with one layer
 * and one frame at a time. Later frames repeat it or refer to it. The number of frames is not
 * stored: the file ends where no frame follows, which is a guess.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "turning.h"
#include "walk.h"

#define HEAD_LEN 3
#define FRAMES_MIN 5
/* An element with a configuration and a block of silence. */
#define ELEMENT_MIN 6

struct latm {
	struct view *view;
	uint8_t config[3]; /* the element's first bytes, up to object type and rate */
};

/* The audio object types that are AAC: main, LC, SSR, LTP, with spectral band replication, with
 * parametric stereo. */
static bool is_aac(unsigned kind)
{
	return (kind >= 1 && kind <= 5) || kind == 29;
}

/* The length of the frame at `at`, or 0. */
static uint32_t read_frame(const struct latm *latm, uint64_t at)
{
	const uint8_t *p = view_peek(latm->view, at, HEAD_LEN + sizeof(latm->config));
	uint32_t len;

	if (!p || p[0] != 0x56 || (p[1] & 0xe0) != 0xe0)
		return 0;
	len = be16(p + 1) & 0x1fff;
	if (len < ELEMENT_MIN)
		return 0;
	if (!(p[HEAD_LEN] & 0x80) && memcmp(p + HEAD_LEN, latm->config, sizeof(latm->config)) != 0)
		return 0;
	return HEAD_LEN + len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct latm latm = { .view = view };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + sizeof(latm.config));
	uint64_t at = 0, size = view_size(view);
	uint32_t len, last = 0, count = 0;

	if (!p || p[HEAD_LEN] != 0x20 || p[HEAD_LEN + 1] || !is_aac(p[HEAD_LEN + 2] >> 3))
		return verdict_because(CARVE_REJECT, finding, "no AAC configuration at 3");
	memcpy(latm.config, p + HEAD_LEN, sizeof(latm.config));
	for (; (len = read_frame(&latm, at)); count++) {
		if (len > size - at) {
			if (count < FRAMES_MIN || !view_ends_with_image(view))
				break;
			return walk_cut(view, finding, size + 1, size);
		}
		view_part(view, at);
		at += len;
		last = len;
	}
	if (count < FRAMES_MIN)
		return verdict_because(CARVE_REJECT, finding,
			"no frame at %" PRIu64 " after %" PRIu32 " others", at, count);
	return turning_uncounted(view, finding, at - last, at, "frame");
}

const struct carver latm_carver = {
	.name = "latm",
	.summary = "AAC audio in LOAS and LATM frames",
	.check = check,
};
