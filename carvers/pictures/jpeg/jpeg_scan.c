/*
 * Coded data that is not decoded (arithmetic, lossless, hierarchical, of unknown height): only its
 * markers can be checked. A byte FF of the data is followed by 00; restart markers come in order,
 * from 0 to 7 and again; any other marker ends the scan.
 *
 * In other data a wrong byte soon follows an FF, once in 256 bytes if the data is random. Zeros and
 * text have no FF at all, so a long stretch without FF ends the valid part too. Coded data is close
 * to random: 16 KiB of it without FF happen once in e^64 times. Only where the picture is flat does
 * it repeat itself, with at least a bit for each block (or sample, if lossless), so the bytes for
 * those are allowed in addition.
 *
 * A decoder that meets bytes that can't be read has lost its place: the rest of the scan, and further
 * scans, are only followed by their markers from there on.
 */
#include "jpeg.h"

#include <string.h>

#include "coded.h"
#include "walk.h"

#define QUIET_LEN 16384
/* A decoder may fail this long before or after bytes that can't be read. */
#define UNREAD_NEAR 65536

static uint64_t quiet_limit(const struct jpeg *jpeg)
{
	uint64_t units = (uint64_t)jpeg->width * (jpeg->height ? jpeg->height : 65535);

	if ((jpeg->sof & 3) != 3)
		units = (units + 63) / 64;
	return QUIET_LEN + units * (uint64_t)jpeg->component_count / 8;
}

struct skip {
	struct jpeg *jpeg;
	const char *problem;
	uint64_t valid_end; /* after the last FF and its second byte */
	uint64_t quiet;     /* the most bytes without FF */
	unsigned restarts;
	bool resumed; /* in the midst of a scan: the first restart marker may be any */
};

static enum jpeg_scan set_broken(struct skip *skip, uint64_t at, const char *problem)
{
	skip->jpeg->at = at;
	skip->problem = problem;
	return JPEG_SCAN_BROKEN;
}

/* Follows the markers in one window of coded data. JPEG_SCAN_CUT: up to its end, or to a last byte
 * FF, which can be half a marker. */
static enum jpeg_scan skip_window(struct skip *skip, const uint8_t *window, size_t len)
{
	struct jpeg *jpeg = skip->jpeg;
	uint64_t start = jpeg->at;
	const uint8_t *p = window, *end = window + len;

	while ((p = memchr(p, 0xff, (size_t)(end - p)))) {
		jpeg->at = start + (uint64_t)(p - window);
		if (jpeg->at - skip->valid_end > skip->quiet)
			break;
		if (end - p < 2)
			return JPEG_SCAN_CUT;
		if (p[1] >= JPEG_RST0 && p[1] < JPEG_SOI) {
			if (skip->resumed)
				skip->restarts = p[1];
			skip->resumed = false;
			if (!jpeg->restart_interval || p[1] != JPEG_RST0 + (skip->restarts++ & 7))
				return set_broken(skip, jpeg->at, "a restart marker out of order");
		} else if (p[1] != 0) {
			return JPEG_SCAN_DONE;
		}
		p += 2;
		skip->valid_end = jpeg->at + 2;
	}
	if (!p)
		jpeg->at = start + len;
	if (jpeg->at - skip->valid_end > skip->quiet)
		return set_broken(skip, skip->valid_end, "data that is not coded picture data");
	return JPEG_SCAN_CUT;
}

static enum jpeg_scan skip_scan(struct jpeg *jpeg, bool resumed, const char **problem)
{
	struct skip skip = {
		.jpeg = jpeg, .valid_end = jpeg->at, .quiet = quiet_limit(jpeg), .resumed = resumed
	};
	uint64_t size = view_size(jpeg->view);
	enum jpeg_scan state = JPEG_SCAN_CUT;

	while (state == JPEG_SCAN_CUT) {
		size_t len;
		const uint8_t *window = walk_window(jpeg->view, jpeg->at, size, &len);

		if (!window || (len == 1 && window[0] == 0xff))
			return JPEG_SCAN_CUT;
		state = skip_window(&skip, window, len);
	}
	*problem = skip.problem;
	return state;
}

/* Whether the marker at jpeg->at can follow a scan. */
static bool follows_scan(const struct jpeg *jpeg)
{
	const uint8_t *p = view_peek(jpeg->view, jpeg->at, 2);

	return p && (p[1] == JPEG_EOI || p[1] == JPEG_DHT || p[1] == JPEG_SOS);
}

/* Goes on after the bytes that can't be read, of which the first are in [start, jpeg->at) or closely after,
 * to the scan's end. False: there are none, or the data after them is not a scan's; jpeg->at has not changed. */
static bool skip_unread(struct jpeg *jpeg, uint64_t start)
{
	uint64_t broken = jpeg->at, from, to, limit = broken + UNREAD_NEAR, first = 0;
	enum jpeg_scan state = JPEG_SCAN_BROKEN;
	const char *problem;

	while (state == JPEG_SCAN_BROKEN && start < limit &&
		view_unreadable(jpeg->view, start, limit - start, &from, &to)) {
		first = first ? first : from;
		jpeg->at = start = to;
		state = skip_scan(jpeg, true, &problem);
		limit = jpeg->at + UNREAD_NEAR;
	}
	if (state == JPEG_SCAN_DONE && follows_scan(jpeg)) {
		view_unverified(jpeg->view, first, jpeg->at);
		jpeg->unread = true;
		return true;
	}
	jpeg->at = broken;
	return false;
}

/* Only sequential data has a description of its first byte. */
static bool only_describes(struct jpeg *jpeg)
{
	return jpeg->coded && jpeg->coded->begins &&
	       (jpeg->sof > JPEG_SOF1 || !jpeg_can_decode(jpeg));
}

enum jpeg_scan jpeg_skip_scan(struct jpeg *jpeg, const char **problem)
{
	uint64_t start = jpeg->at;
	enum jpeg_scan state;

	bool decodes;

	if (only_describes(jpeg))
		return JPEG_SCAN_CUT;
	decodes = !jpeg->unread && jpeg_can_decode(jpeg);
	if (jpeg_state_passes(jpeg))
		return JPEG_SCAN_DONE;
	state = decodes ? jpeg_decode_scan(jpeg, problem) : skip_scan(jpeg, false, problem);
	if ((state == JPEG_SCAN_BROKEN || state == JPEG_SCAN_SHORT) &&
		view_met_unreadable(jpeg->view) && skip_unread(jpeg, start))
		return JPEG_SCAN_DONE;
	return state;
}
