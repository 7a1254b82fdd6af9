/*
 * Boxes (ISO/IEC 14496-12, 4.2): size (4 bytes, big-endian, itself included), type (4 letters);
 * with size 1 the real size follows in 8 bytes, with size 0 the box reaches the end of the file. A
 * type 'uuid' is followed by 16 more bytes, which count as data here.
 *
 * A file is a sequence of boxes whose number is not stored anywhere. So it ends where no box of a
 * known type follows; a box of an unknown type belongs to it only if a known one comes after it.
 * 'ftyp' starts the next file.
 */
#include "bmff.h"

#include "bytes.h"

#define DEPTH_MAX 12

static bool in_list(uint32_t type, const char *types)
{
	for (; *types; types += 5)
		if (type == be32((const uint8_t *)types))
			return true;
	return false;
}

/* The types that occur at the top level of a file: ISO/IEC 14496-12, 23008-12, QuickTime, and what
 * cameras and phones write there. */
static bool known_outermost(uint32_t type)
{
	static const char types[] =
		"mdat moov meta free skip wide uuid moof mfra sidx ssix styp emsg prft pdin meco "
		"pnot udta PICT jumb mpvd sefd idat junk thum prfl xml  FREE ctab imap _htc frea "
		"inst gps  bloc trik pssh hoov clip \0";

	return in_list(type, types);
}

static bool holds_boxes(uint32_t type)
{
	static const char types[] =
		"moov trak mdia minf stbl dinf edts mvex moof traf mfra gmhd sinf schi iprp ipco "
		"grpl meta iref iinf strk strd meco jp2h tapt ipro \0";

	return in_list(type, types);
}

/* A type is printable; QuickTime's texts start with a copyright sign. */
static bool is_type(uint32_t type)
{
	for (int shift = 0; shift < 32; shift += 8) {
		uint8_t letter = (uint8_t)(type >> shift);

		if ((letter < 0x20 || letter > 0x7e) && !(shift == 24 && letter == 0xa9))
			return false;
	}
	return true;
}

bool bmff_is_outermost(uint32_t type)
{
	return known_outermost(type) || type == BMFF('f', 't', 'y', 'p');
}

enum bmff_state bmff_read(struct view *view, uint64_t at, uint64_t limit, struct bmff_box *box)
{
	const uint8_t *p;
	uint64_t size;

	*box = (struct bmff_box){ .at = at, .data = at + 8, .end = at + 8 };
	if (at >= limit)
		return BMFF_END;
	p = limit - at >= 8 ? view_peek(view, at, 8) : NULL;
	if (!p)
		return BMFF_CUT;
	size = be32(p);
	box->type = be32(p + 4);
	if (!is_type(box->type))
		return BMFF_NONE;
	if (size == 1) {
		p = limit - at >= 16 ? view_peek(view, at, 16) : NULL;
		if (!p)
			return BMFF_CUT;
		size = be64(p + 8);
		box->data = at + 16;
	}
	box->open = size == 0;
	box->end = box->open ? limit : at + size;
	if (box->end < box->data || size > INT64_MAX)
		return BMFF_NONE;
	return box->end <= limit ? BMFF_BOX : BMFF_CUT;
}

bool bmff_find(struct view *view, uint64_t at, uint64_t end, uint32_t type, struct bmff_box *found)
{
	for (; bmff_read(view, at, end, found) == BMFF_BOX; at = found->end)
		if (found->type == type)
			return true;
	found->type = 0;
	return false;
}

bool bmff_find_path(struct view *view, const struct bmff_box *from, const uint32_t *path,
	struct bmff_box *found)
{
	for (*found = *from; *path; path++) {
		uint64_t end = found->end;

		if (!bmff_find(view, bmff_first_child(view, found), end, *path, found))
			return false;
	}
	return true;
}

uint64_t bmff_first_child(struct view *view, const struct bmff_box *box)
{
	const uint8_t *p = box->end - box->data >= 8 ? view_peek(view, box->data, 8) : NULL;

	/* QuickTime's 'meta' has no version and flags before its 'hdlr'. */
	if (box->type == BMFF('m', 'e', 't', 'a'))
		return box->data + (p && be32(p + 4) == BMFF('h', 'd', 'l', 'r') ? 0 : 4);
	if (box->type == BMFF('i', 'r', 'e', 'f'))
		return box->data + 4;
	if (box->type == BMFF('i', 'i', 'n', 'f'))
		return box->data + (p && p[0] ? 8 : 6);
	return box->data;
}

/* The end of a box, too short for another box inside it: QuickTime ends some with 4 zeros. */
static bool is_padding(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at < 8 ? view_peek(view, at, (size_t)(end - at)) : NULL;

	for (size_t i = 0; p && i < end - at; i++)
		if (p[i])
			return false;
	return p != NULL;
}

bool bmff_walk(struct view *view, const struct bmff_box *box,
	bool (*visit)(void *context, const struct bmff_box *box, uint64_t *broken), void *context,
	uint64_t *broken)
{
	uint64_t ends[DEPTH_MAX], at = bmff_first_child(view, box);
	unsigned depth = 1;

	for (ends[0] = box->end; depth;) {
		struct bmff_box child;
		uint64_t end = ends[depth - 1];

		*broken = at;
		if (at == end || (at < end && is_padding(view, at, end))) {
			at = end;
			depth--;
			continue;
		}
		if (at > end || bmff_read(view, at, end, &child) != BMFF_BOX || child.open)
			return false;
		at = child.end;
		if (holds_boxes(child.type) && depth < DEPTH_MAX) {
			ends[depth++] = child.end;
			at = bmff_first_child(view, &child);
		} else if (visit && !visit(context, &child, broken)) {
			return false;
		}
	}
	return true;
}

