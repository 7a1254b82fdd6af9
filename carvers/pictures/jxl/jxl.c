/*
 * JPEG XL, a bare codestream (ISO/IEC 18181-1) or one in a container (ISO/IEC 18181-2).
 *
 * A codestream begins with FF 0A. It is walked from header to header (jxl_walk.c), and ends where
 * its last frame's sections do. The start of each frame's first section is decoded, and has to be
 * right in more bits than chance would get right (PROOF_MIN), or there is no file: after FF 0A,
 * some random bytes can be read as headers. A last section in modular mode is decoded completely,
 * which confirms the file's end. Coefficients are not decoded: then the verdict is unverified,
 * though the length is exact.
 *
 * A container:
 *
 *	'JXL '  a signature box of 12 bytes
 *	'ftyp'  with the brand 'jxl '
 *	'jxlc'  the codestream; or 'jxlp', parts of it, numbered, the last with the highest bit set
 *	'jbrd', 'Exif', 'xml ', 'brob', ...  metadata
 *
 * The boxes are those of ISO base media files (bmff.c), and the file ends where none of a known
 * type follows. A codestream in one box is walked as a bare one is, and so is one whose box, the last, has no length. If the file ends with much of a
 * codestream that was not decoded to its end, nothing confirms that it is complete, and the verdict
 * is unverified. The date is Exif's.
 */
#include "bmff.h"

#include <inttypes.h>

#include "bytes.h"
#include "exif.h"
#include "jxl_walk.h"
#include "noise.h"
#include "walk.h"

#define STREAM 0xff0a
#define START_LEN 32
/* A codestream may contain zeros, but hardly this many at its end. */
#define WIPED_MIN 512
/* Of five million random inputs after the signature, those that led to an end had at most 10 such
 * bits, and those that were cut off 13. */
#define PROOF_MIN 12
#define PROOF_CUT 14
/* In programs, zeros and small numbers lead further than random bytes. Of a file that breaks off, the first
 * bytes up to there take at least one value for every VARIETY bytes, as coded data do, and are at least START_MIN,
 * unless the image ends. */
#define START_MIN 128
#define START_MAX 512
#define VARIETY 5

struct jxl {
	struct view *view;
	struct finding *finding;
	uint64_t end;       /* end of the last box */
	uint64_t confirmed; /* where the last box's data starts */
	uint64_t wiped;     /* where the zeros at the end of a codestream start, or 0 */
	uint32_t parts;
	bool whole;
	bool confirmed_to_end; /* the codestream was decoded to its end */
	struct jxl_walk walk;
};

static bool known(uint32_t type)
{
	switch (type) {
	case BMFF('j', 'x', 'l', 'c'):
	case BMFF('j', 'x', 'l', 'p'):
	case BMFF('j', 'x', 'l', 'l'):
	case BMFF('j', 'x', 'l', 'i'):
	case BMFF('j', 'b', 'r', 'd'):
	case BMFF('j', 'h', 'g', 'm'):
	case BMFF('j', 'u', 'm', 'b'):
	case BMFF('E', 'x', 'i', 'f'):
	case BMFF('x', 'm', 'l', ' '):
	case BMFF('b', 'r', 'o', 'b'):
	case BMFF('u', 'u', 'i', 'd'):
	case BMFF('f', 'r', 'e', 'e'):
	case BMFF('s', 'k', 'i', 'p'):
		return true;
	}
	return false;
}

