/*
 * Images of CDs and DVDs (ECMA-119, ISO 9660, with Joliet and Rock Ridge; also beside UDF).
 *
 *	file:   16 blocks of anything (2,048 bytes each), volume descriptors, the rest as they
 *		describe
 *	primary descriptor: 1, 'CD001', 1, ..., numbers in both byte orders: blocks of the volume,
 *		their length, length and offset of the table of all folders, the root folder's entry
 *
 * The number of blocks gives the file's length. burin checks the descriptors up to the one that
 * ends them, that numbers in both byte orders agree, and all entries of each folder in the table: a
 * folder begins with an entry for itself. Zeros pad the last file's last block, and fill most of
 * what follows it: where the last file ends just before zeros in its last block, its last bytes are this image's. Otherwise
 * nothing shows that, unless UDF's anchor is in the last block, and the image is unverified; and so it is if HFS, which shares
 * it, lacks the copy of its head at its end. Volume name and creation time are title and time.
 *
 * Damage. The image is valid up to the first invalid folder; files have no checksums. If the last
 * file's last block is zeros, it may have been wiped: then the image is unverified.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"
#include "walk.h"

enum {
	BLOCK_LEN = 2048,
	PREPARER = 446, /* in a descriptor: the program that made the data */
	ADDED_BLOCKS = 150,
	ADDED_STEP = 32 * BLOCK_LEN,
	FIRST_DESCRIPTOR = 16,
	DESCRIPTORS_MAX = 64,
	PRIMARY = 1,
	TERMINATOR = 255,
	TABLE_MAX_LEN = 16 << 20,
	ENTRY_LEN = 33, /* without the name */
	REST_BLOCKS = 16,
	FLAGS_AT = 25,
	FOLDER = 2,
	WIPED_MIN = 16,
	UDF_ANCHOR = 2, /* the tag of its descriptor */
	HFS_BLOCK_LEN = 512,
	HFS_PARTITIONS = 16, /* of Apple's map that are read */
	HFS_COPY_FAR = 2048, /* bytes before the end of the last allocation block */
};

struct iso_volume {
	uint64_t blocks, block_len;
	uint64_t table_at, table_len;
	uint32_t root;
	uint64_t folders_left;         /* bytes of folders that may still be read */
	uint64_t last_start, last_end; /* the file or folder that ends last */
	bool last_is_folder;
};

/* A number in both byte orders; false when the two differ. */
static bool read_both32(const uint8_t *p, uint32_t *value)
{
	*value = le32(p);
	return be32(p + 4) == *value;
}

static bool read_both16(const uint8_t *p, uint16_t *value)
{
	*value = le16(p);
	return be16(p + 2) == *value;
}

/* Reads the primary descriptor's numbers. */
static bool read_primary(const uint8_t *p, struct iso_volume *volume)
{
	uint32_t blocks, table_len;
	uint16_t block_len;

	if (!read_both32(p + 80, &blocks) || !read_both16(p + 128, &block_len) ||
		!read_both32(p + 132, &table_len) || !read_both32(p + 158, &volume->root))
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
static int read_digits(const uint8_t *p, int count)
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
	finding->time = utc_seconds(read_digits(date, 4), read_digits(date + 4, 2),
		read_digits(date + 6, 2), read_digits(date + 8, 2), read_digits(date + 10, 2),
		read_digits(date + 12, 2));
	if (finding->time && zone >= -48 && zone <= 56)
		finding->time -= zone * 900;
}

/* Where the descriptors end, or 0 when they do not. */
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

/* Whether the block starts with a folder's first entry: its name is 0, and it names itself. */
static bool folder_at(
	struct view *view, const struct iso_volume *volume, uint32_t block, uint32_t *folder_len)
{
	const uint8_t *p = view_peek(view, block * volume->block_len, ENTRY_LEN + 1);
	uint32_t self;

	return p && p[0] > ENTRY_LEN && p[32] == 1 && p[33] == 0 && read_both32(p + 2, &self) &&
	       self == block && read_both32(p + 10, folder_len);
}

