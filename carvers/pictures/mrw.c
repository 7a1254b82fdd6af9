/*
 * MRW, Minolta's raw photos (ExifTool, MinoltaRaw; dcraw).
 *
 *	head:   a zero, 'MRM', length of all blocks (4 bytes, big-endian), blocks
 *	block:  a zero, 'PRD' (the sensor), 'TTW' (a TIFF file with EXIF data), 'WBG', 'RIF' or
 *	        'PAD', length (4), data
 *	pixels: after the blocks, up to the end; PRD has height and width (2 bytes at 8 and
 *	        10), bits of a pixel (at 16), and whether they are packed (at 18: 89) or have
 *	        16 bits each (82)
 *
 * The blocks have to fill their length, and the sensor's size determines the length of the pixels.
 * If these do not continue to their end as they began, the file is unverified.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "exif.h"
#include "noise.h"
#include "overwrite.h"
#include "predictor.h"
#include "walk.h"

#define HEAD_LEN 8
#define PRD_LEN 24
#define PACKED 89

struct mrw {
	struct view *view;
	struct finding *finding;
	uint64_t at, end; /* the next block; the end of all */
	uint64_t pixels_len, row_len;
	const char *problem;
};

static bool known(const uint8_t *p)
{
	static const char names[][4] = { "PRD", "TTW", "WBG", "RIF", "PAD" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (p[0] == 0 && memcmp(p + 1, names[i], 3) == 0)
			return true;
	return false;
}

static void read_sensor(struct mrw *mrw, uint64_t at)
{
	const uint8_t *p = view_peek(mrw->view, at, PRD_LEN);
	uint64_t pixels = p ? (uint64_t)be16(p + 8) * be16(p + 10) : 0;

	if (p)
		mrw->pixels_len = p[18] == PACKED ? pixels * p[16] / 8 : pixels * 2;
	if (p && be16(p + 8))
		mrw->row_len = mrw->pixels_len / be16(p + 8);
}

/* Skips the blocks. False when one is invalid or missing. */
static bool skip_blocks(struct mrw *mrw)
{
	while (mrw->at < mrw->end) {
		const uint8_t *p = view_peek(mrw->view, mrw->at, 8);
		uint64_t len;

		mrw->problem = p ? "no block" : NULL;
		if (!p || !known(p) || be32(p + 4) > mrw->end - mrw->at - 8)
			return false;
		len = be32(p + 4);
		if (p[1] == 'P' && p[2] == 'R' && len >= PRD_LEN)
			read_sensor(mrw, mrw->at + 8);
		else if (p[1] == 'T')
			exif_read(mrw->view, mrw->at + 8, len, mrw->finding);
		else
			view_unverified(mrw->view, mrw->at + 8, mrw->at + 8 + len);
		mrw->at += 8 + len;
	}
	mrw->problem = "no sensor size";
	return mrw->pixels_len;
}

/* Whether the pixels continue to `end` as they began. Two rows and two columns of the sensor have the
 * same colours. */
static bool is_end_plausible(struct mrw *mrw, uint64_t end)
{
	uint64_t row_len = mrw->row_len ? 2 * mrw->row_len : 1, at;
	const char *what;

	return overwrite_find(mrw->view, mrw->end, end, row_len, &at, &what) == OVERWRITE_NONE &&
	       predictor_check(mrw->view, mrw->end, end, row_len, 4, &at) == PREDICTOR_CONTINUOUS;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mrw mrw = { .view = view, .finding = finding, .at = HEAD_LEN };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t end, noise, size = view_size(view);

	if (!p || memcmp(p, "\0MRM", 4) != 0)
		return verdict_because(CARVE_REJECT, finding, "no MRW head at 0");
	mrw.end = HEAD_LEN + (uint64_t)be32(p + 4);
	if (!skip_blocks(&mrw)) {
		uint64_t at = mrw.at;

		if (!mrw.pixels_len) {
			*finding = (struct finding){ 0 };
			return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
				mrw.problem ? mrw.problem : "the image ends", at);
		}
		if (!mrw.problem)
			return walk_cut(view, finding, mrw.end, size);
		finding->length = at;
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, mrw.problem, at);
	}
	end = mrw.end + mrw.pixels_len;
	noise = noise_start(view, mrw.end, end < size ? end : size);
	finding->length = noise < size ? noise : size;
	if (noise < end && noise < size)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes instead of pixels at %" PRIu64, noise);
	if (noise_at(view, mrw.end, end < size ? end : size)) {
		finding->length = mrw.end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes instead of pixels at %" PRIu64, mrw.end);
	}
	if (end > size)
		return walk_cut(view, finding, end, size);
	view_unverified(view, mrw.end, end);
	if (!is_end_plausible(&mrw, end))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last pixels, up to %" PRIu64 ", cannot be verified", end);
	return CARVE_COMPLETE;
}

const struct carver mrw_carver = {
	.name = "mrw",
	.summary = "Minolta's raw photos (MRW), by their blocks and the sensor's size",
	.check = check,
};
