/*
 * The codestream of JPEG 2000 (ISO/IEC 15444-1, Annex A; part 15 for high throughput).
 *
 *	SOC, SIZ, and further marker segments: the main header, COD and QCD among them
 *	tile-parts: SOT with the length of the whole part (0 in the last one: up to EOC), marker
 *	            segments, SOD, then packets of coded data
 *	EOC
 *
 * The lengths of tile-parts lead to EOC. Coded data is stuffed so that FF is never followed by more
 * than 8F, except in the markers SOP and EPH before and in packets. So foreign bytes show within a
 * few hundred bytes, and EOC can be found where no length leads to it. If SIZ's length and number
 * of components differ, that is only noted for the caller.
 */
#include "j2k.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

enum {
	SOC = 0xff4f,
	CAP = 0xff50,
	SIZ = 0xff51,
	COD = 0xff52,
	QCD = 0xff5c,
	LAST_SEGMENT = 0xff7f,
	SOT = 0xff90,
	SOP = 0xff91,
	EPH = 0xff92,
	SOD = 0xff93,
	EOC = 0xffd9,
};

static bool fail(struct j2k *j2k, uint64_t at, const char *problem)
{
	j2k->broken_at = j2k->valid_end = at;
	j2k->problem = problem;
	return false;
}

static const uint8_t *peek(struct j2k *j2k, uint64_t at, size_t len)
{
	const uint8_t *p = NULL;

	if (at <= j2k->limit && len <= j2k->limit - at)
		p = view_peek(j2k->view, at, len);
	if (!p) {
		j2k->cut = true;
		fail(j2k, at, "it is cut off");
	}
	return p;
}

static uint32_t step_count(uint32_t from, uint32_t to, uint32_t step)
{
	return (uint32_t)(((uint64_t)to - from + step - 1) / step);
}

/* Reads SIZ: the sizes of picture and tiles, and the components. */
static bool read_size(struct j2k *j2k, uint64_t at)
{
	const uint8_t *p = peek(j2k, at, 40);
	uint32_t width, height, left, top, tile_width, tile_height, tile_left, tile_top;
	uint64_t tiles;
	unsigned components;

	if (!p)
		return false;
	width = be32(p + 6);
	height = be32(p + 10);
	left = be32(p + 14);
	top = be32(p + 18);
	tile_width = be32(p + 22);
	tile_height = be32(p + 26);
	tile_left = be32(p + 30);
	tile_top = be32(p + 34);
	components = be16(p + 38);
	if (!components || components > 16384 || be16(p + 2) < 41 || be16(p + 2) % 3 != 2)
		return fail(j2k, at, "SIZ has an impossible number of components");
	if (be16(p + 2) != 38 + 3 * components) {
		j2k->odd = "SIZ has another length than its number of components requires";
		components = (be16(p + 2) - 38u) / 3;
	}
	if (width <= left || height <= top || !tile_width || !tile_height || tile_left > left ||
		tile_top > top || tile_width > UINT32_MAX - tile_left ||
		tile_left + tile_width <= left || tile_height > UINT32_MAX - tile_top ||
		tile_top + tile_height <= top)
		return fail(j2k, at, "SIZ has an impossible size");
	tiles = (uint64_t)step_count(tile_left, width, tile_width) *
		step_count(tile_top, height, tile_height);
	if (tiles > 65535)
		return fail(j2k, at, "SIZ has too many tiles");
	j2k->tiles = (uint32_t)tiles;
	for (unsigned i = 0; i < components; i++) {
		p = peek(j2k, at + 40 + 3 * i, 3);
		if (!p)
			return false;
		if ((p[0] & 0x7f) > 37 || !p[1] || !p[2])
			return fail(j2k, at, "SIZ has an impossible component");
	}
	return true;
}

/* Skips marker segments from *at up to the marker `until`, and sets *at to it. */
static bool skip_segments(struct j2k *j2k, uint64_t *at, unsigned until)
{
	for (;;) {
		const uint8_t *p = peek(j2k, *at, 2);
		unsigned marker = p ? be16(p) : 0, len;

		if (!p || marker == until)
			return p != NULL;
		if (marker >= 0xff30 && marker <= 0xff3f) { /* reserved, of two bytes */
			*at += 2;
			continue;
		}
		if (marker < CAP || marker > LAST_SEGMENT || marker == SIZ)
			return fail(j2k, *at, "a marker segment is missing");
		p = peek(j2k, *at, 4);
		if (!p)
			return false;
		len = be16(p + 2);
		if (len < 2)
			return fail(j2k, *at, "a marker segment without a length");
		j2k->coding |= marker == COD;
		j2k->quantization |= marker == QCD;
		if (!peek(j2k, *at + 2, len))
			return fail(j2k, *at, "a marker segment is cut off");
		*at += 2u + len;
	}
}

/* Whether the two bytes of a marker may occur in coded data. Chance is very unlikely to produce the
 * first five bytes of another codestream. */
