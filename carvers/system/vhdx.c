/*
 * Hyper-V's disk images ([MS-VHDX]): fixed, growing and differencing.
 *
 *	0: 'vhdxfile'; 64 KiB and 128 KiB: headers; 192 and 256 KiB: region tables;
 *	from 1 MiB on a log, the table of blocks (BAT), metadata with the sizes, blocks
 *
 * There are two headers and two region tables, each with a CRC-32C: the header with the higher
 * number counts. Everything has an offset and a length in MiB. The BAT has an entry for each block,
 * and one for a bitmap of sectors after each group of them; the last region or block ends the file.
 *
 * The blocks cannot be verified: so an image whose tables agree is unverified. Files inside are found where they
 * start at a sector of the image, as one that overwrote a block does.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "crc32c.h"
#include "foreign.h"
#include "walk.h"

#define MIB ((uint64_t)1 << 20)
#define HEADER_LEN 4096
#define TABLE_LEN 65536
#define OFFSET_MAX ((uint64_t)1 << 56)
#define ENTRIES_MAX 2047

static const uint8_t bat_id[16] = { 0x66, 0x77, 0xc2, 0x2d, 0x23, 0xf6, 0x00, 0x42, 0x9d, 0x64,
	0x11, 0x5e, 0x9b, 0xfd, 0x4a, 0x08 };
static const uint8_t metadata_id[16] = { 0x06, 0xa2, 0x7c, 0x8b, 0x90, 0x47, 0x9a, 0x4b, 0xb8, 0xfe,
	0x57, 0x5f, 0x05, 0x0f, 0x88, 0x6e };
static const uint8_t parameters_id[16] = { 0x37, 0x67, 0xa1, 0xca, 0x36, 0xfa, 0x43, 0x4d, 0xb3,
	0xb6, 0x33, 0xf0, 0xaa, 0x44, 0xe7, 0x6b };
static const uint8_t disk_len_id[16] = { 0x24, 0x42, 0xa5, 0x2f, 0x1b, 0xcd, 0x76, 0x48, 0xb2, 0x11,
	0x5d, 0xbe, 0xd8, 0x3b, 0xf4, 0xb8 };
static const uint8_t sector_len_id[16] = { 0x1d, 0xbf, 0x41, 0x81, 0x6f, 0xa9, 0x09, 0x47, 0xba,
	0x47, 0xf2, 0x33, 0xa8, 0xfa, 0xab, 0x5f };

struct vhdx_region {
	uint64_t at;
	uint32_t len;
};

struct vhdx {
	struct view *view;
	uint64_t log_at, disk_len;
	uint32_t log_len, block_len, sector_len;
	bool log_used, has_parent;
	struct vhdx_region bat, metadata;
	uint64_t end;
};

/* Whether the len bytes at `at` start with the mark and match the CRC after it. */
static bool valid_table(struct view *view, uint64_t at, const char *mark, size_t len)
{
	static const uint8_t none[4]; /* for the CRC, as it is computed */
	const uint8_t *p = view_peek(view, at, len);

	return p && memcmp(p, mark, 4) == 0 &&
	       crc32c(crc32c(crc32c(0, p, 4), none, 4), p + 8, len - 8) == le32(p + 4);
}

static bool valid_region(uint64_t at, uint64_t len)
{
	return at >= MIB && at % MIB == 0 && at < OFFSET_MAX && len % MIB == 0;
}

/* Reads the one of two headers with the higher number. */
static bool read_header(struct vhdx *vhdx)
{
	uint64_t best = 0;
	bool found = false;

	for (uint64_t at = 65536; at <= 131072; at += 65536) {
		const uint8_t *p;

		if (!valid_table(vhdx->view, at, "head", HEADER_LEN))
			continue;
		p = view_peek(vhdx->view, at, 80);
		if (!p || (found && le64(p + 8) < best) || le16(p + 66) != 1 ||
			!valid_region(le64(p + 72), le32(p + 68)))
			continue;
		best = le64(p + 8);
		vhdx->log_used = le64(p + 48) || le64(p + 56);
		vhdx->log_len = le32(p + 68);
		vhdx->log_at = le64(p + 72);
		found = true;
	}
	return found;
}

static bool read_regions(struct vhdx *vhdx)
{
	uint64_t at = valid_table(vhdx->view, 196608, "regi", TABLE_LEN) ? 196608 : 262144;
	const uint8_t *p;
	uint32_t count;

	if (!valid_table(vhdx->view, at, "regi", TABLE_LEN))
		return false;
	p = view_peek(vhdx->view, at, TABLE_LEN);
	count = p ? le32(p + 8) : 0;
	for (uint32_t i = 0; i < count && i < ENTRIES_MAX; i++) {
		const uint8_t *entry = p + 16 + 32 * (size_t)i;
		struct vhdx_region region = { le64(entry + 16), le32(entry + 24) };

		if (!valid_region(region.at, region.len))
			return false;
		if (region.at + region.len > vhdx->end)
			vhdx->end = region.at + region.len;
		if (memcmp(entry, bat_id, 16) == 0)
			vhdx->bat = region;
		if (memcmp(entry, metadata_id, 16) == 0)
			vhdx->metadata = region;
	}
	return vhdx->bat.len && vhdx->metadata.len;
}

