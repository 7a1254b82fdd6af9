/*
 * Shapes of geographic information systems (ESRI Shapefile Technical Description).
 *
 *	header: 9994 (4, big-endian), 20 zeros, length of the file in words (4, big-endian), version 1000, kind of the
 *	        shapes (4 each, little-endian), bounds; 100 bytes
 *	record: number, from 1 on, length in words (4 each, big-endian), kind (4, little-endian; 0: none), numbers
 *
 * The records have to fill the file. Nothing verifies their numbers.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "carver.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 100
#define RECORD_HEAD_LEN 8
#define WORD 2

static bool read_record(
	struct view *view, uint64_t at, uint32_t number, uint32_t kind, uint64_t *end)
{
	const uint8_t *p = view_peek(view, at, RECORD_HEAD_LEN + 4);

	if (!p || be32(p) != number || be32(p + 4) < 2 || (le32(p + 8) && le32(p + 8) != kind))
		return false;
	*end = at + RECORD_HEAD_LEN + WORD * (uint64_t)be32(p + 4);
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t end = p ? WORD * (uint64_t)be32(p + 24) : 0, at = HEAD_LEN, next;
	uint64_t size = view_size(view);
	uint32_t kind = p ? le32(p + 32) : 0;

	if (!p || be32(p) != 9994 || le32(p + 28) != 1000 || kind > 31 || end < HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (uint32_t number = 1; at < end; number++, at = next) {
		if (read_record(view, at, number, kind, &next) && next <= end)
			continue;
		if (end > size && at + RECORD_HEAD_LEN + 4 > size)
			return walk_cut(view, finding, end, size);
		finding->length = at;
		return verdict_because(CARVE_TRUNCATED, finding, "no record at %" PRIu64, at);
	}
	return stored_check(view, finding, HEAD_LEN, end);
}

const struct carver shp_carver = {
	.name = "shp",
	.summary = "shapes of geographic information systems, by their records",
	.check = check,
};
