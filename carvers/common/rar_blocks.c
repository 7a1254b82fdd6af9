/*
 * Each block of a RAR archive has a header with a CRC and states how much data follows, so the
 * blocks lead to the end block, which ends the file (RARLAB's technical notes: "RAR archive format"
 * in TechNote.txt for versions 1.5 to 4, "RAR 5.0 archive format" for later ones).
 */
#include "rar_blocks.h"

#include <string.h>

#include "rar5_unpack.h"
#include "walk.h"

#define CRC_BITS 32 /* see view_proved */
/* Of a block's header that follows data whose CRC agrees: the bits of its own CRC, of those the fewest. */
#define LINK_BITS 16

enum {
	SIGNATURE4_LEN = 7,
	SIGNATURE5_LEN = 8,
};

/* Unpacks the block's data, as far as it is there. Returns whether its CRC agrees. */
static bool check_packed(struct view *view, struct rar_walk *walk, const struct rar_block *block)
{
	uint64_t noticed;
	enum rar5_state state = rar5_unpack(
		view, block->header_end, block->end, block->plain_len, block->crc, &noticed);

	if (state == RAR5_BROKEN)
		walk->broken_at = noticed;
	if (state == RAR5_DONE)
		view_proved(view, block->header_end, block->end, CRC_BITS);
	return state == RAR5_DONE;
}

/* Compares the CRC of the block's data, if it is all there, or names it as unverified. Returns whether it agrees. */
static bool check_data(struct view *view, struct rar_walk *walk, const struct rar_block *block)
{
	uint64_t at = block->header_end;
	uint32_t crc = 0;

	if (block->packed && view_thorough(view))
		return check_packed(view, walk, block);
	if (block->end > view_size(view))
		return false;
	if (!block->stored) {
		view_unverified(view, at, block->end);
	} else if (walk_crc32(view, at, block->end - at, &crc) && crc == block->crc) {
		view_proved(view, at, block->end, CRC_BITS);
		return true;
	} else if (!walk->wrong_crc_at) {
		walk->wrong_crc_at = at;
		walk->wrong_crc_end = block->end;
		walk->wrong_crc = block->crc;
	}
	return false;
}

const char *rar_walk_blocks(struct view *view, uint64_t start, struct rar_walk *walk, uint64_t *at)
{
	enum rar_found (*read)(struct view *, uint64_t, struct rar_block *) = rar4_read;
	const uint8_t *p = view_peek(view, start, SIGNATURE5_LEN);
	struct rar_block *last = &walk->last, block;
	uint64_t proved = 0; /* data, right before the next block */

	*at = start;
	if (!p || memcmp(p, "Rar!\x1a\x07", 6) != 0 || p[6] > 1)
		return "no signature";
	if (p[6] == 1)
		read = rar5_read;
	*at += p[6] == 1 ? SIGNATURE5_LEN : SIGNATURE4_LEN;
	walk->found = read(view, *at, last);
	if (walk->found != RAR_FOUND || (last->kind != RAR_MAIN && last->kind != RAR_ENCRYPTED))
		return "no main block with its CRC";
	while (last->kind != RAR_END && last->kind != RAR_ENCRYPTED && !walk->broken_at) {
		walk->needs_end |= last->needs_end;
		walk->found = last->end > view_size(view) ? RAR_CUT : read(view, last->end, &block);
		if (walk->found != RAR_FOUND)
			break;
		if (proved)
			view_linked(view, proved, block.header_end, LINK_BITS);
		*last = block;
		proved = block.end > block.header_end && check_data(view, walk, &block)
				 ? block.header_end
				 : 0;
		if (last->time > walk->time)
			walk->time = last->time;
	}
	return NULL;
}

uint64_t rar_end(struct view *view, uint64_t start)
{
	struct rar_walk walk = { 0 };
	uint64_t at;

	if (rar_walk_blocks(view, start, &walk, &at) || walk.last.kind != RAR_END ||
		walk.last.end > view_size(view))
		return 0;
	return walk.last.end;
}
