/*
 * Linux's cramfs, compressed file systems of firmware (fs/cramfs, include/uapi/linux/cramfs_fs.h).
 *
 *	superblock: magic 28CD3D45, length, flags, 0 (4 each, in either order), 'Compressed ROMFS', CRC-32, edition,
 *	            blocks, files (4 each), the root's inode (12), name (16)
 *
 * The CRC-32 is over all of the length, in which it counts as 0: it proves the image. Older images have none, and are
 * unverified.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "noise.h"
#include "title.h"
#include "walk.h"

#define MAGIC 0x28cd3d45
#define HEAD_LEN 76
#define CRC_AT 32
#define NAME_AT 60
#define NAME_LEN 16
#define WITH_CRC 1

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	bool big = p && be32(p) == MAGIC, with_crc;
	uint64_t len, size = view_size(view), plain;
	uint32_t crc, stored;

	if (!p || (!big && le32(p) != MAGIC) || memcmp(p + 16, "Compressed ROMFS", 16) != 0)
		return verdict_because(CARVE_REJECT, finding, "no superblock at 0");
	len = ordered32(big, p + 4);
	with_crc = ordered32(big, p + 8) & WITH_CRC;
	stored = ordered32(big, p + CRC_AT);
	if (len < HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "an impossible length at 4");
	finding_set_title(finding, p + NAME_AT, strnlen((const char *)p + NAME_AT, NAME_LEN));
	crc = (uint32_t)crc32(0, p, CRC_AT);
	crc = (uint32_t)crc32(crc, (const uint8_t[4]){ 0 }, 4);
	if (len > size)
		return walk_cut(view, finding, len, plain_start(view, HEAD_LEN, size));
	finding->length = len;
	if (with_crc && walk_crc32(view, CRC_AT + 4, len - CRC_AT - 4, &crc) && crc == stored)
		return CARVE_COMPLETE;
	plain = plain_start(view, HEAD_LEN, len);
	if (with_crc && plain < len && !walk_zeros(view, plain, len)) {
		finding->length = plain;
		return verdict_because(CARVE_TRUNCATED, finding,
			"plain bytes instead of compressed ones at %" PRIu64, plain);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		with_crc ? "the checksum at %d is wrong" : "no checksum at %d", CRC_AT);
}

const struct carver cramfs_carver = {
	.name = "cramfs",
	.summary = "Linux's cramfs images, by their checksum",
	.check = check,
};
