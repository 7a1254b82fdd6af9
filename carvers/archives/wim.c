/*
 * Windows images (Microsoft, "Windows Imaging File Format (WIM)"; wimlib's headers for what it
 * leaves out).
 *
 *	file:   header (208 bytes), resources, resource table, XML, [integrity table]
 *	header: 'MSWIM' 00 00 00, 208, version, flags, ..., then for each table its length (56 bits,
 *		with flags in the other 8), offset, decompressed length
 *
 * All little-endian. The last table ends the file. Each entry of the resource table has to lie in
 * the file, and the XML has to be XML in UTF-16.
 *
 * Damage. The tables are at the end, and describe what precedes them: without them only the header
 * is valid.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

enum {
	HEADER_LEN = 208,
	RESOURCES_AT = 48,
	XML_AT = 72,
	INTEGRITY_AT = 124,
	ENTRY_LEN = 50,
	COMPRESSED = 4,
	SOLID = 16,
};

struct wim_table {
	uint64_t at, len, end;
	uint8_t flags;
};

/* Reads a table's offset and length; false when they are impossible. */
static bool read_table(const uint8_t *p, struct wim_table *table)
{
	table->len = le64(p) & 0xffffffffffffff;
	table->flags = p[7];
	table->at = le64(p + 8);
	table->end = table->at + table->len;
	return !table->len || (table->at >= HEADER_LEN && table->at < (uint64_t)1 << 56);
}

/* Whether all resources lie before the end of the file. The offset of a resource within another one
 * is relative to that one. */
static bool resources_fit(struct view *view, const struct wim_table *table, uint64_t end)
{
	if (table->flags & COMPRESSED)
		return true;
	if (table->len % ENTRY_LEN)
		return false;
	for (uint64_t at = table->at; at < table->end; at += ENTRY_LEN) {
		const uint8_t *p = view_peek(view, at, ENTRY_LEN);
		uint64_t len = p ? le64(p) & 0xffffffffffffff : 0;

		if (!p || (!(p[7] & SOLID) && (le64(p + 8) > end || len > end - le64(p + 8))))
			return false;
	}
	return true;
}

static bool is_xml(struct view *view, const struct wim_table *xml)
{
	const uint8_t *p = xml->len >= 8 ? view_peek(view, xml->at, 4) : NULL;

	if (!p || memcmp(p, "\xff\xfe<\0", 4) != 0)
		return false;
	/* A line's end or a zero may follow the last element. */
	for (uint64_t end = xml->end; end >= xml->at + 6 && end + 6 >= xml->end; end -= 2) {
		p = view_peek(view, end - 2, 2);
		if (!p || (le16(p) != '\r' && le16(p) != '\n' && le16(p) != 0))
			return p && le16(p) == '>';
	}
	return false;
}

/* The integrity table starts with its own length. */
static bool integrity_fits(struct view *view, const struct wim_table *table)
{
	const uint8_t *p = view_peek(view, table->at, 12);

	return !table->len || (p && le32(p) == table->len && le32(p + 4) == (table->len - 12) / 20);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	struct wim_table resources, xml, integrity;
	uint64_t end, size = view_size(view);

	if (!p || memcmp(p, "MSWIM\0\0\0\xd0\0\0\0", 12) != 0 ||
		!read_table(p + RESOURCES_AT, &resources) || !read_table(p + XML_AT, &xml) ||
		!read_table(p + INTEGRITY_AT, &integrity))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	end = resources.end > xml.end ? resources.end : xml.end;
	end = integrity.end > end ? integrity.end : end;
	if (end < HEADER_LEN)
		return verdict_because(CARVE_REJECT, finding, "no tables at %d", RESOURCES_AT);
	if (end > size)
		return walk_cut_filled(view, finding, end, HEADER_LEN);
	finding->length = end;
	if (is_xml(view, &xml) && resources_fit(view, &resources, end) &&
		integrity_fits(view, &integrity))
		return CARVE_COMPLETE;
	finding->length = HEADER_LEN;
	return verdict_because(
		CARVE_TRUNCATED, finding, "the tables that end at %" PRIu64 " are invalid", end);
}

const struct carver wim_carver = {
	.name = "wim",
	.summary = "Windows images, by their tables",
	.check = check,
};
