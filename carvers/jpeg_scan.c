/*
 * Coded data that is not decoded (arithmetic, lossless, hierarchical, of unknown height): only its
 * markers can be followed. A byte FF of the data is followed by 00; restart markers come in order,
 * from 0 to 7 and again; any other marker ends the scan.
 *
 * In data of other kinds FF has a wrong byte behind it soon, once in 256 bytes if it is random.
 * Zeros and text have no FF at all, so a long stretch without FF ends the sound part, too. Coded
 * data comes close to random: 16 KiB of it without FF happen once in e^64 times. Only where the
 * picture is flat it repeats itself, with at least a bit for each block (or sample, if lossless),
 * so as many bytes as that gives are granted in addition.
 */
#include "jpeg.h"

#include "walk.h"

#define QUIET_LEN 16384

static uint64_t quiet_limit(const struct jpeg *jpeg)
{
	uint64_t units = (uint64_t)jpeg->width * (jpeg->height ? jpeg->height : 65535);

	if ((jpeg->sof & 3) != 3)
		units = (units + 63) / 64;
	return QUIET_LEN + units * (uint64_t)jpeg->component_count / 8;
}

static enum jpeg_scan broken(struct jpeg *jpeg, uint64_t at, const char **problem, const char *text)
{
	jpeg->at = at;
	*problem = text;
	return JPEG_SCAN_BROKEN;
}

static enum jpeg_scan skip_scan(struct jpeg *jpeg, const char **problem)
{
	uint64_t quiet = quiet_limit(jpeg), size = view_size(jpeg->view);
	unsigned next_restart = 0;

	for (uint64_t sound = jpeg->at;; sound = jpeg->at) {
		uint64_t end = sound + quiet < size ? sound + quiet : size;
		const uint8_t *p;

		if (!walk_find(jpeg->view, &jpeg->at, end, 0xff)) {
			if (jpeg->at < size && jpeg->at == end)
				return broken(jpeg, sound, problem,
					"data that is not coded picture data");
			return JPEG_SCAN_CUT;
		}
		p = view_peek(jpeg->view, jpeg->at, 2);
		if (!p)
			return JPEG_SCAN_CUT;
		if (p[1] < JPEG_RST0 || p[1] >= JPEG_SOI) {
			if (p[1] != 0)
				return JPEG_SCAN_DONE;
		} else if (!jpeg->restart_interval || p[1] != JPEG_RST0 + (next_restart++ & 7)) {
			return broken(jpeg, jpeg->at, problem, "a restart marker out of order");
		}
		jpeg->at += 2;
	}
}

enum jpeg_scan jpeg_pass_scan(struct jpeg *jpeg, const char **problem)
{
	return jpeg_can_decode(jpeg) ? jpeg_decode_scan(jpeg, problem) : skip_scan(jpeg, problem);
}
