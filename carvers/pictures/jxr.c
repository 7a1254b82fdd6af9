/*
 * JPEG XR and HD Photo (ITU-T T.832, annex A): Windows' pictures of high dynamic range.
 *
 *	header:    'II', BC 01, offset of the directory (4); little-endian
 *	directory: number of entries (2), entries of 12 bytes as TIFF's, tags rising: BC01 the pixels' format (a GUID), BC80 and BC81
 *	           width and height, BCC0 and BCC1 place and length of the picture, BCC2 and BCC3 of its alpha
 *	picture:   'WMPHOTO' 00, codes
 *
 * The file ends with the last of these and of the entries' values. The codes are not decoded: nothing verifies them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "stored.h"

#define HEAD_LEN 8
#define ENTRY_LEN 12
#define ENTRIES_MAX 128
#define MARK "WMPHOTO"
#define MARK_LEN 8

enum { TAG_FORMAT = 0xbc01, TAG_IMAGE = 0xbcc0, TAG_IMAGE_LEN, TAG_ALPHA, TAG_ALPHA_LEN };

/* All formats of pixels begin like this. */
static const uint8_t format_guid[] = { 0x24, 0xc3, 0xdd, 0x6f, 0x03, 0x4e, 0xfe, 0x4b, 0xb1, 0x85,
	0x3d, 0x77, 0x76, 0x8d, 0xc9 };

struct jxr {
	struct view *view;
	uint64_t end; /* of directory and values */
	uint64_t places[TAG_ALPHA_LEN - TAG_IMAGE + 1];
	bool format;
};

static bool add_entry(struct jxr *jxr, const uint8_t *p)
{
	static const uint8_t lens[] = { 0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8 };
	uint32_t tag = le16(p), type = le16(p + 2), count = le32(p + 4), value = le32(p + 8);
	uint64_t len = type < sizeof(lens) ? (uint64_t)count * lens[type] : 0;

	if (!len)
		return false;
	if (len > 4 && value + len > jxr->end)
		jxr->end = value + len;
	if (tag == TAG_FORMAT && len == 16) {
		p = view_peek(jxr->view, value, sizeof(format_guid));
		jxr->format = p && memcmp(p, format_guid, sizeof(format_guid)) == 0;
	}
	if (tag >= TAG_IMAGE && tag <= TAG_ALPHA_LEN && len <= 4)
		jxr->places[tag - TAG_IMAGE] = len == 2 ? value & 0xffff : value;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct jxr jxr = { .view = view };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = p ? le32(p + 4) : 0, start, end;
	uint32_t count, last = 0;

	p = at >= HEAD_LEN ? view_peek(view, at, 2) : NULL;
	count = p ? le16(p) : 0;
	if (!count || count > ENTRIES_MAX)
		return verdict_because(CARVE_REJECT, finding, "no directory at %" PRIu64, at);
	jxr.end = at + 2 + (uint64_t)count * ENTRY_LEN + 4;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t entry = at + 2 + (uint64_t)i * ENTRY_LEN;

		p = view_peek(view, entry, ENTRY_LEN);
		if (!p || le16(p) <= last)
			return verdict_because(
				CARVE_REJECT, finding, "no entry at %" PRIu64, entry);
		last = le16(p);
		if (!add_entry(&jxr, p))
			return verdict_because(
				CARVE_REJECT, finding, "no entry at %" PRIu64, entry);
	}
	start = jxr.places[0];
	end = start + jxr.places[1];
	p = start ? view_peek(view, start, MARK_LEN) : NULL;
	if (!jxr.format || !jxr.places[1] || !p || memcmp(p, MARK, MARK_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no picture at %" PRIu64, start);
	if (jxr.places[2] && jxr.places[2] + jxr.places[3] > end)
		end = jxr.places[2] + jxr.places[3];
	return stored_check_coded(view, finding, start, end > jxr.end ? end : jxr.end);
}

const struct carver jxr_carver = {
	.name = "jxr",
	.summary = "JPEG XR pictures, by their directory",
	.check = check,
};
