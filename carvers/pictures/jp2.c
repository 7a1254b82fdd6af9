/*
 * JP2 and its relatives JPX, JPM, MJ2 and JPH (ISO/IEC 15444-1, Annex I; parts 2, 3, 6 and 15).
 *
 *	'jP  '  a signature box of 12 bytes
 *	'ftyp'  the brand: jp2, jpx, jpm, mjp2, jph
 *	'jp2h'  the picture's header, in boxes; 'jp2c': its codestream; and many other kinds
 *
 * The boxes are those of ISO base media files (bmff.c), and the file ends where none of a known
 * type follows. A codestream has to be valid (j2k_codestream.c) and to fill its box; that of a box
 * without a length ends the file. A file that is cut is valid as far as its codestream is. If a
 * codestream is broken but still ends with its box, the file was damaged and not cut: it is
 * unverified, as it is where XML does not end with its box.
 */
#include "bmff.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "j2k.h"
#include "walk.h"

#define SIGNATURE_LEN 12
/* Smaller boxes 'uuid' hold EXIF data and thumbnails, which are not files of their own. */
#define METADATA_MAX 65536
#define END_OF_CODESTREAM 0xffd9
#define TEXT_LOOK 64   /* bytes of a box in which XML may start */
#define XML_START 4096 /* in which its root is */
#define XML_TAIL 256   /* that hold its last tag */

struct jp2 {
	struct view *view;
	struct finding *finding;
	uint64_t end; /* end of the last box */
	bool header, codestream, media, opaque;
	const char *problem; /* in a codestream that continues after it, or NULL */
	uint64_t broken_at;
};

static bool known(uint32_t type)
{
	static const uint32_t types[] = { BMFF('j', 'p', '2', 'h'), BMFF('j', 'p', '2', 'c'),
		BMFF('j', 'p', '2', 'i'), BMFF('x', 'm', 'l', ' '), BMFF('u', 'u', 'i', 'd'),
		BMFF('u', 'i', 'n', 'f'), BMFF('r', 'r', 'e', 'q'), BMFF('j', 'p', 'c', 'h'),
		BMFF('j', 'p', 'l', 'h'), BMFF('a', 's', 'o', 'c'), BMFF('n', 'l', 's', 't'),
		BMFF('l', 'b', 'l', ' '), BMFF('f', 't', 'b', 'l'), BMFF('d', 't', 'b', 'l'),
		BMFF('c', 'r', 'e', 'f'), BMFF('f', 'r', 'e', 'e'), BMFF('s', 'k', 'i', 'p'),
		BMFF('m', 'd', 'a', 't'), BMFF('m', 'o', 'o', 'v'), BMFF('m', 'o', 'o', 'f'),
		BMFF('d', 'r', 'e', 'p'), BMFF('g', 't', 's', 'o'), BMFF('c', 'h', 'c', 'k'),
		BMFF('r', 'o', 'i', 'd'), BMFF('c', 'o', 'm', 'p'), BMFF('c', 'o', 'p', 't'),
		BMFF('i', 'n', 's', 't'), BMFF('m', 'h', 'd', 'r'), BMFF('p', 'c', 'o', 'l'),
		BMFF('p', 'a', 'g', 'e'), BMFF('f', 't', 'b', 'l'), BMFF('j', 'u', 'm', 'b'),
		BMFF('m', 'p', '7', 'b'), BMFF('b', 'f', 'i', 'l'), BMFF('p', 'f', 'i', 'l') };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == type)
			return true;
	return false;
}

/* Whether a box of unknown type is followed by one that is known. */
static bool leads_on(struct view *view, const struct bmff_box *box)
{
	struct bmff_box next;
	enum bmff_state state = bmff_read(view, box->end, view_size(view), &next);

	return (state == BMFF_BOX || state == BMFF_CUT) && known(next.type);
}

