/*
 * MXF, video from studios and cameras (SMPTE ST 377-1; ST 336 for the elements).
 *
 *	element:   key of 16 bytes that begins 06 0E 2B 34, length (one byte below 80, or 80 and
 *	           the number of bytes that follow, big-endian), value
 *	file:      partitions, perhaps an index of them
 *	partition: a pack, then what it describes: metadata, indexes, pictures and audio
 *	pack:      version, grid, offsets of this partition, the previous one and the footer; etc.
 *	index:     of each partition a number and its offset; its own length
 *
 * The elements follow each other, and each pack has to be at the offset that it states. The index
 * is the last element, and ends with its length: then the file is complete. Without one the file
 * ends where no element follows: after the footer, unverified; before it, truncated.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define KEY_LEN 16
#define PACK_LEN 88
/* Elements needed to accept a file that breaks off. */
#define ELEMENTS_MIN 3

struct mxf_element {
	uint8_t key[KEY_LEN];
	uint64_t value, end;
};

/* Reads the element at `at`: false if there is none. Its end may be past the view. */
static bool read_element(struct view *view, uint64_t at, struct mxf_element *element)
{
	static const uint8_t start[4] = { 0x06, 0x0e, 0x2b, 0x34 };
	const uint8_t *p = view_peek(view, at, KEY_LEN + 1);
	uint64_t len;
	unsigned more;

	if (!p || memcmp(p, start, sizeof(start)) != 0)
		return false;
	memcpy(element->key, p, KEY_LEN);
	len = p[KEY_LEN];
	more = len & 0x80 ? (unsigned)len & 0x7f : 0;
	if (len & 0x80) {
		p = more && more <= 8 ? view_peek(view, at + KEY_LEN + 1, more) : NULL;
		if (!p)
			return false;
		len = 0;
		for (unsigned i = 0; i < more; i++)
			len = len << 8 | p[i];
	}
	element->value = at + KEY_LEN + 1 + more;
	element->end = element->value + len;
	return len < 1ull << 56;
}

enum mxf_kind { HEADER = 0x02, BODY = 0x03, FOOTER = 0x04, INDEX = 0x11 };

/* The kind of a partition pack or of the index; 0: another element. */
static enum mxf_kind kind_of(const struct mxf_element *element)
{
	static const uint8_t family[9] = { 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02, 0x01, 0x01 };

	return memcmp(element->key + 4, family, sizeof(family)) == 0 ? element->key[13] : 0;
}

struct mxf {
	struct view *view;
	uint64_t footer; /* its offset according to the packs; 0: not stated */
	bool at_footer;  /* it was read */
};

/* A pack states its own offset and the footer's. */
static bool is_valid_pack(
	struct mxf *mxf, const struct mxf_element *pack, uint64_t at, enum mxf_kind kind)
{
	const uint8_t *p = view_peek(mxf->view, pack->value, PACK_LEN);

	if (!p || pack->end - pack->value < PACK_LEN || be64(p + 8) != at)
		return false;
	if (be64(p + 24))
		mxf->footer = be64(p + 24);
	mxf->at_footer |= kind == FOOTER;
	return true;
}

/* The index ends with the length of the whole element. */
static bool is_valid_index(struct view *view, const struct mxf_element *index, uint64_t at)
{
	uint64_t len = index->end - index->value;
	const uint8_t *p = len >= 4 ? view_peek(view, index->end - 4, 4) : NULL;

	return p && (len - 4) % 12 == 0 && be32(p) == index->end - at;
}

static enum verdict judge_unfinished(struct mxf *mxf, struct finding *finding, uint64_t at)
{
	finding->length = at;
	if (mxf->at_footer && mxf->footer < at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no element at %" PRIu64 ", and no partition index before it", at);
	return verdict_because(CARVE_TRUNCATED, finding, "no valid element at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mxf mxf = { .view = view };
	struct mxf_element element;
	uint64_t at = 0, size = view_size(view);
	unsigned count = 0;

	if (!read_element(view, 0, &element) || kind_of(&element) != HEADER)
		return verdict_because(CARVE_REJECT, finding, "no header partition pack at 0");
	for (; read_element(view, at, &element); count++) {
		enum mxf_kind kind = kind_of(&element);

		if (element.end > size && count >= ELEMENTS_MIN)
			return walk_cut(
				view, finding, element.end, view_ends_with_image(view) ? size : at);
		if (element.end > size)
			break;
		if (kind == INDEX && is_valid_index(view, &element, at)) {
			finding->length = element.end;
			return CARVE_COMPLETE;
		}
		if ((kind == HEADER || kind == BODY || kind == FOOTER) &&
			!is_valid_pack(&mxf, &element, at, kind))
			break;
		if (kind == HEADER && at)
			view_part(view, at);
		at = element.end;
	}
	if (count < ELEMENTS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no valid element at %" PRIu64, at);
	return judge_unfinished(&mxf, finding, at);
}

const struct carver mxf_carver = {
	.name = "mxf",
	.summary = "MXF video, by its elements and partitions",
	.check = check,
};
