/*
 * DjVu (Lizardtech DjVu Reference, version 3; IFF 85).
 *
 *	file:  'AT&T', then one form
 *	chunk: identifier (4 characters), length (4 bytes, big-endian), data, a byte to make it even
 *	form:  a chunk 'FORM' whose data begin with what it is: DJVU (a page), DJVM (several), DJVI,
 *	       THUM
 *
 * The outermost form's length is the file's. Its chunks have to lead from its beginning to its end,
 * and so have those in the forms inside it. A file is valid up to the chunk at which the walk
 * fails. The chunks' data have no checksum, and any bytes are valid for its codes (JB2, IW44, BZZ):
 * unless the last chunk is only a few bytes long nothing confirms the file's end, and a whole file
 * is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define START 16 /* after the outermost form's kind */
#define MAX_DEPTH 8
/* Bytes at the end, such as a page's number or rotation, that need no confirmation. */
#define UNCHECKED_MAX 32

static bool is_form_kind(const uint8_t *p)
{
	return memcmp(p, "DJV", 3) == 0 ? strchr("UMI", p[3]) && p[3] : memcmp(p, "THUM", 4) == 0;
}

static bool is_possible_id(const uint8_t *p)
{
	for (int i = 0; i < 4; i++)
		if (!(p[i] >= 'A' && p[i] <= 'Z') && !(p[i] >= 'a' && p[i] <= 'z') &&
			!(p[i] >= '0' && p[i] <= '9') && !(i == 3 && p[i] == ' '))
			return false;
	return true;
}

struct djvu {
	struct view *view;
	uint64_t at;              /* the next chunk */
	uint64_t ends[MAX_DEPTH]; /* of the enclosing forms */
	int depth;
	uint64_t valid_end;
	uint64_t data; /* of the last chunk that is not a form */
};

/* Skips a chunk, or enters a form; what is wrong, or NULL. */
static const char *read_chunk(struct djvu *djvu)
{
	const uint8_t *p = view_peek(djvu->view, djvu->at, 8);
	uint64_t end = djvu->ends[djvu->depth - 1], chunk_end;

	if (!p || djvu->at + 8 > end)
		return p ? "a truncated chunk header" : "";
	if (!is_possible_id(p))
		return "no chunk";
	chunk_end = djvu->at + 8 + be32(p + 4);
	if (chunk_end > end)
		return "a chunk longer than its form";
	djvu->valid_end = djvu->at;
	if (memcmp(p, "FORM", 4) == 0) {
		p = view_peek(djvu->view, djvu->at + 8, 4);
		if (!p)
			return "";
		if (chunk_end < djvu->at + 12 || !is_form_kind(p) || djvu->depth == MAX_DEPTH)
			return "a form of an unknown kind";
		djvu->ends[djvu->depth++] = chunk_end;
		djvu->at += 12;
		return NULL;
	}
	djvu->data = djvu->at + 8;
	djvu->at = chunk_end;
	return NULL;
}

/* Leaves the forms that end here; their length may leave out the byte that makes it even. */
static void leave_forms(struct djvu *djvu)
{
	while (djvu->depth && djvu->at >= djvu->ends[djvu->depth - 1])
		djvu->depth--;
	if (djvu->depth)
		djvu->at += djvu->at & 1;
	while (djvu->depth && djvu->at >= djvu->ends[djvu->depth - 1])
		djvu->depth--;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, START);
	struct djvu djvu = { .view = view, .at = START, .depth = 1 };
	const char *problem = NULL;
	uint64_t end;

	if (!p || memcmp(p, "AT&TFORM", 8) != 0 || !is_form_kind(p + 12))
		return verdict_because(CARVE_REJECT, finding, "no DjVu form at 0");
	end = djvu.ends[0] = 12 + (uint64_t)be32(p + 8);
	if (end < START)
		return verdict_because(CARVE_REJECT, finding, "an impossible form length at 8");
	while (djvu.depth && !problem) {
		problem = read_chunk(&djvu);
		if (!problem)
			leave_forms(&djvu);
	}
	if (djvu.valid_end <= START)
		return verdict_because(
			CARVE_REJECT, finding, "fewer than two chunks from %d on", START);
	finding->length = djvu.valid_end;
	if (!problem && end <= view_size(view)) {
		finding->length = end;
		if (end - djvu.data <= UNCHECKED_MAX)
			return CARVE_COMPLETE;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last chunk's data from %" PRIu64 " on cannot be verified", djvu.data);
	}
	if (!problem || !*problem)
		return walk_cut(view, finding, end > view_size(view) ? end : view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : djvu.valid_end);
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, djvu.at);
}

const struct carver djvu_carver = {
	.name = "djvu",
	.summary = "DjVu documents, by their chunks",
	.check = check,
};
