/*
 * A block of RAR 1.5 to 4: CRC (2 bytes, the low half of a CRC-32 over the rest of the header),
 * type, flags (2), header length (2), and, with flag 8000, the length of the data after it (4). All
 * little-endian.
 */
#include "bytes.h"
#include "dates.h"
#include "rar_blocks.h"
#include "walk.h"

enum {
	BASE_LEN = 7,
	MAIN_LEN = 13,
	FILE_LEN = 32,
	TYPE_MAIN = 0x73,
	TYPE_FILE = 0x74,
	TYPE_SERVICE = 0x7a,
	TYPE_END = 0x7b,
	HAS_DATA = 0x8000,
	MAIN_COMMENT = 2,
	MAIN_ENCRYPTED = 0x80,
	FILE_CONTINUES = 1,    /* from the volume before */
	FILE_IS_CONTINUED = 2, /* in the next one */
	FILE_ENCRYPTED = 4,
	FILE_COMMENT = 8,
	METHOD_STORED = 0x30,
	FILE_LARGE = 0x100,
	/* RAR 2.9 introduced the end block. */
	VERSION_WITH_END = 29,
	VERSION_WITH_PARTS = 20, /* whose CRCs are those of their data */
	HEADER_MAX_LEN = 8192,
};

/* How much of the header its CRC covers: comments of old versions are part of the header, after the
 * covered bytes. */
static uint64_t crc_len(struct view *view, uint64_t at, uint8_t type, uint16_t flags, uint16_t len)
{
	const uint8_t *p;
	uint64_t covered;

	if (type == TYPE_MAIN && flags & MAIN_COMMENT)
		return MAIN_LEN;
	if (type != TYPE_FILE || !(flags & FILE_COMMENT))
		return len;
	p = view_peek(view, at, FILE_LEN);
	covered = FILE_LEN + (p ? le16(p + 26) : 0) + (flags & FILE_LARGE ? 8 : 0);
	return covered < len ? covered : len;
}

static bool read_file(struct view *view, uint64_t at, uint16_t flags, uint16_t len,
	struct rar_block *block, uint64_t *data_len)
{
	const uint8_t *p = len >= FILE_LEN ? view_peek(view, at, FILE_LEN + 4) : NULL;

	if (!p)
		return false;
	if (flags & FILE_LARGE)
		*data_len |= (uint64_t)le32(p + FILE_LEN) << 32;
	block->time = dos_seconds(le32(p + 20));
	block->crc = le32(p + 16);
	/* The last part's CRC is the file's, each one's before is that of its data as it is. */
	if (flags & FILE_IS_CONTINUED)
		block->stored = p[24] >= VERSION_WITH_PARTS && block->crc != UINT32_MAX;
	else
		block->stored =
			p[25] == METHOD_STORED && !(flags & (FILE_CONTINUES | FILE_ENCRYPTED));
	block->needs_end = p[24] >= VERSION_WITH_END;
	return true;
}

enum rar_found rar4_read(struct view *view, uint64_t at, struct rar_block *block)
{
	const uint8_t *p = view_peek(view, at, BASE_LEN);
	uint64_t data_len = 0;
	uint16_t want, flags, len;
	uint32_t crc = 0;
	uint8_t type;

	*block = (struct rar_block){ .kind = RAR_OTHER };
	if (!p)
		return RAR_CUT;
	want = le16(p);
	type = p[2];
	flags = le16(p + 3);
	len = le16(p + 5);
	if (type < 0x72 || type > TYPE_END || len < BASE_LEN || len > HEADER_MAX_LEN)
		return RAR_NONE;
	block->header_end = at + len;
	if (!walk_crc32(view, at + 2, crc_len(view, at, type, flags, len) - 2, &crc))
		return RAR_CUT;
	if ((crc & 0xffff) != want)
		return RAR_NONE;
	if (flags & HAS_DATA || type == TYPE_FILE || type == TYPE_SERVICE) {
		p = len >= BASE_LEN + 4 ? view_peek(view, at + BASE_LEN, 4) : NULL;
		if (!p)
			return RAR_NONE;
		data_len = le32(p);
	}
	if (type == TYPE_MAIN)
		block->kind = flags & MAIN_ENCRYPTED ? RAR_ENCRYPTED : RAR_MAIN;
	else if (type == TYPE_END)
		block->kind = RAR_END;
	else if (type == TYPE_FILE)
		block->kind = RAR_FILE;
	if ((type == TYPE_FILE || type == TYPE_SERVICE) &&
		!read_file(view, at, flags, len, block, &data_len))
		return RAR_NONE;
	block->stored = block->stored && type == TYPE_FILE;
	if (data_len > INT64_MAX - block->header_end)
		return RAR_NONE;
	block->end = block->header_end + data_len;
	return RAR_FOUND;
}