/* Notes the file that ends last, and names files as embedded. False when the entry is invalid. */
static bool note_entry(struct view *view, struct iso_volume *volume, const uint8_t *p)
{
	uint32_t block, len;
	uint64_t start;

	if (p[0] <= ENTRY_LEN || p[32] > p[0] - ENTRY_LEN || !read_both32(p + 2, &block) ||
		!read_both32(p + 10, &len))
		return false;
	start = block * volume->block_len;
	if (len && !(p[FLAGS_AT] & FOLDER))
		view_embedded(view, start);
	if (len && start + len > volume->last_end) {
		volume->last_start = start;
		volume->last_end = start + len;
		volume->last_is_folder = p[FLAGS_AT] & FOLDER;
	}
	return true;
}

/* Reads all entries of the folder at the block. None crosses the end of a block. */
static bool walk_folder(struct view *view, struct iso_volume *volume, uint32_t block)
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
		if (!p || !note_entry(view, volume, p))
			return false;
		at += entry_len;
	}
	return true;
}

/* Whether zeros pad the last block of the last file. */
static bool last_file_is_padded(struct view *view, const struct iso_volume *volume)
{
	uint64_t end = volume->last_end, block_len = volume->block_len;

	return walk_zeros(view, end, end + (block_len - end % block_len) % block_len);
}

/* Whether the last file's last block holds only zeros; a few bytes do not count. */
static bool last_file_is_wiped(struct view *view, const struct iso_volume *volume)
{
	uint64_t file_len = volume->last_end - volume->last_start;
	uint64_t len = file_len ? (file_len - 1) % BLOCK_LEN + 1 : 0;

	return len >= WIPED_MIN && !volume->last_is_folder &&
	       walk_zeros(view, volume->last_end - len, volume->last_end);
}

/* Whether the last file ends just where the zeros begin that pad its last block: another file's bytes hardly do. Folders
 * are verified. */
static bool is_last_file_shown(struct view *view, const struct iso_volume *volume)
{
	uint64_t end = volume->last_end;
	const uint8_t *p;
	unsigned filled = 0;

	if (!end || volume->last_is_folder)
		return true;
	p = BLOCK_LEN - end % BLOCK_LEN >= WIPED_MIN && end % BLOCK_LEN
		    ? view_peek(view, end - WIPED_MIN, WIPED_MIN)
		    : NULL;
	for (int i = 0; p && i < WIPED_MIN; i++)
		filled += p[i] != 0;
	return filled;
}

static bool is_udf(struct view *view, uint64_t descriptors_end)
{
	const uint8_t *p = view_peek(view, descriptors_end, 6);

	return p && memcmp(p + 1, "BEA01", 5) == 0;
}

/* Where the HFS volume that shares the image starts: at 0, or as Apple's partition map says. */
static uint64_t hfs_start(struct view *view)
{
	for (unsigned i = 1; i <= HFS_PARTITIONS; i++) {
		const uint8_t *p = view_peek(view, i * HFS_BLOCK_LEN, HFS_BLOCK_LEN);

		if (!p || p[0] != 'P' || p[1] != 'M')
			break;
		if (memcmp(p + 48, "Apple_HFS", 10) == 0)
			return be32(p + 8) * (uint64_t)HFS_BLOCK_LEN;
	}
	return 0;
}

/* The head of the HFS volume that shares the image, with the start of that in *start; NULL if there is none. */
static const uint8_t *hfs_head(struct view *view, uint64_t *start)
{
	const uint8_t *p;

	*start = hfs_start(view);
	p = view_peek(view, *start + 2 * HFS_BLOCK_LEN, 32);
	return p && memcmp(p, "BD", 2) == 0 ? p : NULL;
}

/* Whether another file system has files of its own in the volume: UDF, by its first descriptor
 * after the others, or HFS, by its head or Apple's partition map. */
