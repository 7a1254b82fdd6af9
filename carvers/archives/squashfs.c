/*
 * SquashFS 4 (Linux kernel documentation, filesystems/squashfs.rst; "SquashFS binary format" by D.
 * Oberhollenzer).
 *
 *	file:       superblock (96 bytes), [options], data, inodes, folders, [fragments],
 *		[exports], ids, [attributes], filled up with zeros to 4,096 bytes
 *	superblock: 'hsqs', ..., time, length of blocks, packer, version 4.0, length of the
 *		whole, where each table starts
 *
 * All little-endian. The superblock says how long the whole is. Inodes and folders are blocks of
 * up to 8 KiB, each behind 2 bytes with its length; these lead exactly from one table to the next.
 * The table of ids comes last, or that of attributes, and holds the places of blocks in front of
 * it.
 *
 * Damage. All tables stand at the end, and what lies before them can't be checked: sound is the
 * superblock, or all before the table that is broken.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define NO_TABLE UINT64_MAX

enum {
	SUPERBLOCK_LEN = 96,
	METADATA_MAX_LEN = 8192,
	FILL_LEN = 4096,
};

struct superblock {
	uint64_t used, ids, attributes, inodes, folders, fragments;
	uint16_t id_count;
};

/* What is wrong with the superblock, or NULL. */
static const char *read_superblock(struct view *view, struct superblock *super, int64_t *time)
{
	const uint8_t *p = view_peek(view, 0, SUPERBLOCK_LEN);

	if (!p || memcmp(p, "hsqs", 4) != 0 || le16(p + 28) != 4 || le16(p + 30) != 0)
		return "no superblock of version 4";
	if (le16(p + 22) < 12 || le16(p + 22) > 20 || le32(p + 12) != 1u << le16(p + 22) ||
		le16(p + 20) < 1 || le16(p + 20) > 6)
		return "an impossible block length or packer";
	*time = le32(p + 8);
	super->id_count = le16(p + 26);
	super->used = le64(p + 40);
	super->ids = le64(p + 48);
	super->attributes = le64(p + 56);
	super->inodes = le64(p + 64);
	super->folders = le64(p + 72);
	super->fragments = le64(p + 80);
	if (super->used > INT64_MAX || super->ids >= super->used || super->folders >= super->ids ||
		super->inodes >= super->folders || super->inodes < SUPERBLOCK_LEN ||
		!super->id_count ||
		(super->attributes != NO_TABLE &&
			(super->attributes >= super->used || super->attributes < super->ids)))
		return "tables in an impossible order";
	return NULL;
}

/* The block of a table at `at`: where the next one starts, or 0. */
static uint64_t next_block(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 2);
	uint16_t len = p ? le16(p) & 0x7fff : 0;

	/* 8 KiB that can't be packed have the length 0, too. */
	if (!p || len > METADATA_MAX_LEN)
		return 0;
	return at + 2 + (len ? len : 0x8000);
}

/* Whether blocks lead from `at` exactly to `end`. */
static bool leads_to(struct view *view, uint64_t at, uint64_t end)
{
	while (at && at < end)
		at = next_block(view, at);
	return at == end;
}

/* Whether count places at `at` are of blocks that lie between the folders and limit. */
static bool places_fit(struct view *view, const struct superblock *super, uint64_t at,
	uint64_t count, uint64_t limit)
{
	for (; count; count--, at += 8) {
		const uint8_t *p = view_peek(view, at, 8);
		uint64_t place = p ? le64(p) : 0, next;

		if (place <= super->folders || place >= limit)
			return false;
		next = next_block(view, place);
		if (!next || next > limit)
			return false;
	}
	return true;
}

/* The table of ids, and that of attributes behind it: where the last one ends, or 0. */
static uint64_t read_last_tables(struct view *view, const struct superblock *super)
{
	uint64_t id_blocks =
		((uint64_t)super->id_count * 4 + METADATA_MAX_LEN - 1) / METADATA_MAX_LEN;
	uint64_t end = super->ids + id_blocks * 8, blocks;
	const uint8_t *p;

	if (!places_fit(view, super, super->ids, id_blocks, super->ids))
		return 0;
	if (super->attributes == NO_TABLE)
		return end;
	p = view_peek(view, super->attributes, 16);
	if (!p || le64(p) < super->folders || le64(p) > super->attributes)
		return 0;
	blocks = ((uint64_t)le32(p + 8) * 16 + METADATA_MAX_LEN - 1) / METADATA_MAX_LEN;
	if (!places_fit(view, super, super->attributes + 16, blocks, super->attributes))
		return 0;
	return super->attributes + 16 + blocks * 8;
}

/* Where the zeros end that fill the last 4,096 bytes, if they fill them whole. */
static uint64_t behind_fill(struct view *view, uint64_t at)
{
	size_t len = (size_t)((FILL_LEN - at % FILL_LEN) % FILL_LEN);
	const uint8_t *p = view_peek(view, at, len);

	return p && len && !p[0] && memcmp(p, p + 1, len - 1) == 0 ? at + len : at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct superblock super;
	const char *problem = read_superblock(view, &super, &finding->time);
	uint64_t size = view_size(view), broken = 0;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	if (super.used > size)
		return walk_cut(view, finding, super.used,
			view_ends_with_image(view) ? walk_before_fill(view, SUPERBLOCK_LEN, size)
						   : SUPERBLOCK_LEN);
	if (!leads_to(view, super.inodes, super.folders))
		broken = super.inodes;
	else if (read_last_tables(view, &super) != super.used)
		broken = super.ids;
	if (broken) {
		finding->length = broken == super.inodes ? SUPERBLOCK_LEN : super.folders;
		return verdict_because(
			CARVE_TRUNCATED, finding, "the table at %" PRIu64 " is broken", broken);
	}
	finding->length = behind_fill(view, super.used);
	return CARVE_COMPLETE;
}

const struct carver squashfs_carver = {
	.name = "squashfs",
	.summary = "SquashFS images, by their tables",
	.check = check,
};