static void read_item(struct vhdx *vhdx, const uint8_t *id, uint64_t at, uint32_t len)
{
	const uint8_t *p = view_peek(vhdx->view, at, 8);

	if (p && memcmp(id, parameters_id, 16) == 0 && len == 8) {
		vhdx->block_len = le32(p);
		vhdx->has_parent = le32(p + 4) & 2;
	} else if (p && memcmp(id, disk_len_id, 16) == 0 && len == 8) {
		vhdx->disk_len = le64(p);
	} else if (p && memcmp(id, sector_len_id, 16) == 0 && len == 4) {
		vhdx->sector_len = le32(p);
	}
}

static bool read_metadata(struct vhdx *vhdx)
{
	const uint8_t *p = view_peek(vhdx->view, vhdx->metadata.at, 32);
	uint32_t count = p ? le16(p + 10) : 0;

	if (!p || memcmp(p, "metadata", 8) != 0 || count > ENTRIES_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t id[16];
		uint32_t at, len;

		p = view_peek(vhdx->view, vhdx->metadata.at + 32 + 32 * (uint64_t)i, 32);
		if (!p)
			return false;
		memcpy(id, p, sizeof(id));
		at = le32(p + 16);
		len = le32(p + 20);
		if (len && (at < TABLE_LEN || at > vhdx->metadata.len ||
				   len > vhdx->metadata.len - at))
			return false;
		read_item(vhdx, id, vhdx->metadata.at + at, len);
	}
	return vhdx->block_len >= MIB && vhdx->block_len <= 256 * MIB &&
	       !(vhdx->block_len & (vhdx->block_len - 1)) && vhdx->disk_len &&
	       vhdx->disk_len <= (uint64_t)64 << 40 &&
	       (vhdx->sector_len == 512 || vhdx->sector_len == 4096);
}

/* Finds the end of the last block; false when the table has an invalid entry. */
static bool walk_blocks(struct vhdx *vhdx)
{
	uint64_t group = (8192ull << 10) * vhdx->sector_len / vhdx->block_len;
	uint64_t blocks = (vhdx->disk_len + vhdx->block_len - 1) / vhdx->block_len;
	uint64_t groups = (blocks + group - 1) / group;
	uint64_t count = vhdx->has_parent ? groups * (group + 1) : blocks + (blocks - 1) / group;
	const uint8_t *p;
	size_t len;

	if (count > vhdx->bat.len / 8)
		return false;
	for (uint64_t i = 0; i < count; i += len / 8) {
		p = walk_window(vhdx->view, vhdx->bat.at + 8 * i, vhdx->bat.at + 8 * count, &len);
		if (!p || len < 8)
			return false;
		for (size_t j = 0; j < len / 8; j++) {
			uint64_t entry = le64(p + 8 * j), at = entry / MIB * MIB, state = entry & 7;
			bool bitmap = (i + j) % (group + 1) == group;
			uint64_t end = at + (bitmap ? MIB : vhdx->block_len);

			if ((entry & 0xffff8) || state == 4 || state == 5 ||
				(state >= 6 && (at < MIB || at >= OFFSET_MAX)))
				return false;
			if (state >= 6 && end > vhdx->end)
				vhdx->end = end;
		}
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct vhdx vhdx = { .view = view };
	const uint8_t *p = view_peek(view, 0, 8);

	if (!p || memcmp(p, "vhdxfile", 8) != 0 || !read_header(&vhdx))
		return verdict_because(CARVE_REJECT, finding, "no header at 65536 or 131072");
	vhdx.end = vhdx.log_at + vhdx.log_len;
	if (!read_regions(&vhdx))
		return foreign_cut(view, finding, 131072 + HEADER_LEN,
			vhdx.end > MIB ? vhdx.end : MIB, "no region table", 196608);
	if (!read_metadata(&vhdx))
		return foreign_cut(view, finding, MIB, vhdx.end, "no metadata", vhdx.metadata.at);
	if (!walk_blocks(&vhdx))
		return foreign_cut(view, finding, MIB, vhdx.end, "no table of blocks", vhdx.bat.at);
	if (vhdx.end > view_size(view))
		return walk_cut(view, finding, vhdx.end, foreign_start(view, MIB, vhdx.end));
	view_holds(view, MIB, vhdx.end);
	finding->length = vhdx.end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the tables agree, but the blocks up to %" PRIu64 " cannot be verified%s", vhdx.end,
		vhdx.log_used ? ", and the log was not replayed" : "");
}

const struct carver vhdx_carver = {
	.name = "vhdx",
	.summary = "Hyper-V's VHDX disk images, by headers, regions and table of blocks",
	.check = check,
};