static bool may_occur(const uint8_t *p, size_t len)
{
	if (p[1] == (SOC & 0xff) && len >= 5)
		return memcmp(p + 2, "\xff\x51\0", 3) != 0;
	if (p[1] < 0x90 || p[1] == (EPH & 0xff))
		return true;
	return p[1] == (SOP & 0xff) && (len < 4 || be16(p + 2) == 4);
}

/* Finds the first marker in [*at, end) that does not belong in coded data. True: *at is its offset.
 * False: none; *at is end, or where the bytes end. */
static bool find_marker(struct j2k *j2k, uint64_t *at, uint64_t end)
{
	const uint8_t *window;
	size_t len;

	while ((window = walk_window(j2k->view, *at, end, &len)) && len > 1) {
		for (size_t i = 0; i + 1 < len; i++) {
			const uint8_t *found = memchr(window + i, 0xff, len - 1 - i);

			if (!found)
				break;
			i = (size_t)(found - window);
			if (!may_occur(found, len - i)) {
				*at += i;
				return true;
			}
		}
		*at += len - 1; /* the last byte may start a marker */
	}
	*at += window ? len : 0;
	return false;
}

/* Checks coded data from `at` to end. */
static bool read_data(struct j2k *j2k, uint64_t at, uint64_t end)
{
	uint64_t start = at;

	if (find_marker(j2k, &at, end)) {
		fail(j2k, at, "a marker that does not belong in coded data");
		j2k->valid_end = walk_before_fill(j2k->view, start, at);
		return false;
	}
	if (at < end) {
		j2k->cut = true;
		fail(j2k, at, "the tile-part is cut off");
		j2k->valid_end = walk_before_fill(j2k->view, start, at);
		return false;
	}
	return true;
}

/* The last tile-part, without a length: finds EOC and sets *at to it. */
static bool find_end(struct j2k *j2k, uint64_t *at)
{
	uint64_t start = *at;
	const uint8_t *p = NULL;

	if (find_marker(j2k, at, j2k->limit))
		p = peek(j2k, *at, 2);
	else
		j2k->cut = true;
	if (p && be16(p) == EOC)
		return true;
	fail(j2k, *at, "coded data breaks off");
	j2k->valid_end = walk_before_fill(j2k->view, start, *at);
	return false;
}

/* Reads the tile-part at *at and moves *at past it. */
static bool read_part(struct j2k *j2k, uint64_t *at)
{
	const uint8_t *p = peek(j2k, *at, 12);
	uint64_t start = *at, len, data = *at + 12;

	if (!p)
		return false;
	len = be32(p + 6);
	if (be16(p + 2) != 10 || be16(p + 4) >= j2k->tiles || (len && len < 14))
		return fail(j2k, start, "SOT is invalid");
	if (!skip_segments(j2k, &data, SOD)) {
		j2k->valid_end = j2k->valid_end < data ? data : j2k->valid_end;
		return false;
	}
	data += 2;
	j2k->parts++;
	/* Coded data without FF, such as text, would not show. */
	if (!len) {
		*at = data;
		if (!find_end(j2k, at))
			return false;
		view_unverified(j2k->view, data, *at);
		return true;
	}
	if (data > start + len)
		return fail(j2k, start, "the head of a tile-part is longer than it");
	*at = start + len;
	view_unverified(j2k->view, data, *at);
	return read_data(j2k, data, *at);
}

/* Reads SOC, SIZ and the rest of the main header. */
static bool read_head(struct j2k *j2k, uint64_t *at)
{
	const uint8_t *p = peek(j2k, *at, 6);

	if (!p)
		return false;
	if (be16(p) != SOC || be16(p + 2) != SIZ)
		return fail(j2k, *at, "no SOC and SIZ");
	if (!read_size(j2k, *at + 2))
		return false;
	p = peek(j2k, *at, 6);
	*at += p ? 4u + be16(p + 4) : 0;
	return p && skip_segments(j2k, at, SOT);
}

bool j2k_walk(struct j2k *j2k, struct view *view, uint64_t at, uint64_t limit)
{
	uint64_t last; /* the last tile-part */
	const uint8_t *p;

	*j2k = (struct j2k){ .view = view, .limit = limit };
	if (!read_head(j2k, &at))
		return false;
	if (!j2k->coding || !j2k->quantization)
		return fail(j2k, at, "no COD and QCD before the first tile");
	for (last = at;;) {
		p = peek(j2k, at, 2);
		if (!p)
			return false;
		if (be16(p) == EOC && j2k->parts) {
			j2k->end = at + 2;
			return true;
		}
		if (be16(p) != SOT) {
			fail(j2k, at, "neither a tile-part nor EOC");
			j2k->valid_end = walk_before_fill(view, last, at);
			return false;
		}
		last = at;
		if (!read_part(j2k, &at))
			return false;
	}
}
