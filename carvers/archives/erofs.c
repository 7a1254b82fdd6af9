/*
 * Linux's EROFS, read-only file systems of phones and containers (fs/erofs/erofs_fs.h).
 *
 *	superblock: at 1,024: magic, CRC-32C, compatible features (4 each), log2 of a block's length (1, 12), the root's
 *	            number (2, at 14), inodes (8, at 16), blocks, block of the inodes (4 each, at 36), name (16, at 64),
 *	            features (4, at 80)
 *	inode:      at 32 bytes times its number after the first inode: 32 or 64 bytes, attributes; then the end of a file that
 *	            does not fill its last block, or where its compressed blocks are
 *	folder:     a file of blocks: entries (number (8), place of the name (2), kind (1), 0), then the names
 *
 * Integers are little-endian. The superblock's CRC is over the rest of its block. burin checks it, or the root's entry for itself,
 * and walks all folders. What begins where a file's data do is the image's. Nothing verifies the data: an image is unverified.
 * Layouts that are newer than 2024 are not walked.
 *
 * Damage. If a folder is invalid, the image is valid up to foreign bytes.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "crc32c.h"
#include "foreign.h"
#include "title.h"
#include "walk.h"

#define SUPER_AT 1024
#define SUPER_LEN 128
#define MAGIC 0xe0f5e1e2
#define WITH_CRC 1
#define KNOWN_FEATURES 0x7fu
#define BLOCK_LEN 4096
#define SLOT_LEN 32
#define LONG_LEN 64
#define ENTRY_LEN 12
#define FOLDERS_MAX ((size_t)1 << 20)
#define KIND_MASK 0170000
#define FOLDER 0040000
#define REGULAR 0100000
#define LARGE_CLUSTERS 2u /* in what heads the list of compressed blocks */
#define SHORT_ENTRIES 1u

enum layout { PLAIN, COMPRESSED_FULL, INLINE, COMPRESSED, CHUNKS };

struct erofs {
	struct view *view;
	uint64_t end, inodes_at;
	uint64_t folders_left; /* bytes of folders that may still be read */
	uint64_t *folders;     /* the numbers of those found so far */
	size_t folder_count, folder_room, folder_max;
	uint64_t where; /* what is invalid */
};

struct erofs_inode {
	unsigned kind, layout;
	uint64_t len, data_at, after; /* after: where the inode and its attributes end */
	uint32_t word;                /* its data's block, or the number of compressed ones */
};

/* Whether the superblock's CRC is right: CRC-32C that is not inverted at its end. */
static bool valid_crc(struct view *view)
{
	static const uint8_t none[4]; /* for the CRC, as it is computed */
	const uint8_t *p = view_peek(view, SUPER_AT, BLOCK_LEN - SUPER_AT);

	return p && ~crc32c(crc32c(crc32c(0, p, 4), none, 4), p + 8, BLOCK_LEN - SUPER_AT - 8) ==
			    le32(p + 4);
}

/* Reads the inode of this number. False: it is not in the image, or has an unknown layout. */
static bool read_inode(struct erofs *erofs, uint64_t number, struct erofs_inode *inode)
{
	uint64_t at = erofs->inodes_at + number * SLOT_LEN;
	const uint8_t *p;
	bool is_long;

	erofs->where = at;
	if (number >= erofs->end / SLOT_LEN || at > erofs->end - SLOT_LEN)
		return false;
	p = view_peek(erofs->view, at, SLOT_LEN);
	if (!p)
		return false;
	is_long = p[0] & 1;
	inode->layout = p[0] >> 1 & 7;
	inode->kind = le16(p + 4) & KIND_MASK;
	inode->len = is_long ? le64(p + 8) : le32(p + 8);
	inode->word = le32(p + 16);
	inode->data_at = (uint64_t)inode->word * BLOCK_LEN;
	inode->after = at + (is_long ? LONG_LEN : SLOT_LEN);
	if (le16(p + 2))
		inode->after += 12 + 4 * (uint64_t)(le16(p + 2) - 1);
	return inode->layout <= CHUNKS;
}

/* The data in [at, at + len) are a file's, which begins there. */
static void name_data(const struct erofs *erofs, uint64_t at, uint64_t len)
{
	if (!len || at >= erofs->end || len > erofs->end - at)
		return;
	view_embedded(erofs->view, at);
	view_holds(erofs->view, at, at + len);
}

/* The first compressed block's place by the list after the inode; 0: there is none. */
static uint64_t compressed_at(const struct erofs *erofs, const struct erofs_inode *inode)
{
	uint64_t head = (inode->after + 7) / 8 * 8, list = head + 8;
	const uint8_t *p = view_peek(erofs->view, head, 8);
	unsigned flags = p ? le16(p + 4) : 0;
	bool is_short = flags & SHORT_ENTRIES && list % SLOT_LEN == 0 &&
			inode->len > (uint64_t)15 * BLOCK_LEN;

	if (inode->layout == COMPRESSED_FULL)
		p = view_peek(erofs->view, list + 8 + 4, 4);
	else
		p = view_peek(erofs->view, list + (is_short ? 28 : 4), 4);
	if (!p)
		return 0;
	/* A group of entries has the number of the block before its first one, if all parts are of one block. */
	return ((uint64_t)le32(p) + (inode->layout == COMPRESSED && !(flags & LARGE_CLUSTERS))) *
	       BLOCK_LEN;
}

