/*
 * Shapes of geographic information systems (ESRI Shapefile Technical Description).
 *
 *	header: 9994 (4, big-endian), 20 zeros, length of the file in words (4, big-endian), version 1000, kind of the
 *	        shapes (4 each, little-endian), bounds; 100 bytes
 *	record: number, from 1 on, length in words (4 each, big-endian), kind (4, little-endian; 0: none), numbers
 *
 *	index:  the same header; place and length of each record in words (4 each, big-endian)
 *
 * The records have to fill the file, and those of an index to follow each other. Nothing verifies their numbers.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "carver.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 100
#define RECORD_HEAD_LEN 8
#define ENTRY_LEN 8
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

/* Whether the file of that length is an index: whole entries, of which the first has the first record's place. */
static bool is_index(struct view *view, uint64_t end)
{
	const uint8_t *p = end > HEAD_LEN && (end - HEAD_LEN) % ENTRY_LEN == 0
				   ? view_peek(view, HEAD_LEN, ENTRY_LEN)
				   : NULL;

	return p && be32(p) == HEAD_LEN / WORD && be32(p + 4) >= 2;
}

static enum verdict check_index(struct view *view, struct finding *finding, uint64_t end)
{
	uint64_t at = HEAD_LEN, place = HEAD_LEN / WORD, size = view_size(view);

	finding->extension = "shx";
	for (; at < end; at += ENTRY_LEN) {
		const uint8_t *p = view_peek(view, at, ENTRY_LEN);

		if (p && be32(p) == place) {
			place += RECORD_HEAD_LEN / WORD + (uint64_t)be32(p + 4);
			continue;
		}
		if (end > size && at + ENTRY_LEN > size)
			return walk_cut(view, finding, end, size);
		finding->length = at;
		return verdict_because(CARVE_TRUNCATED, finding, "no entry at %" PRIu64, at);
	}
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last record's length, before %" PRIu64 ", cannot be verified", end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t end = p ? WORD * (uint64_t)be32(p + 24) : 0, at = HEAD_LEN, next;
	uint64_t size = view_size(view);
	uint32_t kind = p ? le32(p + 32) : 0;

	if (!p || be32(p) != 9994 || le32(p + 28) != 1000 || kind > 31 || end < HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (is_index(view, end))
		return check_index(view, finding, end);
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
