/*
 * Images of CDs and DVDs (ECMA-119, ISO 9660, with Joliet and Rock Ridge; the same beside UDF).
 *
 *	file:   16 blocks of anything (2,048 bytes each), volume descriptors, the rest as these say
 *	primary descriptor: 1, 'CD001', 1, ..., numbers in both byte orders: blocks of the volume,
 *		their length, length and place of the table of all folders, the root folder's entry
 *
 * The number of blocks is the file's length. Checked are the descriptors up to the one that ends
 * them, the numbers' two forms, and all entries of each folder that the table names: it begins with
 * one for itself. Zeros fill up the furthest file's last block, and most of what is behind it.
 * Volume name and creation time are title and time.
 *
 * Damage. Sound is what lies before the first folder that is broken; files have no checksums. One
 * whose last block is zeros may have been wiped: then the image is unverified.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"
#include "walk.h"

enum {
	BLOCK_LEN = 2048,
	FIRST_DESCRIPTOR = 16,
	DESCRIPTORS_MAX = 64,
	PRIMARY = 1,
	TERMINATOR = 255,
	TABLE_MAX_LEN = 16 << 20,
	ENTRY_LEN = 33, /* without the name */
	REST_BLOCKS = 16,
	FLAGS_AT = 25,
	FOLDER = 2,
	FEW = 16,
};

struct volume {
	uint64_t blocks, block_len;
	uint64_t table_at, table_len;
	uint32_t root;
	uint64_t folders_left;         /* bytes of folders that may still be walked */
	uint64_t last_start, last_end; /* the furthest file or folder */
	bool last_is_folder;
};

/* A number in both byte orders; false when the two differ. */
static bool both32(const uint8_t *p, uint32_t *value)
{
	*value = le32(p);
	return be32(p + 4) == *value;
}

static bool both16(const uint8_t *p, uint16_t *value)
{
	*value = le16(p);
	return be16(p + 2) == *value;
}

/* Reads the primary descriptor's numbers. */
static bool read_primary(const uint8_t *p, struct volume *volume)
{
	uint32_t blocks, table_len;
	uint16_t block_len;

	if (!both32(p + 80, &blocks) || !both16(p + 128, &block_len) ||
		!both32(p + 132, &table_len) || !both32(p + 158, &volume->root))
		return false;
	if (block_len != 512 && block_len != 1024 && block_len != BLOCK_LEN)
		return false;
	volume->blocks = blocks;
	volume->block_len = block_len;
	volume->table_at = (uint64_t)le32(p + 140) * block_len;
	volume->table_len = table_len;
	return p[156] >= 34 && volume->root < blocks &&
	       volume->table_at < blocks * (uint64_t)block_len && table_len <= TABLE_MAX_LEN &&
	       table_len >= 10;
}

/* Digits of a date, or -1. */
static int digits(const uint8_t *p, int count)
{
	int value = 0;

	for (; count; count--, p++) {
		if (*p < '0' || *p > '9')
			return -1;
		value = value * 10 + (*p - '0');
	}
	return value;
}

static void describe(const uint8_t *p, struct finding *finding)
{
	const uint8_t *date = p + 813;
	/* Quarters of an hour east of Greenwich. */
	int zone = (int8_t)date[16];

	finding_set_title(finding, p + 40, 32);
	finding->time = utc_seconds(digits(date, 4), digits(date + 4, 2), digits(date + 6, 2),
		digits(date + 8, 2), digits(date + 10, 2), digits(date + 12, 2));
	if (finding->time && zone >= -48 && zone <= 56)
		finding->time -= zone * 900;
}

/* Where the descriptors end, or 0 when they don't. */
static uint64_t skip_descriptors(struct view *view)
{
	for (uint64_t i = FIRST_DESCRIPTOR; i < FIRST_DESCRIPTOR + DESCRIPTORS_MAX; i++) {
		const uint8_t *p = view_peek(view, i * BLOCK_LEN, 7);

		if (!p || memcmp(p + 1, "CD001", 5) != 0)
			return 0;
		if (p[0] == TERMINATOR)
			return (i + 1) * BLOCK_LEN;
	}
	return 0;
}

/* Whether a folder's first entry stands at the block: with the name 0, it names itself. */
static bool folder_at(
	struct view *view, const struct volume *volume, uint32_t block, uint32_t *folder_len)
{
	const uint8_t *p = view_peek(view, block * volume->block_len, ENTRY_LEN + 1);
	uint32_t self;

	return p && p[0] > ENTRY_LEN && p[32] == 1 && p[33] == 0 && both32(p + 2, &self) &&
	       self == block && both32(p + 10, folder_len);
}

/* Notes where the furthest file ends. False when it lies outside. */
static bool see_entry(struct volume *volume, const uint8_t *p)
{
	uint32_t block, len;
	uint64_t start;

	if (p[0] <= ENTRY_LEN || p[32] > p[0] - ENTRY_LEN || !both32(p + 2, &block) ||
		!both32(p + 10, &len))
		return false;
	start = block * volume->block_len;
	if (len && start + len > volume->last_end) {
		volume->last_start = start;
		volume->last_end = start + len;
		volume->last_is_folder = p[FLAGS_AT] & FOLDER;
	}
	return true;
}

/* Looks at all entries of the folder at the block. None goes over the end of a block. */
static bool walk_folder(struct view *view, struct volume *volume, uint32_t block)
{
	uint64_t at = block * volume->block_len, end;
	uint32_t len;

	if (!folder_at(view, volume, block, &len) || len > volume->folders_left)
		return false;
	volume->folders_left -= len;
	end = at + len;
	while (at < end) {
		const uint8_t *p = view_peek(view, at, 1);
		uint8_t entry_len = p ? *p : 0;

		if (!p)
			return false;
		if (!entry_len) {
			at = (at / volume->block_len + 1) * volume->block_len;
			continue;
		}
		p = view_peek(view, at, entry_len > ENTRY_LEN ? entry_len : ENTRY_LEN);
		if (!p || !see_entry(volume, p))
			return false;
		at += entry_len;
	}
	return true;
}

