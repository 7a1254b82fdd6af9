/*
 * WordPerfect graphics (libwpg's sources; Corel, WordPerfect SDK).
 *
 *	header:    FF 'WPC', where the records start (4, little-endian), product 1, kind 16, version (1 or 2)
 *	version 1: record: kind, length, data; 0F starts the picture, 10 ends it
 *	version 2: record: class, kind, length of an extension, length, data; 1 starts, 2 ends
 *	length:    a byte; FF: two bytes, and if their highest bit is set two more, which are the lower half
 *
 * Records lead to the last one. Nothing verifies what is in them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "embedded.h"
#include "noise.h"
#include "walk.h"

#define HEAD_LEN 16
#define RECORD_HEAD_MAX 12
#define START_MAX 4096

struct record {
	unsigned kind;
	uint64_t data, end;
};

/* Reads a length at p, of which len bytes follow. Returns how many it takes; 0: it is cut. */
static size_t read_length(const uint8_t *p, size_t len, uint64_t *length)
{
	if (!len || (p[0] == 0xff && len < 3))
		return 0;
	*length = p[0];
	if (p[0] != 0xff)
		return 1;
	*length = le16(p + 1);
	if (!(p[2] & 0x80))
		return 3;
	if (len < 5)
		return 0;
	*length = (uint64_t)(le16(p + 1) & 0x7fff) << 16 | le16(p + 3);
	return 5;
}

static bool read_record(struct view *view, uint64_t at, unsigned version, struct record *record)
{
	uint64_t length = 0, extension;
	size_t len, used = version, got;
	const uint8_t *p = walk_window(view, at, at + RECORD_HEAD_MAX, &len);

	if (!p || len <= version)
		return false;
	record->kind = p[version - 1];
	if (version == 2) {
		got = read_length(p + used, len - used, &extension);
		if (!got)
			return false;
		used += got;
	}
	got = read_length(p + used, len - used, &length);
	record->data = at + used + got;
	record->end = record->data + length;
	return got;
}

static enum verdict broken_at(
	struct view *view, struct finding *finding, uint64_t start, uint64_t at)
{
	if (at + RECORD_HEAD_MAX > view_size(view))
		return walk_cut(view, finding, at + RECORD_HEAD_MAX, at);
	finding->length = noise_before(view, start, at);
	return verdict_because(CARVE_TRUNCATED, finding, "no record at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t start = p ? le32(p + 4) : 0, at = start, size = view_size(view);
	unsigned version = p ? p[10] : 0, first, last, kind_max;
	struct record record;

	if (!p ||
		memcmp(p,
			"\xff"
			"WPC",
			4) != 0 ||
		p[8] != 1 || p[9] != 0x16 || version < 1 || version > 2 || start < HEAD_LEN ||
		start > START_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	first = version == 1 ? 0x0f : 1;
	last = version == 1 ? 0x10 : 2;
	kind_max = version == 1 ? 0x1f : 0x50;
	if (!read_record(view, at, version, &record) || record.kind != first)
		return verdict_because(CARVE_REJECT, finding, "no first record at %" PRIu64, at);
	for (;;) {
		if (!read_record(view, at, version, &record) || !record.kind ||
			record.kind > kind_max)
			return broken_at(view, finding, start, at);
		if (record.end > size)
			return walk_cut(view, finding, record.end, size);
		at = record.end;
		if (record.kind == last) {
			finding->length = at;
			return CARVE_COMPLETE;
		}
		embedded_find(view, record.data, record.end, 64);
		view_unverified(view, record.data, record.end);
	}
}

const struct carver wpg_carver = {
	.name = "wpg",
	.summary = "WordPerfect graphics, by their records",
	.check = check,
};