/* The extension for a brand, or NULL. */
static const char *extension(uint32_t brand)
{
	switch (brand) {
	case BMFF('j', 'p', '2', ' '):
		return "jp2";
	case BMFF('j', 'p', 'x', ' '):
	case BMFF('j', 'p', 'x', 'b'):
		return "jpf";
	case BMFF('j', 'p', 'm', ' '):
		return "jpm";
	case BMFF('j', 'p', 'h', ' '):
		return "jph";
	case BMFF('m', 'j', 'p', '2'):
	case BMFF('m', 'j', '2', 's'):
		return "mj2";
	}
	return NULL;
}

/* Reads the signature and the file type. Returns what is wrong with them, or NULL. */
static const char *read_start(struct jp2 *jp2)
{
	struct view *view = jp2->view;
	const uint8_t *p = view_peek(view, 0, SIGNATURE_LEN);
	struct bmff_box ftyp;

	if (!p || be32(p) != SIGNATURE_LEN || be32(p + 4) != BMFF('j', 'P', ' ', ' ') ||
		be32(p + 8) != 0x0d0a870a)
		return "no signature box at 0";
	if (bmff_read(view, SIGNATURE_LEN, view_size(view), &ftyp) != BMFF_BOX ||
		ftyp.type != BMFF('f', 't', 'y', 'p') || ftyp.open || ftyp.end - ftyp.data < 8 ||
		ftyp.end - ftyp.data > 4096)
		return "no file type box at 12";
	/* The major brand, or else the first compatible one that is known; the minor version,
	 * between them, is not a brand. */
	for (uint64_t at = ftyp.data; at + 4 <= ftyp.end && !jp2->finding->extension; at += 4) {
		p = view_peek(view, at, 4);
		jp2->finding->extension = p ? extension(be32(p)) : NULL;
	}
	jp2->end = ftyp.end;
	return jp2->finding->extension ? NULL : "an unknown brand at 20";
}

static enum verdict truncated(struct jp2 *jp2, uint64_t valid_end, const char *problem, uint64_t at)
{
	jp2->finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, jp2->finding, "%s at %" PRIu64, problem, at);
}

/* Whether a codestream that breaks at `broken` has its last marker where its box ends: then it was
 * damaged, but not cut. */
static bool ends_with_box(struct view *view, const struct bmff_box *box, uint64_t broken)
{
	const uint8_t *p =
		box->open || box->end < broken + 2 ? NULL : view_peek(view, box->end - 2, 2);

	return p && be16(p) == END_OF_CODESTREAM;
}

static enum verdict file_verdict(struct jp2 *jp2)
{
	struct finding *finding = jp2->finding;

	finding->length = jp2->end;
	if (!jp2->codestream && !jp2->media)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no codestream before %" PRIu64, jp2->end);
	if (jp2->problem)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "%s at %" PRIu64, jp2->problem, jp2->broken_at);
	if (jp2->media || jp2->opaque)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"not all codestream data before %" PRIu64 " is valid", jp2->end);
	return CARVE_COMPLETE;
}

/* Walks a codestream. False: *verdict is the verdict on the file. */
static bool read_codestream(struct jp2 *jp2, const struct bmff_box *box, enum verdict *verdict)
{
	struct view *view = jp2->view;
	struct j2k j2k;

	view_embedded(view, box->data);
	if (!j2k_walk(&j2k, view, box->data, box->end)) {
		if (j2k.parts && ends_with_box(view, box, j2k.valid_end)) {
			jp2->broken_at = j2k.broken_at;
			jp2->problem = j2k.problem;
			jp2->codestream = true;
			return true;
		}
		if (j2k.cut && box->end > view_size(view))
			*verdict = walk_cut(view, jp2->finding, box->end, j2k.valid_end);
		else
			*verdict = truncated(jp2, j2k.valid_end, j2k.problem, j2k.broken_at);
		return false;
	}
	jp2->codestream = true;
	if (j2k.odd) {
		jp2->problem = j2k.odd;
		jp2->broken_at = box->data + 2;
	}
	if (box->open || box->end > view_size(view)) {
		/* It is complete, though its box continues. */
		jp2->end = j2k.end;
		*verdict = file_verdict(jp2);
		return false;
	}
	if (j2k.end != box->end)
		jp2->opaque = true;
	return true;
}

