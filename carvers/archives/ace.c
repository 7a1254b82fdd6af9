/*
 * ACE (M. Lemke, "Technical information of the archiver ACE v1.2"; the fields of 64 bits and the recovery records of version 2
 * as the program acefile reads them).
 *
 *	file:   main block, blocks of members and recovery records
 *	block:  CRC (2 bytes, little-endian, the lower half of a CRC-32 that is not inverted, over what follows the length), length
 *		(2), type, flags (2), if a flag says so the length of the data after the block (4, or 8 with another flag), fields
 *	main:   type 0, '**ACE**' after the flags, versions, system, volume, date (4), ...
 *	member: types 1 and 3: length, length when unpacked (4 each, or 8 in type 3), date (4), attributes (4), CRC-32 of the
 *		content, not inverted (4), method, quality, parameters (2), 2 bytes, length of the name (2), name, comment
 *
 * Every block has a CRC, and leads to the next. A stored member's CRC verifies its data. What follows the last block
 * shows that there is no more, but nothing stores how many blocks there are: an archive is unverified at best.
 *
 * Damage. Data is intact if another block follows it, or its CRC says so.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "turning.h"
#include "walk.h"

#define HEAD_LEN 4 /* CRC and length */
#define BASE_LEN 3 /* type and flags */
#define MAIN_LEN 26
#define FIELDS_LEN 20 /* of a member, after both lengths */
#define CRC_BITS 16   /* see view_proved */
#define METHOD_MAX 2

enum block_type { MAIN, MEMBER, RECOVERY, MEMBER_64, RECOVERY_64, RECOVERY_64B };
enum block_flag {
	DATA = 1 << 0,
	WIDE = 1 << 2,
	CONTINUED = 1 << 12,
	CONTINUES = 1 << 13,
	ENCRYPTED = 1 << 14
};

struct ace_block {
	uint64_t end; /* after the block, where its data begin */
	uint64_t data_len;
	enum block_type type;
	uint32_t time, crc;
	bool checked; /* the data are stored, and crc is theirs */
};

enum ace_found { ACE_FOUND, ACE_CUT, ACE_NONE };

/* Reads a member's fields, which are the len bytes at p, after type and flags. */
static bool read_member(struct ace_block *block, const uint8_t *p, size_t len, unsigned flags)
{
	unsigned width = flags & WIDE ? 8 : 4;
	uint64_t unpacked;

	if (!(flags & DATA) || len < 2 * width + FIELDS_LEN)
		return false;
	unpacked = flags & WIDE ? le64(p + width) : le32(p + width);
	p += 2 * (size_t)width;
	len -= 2 * (size_t)width + FIELDS_LEN;
	block->time = le32(p);
	block->crc = le32(p + 8);
	block->checked = p[12] == 0 && unpacked == block->data_len &&
			 !(flags & (CONTINUED | CONTINUES | ENCRYPTED));
	return p[12] <= METHOD_MAX && le16(p + 18) && le16(p + 18) <= len;
}

/* Reads the block at `at`. */
static enum ace_found read_block(struct view *view, uint64_t at, struct ace_block *block)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN + BASE_LEN);
	size_t len = p ? le16(p + 2) : 0, known;
	uint16_t wanted = p ? le16(p) : 0;
	unsigned flags = p ? le16(p + 5) : 0;
	uint32_t crc = 0;

	if (!p)
		return ACE_CUT;
	if (p[4] > RECOVERY_64B || len < BASE_LEN)
		return ACE_NONE;
	*block = (struct ace_block){ .type = (enum block_type)p[4], .end = at + HEAD_LEN + len };
	if (!walk_crc32(view, at + HEAD_LEN, len, &crc))
		return ACE_CUT;
	if ((~crc & 0xffff) != wanted)
		return ACE_NONE;
	known = len < 2 * 8 + FIELDS_LEN + BASE_LEN ? len : 2 * 8 + FIELDS_LEN + BASE_LEN;
	p = view_peek(view, at + HEAD_LEN, known);
	if (!p)
		return ACE_CUT;
	if (flags & DATA && len < BASE_LEN + (flags & WIDE ? 8u : 4u))
		return ACE_NONE;
	if (flags & DATA)
		block->data_len = flags & WIDE ? le64(p + BASE_LEN) : le32(p + BASE_LEN);
	if (block->type == MAIN) {
		if (flags & DATA || len < MAIN_LEN || memcmp(p + BASE_LEN, "**ACE**", 7) != 0)
			return ACE_NONE;
		block->time = le32(p + 14);
	} else if ((block->type == MEMBER || block->type == MEMBER_64) &&
		   !read_member(block, p + BASE_LEN, len - BASE_LEN, flags)) {
		return ACE_NONE;
	}
	view_proved(view, at, block->end, CRC_BITS);
	return ACE_FOUND;
}

/* Whether the data are not those that a stored member's CRC is of. */
static bool is_wrong(struct view *view, const struct ace_block *block)
{
	uint32_t crc = 0;

	return block->checked &&
	       (!walk_crc32(view, block->end, block->data_len, &crc) || ~crc != block->crc);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ace_block block, next;
	enum ace_found found = read_block(view, 0, &block);
	uint64_t size = view_size(view), wrong_at = 0, end;
	bool wrong;

	if (found != ACE_FOUND || block.type != MAIN)
		return verdict_because(CARVE_REJECT, finding, "no main block with its CRC at 0");
	finding->time = dos_seconds(block.time);
	for (;;) {
		int64_t time = dos_seconds(block.time);

		if (block.data_len > size - block.end)
			return walk_cut_filled(view, finding, size + 1, block.end);
		if (time > finding->time)
			finding->time = time;
		end = block.end + block.data_len;
		wrong = is_wrong(view, &block);
		if (!block.checked || wrong)
			view_unverified(view, block.end, end);
		found = read_block(view, end, &next);
		if (found != ACE_FOUND || next.type == MAIN)
			break;
		if (wrong && !wrong_at)
			wrong_at = block.end;
		block = next;
	}
	if (block.type == MAIN)
		return verdict_because(CARVE_REJECT, finding, "no block at %" PRIu64, end);
	finding->length = wrong ? block.end : end;
	if (wrong)
		return verdict_because(CARVE_TRUNCATED, finding,
			"data at %" PRIu64 " have another CRC, and no block follows", block.end);
	view_holds(view, HEAD_LEN, end);
	if (wrong_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"data at %" PRIu64 " have another CRC", wrong_at);
	if (block.checked || !block.data_len)
		return walk_uncounted(view, finding, end, end, 0, "block");
	return turning_uncounted(view, finding, block.end, end, "block");
}

const struct carver ace_carver = {
	.name = "ace",
	.summary = "ACE archives, by their blocks' CRCs",
	.check = check,
};
