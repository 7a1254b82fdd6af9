/*
 * AppleDouble and AppleSingle (RFC 1740): what macOS keeps about a file in a second one ("._NAME") where the file system has no
 * room for it.
 *
 *	header:   00051607 (AppleSingle: 00051600), version 00020000 (4 each, big-endian), filler (16), number of entries (2)
 *	entry:    kind, place, length (4 each); 1: the data fork, 2: the resource fork, 3: the name, 9: Finder's information
 *	resource fork: places of its data and its map, their lengths (4 each), at the fork's start and as a copy, or zeros, at that of the
 *	          map; the map's lists end with it
 *
 * The entry that ends last ends the file. If it is a resource fork whose map ends it, the file is complete; else it is
 * unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 26
#define ENTRY_LEN 12
#define ENTRIES_MAX 32
#define KIND_MAX 15
#define FORK_HEAD_LEN 16
#define MAP_HEAD_LEN 28
#define MAP_MAX_LEN 65536

enum { DATA_FORK = 1, RESOURCE_FORK = 2, NAME = 3 };

/* Whether [at, at + len) is a resource fork that its map ends: lists of kinds, of resources, and of names, which have lengths. */
static bool fork_ends(struct view *view, uint64_t at, uint64_t len)
{
	const uint8_t *p = len >= FORK_HEAD_LEN ? view_peek(view, at, FORK_HEAD_LEN) : NULL;
	uint64_t map = p ? be32(p + 4) : 0, map_len = p ? be32(p + 12) : 0, end;
	uint8_t head[FORK_HEAD_LEN];
	unsigned kinds_at, names_at, kinds;

	if (!p || map < FORK_HEAD_LEN || map_len < MAP_HEAD_LEN + 2 || map_len > MAP_MAX_LEN ||
		map + map_len != len || be32(p) + (uint64_t)be32(p + 8) > map)
		return false;
	memcpy(head, p, sizeof(head));
	p = view_peek(view, at + map, (size_t)map_len);
	if (!p || (memcmp(p, head, sizeof(head)) != 0 && (be64(p) || be64(p + 8))))
		return false;
	kinds_at = be16(p + 24);
	names_at = be16(p + 26);
	if (kinds_at < MAP_HEAD_LEN || kinds_at + 2u > map_len || names_at > map_len)
		return false;
	/* One less than the number of kinds. */
	kinds = (be16(p + kinds_at) + 1u) & 0xffff;
	end = kinds_at + 2u;
	if (end + kinds * UINT64_C(8) > map_len)
		return false;
	for (unsigned i = 0; i < kinds; i++, end += 8) {
		uint64_t last = kinds_at + be16(p + kinds_at + 2 + 8 * i + 6) +
				12 * (be16(p + kinds_at + 2 + 8 * i + 4) + UINT64_C(1));

		if (last > map_len)
			return false;
		if (last > names_at)
			names_at = (unsigned)last;
	}
	if (end < names_at)
		end = names_at;
	while (end < map_len)
		end += 1u + p[end];
	return end == map_len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	bool single = p && be32(p) == 0x00051600;
	uint64_t end = 0, fork = 0, fork_len = 0, size = view_size(view), at = HEAD_LEN, table_end;
	unsigned count = p ? be16(p + 24) : 0;

	if (!p || (be32(p) != 0x00051607 && !single) || be32(p + 4) != 0x00020000 || !count ||
		count > ENTRIES_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header of version 2 at 0");
	table_end = HEAD_LEN + (uint64_t)count * ENTRY_LEN;
	for (; at < table_end; at += ENTRY_LEN) {
		uint32_t kind, place, len;

		p = view_peek(view, at, ENTRY_LEN);
		kind = p ? be32(p) : 0;
		if (!p || !kind || (kind > KIND_MAX && kind >> 16 == 0) ||
			(be32(p + 8) && be32(p + 4) < table_end))
			return verdict_because(CARVE_REJECT, finding, "no entry at %" PRIu64, at);
		place = be32(p + 4);
		len = be32(p + 8);
		if (kind == RESOURCE_FORK) {
			fork = place;
			fork_len = len;
		}
		if (kind == DATA_FORK && len)
			view_embedded(view, place);
		if (kind == NAME && len && len < 256 && (p = view_peek(view, place, len)))
			finding_set_title(finding, p, len);
		if (len && place + (uint64_t)len > end)
			end = place + (uint64_t)len;
	}
	if (end < table_end)
		end = table_end;
	finding->extension = single ? "as" : NULL;
	if (end > size)
		return walk_cut(view, finding, end, size);
	finding->length = end;
	if (fork_len && fork + fork_len == end && fork_ends(view, fork, fork_len)) {
		view_unverified(view, table_end, fork);
		return CARVE_COMPLETE;
	}
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the entries up to %" PRIu64, end);
}

const struct carver appledouble_carver = {
	.name = "appledouble",
	.summary = "AppleDouble and AppleSingle, by their entries and the resource fork's map",
	.check = check,
};
