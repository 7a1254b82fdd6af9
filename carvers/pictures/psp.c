/*
 * Paint Shop Pro's pictures (Corel, Paint Shop Pro File Format Specification).
 *
 *	header: 'Paint Shop Pro Image File' 0A 1A 00 00 00 00 00, version (2 numbers of 2 bytes, little-endian)
 *	block:  '~BK' 00, kind (2), before version 4 the length of its first part (4), length (4), content
 *	content: data, or fields of a few bytes and then blocks, with fields between (layers, channels,
 *		composite pictures)
 *
 * Blocks follow one another, the first with the picture's size, and blocks inside a block fill it. Their number
 * is not stored, and nothing verifies pixels: a picture is unverified, and truncated where a block inside another does not
 * follow.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "walk.h"

#define HEAD_LEN 36
#define DEPTH_MAX 8
#define FIELDS_MAX 1024 /* before the first block inside another */
#define GAP_MAX 64      /* from a block to the next one inside the same */
#define KIND_MAX 64

enum { ATTRIBUTES = 0 };

struct psp {
	struct view *view;
	size_t block_head_len;
};

/* Reads the block at `at`: where its content begins and ends. False: none. */
static bool read_block(
	const struct psp *psp, uint64_t at, unsigned *kind, uint64_t *content, uint64_t *end)
{
	const uint8_t *p = view_peek(psp->view, at, psp->block_head_len);

	if (!p || memcmp(p, "~BK", 4) != 0 || le16(p + 4) > KIND_MAX)
		return false;
	*kind = le16(p + 4);
	*content = at + psp->block_head_len;
	*end = *content + le32(p + psp->block_head_len - 4);
	return true;
}

/* The first block in [at, end), after at most `most` bytes of fields; 0: none. */
static uint64_t first_inside(const struct psp *psp, uint64_t at, uint64_t end, size_t most)
{
	size_t len = end - at < most ? (size_t)(end - at) : most;
	const uint8_t *p = len >= psp->block_head_len ? view_peek(psp->view, at, len) : NULL;
	const uint8_t *found = p ? memmem(p, len, "~BK", 4) : NULL;

	return found ? at + (uint64_t)(found - p) : 0;
}

/* Whether the blocks inside [at, end) follow one another up to its end. False: *broken_at is where none does. */
static bool blocks_fill(const struct psp *psp, uint64_t at, uint64_t end, uint64_t *broken_at)
{
	uint64_t ends[DEPTH_MAX] = { end }, content, inside;
	unsigned depth = 1, kind;

	at = first_inside(psp, at, end, FIELDS_MAX);
	while (at && depth) {
		if (at == ends[depth - 1]) {
			depth--;
			continue;
		}
		*broken_at = at;
		at = first_inside(psp, at, ends[depth - 1], GAP_MAX);
		if (!at || !read_block(psp, at, &kind, &content, &end) || end > ends[depth - 1])
			return false;
		inside = depth < DEPTH_MAX ? first_inside(psp, content, end, FIELDS_MAX) : 0;
		if (inside)
			ends[depth++] = end;
		at = inside ? inside : end;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct psp psp = { .view = view };
	uint64_t at = HEAD_LEN, content, end = 0, broken_at, size = view_size(view);
	unsigned kind;

	if (!p || memcmp(p, "Paint Shop Pro Image File\n\x1a\0\0\0\0", 32) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	psp.block_head_len = le16(p + 32) < 4 ? 14 : 10;
	for (; read_block(&psp, at, &kind, &content, &end); at = end) {
		if (at == HEAD_LEN && kind != ATTRIBUTES)
			return verdict_because(CARVE_REJECT, finding,
				"no attributes of the picture at %" PRIu64, at);
		embedded_find_all(view, content, end < size ? end : size);
		if (end > size)
			return walk_cut(view, finding, end, view_ends_with_image(view) ? size : at);
		if (!blocks_fill(&psp, content, end, &broken_at)) {
			finding->length = broken_at;
			return verdict_because(CARVE_TRUNCATED, finding,
				"no block inside another at %" PRIu64, broken_at);
		}
	}
	if (at == HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "no block at %d", HEAD_LEN);
	return walk_uncounted(view, finding, HEAD_LEN, at, 0, "block");
}

const struct carver psp_carver = {
	.name = "psp",
	.summary = "Paint Shop Pro's pictures, by their blocks",
	.check = check,
};
