/*
 * SquashFS 4 (Linux kernel documentation, filesystems/squashfs.rst; "SquashFS binary format" by D.
 * Oberhollenzer).
 *
 *	file:       superblock (96 bytes), [options], data, inodes, folders, [fragments], [exports],
 *		ids, [attributes], padded with zeros to 4,096 bytes
 *	superblock: 'hsqs', ..., time, length of blocks, compression, version 4.0, length of the
 *		whole, offset of each table
 *
 * All little-endian. The superblock gives the length of the whole. Inodes and folders are blocks of
 * up to 8 KiB, each preceded by its length in 2 bytes; these lead exactly from one table to the
 * next. The table of ids comes last, or that of attributes, and holds the offsets of blocks before
 * it.
 *
 * Damage. All tables are at the end, and what precedes them cannot be checked: only the superblock
 * is valid, or everything before the invalid table.
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

struct squashfs_superblock {
	uint64_t used, ids, attributes, inodes, folders, fragments;
	uint16_t id_count;
};

/* What is wrong with the superblock, or NULL. */
static const char *read_superblock(
	struct view *view, struct squashfs_superblock *super, int64_t *time)
{
	const uint8_t *p = view_peek(view, 0, SUPERBLOCK_LEN);

	if (!p || memcmp(p, "hsqs", 4) != 0 || le16(p + 28) != 4 || le16(p + 30) != 0)
		return "no superblock of version 4";
	if (le16(p + 22) < 12 || le16(p + 22) > 20 || le32(p + 12) != 1u << le16(p + 22) ||
		le16(p + 20) < 1 || le16(p + 20) > 6)
		return "an impossible block length or compression";
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

/* For a table's block at `at`: where the next one starts, or 0. */
static uint64_t next_block(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 2);
	uint16_t len = p ? le16(p) & 0x7fff : 0;

	/* 8 KiB that cannot be compressed also have the length 0. */
	if (!p || len > METADATA_MAX_LEN)
		return 0;
	return at + 2 + (len ? len : 0x8000);
}

/* Whether blocks lead from `at` exactly to `end`. */
static bool blocks_lead_to(struct view *view, uint64_t at, uint64_t end)
{
	while (at && at < end)
		at = next_block(view, at);
	return at == end;
}

/* Whether the count offsets at `at` point to blocks between the folders and limit. */
static bool offsets_fit(struct view *view, const struct squashfs_superblock *super, uint64_t at,
	uint64_t count, uint64_t limit)
{
	for (; count; count--, at += 8) {
		const uint8_t *p = view_peek(view, at, 8);
		uint64_t offset = p ? le64(p) : 0, next;

		if (offset <= super->folders || offset >= limit)
			return false;
		next = next_block(view, offset);
		if (!next || next > limit)
			return false;
	}
	return true;
}

/* Reads the table of ids and that of attributes after it: where the last one ends, or 0. */
static uint64_t read_last_tables(struct view *view, const struct squashfs_superblock *super)
{
	uint64_t id_blocks =
		((uint64_t)super->id_count * 4 + METADATA_MAX_LEN - 1) / METADATA_MAX_LEN;
	uint64_t end = super->ids + id_blocks * 8, blocks;
	const uint8_t *p;

	if (!offsets_fit(view, super, super->ids, id_blocks, super->ids))
		return 0;
	if (super->attributes == NO_TABLE)
		return end;
	p = view_peek(view, super->attributes, 16);
	if (!p || le64(p) < super->folders || le64(p) > super->attributes)
		return 0;
	blocks = ((uint64_t)le32(p + 8) * 16 + METADATA_MAX_LEN - 1) / METADATA_MAX_LEN;
	if (!offsets_fit(view, super, super->attributes + 16, blocks, super->attributes))
		return 0;
	return super->attributes + 16 + blocks * 8;
}

/* The end of the zeros that pad the file to 4,096 bytes, if they are all there. */
static uint64_t skip_padding(struct view *view, uint64_t at)
{
	size_t len = (size_t)((FILL_LEN - at % FILL_LEN) % FILL_LEN);
	const uint8_t *p = view_peek(view, at, len);

	return p && len && !p[0] && memcmp(p, p + 1, len - 1) == 0 ? at + len : at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct squashfs_superblock super;
	const char *problem = read_superblock(view, &super, &finding->time);
	uint64_t size = view_size(view), invalid_at = 0;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	if (super.used > size)
		return walk_cut_filled(view, finding, super.used, SUPERBLOCK_LEN);
	if (!blocks_lead_to(view, super.inodes, super.folders))
		invalid_at = super.inodes;
	else if (read_last_tables(view, &super) != super.used)
		invalid_at = super.ids;
	if (invalid_at) {
		finding->length = invalid_at == super.inodes ? SUPERBLOCK_LEN : super.folders;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the table at %" PRIu64 " is invalid", invalid_at);
	}
	finding->length = skip_padding(view, super.used);
	return CARVE_COMPLETE;
}

const struct carver squashfs_carver = {
	.name = "squashfs",
	.summary = "SquashFS images, by their tables",
	.check = check,
};
