/*
 * Blender's files, uncompressed (doc/blender_file_format in Blender's sources).
 *
 *	file:   'BLENDER', pointers of 4 ('_') or 8 bytes ('-'), order of bytes ('v' little-endian, 'V' big),
 *	        version (3 digits), blocks, a block 'ENDB' without data
 *	block:  code (4 bytes), length of the data (4), pointer, structure (4), count (4), data
 *
 * The last but one block, 'DNA1', describes the structures, and 'ENDB' ends the file. Nothing verifies
 * what is in other blocks.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "walk.h"

#define HEAD_LEN 12
#define PICTURE_MIN 256 /* a packed file has a block of its own */

static bool is_code(const uint8_t *p)
{
	for (int i = 0; i < 4; i++)
		if (!((p[i] >= 'A' && p[i] <= 'Z') || (p[i] >= '0' && p[i] <= '9') ||
			    (i >= 2 && !p[i])))
			return false;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, size = view_size(view), noise;
	size_t head_len;
	bool big_endian, described = false;

	if (!p || memcmp(p, "BLENDER", 7) != 0 || (p[7] != '_' && p[7] != '-') ||
		(p[8] != 'v' && p[8] != 'V'))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	big_endian = p[8] == 'V';
	head_len = p[7] == '-' ? 24 : 20;
	for (;;) {
		uint64_t data = at + head_len;
		uint32_t len;

		if (data > size)
			return walk_cut(view, finding, data, at);
		p = view_peek(view, at, head_len);
		if (!p || !is_code(p) || ordered32(big_endian, p + 4) > INT32_MAX)
			break;
		len = ordered32(big_endian, p + 4);
		if (described && memcmp(p, "ENDB", 4) == 0 && !len) {
			finding->length = data;
			return CARVE_COMPLETE;
		}
		described |= memcmp(p, "DNA1", 4) == 0;
		if (len > size - data)
			return walk_cut(view, finding, data + len, size);
		if (len >= PICTURE_MIN)
			view_embedded(view, data);
		view_unverified(view, data, data + len);
		at = data + len;
	}
	noise = noise_before(view, HEAD_LEN, at);
	finding->length = at > HEAD_LEN ? noise : 0;
	return verdict_because(at > HEAD_LEN ? CARVE_TRUNCATED : CARVE_REJECT, finding,
		"no block at %" PRIu64, at);
}

const struct carver blend_carver = {
	.name = "blend",
	.summary = "Blender's files, by their blocks",
	.check = check,
};