static void name_file(const struct erofs *erofs, const struct erofs_inode *inode)
{
	uint64_t blocks_len = inode->len / BLOCK_LEN * BLOCK_LEN;
	const uint8_t *p;

	switch (inode->layout) {
	case PLAIN:
		name_data(erofs, inode->data_at, inode->len);
		break;
	case INLINE:
		name_data(erofs, inode->data_at, blocks_len);
		name_data(erofs, inode->after, inode->len - blocks_len);
		break;
	case CHUNKS:
		p = view_peek(erofs->view, (inode->after + 7) / 8 * 8, 8);
		if (p) /* an entry of 8 bytes, or one of 4 */
			name_data(erofs, (uint64_t)le32(p + (inode->word & 32 ? 4 : 0)) * BLOCK_LEN,
				inode->len);
		break;
	default:
		name_data(erofs, compressed_at(erofs, inode), (uint64_t)inode->word * BLOCK_LEN);
	}
}

/* Remembers a folder. False: there are more than can be. */
static bool add_folder(struct erofs *erofs, uint64_t number)
{
	uint64_t *folders = walk_list_grow(erofs->view, erofs->folders, erofs->folder_count,
		&erofs->folder_room, erofs->folder_max, sizeof(*folders));

	if (!folders)
		return false;
	erofs->folders = folders;
	erofs->folders[erofs->folder_count++] = number;
	return true;
}

/* Reads a folder's block of len bytes. False: it is invalid. */
static bool read_block(struct erofs *erofs, uint64_t at, size_t len, uint64_t self)
{
	uint8_t block[BLOCK_LEN];
	const uint8_t *p = view_peek(erofs->view, at, len);
	size_t count;

	erofs->where = at;
	if (!p || len < ENTRY_LEN)
		return false;
	memcpy(block, p, len);
	count = le16(block + 8) / ENTRY_LEN;
	if (!count || le16(block + 8) % ENTRY_LEN || count * ENTRY_LEN >= len)
		return false;
	for (size_t i = 0, name = count * ENTRY_LEN; i < count; i++) {
		const uint8_t *entry = block + i * ENTRY_LEN;
		uint64_t number = le64(entry);
		struct erofs_inode inode;

		if (le16(entry + 8) < name || le16(entry + 8) >= len ||
			!read_inode(erofs, number, &inode)) {
			erofs->where = at + i * ENTRY_LEN;
			return false;
		}
		name = le16(entry + 8);
		if (block[name] == '.' &&
			(name + 1 == len || !block[name + 1] || block[name + 1] == '.'))
			continue; /* itself, or the one above */
		if (inode.kind == REGULAR)
			name_file(erofs, &inode);
		if (inode.kind == FOLDER && number != self && !add_folder(erofs, number))
			return false;
	}
	return true;
}

static bool read_folder(struct erofs *erofs, uint64_t number)
{
	struct erofs_inode inode;
	uint64_t blocks_len;

	if (!read_inode(erofs, number, &inode) || inode.kind != FOLDER ||
		inode.len > erofs->folders_left)
		return false;
	erofs->folders_left -= inode.len;
	if (inode.layout != PLAIN && inode.layout != INLINE)
		return true; /* compressed */
	blocks_len = inode.layout == PLAIN ? inode.len : inode.len / BLOCK_LEN * BLOCK_LEN;
	for (uint64_t at = 0; at < inode.len; at += BLOCK_LEN) {
		uint64_t len = inode.len - at < BLOCK_LEN ? inode.len - at : BLOCK_LEN;

		if (!read_block(erofs, at < blocks_len ? inode.data_at + at : inode.after,
			    (size_t)len, number))
			return false;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, SUPER_AT, SUPER_LEN);
	struct erofs erofs = { .view = view };
	struct erofs_inode root;
	uint64_t number, inodes;
	bool known, with_crc, valid = true;

	if (!p || le32(p) != MAGIC || p[12] != 12)
		return verdict_because(CARVE_REJECT, finding, "no superblock at %d", SUPER_AT);
	with_crc = le32(p + 8) & WITH_CRC;
	number = le16(p + 14);
	inodes = le64(p + 16);
	erofs.folder_max = inodes < FOLDERS_MAX ? (size_t)inodes : FOLDERS_MAX;
	erofs.end = (uint64_t)le32(p + 36) * BLOCK_LEN;
	erofs.folders_left = erofs.end;
	erofs.inodes_at = (uint64_t)le32(p + 40) * BLOCK_LEN;
	known = !(le32(p + 80) & ~KNOWN_FEATURES);
	finding_set_title(finding, p + 64, strnlen((const char *)p + 64, 16));
	if (erofs.end < BLOCK_LEN || erofs.inodes_at >= erofs.end)
		return verdict_because(CARVE_REJECT, finding, "impossible lengths at %d", SUPER_AT);
	if ((!with_crc || !valid_crc(view)) &&
		(!known || !read_inode(&erofs, number, &root) || root.kind != FOLDER))
		return verdict_because(CARVE_REJECT, finding,
			"neither the superblock's CRC nor a root at %" PRIu64, erofs.where);
	if (erofs.end > view_size(view))
		return walk_cut(view, finding, erofs.end, view_size(view));
	if (known)
		valid = read_folder(&erofs, number);
	for (size_t i = 0; valid && i < erofs.folder_count; i++)
		valid = read_folder(&erofs, erofs.folders[i]);
	free(erofs.folders);
	if (!valid)
		return foreign_cut(view, finding, BLOCK_LEN, erofs.end, "no folder", erofs.where);
	finding->length = erofs.end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies the files' data up to %" PRIu64, erofs.end);
}

const struct carver erofs_carver = {
	.name = "erofs",
	.summary = "Linux's EROFS images, by their superblock's CRC and folders",
	.check = check,
};
