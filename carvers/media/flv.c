/*
 * Flash Video (Adobe Flash Video File Format 10.1, annex E).
 *
 *	header: 'FLV', 1, flags, its length (9); then tags, each followed by its length
 *	tag:    type (8 audio, 9 video, 18 data), length (3 bytes, big-endian), time (4), stream
 *	        0, data; then its length, the 11 bytes of its head included
 *
 * The number of tags is not stored, except as a number 'filesize' that many programs put into the
 * first data tag. So the file ends after the last tag that its length follows; a tag that breaks
 * off before its second length is cut there. Without that number a file that ends where a sector
 * begins in the next tag's head is unverified: it may have lost the rest.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "overwrite.h"
#include "walk.h"

#define HEAD_LEN 9
#define TAG_LEN 11
#define DATA_LOOK 4096

struct flv {
	struct view *view;
	uint64_t end;         /* after the last intact tag and its length */
	uint64_t stated_size; /* the file's size according to its data, or 0 */
	unsigned tag_count;
};

/* "filesize", then an AMF number: 0 and a double. Its integer part is extracted by hand: no
 * floating point in carvers. */
static uint64_t number_of(const uint8_t *p)
{
	uint64_t bits = be64(p), mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	unsigned exponent = (unsigned)(bits >> 52);

	return exponent >= 1023 && exponent <= 1023 + 52 ? mantissa >> (1075 - exponent) : 0;
}

static void read_data(struct flv *flv, uint64_t at, uint64_t len)
{
	size_t look = len < DATA_LOOK ? (size_t)len : DATA_LOOK;
	const uint8_t *p = view_peek(flv->view, at, look), *found;

	found = p ? memmem(p, look,
			    "\0\x08"
			    "filesize\0",
			    11)
		  : NULL;
	if (found && (size_t)(found - p) + 19 <= look)
		flv->stated_size = number_of(found + 11);
}

enum tag_state { TAG_INTACT, TAG_NONE, TAG_BROKEN, TAG_CUT };

static enum tag_state skip_tag(struct flv *flv)
{
	const uint8_t *p = view_peek(flv->view, flv->end, TAG_LEN);
	uint64_t at = flv->end, len;
	uint8_t type;

	if (!p)
		return TAG_NONE;
	type = p[0] & 0x1f;
	if (p[0] & 0xc0 || (type != 8 && type != 9 && type != 18) || p[8] || p[9] || p[10])
		return TAG_NONE;
	len = be32(p) & 0xffffff;
	p = view_peek(flv->view, at + TAG_LEN + len, 4);
	if (!p)
		return TAG_CUT;
	if (be32(p) != len + TAG_LEN)
		return TAG_BROKEN;
	if (type == 18 && !flv->stated_size)
		read_data(flv, at + TAG_LEN, len);
	flv->end = at + TAG_LEN + len + 4;
	flv->tag_count++;
	return TAG_INTACT;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct flv flv = { .view = view, .end = HEAD_LEN + 4 };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + 4);
	enum tag_state state;

	if (!p || memcmp(p, "FLV\1", 4) != 0 || p[4] & 0xfa || be32(p + 5) != HEAD_LEN ||
		be32(p + 9) != 0)
		return verdict_because(CARVE_REJECT, finding, "no head of a Flash video at 0");
	while ((state = skip_tag(&flv)) == TAG_INTACT)
		;
	if (!flv.tag_count)
		return verdict_because(CARVE_REJECT, finding, "no intact tag at %d", HEAD_LEN + 4);
	finding->length = flv.end;
	if (state == TAG_CUT)
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	if (state == TAG_BROKEN)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the tag at %" PRIu64 " is not followed by its length", flv.end);
	if (flv.stated_size > flv.end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no tag at %" PRIu64 ", but the stated size is %" PRIu64, flv.end,
			flv.stated_size);
	if (flv.stated_size && flv.stated_size < flv.end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"tags go on to %" PRIu64 ", but the stated size is %" PRIu64, flv.end,
			flv.stated_size);
	if (!flv.stated_size && overwrite_boundary_between(flv.end, flv.end + TAG_LEN - 1))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no tag at %" PRIu64 ", where a sector begins, and no stated size",
			flv.end);
	return CARVE_COMPLETE;
}

const struct carver flv_carver = {
	.name = "flv",
	.summary = "Flash videos, by their tags",
	.check = check,
};