/* Whether zeros fill the last block of the furthest file. */
static bool last_file_is_filled(struct view *view, const struct volume *volume)
{
	uint64_t end = volume->last_end, block_len = volume->block_len;

	return walk_zeros(view, end, end + (block_len - end % block_len) % block_len);
}

/* Whether the furthest file's last block holds nothing but zeros, a few bytes aside. */
static bool last_file_is_wiped(struct view *view, const struct volume *volume)
{
	uint64_t file_len = volume->last_end - volume->last_start;
	uint64_t len = file_len ? (file_len - 1) % BLOCK_LEN + 1 : 0;

	return len >= FEW && !volume->last_is_folder &&
	       walk_zeros(view, volume->last_end - len, volume->last_end);
}

/* Whether another file system has files of its own in the volume: UDF, by the descriptor that
 * begins its own behind the others, or HFS, by Apple's partition map. */
static bool is_shared(struct view *view, uint64_t descriptors_end)
{
	const uint8_t *p = view_peek(view, descriptors_end, 6);

	if (p && memcmp(p + 1, "BEA01", 5) == 0)
		return true;
	p = view_peek(view, 0, 2);
	return p && p[0] == 'E' && p[1] == 'R';
}

static bool is_empty(struct view *view, uint64_t at)
{
	return walk_zeros(view, at, at + BLOCK_LEN);
}

/* Whether a copy of a partition table stands before `end`, as on images for USB sticks. */
static bool ends_partitions(struct view *view, uint64_t end)
{
	const uint8_t *p = view_peek(view, end - 512, 8);

	return p && memcmp(p, "EFI PART", 8) == 0;
}

/* Whether what stands behind the furthest file, and before the volume's end, can be the volume's:
 * programs fill it with zeros. Most of its beginning has to be them, and its last block. */
static bool rest_is_filled(struct view *view, const struct volume *volume)
{
	uint64_t end = volume->blocks * volume->block_len;
	uint64_t at = (volume->last_end + BLOCK_LEN - 1) / BLOCK_LEN * BLOCK_LEN;
	int filled = 0;

	if (at >= end || end - at < REST_BLOCKS * BLOCK_LEN)
		return true;
	for (int i = 0; i < REST_BLOCKS; i++, at += BLOCK_LEN)
		filled += is_empty(view, at);
	return filled >= REST_BLOCKS / 2 &&
	       (is_empty(view, end - BLOCK_LEN) || ends_partitions(view, end));
}

/* Looks at each folder of the table: the first in the image that is broken, or the volume's
 * length. */
static uint64_t walk_folders(struct view *view, struct volume *volume, uint64_t descriptors_end)
{
	uint64_t len = volume->blocks * volume->block_len, broken = len;
	uint64_t at = volume->table_at, end = at + volume->table_len;
	uint32_t ignored;

	volume->folders_left = len;
	if (!folder_at(view, volume, volume->root, &ignored))
		broken = volume->root * volume->block_len;
	while (at + 8 < end) {
		const uint8_t *p = view_peek(view, at, 8);
		uint32_t block = p ? le32(p + 2) : 0;
		uint8_t name_len = p ? p[0] : 0;

		if (!name_len)
			return at < broken ? at : broken;
		if (block * volume->block_len < broken && !walk_folder(view, volume, block))
			broken = block * volume->block_len;
		at += 8 + name_len + (name_len & 1);
	}
	if (broken < len || volume->last_end > len)
		return broken;
	if (!last_file_is_filled(view, volume))
		return volume->last_start;
	if (!is_shared(view, descriptors_end) && !rest_is_filled(view, volume))
		return (volume->last_end + BLOCK_LEN - 1) / BLOCK_LEN * BLOCK_LEN;
	return broken;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, FIRST_DESCRIPTOR * BLOCK_LEN, BLOCK_LEN);
	struct volume volume = { 0 };
	uint64_t sound, broken, len, size = view_size(view);

	if (!p || p[0] != PRIMARY || memcmp(p + 1, "CD001\1", 6) != 0 || !read_primary(p, &volume))
		return verdict_because(CARVE_REJECT, finding, "no primary volume descriptor at %d",
			FIRST_DESCRIPTOR * BLOCK_LEN);
	describe(p, finding);
	sound = skip_descriptors(view);
	if (!sound || volume.blocks * volume.block_len < sound) {
		finding->length = (FIRST_DESCRIPTOR + 1) * BLOCK_LEN;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the volume descriptors do not end, or lie outside, at %" PRIu64,
			finding->length);
	}
	len = volume.blocks * volume.block_len;
	broken = walk_folders(view, &volume, sound);
	if (broken < sound)
		broken = sound;
	if (len > size)
		return walk_cut(view, finding, len, broken < size ? broken : size);
	finding->length = broken;
	if (broken < len)
		return verdict_because(
			CARVE_TRUNCATED, finding, "what stands at %" PRIu64 " is broken", broken);
	if (last_file_is_wiped(view, &volume))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the furthest file ends in zeros, as if wiped, at %" PRIu64,
			volume.last_end);
	return CARVE_COMPLETE;
}

const struct carver iso_carver = {
	.name = "iso",
	.summary = "images of CDs and DVDs, by their volume descriptors and folders",
	.check = check,
};