/* Reads a box with a codestream, or a part of it. Returns what is wrong, or NULL. */
static const char *read_codestream_box(struct jxl *jxl, const struct bmff_box *box)
{
	bool part = box->type == BMFF('j', 'x', 'l', 'p');
	uint64_t at = box->data + (part ? 4 : 0), wiped;
	const uint8_t *p = view_peek(jxl->view, box->data, part ? 4 : 2);

	if (jxl->whole)
		return "a second codestream";
	if (!p || box->end - box->data < (part ? 6 : 2))
		return "the codestream is cut off";
	if (part && (be32(p) & INT32_MAX) != jxl->parts)
		return "a part of the codestream is missing";
	jxl->whole = !part || be32(p) >> 31;
	if (jxl->parts++ == 0) {
		p = view_peek(jxl->view, at, 2);
		if (!p || be16(p) != STREAM)
			return "no codestream starts";
		view_part(jxl->view, at);
	}
	if (part)
		view_unverified(jxl->view, at, box->end);
	if (!part && !jxl_walk(&jxl->walk, jxl->view, at, box->end))
		return jxl->walk.problem;
	jxl->confirmed_to_end = !part && jxl->walk.confirmed_to_end && jxl->walk.end == box->end;
	wiped = walk_before_fill(jxl->view, at, box->end);
	if (box->end - wiped >= WIPED_MIN && !jxl->confirmed_to_end)
		jxl->wiped = wiped;
	return NULL;
}

/* Exif: 4 bytes that hold the distance from their end to the TIFF head. */
static void read_exif(struct jxl *jxl, const struct bmff_box *box)
{
	const uint8_t *p = view_peek(jxl->view, box->data, 4);
	uint64_t skip = p ? be32(p) + 4ull : 0;

	if (!p || skip >= box->end - box->data)
		return;
	view_embedded(jxl->view, box->data + skip);
	exif_read(jxl->view, box->data + skip, box->end - box->data - skip, jxl->finding);
}

/* Reads a box that is complete. Returns what is wrong with it, or NULL. */
static const char *read_box(struct jxl *jxl, const struct bmff_box *box)
{
	const char *problem = NULL;

	if (box->type == BMFF('j', 'x', 'l', 'c') || box->type == BMFF('j', 'x', 'l', 'p'))
		problem = read_codestream_box(jxl, box);
	else if (box->type == BMFF('E', 'x', 'i', 'f'))
		read_exif(jxl, box);
	else {
		view_unverified(jxl->view, box->data, box->end);
		view_holds(jxl->view, box->data, box->end);
	}
	jxl->end = box->end;
	jxl->confirmed = box->data;
	return problem;
}

static enum verdict file_verdict(struct jxl *jxl)
{
	struct finding *finding = jxl->finding;

	finding->length = jxl->wiped ? jxl->wiped : jxl->end;
	if (jxl->wiped)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the codestream is wiped from %" PRIu64 " on", jxl->wiped);
	if (!jxl->whole)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no end of the codestream before %" PRIu64, jxl->end);
	return jxl->confirmed_to_end ? CARVE_COMPLETE
				     : walk_tail_verdict(finding, jxl->confirmed, jxl->end);
}

/* The verdict on a codestream whose headers were walked to the end. */
static enum verdict stream_verdict(
	struct view *view, const struct jxl_walk *walk, struct finding *finding)
{
	uint64_t plain;

	finding->length = walk->end;
	if (walk->confirmed_to_end)
		return CARVE_COMPLETE;
	plain = plain_start(view, walk->last_at, walk->end);
	if (plain == walk->end)
		plain = walk_before_fill(view, walk->last_at, walk->end);
	if (walk->end - plain >= WIPED_MIN) {
		finding->length = plain;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no coded data from %" PRIu64 " on", plain);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last %" PRIu64 " bytes before the end cannot be verified",
		walk->end - walk->last_at);
}

/* The verdict on a codestream that is the last box and has no length: its frames lead to its end. */
static enum verdict open_stream_verdict(struct jxl *jxl, const struct bmff_box *box)
{
	struct jxl_walk *walk = &jxl->walk;
	const uint8_t *p = view_peek(jxl->view, box->data, 2);

	if (!p || be16(p) != STREAM) {
		jxl->finding->length = box->at;
		return verdict_because(CARVE_TRUNCATED, jxl->finding,
			"no codestream starts at %" PRIu64, box->data);
	}
	view_part(jxl->view, box->data);
	if (jxl_walk(walk, jxl->view, box->data, box->end))
		return stream_verdict(jxl->view, walk, jxl->finding);
	if (walk->cut)
		return walk_cut(jxl->view, jxl->finding, walk->end, walk->valid_end);
	jxl->finding->length = walk->valid_end > box->at ? walk->valid_end : box->at;
	return verdict_because(
		CARVE_TRUNCATED, jxl->finding, "%s at %" PRIu64, walk->problem, walk->broken_at);
}