static bool is_shared(struct view *view, uint64_t descriptors_end)
{
	const uint8_t *p;
	uint64_t start;

	if (is_udf(view, descriptors_end) || hfs_head(view, &start))
		return true;
	p = view_peek(view, 0, 2);
	return p && p[0] == 'E' && p[1] == 'R';
}

/* Whether UDF shares the volume, and its anchor is missing at the end: one has to be in the last block or 256
 * before it. */
static bool lacks_udf_anchor(
	struct view *view, const struct iso_volume *volume, uint64_t descriptors_end)
{
	static const uint64_t places[] = { 1, 257 };
	const uint8_t *p;

	if (!is_udf(view, descriptors_end))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint64_t block = volume->blocks - places[i];

		p = volume->blocks > places[i] ? view_peek(view, block * BLOCK_LEN, 16) : NULL;
		if (p && le16(p) == UDF_ANCHOR && le32(p + 12) == block)
			return false;
	}
	return true;
}

/* Where the HFS volume with this head, from `start` on, ends: by the copy of the head that belongs to its end; 0 where there is none. */
static uint64_t hfs_end(struct view *view, const uint8_t *p, uint64_t start)
{
	uint8_t sizes[6];
	uint64_t end;

	memcpy(sizes, p + 18, sizeof(sizes));
	end = start + be16(p + 28) * (uint64_t)HFS_BLOCK_LEN +
	      be16(p + 18) * (uint64_t)be32(p + 20);
	for (uint64_t back = 0; back <= HFS_COPY_FAR; back += 2 * HFS_BLOCK_LEN) {
		p = end > back ? view_peek(view, end - back, 32) : NULL;
		if (p && memcmp(p, "BD", 2) == 0 && memcmp(p + 18, sizes, sizeof(sizes)) == 0)
			return end - back + 2 * HFS_BLOCK_LEN;
	}
	return 0;
}

static bool is_empty(struct view *view, uint64_t at)
{
	return walk_zeros(view, at, at + BLOCK_LEN);
}

/* Whether a copy of a partition table precedes `end`, as in images for USB sticks. */
static bool has_partition_copy(struct view *view, uint64_t end)
{
	const uint8_t *p = view_peek(view, end - 512, 8);

	return p && memcmp(p, "EFI PART", 8) == 0;
}

/* Where the block after the last file starts. */
static uint64_t rest_start(const struct iso_volume *volume)
{
	return (volume->last_end + BLOCK_LEN - 1) / BLOCK_LEN * BLOCK_LEN;
}

/* Whether the bytes from the last file to the volume's end can belong to the volume: programs fill
 * them with zeros. Most of the first blocks must be zeros, and the last one. */
static bool rest_is_zeros(struct view *view, const struct iso_volume *volume)
{
	uint64_t end = volume->blocks * volume->block_len, at = rest_start(volume);
	int filled = 0;

	if (at >= end || end - at < REST_BLOCKS * BLOCK_LEN)
		return true;
	for (int i = 0; i < REST_BLOCKS; i++, at += BLOCK_LEN)
		filled += is_empty(view, at);
	return filled >= REST_BLOCKS / 2 &&
	       (is_empty(view, end - BLOCK_LEN) || has_partition_copy(view, end));
}

/* Checks each folder of the table. Returns the offset of the first invalid one in the image, or the
 * volume's length. */
static uint64_t walk_folders(struct view *view, struct iso_volume *volume, uint64_t descriptors_end)
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
	if (!last_file_is_padded(view, volume))
		return volume->last_start;
	if (!is_shared(view, descriptors_end) && !rest_is_zeros(view, volume))
		return rest_start(volume);
	return broken;
}

/* Whether what is after the last file belongs to the volume: the copy of HFS's head and zeros after it, or zeros alone. False: the
 * finding says why. UDF's anchor is the last block itself. */
static bool shows_end(struct view *view, const struct iso_volume *volume, uint64_t descriptors_end,
	struct finding *finding)
{
	uint64_t len = volume->blocks * volume->block_len, start;
	const uint8_t *head = hfs_head(view, &start);
	uint64_t rest = head ? hfs_end(view, head, start) : rest_start(volume);