bool bmff_nested(struct view *view, const struct bmff_box *box, uint64_t *broken)
{
	return bmff_walk(view, box, NULL, NULL, broken);
}

static void add_box(struct bmff *bmff, const struct bmff_box *box)
{
	bmff->box_count++;
	bmff->last = *box;
	bmff->end = box->end;
	if (box->type == BMFF('m', 'o', 'o', 'v') && !bmff->moov.type)
		bmff->moov = *box;
	else if (box->type == BMFF('m', 'e', 't', 'a') && !bmff->meta.type)
		bmff->meta = *box;
	else if (box->type == BMFF('m', 'd', 'a', 't') && bmff->mdat_count++ < BMFF_MDATS)
		bmff->mdat[bmff->mdat_count - 1] = *box;
}

/* Whether a box of unknown type is followed by one that is known and belongs to this file. */
static bool leads_on(const struct bmff *bmff, const struct bmff_box *box)
{
	struct bmff_box next;
	enum bmff_state state = bmff_read(bmff->view, box->end, view_size(bmff->view), &next);

	if (next.type == BMFF('m', 'o', 'o', 'v') && bmff->moov.type)
		return false;
	return box->type != BMFF('f', 't', 'y', 'p') && !box->open &&
	       (state == BMFF_BOX || state == BMFF_CUT) && known_outermost(next.type);
}

/* A second 'moov' belongs to the next file, and so do the boxes before it if this file's media data
 * came before its own 'moov'. */
static bool second_moov(struct bmff *bmff, const struct bmff_box *box)
{
	if (box->type != BMFF('m', 'o', 'o', 'v') || !bmff->moov.type)
		return false;
	if (bmff->mdat_count && bmff->mdat[0].at < bmff->moov.at) {
		size_t before = 0;

		while (before < BMFF_MDATS && before < bmff->mdat_count &&
			bmff->mdat[before].at < bmff->moov.at)
			before++;
		bmff->mdat_count = before;
		bmff->last = bmff->moov;
		bmff->end = bmff->moov.end;
	}
	return true;
}

/* Walks on from bmff->end. */
static void walk_outermost(struct bmff *bmff)
{
	struct view *view = bmff->view;
	uint64_t size = view_size(view);
	struct bmff_box box;

	while ((bmff->stopped = bmff_read(view, bmff->end, size, &box)) == BMFF_BOX ||
		bmff->stopped == BMFF_CUT) {
		bool cut = bmff->stopped == BMFF_CUT;

		if (second_moov(bmff, &box) ||
			(!known_outermost(box.type) && (cut || !leads_on(bmff, &box)))) {
			bmff->stopped = BMFF_NONE;
			break;
		}
		view_part(view, box.at);
		add_box(bmff, &box);
		if (cut)
			break;
	}
}

bool bmff_open(struct bmff *bmff, struct view *view)
{
	struct bmff_box box;
	const uint8_t *p;

	*bmff = (struct bmff){ .view = view };
	if (bmff_read(view, 0, view_size(view), &box) != BMFF_BOX ||
		box.type != BMFF('f', 't', 'y', 'p') || box.open || box.end - box.data < 8 ||
		box.end - box.data > 4096 || box.end % 4)
		return false;
	p = view_peek(view, box.data, 4);
	if (!p)
		return false;
	bmff->brand = be32(p);
	bmff->ftyp = box;
	add_box(bmff, &box);
	walk_outermost(bmff);
	return true;
}

bool bmff_open_bare(struct bmff *bmff, struct view *view)
{
	struct bmff_box box;
	enum bmff_state state = bmff_read(view, 0, view_size(view), &box);

	*bmff = (struct bmff){ .view = view };
	if ((state != BMFF_BOX && state != BMFF_CUT) || box.open ||
		!in_list(box.type, "moov mdat wide free skip pnot styp moof \0"))
		return false;
	bmff->segment =
		box.type == BMFF('s', 't', 'y', 'p') || box.type == BMFF('m', 'o', 'o', 'f');
	walk_outermost(bmff);
	return true;
}

bool bmff_has_brand(const struct bmff *bmff, uint32_t brand)
{
	if (bmff->brand == brand)
		return true;
	for (uint64_t at = bmff->ftyp.data + 8; at + 4 <= bmff->ftyp.end; at += 4) {
		const uint8_t *p = view_peek(bmff->view, at, 4);

		if (p && be32(p) == brand)
			return true;
	}
	return false;
}

bool bmff_in_mdat(const struct bmff *bmff, uint64_t offset, uint64_t len)
{
	/* Only the first boxes are kept: anywhere after the last of them counts as inside one. */
	if (bmff->mdat_count > BMFF_MDATS && offset > bmff->mdat[BMFF_MDATS - 1].end)
		return len <= bmff->end && offset <= bmff->end - len;
	for (size_t i = 0; i < BMFF_MDATS && i < bmff->mdat_count; i++) {
		const struct bmff_box *mdat = &bmff->mdat[i];

		if (offset >= mdat->data && offset <= mdat->end && len <= mdat->end - offset)
			return true;
	}
	return false;
}
