/*
 * Sun's rasters (rasterfile(5) of SunOS).
 *
 *	header: 59 A6 6A 95, width, height, bits of a pixel (1, 8, 24, 32), length of the pixels (0 in old files), kind (0: old,
 *	        1: standard, 2: coded, 3: RGB), kind of the map (0: none, 1: RGB, 2: raw), its length; 4 bytes each, big-endian
 *	then    the map, rows of whole 16-bit words
 *	coded:  80 n v: n + 1 times v; 80 00: one 80; any other byte is itself
 *
 * Coded pixels have to fill the rows and end with the length that the header gives: a run that begins after the last sector's
 * start proves the end, for other bytes in its place would give another count. Some writers give the length of the decoded
 * pixels instead: then nothing verifies the end. Nothing verifies rows as they are.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "cursor.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 32
#define SIDE_MAX 65535
#define MAP_MAX 65536
#define CODE_MIN 16

enum { OLD, STANDARD, CODED, RGB };

struct sunras {
	struct view *view;
	uint32_t kind, pixel_len;
	uint64_t data, row_len, pixels_len;
	uint64_t stored_len; /* 0: not given */
};

static bool read_header(struct sunras *sun)
{
	const uint8_t *p = view_peek(sun->view, 0, HEAD_LEN);
	uint32_t width, height, bits, map, map_len;

	if (!p || be32(p) != 0x59a66a95)
		return false;
	width = be32(p + 4);
	height = be32(p + 8);
	bits = be32(p + 12);
	sun->stored_len = be32(p + 16);
	sun->kind = be32(p + 20);
	map = be32(p + 24);
	map_len = be32(p + 28);
	if (!width || width > SIDE_MAX || !height || height > SIDE_MAX ||
		(bits != 1 && bits != 8 && bits != 24 && bits != 32) || sun->kind > RGB ||
		map > 2 || map_len > MAP_MAX || (!map && map_len) ||
		(map == 1 && (!map_len || map_len % 3)))
		return false;
	sun->pixel_len = (bits + 7) / 8;
	sun->row_len = ((uint64_t)width * bits + 15) / 16 * 2;
	sun->pixels_len = sun->row_len * height;
	sun->data = HEAD_LEN + (uint64_t)map_len;
	if (sun->kind == CODED)
		return sun->stored_len > 0;
	/* Some writers leave out the padding of rows. */
	if (sun->stored_len == ((uint64_t)width * bits + 7) / 8 * height &&
		sun->stored_len < sun->pixels_len) {
		sun->pixels_len = sun->stored_len;
		sun->row_len = sun->pixels_len / height;
	}
	return sun->kind == OLD || !sun->stored_len || sun->stored_len == sun->pixels_len;
}

/* The verdict on a code that gives another number of pixels than the picture has, by the code at `at`. */
static enum verdict broken_at(const struct sunras *sun, struct finding *finding, uint64_t at)
{
	if (at < sun->data + CODE_MIN)
		return verdict_because(CARVE_REJECT, finding, "no pixels at %" PRIu64, sun->data);
	finding->length = walk_before_fill(sun->view, sun->data, at);
	return verdict_because(CARVE_TRUNCATED, finding,
		"another number of pixels than the picture has at %" PRIu64, at);
}

static enum verdict check_coded(const struct sunras *sun, struct finding *finding)
{
	struct cursor cursor = { .view = sun->view, .at = sun->data };
	uint64_t left = sun->pixels_len, end = sun->data + sun->stored_len, last_run = 0,
		 size = view_size(sun->view);
	bool decoded = sun->stored_len == sun->pixels_len; /* what the length is of, perhaps */

	/* Coded, each byte takes at most two: 80 00. */
	if (decoded)
		end += sun->pixels_len;

	while (left && cursor.at < end) {
		uint64_t at = cursor.at, count = 1;
		int byte = cursor_next(&cursor);

		if (byte == 0x80) {
			byte = cursor_next(&cursor);
			count = byte > 0 ? (uint64_t)byte + 1 : 1;
			if (byte > 0) {
				byte = cursor_next(&cursor);
				last_run = at;
			}
		}
		if (byte < 0)
			return walk_cut(sun->view, finding, end, at > sun->data ? at : size);
		if (count > left)
			return broken_at(sun, finding, at);
		left -= count;
	}
	if (!left && decoded && cursor.at != sun->data + sun->stored_len) {
		finding->length = cursor.at;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the length of the coded pixels is not stored, which end at %" PRIu64,
			cursor.at);
	}
	end = decoded ? sun->data + sun->stored_len : end;
	if (left || cursor.at != end)
		return broken_at(sun, finding, cursor.at);
	finding->length = end;
	if (last_run < end / SECTOR * SECTOR && last_run + SECTOR < end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no run after %" PRIu64 ", so the end cannot be verified", last_run);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct sunras sun = { .view = view };

	if (!read_header(&sun))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (sun.data >= view_size(view))
		return verdict_because(CARVE_REJECT, finding, "no pixels at %" PRIu64, sun.data);
	if (sun.kind != CODED)
		return stored_check_pixels(view, finding, sun.data, sun.data + sun.pixels_len,
			sun.row_len, sun.pixel_len);
	return check_coded(&sun, finding);
}

const struct carver sunras_carver = {
	.name = "sunras",
	.summary = "Sun's rasters, by their header and coded pixels",
	.check = check,
};
