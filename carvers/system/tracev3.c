/*
 * Apple's unified logs (libyal's Apple Unified Logging and Activity Tracing formats).
 *
 *	file:  chunks; the first is the header
 *	chunk: kind (4 bytes), version (4), length of the data (8), data, zeros up to a multiple of 8; little-endian
 *	kinds: 1000 header, 600B catalogue, 600D log entries, compressed with LZ4 ('bv41', ..., 'bv4$'), and others
 *
 * Nothing marks the end, or verifies the data but the marks of the compressed chunks.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEAD_LEN 16
#define CHUNK_MAX (1u << 28)

enum { HEADER = 0x1000, ENTRIES = 0x600d, KIND_MIN = 0x6000, KIND_MAX = 0x6010 };

/* The chunk's length with its head and what fills it up, or 0. */
static uint64_t chunk_len(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN);
	uint32_t kind = p ? le32(p) : 0;
	uint64_t len = p ? le64(p + 8) : 0;

	if (at ? kind < KIND_MIN || kind > KIND_MAX : kind != HEADER)
		return 0;
	if (le32(p + 4) > 0xff || !len || len > CHUNK_MAX)
		return 0;
	return HEAD_LEN + (len + 7) / 8 * 8;
}

/* Whether the entries at `at` begin and end with their marks. */
static bool has_marks(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN + 4);
	uint64_t len = p ? le64(p + 8) : 0;

	if (!p || le32(p) != ENTRIES)
		return p != NULL;
	if (memcmp(p + HEAD_LEN, "bv4", 3) != 0)
		return false;
	p = len >= 8 ? view_peek(view, at + HEAD_LEN + len - 4, 4) : NULL;
	return p && memcmp(p, "bv4$", 4) == 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, len, size = view_size(view), chunks = 0;

	while ((len = chunk_len(view, at)) && at + len <= size) {
		finding->length = at;
		if (!has_marks(view, at))
			return verdict_because(
				CARVE_TRUNCATED, finding, "no log entries at %" PRIu64, at);
		at += len;
		chunks++;
	}
	if (chunks < 2) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no chunk at %" PRIu64, at);
	}
	return walk_uncounted(view, finding, 0, at, len, "chunk");
}

const struct carver tracev3_carver = {
	.name = "tracev3",
	.summary = "Apple's unified logs, by their chunks",
	.check = check,
};
