/*
 * The Finder's settings of a folder, .DS_Store (W. Barnhart, Mac::Finder::DSStore; M. Cohen's notes on the format).
 *
 *	file:   1 (4 bytes, big-endian), 'Bud1', place of the allocator, its length, its place again, 16 bytes
 *	places: count from the fourth byte
 *	allocator: number of blocks, 0, the blocks' places (4 each, filled up with zeros to a multiple of 256; the lowest
 *	        5 bits are the length's logarithm), number of names, names: length (1), text, block; ...
 *
 * One name is 'DSDB', the tree of settings: names of the folder's files, deleted ones too. The block that ends last
 * ends the file. Nothing verifies the settings.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "stored.h"
#include "walk.h"

#define BASE 4
#define HEAD_LEN 36
#define BLOCKS_MAX 65536
#define LENGTH_MAX 28

/* Reads the blocks' places: where the last one ends, or 0. */
static uint64_t blocks_end(struct view *view, uint64_t at, uint32_t count)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = view_peek(view, at + UINT64_C(4) * i, 4);
		uint32_t place = p ? be32(p) : 0;

		if (!p || (place & 31) > LENGTH_MAX)
			return 0;
		if (place && (place & ~31u) + (UINT64_C(1) << (place & 31)) > end)
			end = (place & ~31u) + (UINT64_C(1) << (place & 31));
	}
	return end ? BASE + end : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t allocator, names, end;
	uint32_t count, len;

	if (!p || memcmp(p, "\0\0\0\1Bud1", 8) != 0 || be32(p + 8) != be32(p + 16))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	allocator = BASE + (uint64_t)be32(p + 8);
	len = be32(p + 12);
	p = view_peek(view, allocator, 8);
	if (!p && allocator < UINT32_MAX && view_ends_with_image(view))
		return walk_cut(view, finding, allocator + len, view_size(view));
	count = p ? be32(p) : 0;
	end = count && count <= BLOCKS_MAX ? blocks_end(view, allocator + 8, count) : 0;
	names = allocator + 8 + (count + UINT64_C(255)) / 256 * 1024;
	p = end ? view_peek(view, names, 9) : NULL;
	if (!p || end < allocator + len || !be32(p) || memcmp(p + 4, "\4DSDB", 5) != 0) {
		finding->length = HEAD_LEN;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no allocator at %" PRIu64, allocator);
	}
	view_holds(view, HEAD_LEN, end);
	return stored_check_data(view, finding, HEAD_LEN, end);
}

const struct carver dsstore_carver = {
	.name = "dsstore",
	.summary = "the Finder's settings of a folder, by their allocator",
	.check = check,
};
