/*
 * Compiled modules of Python (CPython's Python/marshal.c), versions 2.7 and 3.3 to 3.14.
 *
 *	file: number of the version (2), 0D 0A, since 3.7 flags (4), time of the source (4), since 3.3 its length (4), an object of kind 'c'
 *	object: kind, with 80h if others refer to it, and what that has: a number; a length and bytes; a count and objects
 *	code: numbers of arguments and others (4 each), objects: the code, constants, names, ..., the first line (4), one object or two
 *
 * Integers are little-endian. The walk counts the objects that are still to come at each depth. The last one's end is the file's; bytes
 * of code and texts are what nothing verifies. The time is that of the source.
 */
#include <inttypes.h>

#include "bytes.h"
#include "walk.h"

#define DEPTH_MAX 512
#define COUNT_MAX (1u << 24)
#define LOOSE_MAX 64
#define USUAL_FIELDS_MIN 8 /* objects after which it is not a coincidence */

/* What a code object has, by version. */
struct layout {
	uint8_t numbers, objects,
		last; /* numbers before, objects before and after the first line's */
};

struct level {
	uint64_t left; /* objects to come; of a dictionary UINT64_MAX: up to '0' */
	bool code;     /* after these the first line, and `last` objects more */
	bool bytes;    /* these are bytes, or refer to such */
};

struct pyc {
	struct view *view;
	struct layout layout;
	struct level levels[DEPTH_MAX];
	unsigned depth;
	uint64_t at, objects, loose;
};

/* The layout and the length of the head for a version's number; false for an unknown one. */
static bool read_version(uint16_t number, struct layout *layout, size_t *head_len)
{
	if (number >= 62131 && number <= 62211) { /* 2.5 to 2.7 */
		*layout = (struct layout){ 4, 8, 1 };
		*head_len = 8;
		return true;
	}
	if (number < 3200 || number > 3700)
		return false;
	*head_len = number >= 3390 ? 16 : 12;
	if (number >= 3450)
		*layout = (struct layout){ 5, 8, 2 };
	else if (number >= 3400)
		*layout = (struct layout){ 6, 8, 1 };
	else
		*layout = (struct layout){ 5, 8, 1 };
	return true;
}

static bool push(struct pyc *pyc, uint64_t count, bool code, bool bytes)
{
	if (!count)
		return true;
	if (pyc->depth == DEPTH_MAX || (count > COUNT_MAX && count != UINT64_MAX))
		return false;
	pyc->levels[pyc->depth++] = (struct level){ count, code, bytes };
	return true;
}

/* Skips len bytes that nothing verifies. */
static bool skip(struct pyc *pyc, uint64_t len, bool loose)
{
	if (len > view_size(pyc->view) - pyc->at)
		return false;
	pyc->at += len;
	pyc->loose = loose ? len : 0;
	return true;
}

/* The length of the number or count that follows the kind; 0: none does. */
static size_t count_len(uint8_t kind)
{
	switch (kind) {
	case '(':
	case '[':
	case '<':
	case '>':
	case 's':
	case 't':
	case 'u':
	case 'a':
	case 'A':
	case 'i':
	case 'r':
	case 'R':
	case 'l':
		return 4;
	case ')':
	case 'z':
	case 'Z':
	case 'f':
		return 1;
	}
	return 0;
}

/* Reads an object; its parts are to come. False: it is not an object, or it is cut. */
static bool read_object(struct pyc *pyc)
{
	const uint8_t *p = view_peek(pyc->view, pyc->at, 1);
	uint8_t kind = p ? *p & 0x7f : 0;
	size_t len = count_len(kind);
	uint32_t count;

	if (pyc->depth && pyc->levels[pyc->depth - 1].bytes && kind != 's' && kind != 't' &&
		kind != 'r' && kind != 'R')
		return false;
	p = view_peek(pyc->view, pyc->at, 1 + len);
	if (!p)
		return false;
	count = len == 4 ? le32(p + 1) : len ? p[1] : 0;
	pyc->at += 1 + len;
	pyc->loose = 0;
	pyc->objects++;
	switch (kind) {
	case 'N':
	case 'T':
	case 'F':
	case '.':
	case 'S':
	case 'i':
		return true;
	case 'r':
	case 'R':
		return count < pyc->objects;
	case 'I':
	case 'g':
		return skip(pyc, 8, true);
	case 'y':
		return skip(pyc, 16, true);
	case 'l':
		count = count & 0x80000000 ? -count : count;
		return count < COUNT_MAX && skip(pyc, 2 * (uint64_t)count, true);
	case 's':
	case 't':
	case 'u':
	case 'a':
	case 'A':
	case 'z':
	case 'Z':
	case 'f':
		return skip(pyc, count, true);
	case '(':
	case '[':
	case '<':
	case '>':
	case ')':
		return push(pyc, count, false, false);
	case ':': /* 3.14: a slice */
		return push(pyc, 3, false, false);
	case '{':
		return push(pyc, UINT64_MAX, false, false);
	case 'c':
		return skip(pyc, 4 * (uint64_t)pyc->layout.numbers, false) &&
		       push(pyc, pyc->layout.objects, true, false);
	}
	return false;
}

/* Ends the level whose objects are all read. */
static bool end_level(struct pyc *pyc)
{
	bool code = pyc->levels[--pyc->depth].code;

	return !code || (skip(pyc, 4, false) && push(pyc, pyc->layout.last, false, true));
}

static bool walk(struct pyc *pyc)
{
	if (!read_object(pyc))
		return false;
	while (pyc->depth) {
		struct level *level = &pyc->levels[pyc->depth - 1];
		const uint8_t *p;

		if (!level->left) {
			if (!end_level(pyc))
				return false;
			continue;
		}
		if (level->left != UINT64_MAX) {
			level->left--;
		} else if ((p = view_peek(pyc->view, pyc->at, 1)) && *p == '0') {
			pyc->at++;
			pyc->depth--;
			continue;
		}
		if (!read_object(pyc))
			return false;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pyc pyc = { .view = view };
	const uint8_t *p = view_peek(view, 0, 17);
	size_t head_len = 0;
	uint32_t flags;

	if (!p || p[2] != '\r' || p[3] != '\n' || !read_version(le16(p), &pyc.layout, &head_len) ||
		(p[head_len] & 0x7f) != 'c')
		return verdict_because(CARVE_REJECT, finding, "no version and code at 0");
	flags = head_len == 16 ? le32(p + 4) : 0;
	if (flags > 3)
		return verdict_because(CARVE_REJECT, finding, "unknown flags at 4");
	if (!(flags & 1))
		finding->time = le32(p + (head_len == 16 ? 8 : 4));
	pyc.at = head_len;
	if (walk(&pyc)) {
		finding->length = pyc.at;
		if (pyc.loose > LOOSE_MAX &&
			pyc.at / USUAL_CLUSTER != (pyc.at - pyc.loose) / USUAL_CLUSTER) {
			view_holds(view, 0, pyc.at);
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the last %" PRIu64 " bytes cannot be verified", pyc.loose);
		}
		return CARVE_COMPLETE;
	}
	if (pyc.objects < USUAL_FIELDS_MIN) {
		finding->time = 0;
		return verdict_because(CARVE_REJECT, finding, "no object at %" PRIu64, pyc.at);
	}
	finding->length = pyc.at;
	if (view_ends_with_image(view) && pyc.at + 5 > view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	return verdict_because(CARVE_TRUNCATED, finding, "no object at %" PRIu64, pyc.at);
}

const struct carver pyc_carver = {
	.name = "pyc",
	.summary = "compiled modules of Python, by their objects",
	.check = check,
};
