/*
 * JPEG XL in its container (ISO/IEC 18181-2).
 *
 *	'JXL '  a signature box of 12 bytes
 *	'ftyp'  with the brand 'jxl '
 *	'jxlc'  the codestream, which begins with FF 0A; or 'jxlp', parts of it, each with its
 *number in front, the last one's with the highest bit set 'jbrd', 'Exif', 'xml ', 'brob', ...  what
 *belongs to it
 *
 * The boxes are those of ISO base media files (bmff.c), and the file ends where none of a known
 * type follows. The codestream is noise to whoever does not decode it: if the file ends with much
 *of it, nothing bears out that it is all there, and the verdict is unverified. The date is Exif's.
 *
 * A bare codestream is not recognised: its two bytes and a head of a few bits that may have almost
 * any value are found in every 64 KiB of random data.
 */
#include "bmff.h"

#include <inttypes.h>

#include "bytes.h"
#include "exif.h"
#include "walk.h"

#define START_LEN 32
#define TAIL_PART 16
#define TAIL_LEAST 32
/* A codestream may hold zeros, but hardly so many at its end. */
#define WIPED_LEAST 512

struct jxl {
	struct view *view;
	struct finding *finding;
	uint64_t end;       /* behind the last box */
	uint64_t confirmed; /* where the last box's data begin */
	uint64_t wiped;     /* where the zeros begin that a codestream ends with, or 0 */
	uint32_t parts;
	bool whole;
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

/* A box with a codestream, or a part of it. What is wrong, or NULL. */
static const char *take_data(struct jxl *jxl, const struct bmff_box *box)
{
	bool part = box->type == BMFF('j', 'x', 'l', 'p');
	uint64_t at = box->data + (part ? 4 : 0), wiped;
	const uint8_t *p = view_peek(jxl->view, box->data, part ? 4 : 2);

	if (jxl->whole)
		return "a codestream behind the codestream";
	if (!p || box->end - box->data < (part ? 6 : 2))
		return "the codestream is cut off";
	if (part && (be32(p) & INT32_MAX) != jxl->parts)
		return "a part of the codestream is missing";
	jxl->whole = !part || be32(p) >> 31;
	if (jxl->parts++ == 0) {
		p = view_peek(jxl->view, at, 2);
		if (!p || be16(p) != 0xff0a)
			return "no codestream begins";
	}
	wiped = walk_before_fill(jxl->view, at, box->end);
	if (box->end - wiped >= WIPED_LEAST)
		jxl->wiped = wiped;
	return NULL;
}

/* Exif: 4 bytes that say how far behind them the TIFF head stands. */
static void read_exif(struct jxl *jxl, const struct bmff_box *box)
{
	const uint8_t *p = view_peek(jxl->view, box->data, 4);
	uint64_t skip = p ? be32(p) + 4ull : 0;

	if (p && skip < box->end - box->data)
		exif_read(jxl->view, box->data + skip, box->end - box->data - skip, jxl->finding);
}

/* Takes a box that is all there. What is wrong with it, or NULL. */
static const char *take(struct jxl *jxl, const struct bmff_box *box)
{
	const char *problem = NULL;

	if (box->type == BMFF('j', 'x', 'l', 'c') || box->type == BMFF('j', 'x', 'l', 'p'))
		problem = take_data(jxl, box);
	else if (box->type == BMFF('E', 'x', 'i', 'f'))
		read_exif(jxl, box);
	jxl->end = box->end;
	jxl->confirmed = box->data;
	return problem;
}

static enum verdict judge(struct jxl *jxl)
{
	struct finding *finding = jxl->finding;
	uint64_t tail = jxl->end - jxl->confirmed;

	finding->length = jxl->wiped ? jxl->wiped : jxl->end;
	if (jxl->wiped)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the codestream is wiped from %" PRIu64 " on", jxl->wiped);
	if (!jxl->whole)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no end of the codestream before %" PRIu64, jxl->end);
	if (tail > TAIL_LEAST && tail > jxl->end / TAIL_PART)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"whether the last %" PRIu64 " bytes are the file's can't be seen", tail);
	return CARVE_COMPLETE;
}

/* A box that has no length, or reaches behind the view. */
static enum verdict judge_open(struct jxl *jxl, const struct bmff_box *box)
{
	if (!box->open || !view_ends_with_image(jxl->view))
		return walk_cut(
			jxl->view, jxl->finding, box->end + box->open, view_size(jxl->view));
	jxl->finding->length = box->end;
	return verdict_because(CARVE_UNVERIFIED, jxl->finding,
		"the box at %" PRIu64 " goes to the end of the image", box->at);
}

static enum verdict check(struct view *view, struct finding *finding)
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

		if ((state != BMFF_SOUND && state != BMFF_CUT) || !known(box.type))
			break;
		if (state == BMFF_CUT || box.open)
			return judge_open(&jxl, &box);
		problem = take(&jxl, &box);
		if (problem) {
			finding->length = box.at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, box.at);
		}
	}
	if (jxl.end == START_LEN)
		return verdict_because(CARVE_REJECT, finding, "no box of a known type at 32");
	return judge(&jxl);
}

const struct carver jxl_carver = {
	.name = "jxl",
	.summary = "JPEG XL pictures in their container, by its boxes",
	.check = check,
};
