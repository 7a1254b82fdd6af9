/*
 * Radiance's pictures (Greg Ward, Real Pixels; Radiance's file formats).
 *
 *	'#?RADIANCE' or '#?RGBE', then lines of text, and an empty line
 *	the resolution: '-Y 480 +X 640' or the like
 *	lines of pixels of 4 bytes, in one of two forms:
 *	  02 02 and the line's length (2 bytes, big-endian), then the four components, each
 *	  run-length coded: 129 to 255 is a run of 1 to 127 of the next byte, 1 to 128 is
 *	  that many literal bytes
 *	  the pixels themselves, where 01 01 01 n repeats the one before n times
 *
 * Lines of the first form have to decode to their exact length, which shows where foreign bytes
 * start. The second form, of very short and very long lines and of old programs, confirms nothing:
 * such a file is unverified. The date is that of CAPDATE.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "dates.h"
#include "walk.h"

#define LINES_MAX 2000
#define LINE_MAX 4096
#define SIDE_MAX (1u << 20)

struct hdr {
	struct cursor cursor;
	uint32_t lines, width; /* lines as stored, pixels in each */
	uint32_t done;
	uint64_t valid_end; /* end of the last line that decoded */
	bool flat;          /* a line was not run-length coded */
	int64_t time;
};

/* Reads a line of text without its end, cut to the room. False: there is none. */
static bool read_line(struct cursor *cursor, char *line, size_t room)
{
	size_t len = 0;

	for (size_t count = 0; count < LINE_MAX; count++) {
		int byte = cursor_next(cursor);

		if (byte == '\n') {
			line[len] = 0;
			return true;
		}
		if (byte < 0x20 && byte != '\t' && byte != '\r')
			return false;
		if (len + 1 < room)
			line[len++] = (char)byte;
	}
	return false;
}

static void read_date(struct hdr *hdr, const char *line)
{
	int date[6];

	if (sscanf(line, "CAPDATE=%d:%d:%d %d:%d:%d", date, date + 1, date + 2, date + 3, date + 4,
		    date + 5) == 6)
		hdr->time = utc_seconds(date[0], date[1], date[2], date[3], date[4], date[5]);
}

/* "-Y 480 +X 640": the first of the two is the number of lines. */
static bool read_resolution(struct hdr *hdr, const char *line)
{
	char *end;
	unsigned long first, second;

	if (strlen(line) < 7 || (line[0] != '-' && line[0] != '+') ||
		(line[1] != 'Y' && line[1] != 'X') || line[2] != ' ')
		return false;
	first = strtoul(line + 3, &end, 10);
	if (end[0] != ' ' || (end[1] != '-' && end[1] != '+') || (end[2] != 'Y' && end[2] != 'X') ||
		end[2] == line[1] || end[3] != ' ')
		return false;
	second = strtoul(end + 4, &end, 10);
	hdr->lines = (uint32_t)first;
	hdr->width = (uint32_t)second;
	return *end == 0 && first - 1 < SIDE_MAX && second - 1 < SIDE_MAX;
}

/* Reads the text lines. Returns what is wrong with them, or NULL. */
static const char *read_text(struct hdr *hdr)
{
	char line[128];

	if (!read_line(&hdr->cursor, line, sizeof(line)) ||
		(strcmp(line, "#?RADIANCE") != 0 && strcmp(line, "#?RGBE") != 0))
		return "no first line";
	for (unsigned count = 0; count < LINES_MAX; count++) {
		if (!read_line(&hdr->cursor, line, sizeof(line)))
			return "no text";
		read_date(hdr, line);
		if (line[0])
			continue;
		if (!read_line(&hdr->cursor, line, sizeof(line)) || !read_resolution(hdr, line))
			return "no resolution";
		return NULL;
	}
	return "too many lines of text";
}

/* Decodes one component of a line. */
static bool read_runs(struct hdr *hdr)
{
	for (uint32_t left = hdr->width; left;) {
		int count = cursor_next(&hdr->cursor);

		if (count <= 0)
			return false;
		if (count > 128) {
			count -= 128;
			if (cursor_next(&hdr->cursor) < 0)
				return false;
		} else {
			hdr->cursor.at += (uint64_t)count;
		}
		if ((uint32_t)count > left)
			return false;
		left -= (uint32_t)count;
	}
	return true;
}

/* Skips a line of uncompressed pixels. */
static bool read_flat(struct hdr *hdr)
{
	unsigned shift = 0;

	hdr->flat = true;
	for (uint64_t left = hdr->width; left;) {
		const uint8_t *p = cursor_bytes(&hdr->cursor, 4);

		if (!p)
			return false;
		hdr->cursor.at += 4;
		if (p[0] == 1 && p[1] == 1 && p[2] == 1) {
			uint64_t count = (uint64_t)p[3] << shift;

			left -= count < left ? count : left;
			shift = shift < 24 ? shift + 8 : shift;
		} else {
			left--;
			shift = 0;
		}
	}
	return true;
}

static bool read_pixels(struct hdr *hdr)
{
	const uint8_t *p = cursor_bytes(&hdr->cursor, 4);

	if (!p)
		return false;
	if (hdr->width < 8 || hdr->width > 32767 || p[0] != 2 || p[1] != 2 ||
		be16(p + 2) != hdr->width) {
		/* Encoders do not change the form within a picture. */
		return (!hdr->done || hdr->flat) && read_flat(hdr);
	}
	hdr->cursor.at += 4;
	return read_runs(hdr) && read_runs(hdr) && read_runs(hdr) && read_runs(hdr);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct hdr hdr = { .cursor.view = view };
	const char *problem = read_text(&hdr);

	if (problem)
		return verdict_because(
			CARVE_REJECT, finding, "%s before %" PRIu64, problem, hdr.cursor.at);
	finding->time = hdr.time;
	hdr.valid_end = hdr.cursor.at;
	for (; hdr.done < hdr.lines; hdr.done++) {
		if (!read_pixels(&hdr) || hdr.cursor.at > view_size(view))
			break;
		hdr.valid_end = hdr.cursor.at;
	}
	finding->length = hdr.valid_end;
	if (hdr.done < hdr.lines && hdr.cursor.at >= view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	if (hdr.done < hdr.lines)
		return verdict_because(CARVE_TRUNCATED, finding,
			"an invalid line of pixels before %" PRIu64, hdr.cursor.at);
	if (hdr.flat)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the pixels before %" PRIu64 " cannot be verified", hdr.valid_end);
	return CARVE_COMPLETE;
}

const struct carver hdr_carver = {
	.name = "hdr",
	.summary = "Radiance's HDR pictures, by decoding their lines",
	.check = check,
};
