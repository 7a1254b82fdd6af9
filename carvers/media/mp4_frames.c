/*
 * Media data whose description is lost. Where each sample is a picture file of its own (PNG, and the
 * Motion JPEG of cameras), one follows the other, so they can be found without it: each is named as
 * embedded. Only such as follow each other from the media data's start: what begins elsewhere may be
 * another file.
 */
#include "mp4.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

#define PADDING_MAX 16

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, RST0 = 0xd0, RST7 = 0xd7, FILL = 0xff };

/* The end of the PNG at `at`; 0: it does not end before `end`. */
static uint64_t png_end(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p;

	for (at += 8; (p = view_peek(view, at, 8)); at += 12 + (uint64_t)be32(p)) {
		if (be32(p) > INT32_MAX || 12 + (uint64_t)be32(p) > end - at)
			return 0;
		if (memcmp(p + 4, "IEND", 4) == 0)
			return at + 12;
	}
	return 0;
}

/* The end of the JPEG at `at`; 0: it does not end before `end`. */
static uint64_t jpeg_end(struct view *view, uint64_t at, uint64_t end)
{
	bool coded = false;
	const uint8_t *p;

	at += 2;
	while (walk_find(view, &at, end, 0xff) && (p = view_peek(view, at, 4))) {
		if (p[1] == EOI)
			return at + 2;
		if (p[1] == FILL)
			at++;
		else if (!p[1] || (p[1] >= RST0 && p[1] <= RST7))
			at += 2;
		else if (p[1] == SOI)
			return 0;
		else
			at += 2 + (uint64_t)be16(p + 2);
		coded |= p[1] == SOS;
		if (at >= end || (!coded && (p = view_peek(view, at, 1)) && *p != 0xff))
			return 0;
	}
	return 0;
}

void mp4_name_frames(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t padding = 0;

	while (at < end && padding < PADDING_MAX) {
		const uint8_t *p = view_peek(view, at, 8);
		bool png = p && memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0;
		bool jpeg = p && memcmp(p, "\xff\xd8\xff", 3) == 0;

		if (!p || (!png && !jpeg && p[0]))
			return;
		if (png || jpeg) {
			view_embedded(view, at);
			at = png ? png_end(view, at, end) : jpeg_end(view, at, end);
			if (!at)
				return;
			padding = 0;
		} else {
			at++;
			padding++;
		}
	}
}
