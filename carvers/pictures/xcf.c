/*
 * XCF, GIMP's own format (devel-docs/xcf.txt of GIMP; xcf-save.c writes it in this order).
 *
 *	'gimp xcf file' 00, or 'gimp xcf v001' 00 and so on; width, height, kind of colours, from
 *	        version 4 on precision; properties
 *	pointers to layers, 0, pointers to channels, 0: of 4 bytes, from version 11 on of 8
 *	layer:     size, type, name, properties, pointers to its hierarchy and its mask, a channel
 *	channel:   size, name, properties, pointer to its hierarchy
 *	hierarchy: size, bytes of a pixel, pointers to levels, of which only the first has pixels; 0
 *	level:     size, pointers to tiles, 0 (xcf_tiles.c)
 *
 * All numbers are big-endian. GIMP writes each structure after all that precede it in this tree, so
 * the walk goes from the first byte to the last without looking back; its end is the file's. All
 * tiles are decoded; as nearly any bytes are runs, the last tile's have to be as GIMP writes them. From
 * version 18 on more follows the layers, which is not known here: such a file is unverified.
 */
#include "xcf.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "overwrite.h"
#include "walk.h"

#define ITEMS_MAX 65536
#define PROPERTIES_MAX 1000
#define LEVELS_MAX 32
#define LAST_VERSION 17
#define LOOSE_MAX \
	64 /* bytes at the end that may be values as they are, if a sector begins in them */

enum property { PROP_END = 0, PROP_COMPRESSION = 17, PROP_LAST = 60 };

bool xcf_fail(struct xcf *xcf, uint64_t at, const char *problem)
{
	xcf->broken_at = at;
	xcf->problem = problem;
	return false;
}

bool xcf_pointer(struct xcf *xcf, uint64_t at, uint64_t *value)
{
	const uint8_t *p = view_peek(xcf->view, at, xcf->pointer_len);

	if (!p)
		return xcf_fail(xcf, at, NULL);
	*value = xcf->pointer_len == 8 ? be64(p) : be32(p);
	return true;
}

/* Reads the properties at *at and moves *at past them. */
static bool read_properties(struct xcf *xcf, uint64_t *at)
{
	for (unsigned count = 0; count < PROPERTIES_MAX; count++) {
		const uint8_t *p = view_peek(xcf->view, *at, 8);
		uint32_t type = p ? be32(p) : 0, len = p ? be32(p + 4) : 0;

		if (!p)
			return xcf_fail(xcf, *at, NULL);
		if (type > PROP_LAST || len > INT32_MAX)
			return xcf_fail(xcf, *at, "no property");
		if (type == PROP_COMPRESSION) {
			p = view_peek(xcf->view, *at + 8, 1);
			xcf->compression = p ? p[0] : 0;
			if (len != 1 || xcf->compression > 2)
				return xcf_fail(xcf, *at, "an unknown compression");
		}
		*at += 8ull + len;
		if (type == PROP_END)
			return len == 0 || xcf_fail(xcf, *at - 8, "no property");
	}
	return xcf_fail(xcf, *at, "too many properties");
}

/* Skips a text that starts with its length, which counts the zero at its end. */
static bool skip_text(struct xcf *xcf, uint64_t *at)
{
	const uint8_t *p = view_peek(xcf->view, *at, 4);
	uint32_t len = p ? be32(p) : 0;

	if (p && len > 65536)
		return xcf_fail(xcf, *at, "an impossible name");
	if (p && len) {
		p = view_peek(xcf->view, *at + 4 + len - 1, 1);
		if (p && *p)
			return xcf_fail(xcf, *at, "a name without an end");
	}
	*at += 4ull + len;
	return p || xcf_fail(xcf, *at, NULL);
}

static bool read_hierarchy(struct xcf *xcf, uint64_t at)
{
	const uint8_t *p = view_peek(xcf->view, at, 12);
	uint64_t levels[LEVELS_MAX];
	uint32_t depth = p ? be32(p + 8) : 0;
	unsigned count = 0;

	if (!p)
		return xcf_fail(xcf, at, NULL);
	if (at < xcf->extent || depth < 1 || depth > 32)
		return xcf_fail(xcf, at, "no hierarchy");
	for (at += 12; count < LEVELS_MAX; count++, at += xcf->pointer_len) {
		if (!xcf_pointer(xcf, at, &levels[count]))
			return false;
		if (!levels[count])
			break;
	}
	if (count == 0 || count == LEVELS_MAX)
		return xcf_fail(xcf, at, "a hierarchy without levels");
	xcf->extent = at + xcf->pointer_len;
	if (!xcf_read_level(xcf, levels[0], depth))
		return false;
	for (unsigned i = 1; i < count; i++)
		if (!xcf_skip_level(xcf, levels[i]))
			return false;
	return true;
}

