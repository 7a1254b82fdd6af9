/*
 * Windows Media Center's recordings (FFmpeg, wtvdec.c and wtvenc.c: no specification is public).
 *
 *	header:    two GUIDs; at 40 the length of a sector, 4096; at 48 the length of the root directory, at 56 its
 *	           sector, at 92 the number of sectors in the file
 *	directory: entries: a GUID, its length (2 bytes), at 24 the stream's length and kind, at 32 the number of
 *	           characters in the name, at 40 the name; then the first sector and how many tables lead to the data: 0, 1 or 2
 *	table:     a sector with numbers of sectors, up to the first 0
 *
 * All is little-endian. Entries and the tables that they lead to have to be in the file. The recording is stored as it is, in
 * sectors that the tables list, and nothing verifies it: a file is unverified. It is truncated where the directory is missing,
 * which is at its end.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "walk.h"

#define SECTOR_LEN 4096u
#define HEADER_LEN 96
#define ENTRY_LEN 40 /* up to the name */
#define PLACE_LEN 8  /* after it */
#define ENTRY_MAX 4096
#define INSIDE (UINT64_C(1) << 62) /* a stream in the directory itself */
#define TABLES_MAX 2

static const uint8_t entry_mark[16] = { 0x92, 0xb7, 0x74, 0x91, 0x59, 0x70, 0x70, 0x44, 0x88, 0xdf,
	0x06, 0x3b, 0x82, 0xcc, 0x21, 0x3d };

struct wtv {
	struct view *view;
	uint32_t root_len, root, count; /* of the directory: bytes, sector; of the file: sectors */
	uint64_t wrong_at;
};

static bool is_wrong(struct wtv *wtv, uint64_t at)
{
	wtv->wrong_at = at;
	return false;
}

/* Whether the tables at a sector, `depth` of them one after another, list sectors of the file. */
static bool are_sectors_listed(struct wtv *wtv, uint32_t sector, uint32_t depth)
{
	uint64_t at = (uint64_t)sector * SECTOR_LEN;
	const uint8_t *p;

	if (!sector || sector >= wtv->count)
		return is_wrong(wtv, at);
	/* The first table of tables is enough: all others are like it. */
	for (; depth; depth--) {
		p = view_peek(wtv->view, at, SECTOR_LEN);
		if (!p || !le32(p))
			return is_wrong(wtv, at);
		for (unsigned i = 0; i < SECTOR_LEN && le32(p + i); i += 4)
			if (le32(p + i) >= wtv->count)
				return is_wrong(wtv, at + i);
		at = (uint64_t)le32(p) * SECTOR_LEN;
	}
	return true;
}

/* Walks the directory's entries: true if they fill it, and what they list is in the file. */
static bool walk_directory(struct wtv *wtv)
{
	uint64_t start = (uint64_t)wtv->root * SECTOR_LEN, at = start, end = start + wtv->root_len;

	while (at < end) {
		const uint8_t *p = view_peek(wtv->view, at, ENTRY_LEN);
		uint64_t names_end, len;
		uint32_t sector, depth;

		if (!p || memcmp(p, entry_mark, sizeof(entry_mark)) != 0)
			return is_wrong(wtv, at);
		len = le16(p + 16);
		names_end = ENTRY_LEN + 2 * (uint64_t)le32(p + 32);
		if (len > ENTRY_MAX || len > end - at || len < names_end + PLACE_LEN)
			return is_wrong(wtv, at);
		if (!(le64(p + 24) & INSIDE)) {
			p = view_peek(wtv->view, at + names_end, PLACE_LEN);
			if (!p)
				return is_wrong(wtv, at);
			sector = le32(p);
			depth = le32(p + 4);
			if (depth > TABLES_MAX)
				return is_wrong(wtv, at);
			if (!are_sectors_listed(wtv, sector, depth))
				return false;
		}
		at += len;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	static const uint8_t mark[16] = { 0xb7, 0xd8, 0x00, 0x20, 0x37, 0x49, 0xda, 0x11, 0xa6,
		0x4e, 0x00, 0x07, 0xe9, 0x5e, 0xad, 0x8d };
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	struct wtv wtv = { .view = view };
	uint64_t size = view_size(view), end;

	if (!p || memcmp(p, mark, sizeof(mark)) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	wtv.root_len = le32(p + 48);
	wtv.root = le32(p + 56);
	wtv.count = le32(p + 92);
	if (le32(p + 40) != SECTOR_LEN || !wtv.root_len || wtv.root_len > SECTOR_LEN || !wtv.root ||
		wtv.root >= wtv.count)
		return verdict_because(CARVE_REJECT, finding, "impossible fields in the header");
	end = (uint64_t)wtv.count * SECTOR_LEN;
	if (end > size)
		return walk_cut(view, finding, end, view_ends_with_image(view) ? size : SECTOR_LEN);
	if (!walk_directory(&wtv))
		return foreign_cut(
			view, finding, SECTOR_LEN, end, "a wrong directory or table", wtv.wrong_at);
	view_holds(view, HEADER_LEN, end);
	finding->length = end;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the recording before %" PRIu64, end);
}

const struct carver wtv_carver = {
	.name = "wtv",
	.summary = "Windows Media Center's recordings, by their directory",
	.check = check,
};