	if (!rest) {
		verdict_because(CARVE_UNVERIFIED, finding,
			"no copy of HFS's head at its end, before %" PRIu64, len);
		return false;
	}
	/* rest_is_zeros looks at more blocks, and allows for what some programs leave there. */
	if (is_udf(view, descriptors_end) || rest >= len || has_partition_copy(view, len) ||
		(!is_shared(view, descriptors_end) && len - rest >= REST_BLOCKS * BLOCK_LEN) ||
		walk_zeros(view, rest, len))
		return true;
	verdict_because(CARVE_UNVERIFIED, finding,
		"the bytes after %s, from %" PRIu64 " on, cannot be verified",
		head ? "HFS" : "the last file", rest);
	return false;
}

/* The end of the zeros that xorriso adds after a volume at `end` that has not as many inside: 150 blocks, and up to a multiple of 32
 * blocks. `end` where they are not all there, or the volume names another program. */
static uint64_t added_end(struct view *view, const struct iso_volume *volume, uint64_t end)
{
	const uint8_t *p = view_peek(view, FIRST_DESCRIPTOR * BLOCK_LEN, BLOCK_LEN);
	uint64_t added = end + ADDED_BLOCKS * BLOCK_LEN, inside = rest_start(volume);

	added = (added + ADDED_STEP - 1) / ADDED_STEP * ADDED_STEP;
	if (!p || memcmp(p + PREPARER, "XORRISO", 7) != 0 || inside > end ||
		end - inside >= ADDED_BLOCKS * BLOCK_LEN || !walk_zeros(view, end, added))
		return end;
	return added;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, FIRST_DESCRIPTOR * BLOCK_LEN, BLOCK_LEN);
	struct iso_volume volume = { 0 };
	uint64_t descriptors_end, broken, len, size = view_size(view);

	if (!p || p[0] != PRIMARY || memcmp(p + 1, "CD001\1", 6) != 0 || !read_primary(p, &volume))
		return verdict_because(CARVE_REJECT, finding, "no primary volume descriptor at %d",
			FIRST_DESCRIPTOR * BLOCK_LEN);
	describe(p, finding);
	descriptors_end = skip_descriptors(view);
	if (!descriptors_end || volume.blocks * volume.block_len < descriptors_end) {
		finding->length = (FIRST_DESCRIPTOR + 1) * BLOCK_LEN;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the volume descriptors do not end in the volume, at %" PRIu64,
			finding->length);
	}
	len = volume.blocks * volume.block_len;
	broken = walk_folders(view, &volume, descriptors_end);
	if (broken < descriptors_end)
		broken = descriptors_end;
	if (len > size)
		return walk_cut(view, finding, len, broken < size ? broken : size);
	finding->length = broken;
	if (broken < len)
		return verdict_because(
			CARVE_TRUNCATED, finding, "invalid data at %" PRIu64, broken);
	finding->length = added_end(view, &volume, len);
	view_unverified(view, 0, FIRST_DESCRIPTOR * BLOCK_LEN);
	view_unverified(view, descriptors_end, len);
	if (last_file_is_wiped(view, &volume))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last file ends in zeros, as if wiped, at %" PRIu64, volume.last_end);
	if (lacks_udf_anchor(view, &volume, descriptors_end))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no anchor of UDF in the last blocks before %" PRIu64, len);
	if (!shows_end(view, &volume, descriptors_end, finding))
		return CARVE_UNVERIFIED;
	if (!is_udf(view, descriptors_end) && !is_last_file_shown(view, &volume))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last file's bytes, before %" PRIu64 ", cannot be verified",
			volume.last_end);
	return CARVE_COMPLETE;
}

const struct carver iso_carver = {
	.name = "iso",
	.summary = "images of CDs and DVDs, by their volume descriptors and folders",
	.check = check,
};