/* Reads a layer, or a channel, which has no type and no mask. */
static bool read_item(struct xcf *xcf, uint64_t at, bool layer)
{
	uint64_t text = at + (layer ? 12 : 8), hierarchy, mask = 0;

	if (at < xcf->extent)
		return xcf_fail(xcf, at, "a layer that starts inside earlier data");
	if (at > view_size(xcf->view))
		return xcf_fail(xcf, xcf->extent, NULL);
	xcf->item_count++;
	if (!skip_text(xcf, &text) || !read_properties(xcf, &text) ||
		!xcf_pointer(xcf, text, &hierarchy))
		return false;
	text += xcf->pointer_len;
	if (layer && !xcf_pointer(xcf, text, &mask))
		return false;
	xcf->extent = text + (layer ? xcf->pointer_len : 0);
	if (!read_hierarchy(xcf, hierarchy))
		return false;
	return !mask || read_item(xcf, mask, false);
}

/* Reads a list of layers or channels and moves *at past it. */
static bool read_items(struct xcf *xcf, uint64_t *at, bool layers, bool deep)
{
	for (unsigned count = 0; count < ITEMS_MAX; count++) {
		uint64_t item;

		if (!xcf_pointer(xcf, *at, &item))
			return false;
		*at += xcf->pointer_len;
		if (!item)
			return true;
		if (deep && !read_item(xcf, item, layers))
			return false;
	}
	return xcf_fail(xcf, *at, "too many layers");
}

/* Reads the header and moves *at past it. Returns what is wrong with it, or NULL. */
static const char *read_header(struct xcf *xcf, uint64_t *at)
{
	const uint8_t *p = view_peek(xcf->view, 0, 30);

	if (!p || memcmp(p, "gimp xcf ", 9) != 0 || p[13] != 0)
		return "no XCF header";
	if (p[9] == 'v') {
		for (int i = 10; i < 13; i++) {
			if (p[i] < '0' || p[i] > '9')
				return "no version";
			xcf->version = xcf->version * 10 + (unsigned)(p[i] - '0');
		}
	} else if (memcmp(p + 9, "file", 4) != 0) {
		return "no version";
	}
	if (be32(p + 14) - 1 >= 524288 || be32(p + 18) - 1 >= 524288 || be32(p + 22) > 2)
		return "an impossible size or kind";
	*at = xcf->version >= 4 ? 30 : 26;
	xcf->pointer_len = xcf->version >= 11 ? 8 : 4;
	return NULL;
}

/* Walks everything after the header. */
static bool walk(struct xcf *xcf, uint64_t at)
{
	uint64_t lists;

	if (!read_properties(xcf, &at))
		return false;
	xcf->extent = lists = at;
	/* Layers come after both lists: first find where the lists end. */
	if (!read_items(xcf, &at, true, false) || !read_items(xcf, &at, false, false))
		return false;
	xcf->extent = at;
	return read_items(xcf, &lists, true, true) && read_items(xcf, &lists, false, true);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct xcf xcf = { .view = view };
	uint64_t at = 0;
	const char *problem = read_header(&xcf, &at);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	if (walk(&xcf, at)) {
		finding->length = xcf.extent;
		if (xcf.version > LAST_VERSION)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"version %u may have more after %" PRIu64, xcf.version, xcf.extent);
		if (xcf.compression == 0)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the pixels before %" PRIu64 " cannot be verified", xcf.extent);
		if (!xcf.item_count)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"neither layers nor channels before %" PRIu64, xcf.extent);
		if (xcf.odd_runs)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the last tile has runs that GIMP does not write, before %" PRIu64,
				xcf.extent);
		if (xcf.loose > LOOSE_MAX &&
			overwrite_boundary_between(xcf.extent - xcf.loose, xcf.extent - 1))
			return verdict_because(CARVE_UNVERIFIED, finding,
				"nothing verifies the last tile's values, the last %" PRIu64
				" bytes",
				xcf.loose);
		return CARVE_COMPLETE;
	}
	if (!xcf.extent)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			xcf.problem ? xcf.problem : "the end of the image", xcf.broken_at);
	if (!xcf.problem)
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	finding->length = xcf.extent;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, xcf.problem, xcf.broken_at);
}

const struct carver xcf_carver = {
	.name = "xcf",
	.summary = "GIMP's XCF pictures, by their layers and tiles",
	.check = check,
};
