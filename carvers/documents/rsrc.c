/*
 * Resource forks as files of their own, such as Apple's fonts (Apple, Inside Macintosh: More Macintosh
 * Toolbox, 1-121).
 *
 *	header: place of the data (256), place of the map, length of the data, length of the map (4 each,
 *	        big-endian), 240 bytes, here zeros
 *	data:   length of a resource (4), its bytes
 *	map:    the header again (or zeros), 6 bytes, attributes (2), place of the types (28), place of the names
 *	types:  their number less 1 (2); type (4), resources less 1 (2), place of the first (2)
 *	resource: id (2), place of its name or FFFF (2), attributes, place of its data (3), 4 bytes
 *
 * Every resource has to fit into the data; the names end the file.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 256
#define MAP_HEAD_LEN 28
#define COUNT_MAX 4096

struct rsrc {
	struct view *view;
	uint64_t map, data_len, end, names, names_end;
};

static bool check_resource(struct rsrc *rsrc, uint64_t at)
{
	const uint8_t *p = rsrc->end - at >= 12 ? view_peek(rsrc->view, at, 12) : NULL;
	uint64_t place = p ? be32(p + 4) & 0xffffff : 0, name, len;
	uint16_t name_at = p ? be16(p + 2) : 0;

	if (!p || place + 4 > rsrc->data_len)
		return false;
	p = view_peek(rsrc->view, HEAD_LEN + place, 4);
	if (!p || be32(p) > rsrc->data_len - place - 4)
		return false;
	len = be32(p);
	view_unverified(rsrc->view, HEAD_LEN + place + 4, HEAD_LEN + place + 4 + len);
	view_embedded(rsrc->view, HEAD_LEN + place + 4);
	if (name_at == 0xffff)
		return true;
	name = rsrc->names + name_at;
	p = name < rsrc->end ? view_peek(rsrc->view, name, 1) : NULL;
	if (!p || name + 1 + *p > rsrc->end)
		return false;
	if (rsrc->names_end < name + 1 + *p)
		rsrc->names_end = name + 1 + *p;
	return true;
}

static bool check_map(struct rsrc *rsrc)
{
	uint64_t types = rsrc->map + MAP_HEAD_LEN, resources_end = types;
	const uint8_t *p = view_peek(rsrc->view, types - 4, 6);
	uint32_t count = p ? be16(p + 4) + 1u : 0;

	if (!p || be16(p) != MAP_HEAD_LEN || count > COUNT_MAX)
		return false;
	rsrc->names = rsrc->names_end = rsrc->map + be16(p + 2);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at = types + 2 + 8 * (uint64_t)i, first;
		uint32_t left;

		p = rsrc->end - at >= 8 ? view_peek(rsrc->view, at, 8) : NULL;
		if (!p)
			return false;
		left = be16(p + 4) + 1u;
		first = types + be16(p + 6);
		for (; left; left--, first += 12)
			if (first + 12 > rsrc->end || !check_resource(rsrc, first))
				return false;
		if (resources_end < first)
			resources_end = first;
	}
	return rsrc->names_end == rsrc->end && resources_end <= rsrc->names;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 16);
	struct rsrc rsrc = { .view = view };
	uint64_t size = view_size(view);
	uint8_t header[16];

	if (!p || be32(p) != HEAD_LEN || be32(p + 4) != HEAD_LEN + be32(p + 8) || be32(p + 8) < 5 ||
		be32(p + 8) > 1 << 24 || be32(p + 12) < 50 || be32(p + 12) > 1 << 24)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	memcpy(header, p, 16);
	rsrc.data_len = be32(p + 8);
	rsrc.map = be32(p + 4);
	rsrc.end = rsrc.map + be32(p + 12);
	if (!walk_zeros(view, 16, HEAD_LEN))
		return verdict_because(CARVE_REJECT, finding, "no zeros at 16");
	if (rsrc.end > size && view_ends_with_image(view))
		return walk_cut(view, finding, rsrc.end, size);
	p = view_peek(view, rsrc.map, 16);
	if (!p || (memcmp(p, header, 16) != 0 && !walk_zeros(view, rsrc.map, rsrc.map + 16)) ||
		!check_map(&rsrc))
		return verdict_because(CARVE_REJECT, finding, "no map at %" PRIu64, rsrc.map);
	finding->length = rsrc.end;
	return CARVE_COMPLETE;
}

const struct carver rsrc_carver = {
	.name = "rsrc",
	.summary = "resource forks as files (fonts of Apple's), by their map",
	.check = check,
	.quick = true,
};