/* Whether the box of XML ends with a tag, and, if that closes one, with one that begins near the start. What overwrote the
 * end of the file seldom ends so. */
static bool ends_with_tag(struct view *view, const struct bmff_box *box)
{
	uint64_t len = box->end - box->data;
	size_t tail = len < XML_TAIL ? (size_t)len : XML_TAIL, name_len;
	const uint8_t *p = view_peek(view, box->end - tail, tail);
	char name[XML_TAIL] = "<";

	while (p && tail &&
		(p[tail - 1] == 0 || p[tail - 1] == '\n' || p[tail - 1] == '\r' ||
			p[tail - 1] == '\t' || p[tail - 1] == ' '))
		tail--;
	if (!p || !tail || p[tail - 1] != '>')
		return !p;
	for (name_len = 1;
		name_len < tail && p[tail - 1 - name_len] != '/' && p[tail - 1 - name_len] != '<';
		name_len++)
		;
	if (name_len + 1 >= tail || memcmp(p + tail - name_len - 2, "</", 2) != 0)
		return true;
	memcpy(name + 1, p + tail - name_len, name_len - 1);
	len = len < XML_START ? len : XML_START;
	p = view_peek(view, box->data, (size_t)len);
	return !p || memmem(p, (size_t)len, name, name_len);
}

/* Reads a box. False: *verdict is the verdict on the file. */
static bool read_box(struct jp2 *jp2, const struct bmff_box *box, enum verdict *verdict)
{
	struct view *view = jp2->view;
	uint64_t broken;

	if (box->type == BMFF('j', 'p', '2', 'c'))
		return read_codestream(jp2, box, verdict);
	if (box->end > view_size(view)) {
		*verdict = walk_cut(view, jp2->finding, box->end, view_size(view));
		return false;
	}
	if (box->type == BMFF('j', 'p', '2', 'h')) {
		if (!bmff_nested(view, box, &broken)) {
			*verdict = truncated(jp2, broken, "the picture's header is broken", broken);
			return false;
		}
		jp2->header = true;
	} else if (box->type != BMFF('u', 'u', 'i', 'd') || box->end - box->data > METADATA_MAX) {
		view_unverified(view, box->data, box->end);
		embedded_find(view, box->data, box->end, TEXT_LOOK);
	}
	if (box->type == BMFF('x', 'm', 'l', ' ') && box->end > box->data && !jp2->problem &&
		!ends_with_tag(view, box)) {
		jp2->problem = "no end of the XML in the box";
		jp2->broken_at = box->data;
	}
	if (box->type == BMFF('m', 'd', 'a', 't'))
		jp2->media = true;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct jp2 jp2 = { .view = view, .finding = finding };
	const char *problem = read_start(&jp2);
	enum verdict verdict;
	struct bmff_box box;
	unsigned boxes = 0;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	for (;; boxes++) {
		enum bmff_state state = bmff_read(view, jp2.end, view_size(view), &box);

		if (state != BMFF_BOX && state != BMFF_CUT)
			break;
		/* Another file's first box leads on to boxes that are known, too. */
		if (box.type == BMFF('f', 't', 'y', 'p') ||
			(!known(box.type) && !leads_on(view, &box)))
			break;
		if (!read_box(&jp2, &box, &verdict))
			return verdict;
		jp2.end = box.end;
	}
	if (!boxes)
		return verdict_because(
			CARVE_REJECT, finding, "no box of a known type at %" PRIu64, jp2.end);
	return file_verdict(&jp2);
}

const struct carver jp2_carver = {
	.name = "jp2",
	.summary = "JP2, JPX, JPM and MJ2 pictures, by their boxes and codestreams",
	.check = check,
};
