/*
 * AutoCAD drawings (Open Design Alliance, Open Design Specification for .dwg files, 5.4.1).
 *
 *	R13 to 2000: 'AC1012' to 'AC1015', a list of sections with their offsets and lengths, then a CRC
 *	        and a mark of 16 bytes. The file ends after the last section of the list or of the
 *	        second header (after the object map)
 *	2004, 2010 and later: 'AC1018', 'AC1024' to 'AC1032'; at 128 a header of 108 bytes, masked
 *	        with pseudo-random numbers, with a CRC-32; a copy of it ends the file, and it has
 *	        the copy's offset
 *
 * In the later versions both headers are checked; between them are pages with checksums of their
 * own, which are not needed to find the end. 2007 ('AC1021') has a compressed header in
 * error-correcting code, which is not decoded: the length of these files is a guess.
 */
#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#include "bytes.h"
#include "walk.h"

#define MASKED_AT 128
#define MASKED_LEN 108
#define GUESS ((uint64_t)8 << 20)
#define MAX_SECTIONS 6
#define MAX_PREVIEW (1 << 30)
#define CODE_PAGES 64 /* fewer in the format of 2007 */

static const uint8_t list_mark[16] = { 0x95, 0xa0, 0x4e, 0x28, 0x99, 0x82, 0x1a, 0xe5, 0x5e, 0x41,
	0xe0, 0x5f, 0x9d, 0x3a, 0x4d, 0x00 };
static const uint8_t second_mark[16] = { 0xd4, 0x7b, 0x21, 0xce, 0x28, 0x93, 0x9f, 0xbf, 0x53, 0x24,
	0x40, 0x09, 0x12, 0x3c, 0xaa, 0x01 };
static const uint8_t second_end[16] = { 0x2b, 0x84, 0xde, 0x31, 0xd7, 0x6c, 0x60, 0x40, 0xac, 0xdb,
	0xbf, 0xf6, 0xed, 0xc3, 0x55, 0xfe };

static void unmask(uint8_t *bytes)
{
	uint32_t state = 1;

	for (int i = 0; i < MASKED_LEN; i++) {
		state = state * 0x343fd + 0x269ec3;
		bytes[i] ^= (uint8_t)(state >> 16);
	}
}

/* 2004 and later. */
static enum verdict check_paged(struct view *view, struct finding *finding)
{
	static const uint8_t no_crc[4];
	const uint8_t *p = view_peek(view, MASKED_AT, MASKED_LEN);
	uint8_t masked[MASKED_LEN], header[MASKED_LEN];
	uint64_t copy_at;
	uint32_t crc;

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "the header is cut off");
	memcpy(masked, p, MASKED_LEN);
	memcpy(header, p, MASKED_LEN);
	unmask(header);
	crc = (uint32_t)crc32(crc32(0, header, MASKED_LEN - 4), no_crc, 4);
	if (memcmp(header, "AcFssFcAJMB", 12) != 0 || le32(header + 104) != crc)
		return verdict_because(
			CARVE_REJECT, finding, "the header at %d is wrong", MASKED_AT);
	copy_at = le64(header + 52);
	if (copy_at < 256 || copy_at > UINT64_MAX / 2)
		return verdict_because(
			CARVE_REJECT, finding, "the header at %d is impossible", MASKED_AT);
	p = view_peek(view, copy_at, MASKED_LEN);
	if (!p)
		return walk_cut(view, finding, copy_at + MASKED_LEN,
			view_ends_with_image(view) ? view_size(view) : MASKED_AT + MASKED_LEN);
	finding->length = MASKED_AT + MASKED_LEN;
	if (memcmp(p, masked, MASKED_LEN) != 0)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no copy of the header at %" PRIu64, copy_at);
	finding->length = copy_at + MASKED_LEN;
	return CARVE_COMPLETE;
}

/* Finds the end of the second header, which follows the object map: it contains its length, and
 * ends with a mark. */
static uint64_t second_header_end(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 20);
	uint64_t len, end;

	if (!p || memcmp(p, second_mark, 16) != 0)
		return 0;
	len = le32(p + 16);
	if (len < 64 || len > 4096)
		return 0;
	/* Writers count the length differently; R13 and R14 have 8 bytes of zeros at the end. */
	for (end = at + len; end < at + len + 64; end++) {
		p = view_peek(view, end, 16);
		if (p && memcmp(p, second_end, 16) == 0)
			return end + 16;
	}
	return 0;
}

/* R13 to 2000. */
static enum verdict check_listed(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 21, 4);
	uint64_t end = 0, map_end = 0, list_end, second;
	uint32_t count = p ? le32(p) : 0;

	if (count < 3 || count > MAX_SECTIONS)
		return verdict_because(
			CARVE_REJECT, finding, "an impossible list of sections at 21");
	list_end = 25 + 9 * (uint64_t)count + 2;
	p = view_peek(view, 25, 9 * count + 18);
	if (!p || memcmp(p + 9 * count + 2, list_mark, 16) != 0)
		return verdict_because(
			CARVE_REJECT, finding, "no mark after the sections at %" PRIu64, list_end);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t section_end = (uint64_t)le32(p + 9 * i + 1) + le32(p + 9 * i + 5);

		if (section_end > end)
			end = section_end;
		if (p[9 * i] == 2)
			map_end = section_end;
	}
	if (end < list_end + 16)
		return verdict_because(CARVE_REJECT, finding, "no sections after their list");
	finding->length = list_end + 16;
	if (end > view_size(view))
		return walk_cut(view, finding, end,
			view_ends_with_image(view) ? view_size(view) : list_end + 16);
	second = second_header_end(view, map_end);
	if (!second) {
		finding->length = end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no second header after the object map, which ends at %" PRIu64, map_end);
	}
	finding->length = second > end ? second : end;
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 21);

	/* The offset of the preview, and the code page. */
	if (!p || memcmp(p, "AC10", 4) != 0 || memcmp(p + 6, "\0\0\0\0\0", 5) != 0 ||
		le32(p + 13) > MAX_PREVIEW || p[20] != 0)
		return verdict_because(CARVE_REJECT, finding, "no version at 0");
	switch ((p[4] - '0') * 10 + p[5] - '0') {
	case 12:
	case 14:
	case 15:
		return check_listed(view, finding);
	case 18:
	case 24:
	case 27:
	case 32:
		return check_paged(view, finding);
	case 21:
		if (le32(p + 13) < MASKED_AT || p[19] == 0 || p[19] > CODE_PAGES)
			return verdict_because(
				CARVE_REJECT, finding, "no preview or code page at 13");
		finding->length = view_size(view) < GUESS ? view_size(view) : GUESS;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"a drawing of version 2007, whose header is compressed: the end is a "
			"guess");
	}
	return verdict_because(CARVE_REJECT, finding, "an unknown version at 4");
}

const struct carver dwg_carver = {
	.name = "dwg",
	.summary = "AutoCAD drawings, by their headers",
	.check = check,
};
