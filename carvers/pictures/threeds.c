/*
 * 3D Studio models (Autodesk 3D Studio File Format, Release 3; lib3ds).
 *
 *	chunk: kind (2 bytes), length with these 6 bytes (4), data; all little-endian
 *	file:  a chunk 4D4D, of other chunks: version (0002), objects (3D3D), animation (B000)
 *
 * These chunks have to fill it, and others them. Nothing verifies what is in the innermost ones.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 6
#define DEPTH_MAX 8

enum { MAIN = 0x4d4d, OBJECTS = 0x3d3d, OBJECT = 0x4000, MESH = 0x4100, ANIMATION = 0xb000 };

struct chunk {
	uint32_t kind;
	uint64_t data, end;
};

static bool read_chunk(struct view *view, uint64_t at, uint64_t limit, struct chunk *chunk)
{
	const uint8_t *p = limit - at >= HEAD_LEN ? view_peek(view, at, HEAD_LEN) : NULL;

	if (!p || le32(p + 2) < HEAD_LEN || le32(p + 2) > limit - at)
		return false;
	*chunk = (struct chunk){ .kind = le16(p), .data = at + HEAD_LEN, .end = at + le32(p + 2) };
	return true;
}

/* Whether its data are chunks; those of an object begin after its name. */
static bool has_chunks(struct view *view, struct chunk *chunk)
{
	if (chunk->kind == OBJECT) {
		if (!walk_find(view, &chunk->data, chunk->end, 0))
			return false;
		chunk->data++;
		return true;
	}
	return chunk->kind == OBJECTS || chunk->kind == MESH ||
	       (chunk->kind >= ANIMATION && chunk->kind <= ANIMATION + 7);
}

/* Walks the chunks in the file up to its end, or to *at, where no chunk starts. */
static bool walk_chunks(struct view *view, const struct chunk *whole, uint64_t *at)
{
	uint64_t ends[DEPTH_MAX] = { whole->end };
	unsigned depth = 1;
	struct chunk chunk;

	while (depth) {
		if (*at == ends[depth - 1]) {
			depth--;
			continue;
		}
		if (!read_chunk(view, *at, ends[depth - 1], &chunk))
			return false;
		*at = chunk.end;
		if (depth < DEPTH_MAX && has_chunks(view, &chunk)) {
			ends[depth++] = chunk.end;
			*at = chunk.data;
		}
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = HEAD_LEN, size = view_size(view);
	struct chunk whole, first;

	if (!read_chunk(view, 0, UINT32_MAX, &whole) || whole.kind != MAIN ||
		!read_chunk(view, at, whole.end, &first) ||
		(first.kind != OBJECTS && (first.kind != 2 || first.end != at + 10)))
		return verdict_because(CARVE_REJECT, finding, "no chunks at 0");
	if (!walk_chunks(view, &whole, &at) && (whole.end <= size || at + HEAD_LEN <= size)) {
		finding->length = at > first.end ? at : 0;
		return verdict_because(finding->length ? CARVE_TRUNCATED : CARVE_REJECT, finding,
			"no chunk at %" PRIu64, at);
	}
	return stored_check_data(view, finding, first.end, whole.end);
}

const struct carver threeds_carver = {
	.name = "threeds",
	.summary = "3D Studio models, by their chunks",
	.check = check,
	.quick = true,
};