/* The verdict on a box that has no length, or reaches past the view. */
static enum verdict open_box_verdict(struct jxl *jxl, const struct bmff_box *box)
{
	if (box->open && box->type == BMFF('j', 'x', 'l', 'c') && !jxl->parts)
		return open_stream_verdict(jxl, box);
	if (!box->open || !view_ends_with_image(jxl->view))
		return walk_cut(
			jxl->view, jxl->finding, box->end + box->open, view_size(jxl->view));
	jxl->finding->length = box->end;
	return verdict_because(CARVE_UNVERIFIED, jxl->finding,
		"the box at %" PRIu64 " reaches the end of the image", box->at);
}

static enum verdict check_boxes(struct view *view, struct finding *finding)
{
	struct jxl jxl = { .view = view, .finding = finding, .end = START_LEN };
	const uint8_t *p = view_peek(view, 0, START_LEN);
	const char *problem;
	struct bmff_box box;

	if (!p || be32(p) != 12 || be32(p + 4) != BMFF('J', 'X', 'L', ' ') ||
		be32(p + 8) != 0x0d0a870a)
		return verdict_because(CARVE_REJECT, finding, "no signature box at 0");
	if (be32(p + 12) != 20 || be32(p + 16) != BMFF('f', 't', 'y', 'p') ||
		be32(p + 20) != BMFF('j', 'x', 'l', ' '))
		return verdict_because(CARVE_REJECT, finding, "no file type jxl at 12");
	for (;;) {
		enum bmff_state state = bmff_read(view, jxl.end, view_size(view), &box);

		if ((state != BMFF_BOX && state != BMFF_CUT) || !known(box.type))
			break;
		if (state == BMFF_CUT || box.open)
			return open_box_verdict(&jxl, &box);
		problem = read_box(&jxl, &box);
		if (problem) {
			finding->length = box.at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, box.at);
		}
	}
	if (jxl.end == START_LEN)
		return verdict_because(CARVE_REJECT, finding, "no box of a known type at 32");
	return file_verdict(&jxl);
}

/* Whether the bytes before `end` vary as those of coded data do. */
static bool starts_coded(struct view *view, uint64_t end)
{
	size_t len = end < START_MAX ? (size_t)end : START_MAX, values = 0;
	const uint8_t *p = len ? view_peek(view, 0, len) : NULL;
	bool seen[256] = { false };

	for (size_t i = 0; p && i < len; i++) {
		values += !seen[p[i]];
		seen[p[i]] = true;
	}
	return p && values >= len / VARIETY;
}

static enum verdict check_stream(struct view *view, struct finding *finding)
{
	struct jxl_walk walk;
	bool whole = jxl_walk(&walk, view, 0, view_size(view));

	if (walk.proof < (whole ? PROOF_MIN : PROOF_CUT) || (!whole && !walk.begun && !walk.cut))
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			whole ? "too little evidence" : walk.problem, walk.broken_at);
	if (whole)
		return stream_verdict(view, &walk, finding);
	if (walk.valid_end < START_MIN ? !walk.cut : !starts_coded(view, walk.valid_end))
		return verdict_because(CARVE_REJECT, finding, "too little evidence before %" PRIu64,
			walk.broken_at);
	if (walk.cut)
		return walk_cut(view, finding, walk.end, walk.valid_end);
	finding->length = walk.valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, walk.problem, walk.broken_at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 2);

	if (p && be16(p) == STREAM)
		return check_stream(view, finding);
	return check_boxes(view, finding);
}

const struct carver jxl_carver = {
	.name = "jxl",
	.summary = "JPEG XL pictures, by their headers and boxes",
	.check = check,
	.quick = true,
};
