/*
 * Android's Dalvik executables (source.android.com, Dalvik executable format).
 *
 * The header has the file's size and an Adler-32 of everything after it: if that matches, the file
 * is complete. If it does not, the map, a list of types and offsets that most writers put last, and
 * the absence of foreign bytes distinguish a changed file (unverified) from a cut one.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "foreign.h"
#include "walk.h"

static bool checksum_matches(struct view *view, uint32_t len, uint32_t checksum)
{
	uint32_t sum = 1;
	size_t got;

	for (uint64_t at = 12; at < len; at += got) {
		const uint8_t *p = walk_window(view, at, len, &got);

		if (!p)
			return false;
		sum = (uint32_t)adler32(sum, p, (uInt)got);
	}
	return sum == checksum;
}

/* Whether the map is valid: a count, then entries of a type, a count and a rising offset. */
static bool valid_map(struct view *view, uint32_t at, uint32_t len)
{
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t count = p ? le32(p) : 0, last = 0;

	if (count < 3 || count > 64)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		p = view_peek(view, at + 4 + 12 * (uint64_t)i, 12);
		if (!p || le16(p) > 0xf000 || le32(p + 8) >= len || le32(p + 8) < last)
			return false;
		last = le32(p + 8);
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 0x70);
	uint32_t len, head_len, map, checksum;

	if (!p || memcmp(p, "dex\n0", 5) != 0 || p[7] != 0)
		return verdict_because(CARVE_REJECT, finding, "no DEX magic at 0");
	checksum = le32(p + 8);
	len = le32(p + 32);
	head_len = le32(p + 36);
	map = le32(p + 52);
	if ((head_len != 0x70 && head_len != 0x78) || le32(p + 40) != 0x12345678)
		return verdict_because(
			CARVE_REJECT, finding, "no header length and byte order at 36");
	if (len < head_len || map < head_len || map >= len)
		return verdict_because(CARVE_REJECT, finding, "impossible sizes at 32");
	if (len <= view_size(view) && checksum_matches(view, len, checksum)) {
		finding->length = len;
		return CARVE_COMPLETE;
	}
	if (len <= view_size(view) && valid_map(view, map, len)) {
		if (foreign_start(view, head_len, len) < len)
			return foreign_cut(
				view, finding, head_len, len, "the checksum is wrong", 8);
		finding->length = len;
		return verdict_because(CARVE_UNVERIFIED, finding, "the checksum at 8 is wrong");
	}
	return foreign_cut(view, finding, head_len, len, "no map", map);
}

const struct carver dex_carver = {
	.name = "dex",
	.summary = "Android's DEX files, by size and checksum",
	.check = check,
};
