/*
 * A block of RAR 5 and later: CRC-32 (4 bytes, over the rest of the header), then numbers of seven
 * bits a byte, lowest first: the length of the rest of the header, type, flags, with flag 1 the
 * length of the extra area at the header's end, with flag 2 the length of the data after it.
 */
#include "bytes.h"
#include "dates.h"
#include "rar_blocks.h"
#include "walk.h"

enum {
	TYPE_MAIN = 1,
	TYPE_FILE,
	TYPE_SERVICE,
	TYPE_ENCRYPTION,
	TYPE_END,
	HAS_EXTRA = 1,
	HAS_DATA = 2,
	CONTINUES = 8,     /* from the volume before */
	IS_CONTINUED = 16, /* in the next one */
	FILE_HAS_TIME = 2,
	FILE_HAS_CRC = 4,
	FILE_HAS_NO_LEN = 8,
	VERSION = 0x3f, /* of the packing: 0 since RAR 5 */
	IS_SOLID = 0x40,
	EXTRA_ENCRYPTION = 1,
	EXTRA_TIME = 3,
	EXTRA_TIME_UNIX = 1,
	EXTRA_TIME_CHANGED = 2,
	HEADER_MAX_LEN = 2 << 20,
	USUAL_LEN = 8192,
};

/* Reads the number at *at and moves *at past it. False when it does not end within 10 bytes. */
static bool read_number(struct view *view, uint64_t *at, uint64_t *value)
{
	*value = 0;
	for (int shift = 0; shift < 70; shift += 7) {
		const uint8_t *p = view_peek(view, (*at)++, 1);

		if (!p)
			return false;
		*value |= shift < 63 ? (uint64_t)(*p & 0x7f) << shift : 0;
		if (!(*p & 0x80))
			return true;
	}
	return false;
}

/* The time of a file: it follows flags, size and attributes. */
static int64_t read_time(struct view *view, uint64_t at)
{
	uint64_t flags, number;
	const uint8_t *p;

	if (!read_number(view, &at, &flags) || !(flags & FILE_HAS_TIME) ||
		!read_number(view, &at, &number) || !read_number(view, &at, &number))
		return 0;
	p = view_peek(view, at, 4);
	return p ? le32(p) : 0;
}

/* Reads how a file is packed, and its CRC; is_continued: that is of the data in this volume, as it is, but of the last part's file. */
static void read_packing(struct view *view, uint64_t at, bool is_continued, struct rar_block *block)
{
	uint64_t flags, number, method;
	const uint8_t *p;

	if (!read_number(view, &at, &flags) || !(flags & FILE_HAS_CRC) ||
		!read_number(view, &at, &block->plain_len) || !read_number(view, &at, &number))
		return;
	at += flags & FILE_HAS_TIME ? 4 : 0;
	p = view_peek(view, at, 4);
	if (!p)
		return;
	block->crc = le32(p);
	at += 4;
	if (!read_number(view, &at, &method))
		return;
	block->stored = is_continued || (method >> 7 & 7) == 0;
	block->packed =
		!block->stored && !(flags & FILE_HAS_NO_LEN) && !(method & (VERSION | IS_SOLID));
}

/* Whether a record in the extra area [at, end) says that the file is encrypted. */
static bool is_encrypted(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t len, type, next;

	for (; at < end; at = next) {
		if (!read_number(view, &at, &len) || !len || len > end - at)
			break;
		next = at + len;
		if (read_number(view, &at, &type) && type == EXTRA_ENCRYPTION)
			return true;
	}
	return false;
}

/* The time from the time record that the extra area in [at, end) may have: seconds since 1970, or
 * tenths of microseconds since 1601. */
static int64_t read_extra_time(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t len, type, flags, next;
	const uint8_t *p;

	for (; at < end; at = next) {
		if (!read_number(view, &at, &len) || !len || len > end - at)
			break;
		next = at + len;
		if (!read_number(view, &at, &type) || type != EXTRA_TIME ||
			!read_number(view, &at, &flags) || !(flags & EXTRA_TIME_CHANGED))
			continue;
		p = view_peek(view, at, flags & EXTRA_TIME_UNIX ? 4 : 8);
		if (!p)
			break;
		return flags & EXTRA_TIME_UNIX ? le32(p) : filetime_seconds(le64(p));
	}
	return 0;
}

enum rar_found rar5_read(struct view *view, uint64_t at, struct rar_block *block)
{
	static const enum rar_kind kinds[] = { RAR_OTHER, RAR_MAIN, RAR_FILE, RAR_OTHER,
		RAR_ENCRYPTED, RAR_END };
	const uint8_t *p = view_peek(view, at, 7);
	uint64_t next = at + 4, len, type, flags, extra_len = 0, data_len = 0;
	uint32_t want, crc = 0;

	*block = (struct rar_block){ .needs_end = true };
	if (!p)
		return RAR_CUT;
	want = le32(p);
	if (!read_number(view, &next, &len) || len < 2 || len > HEADER_MAX_LEN)
		return RAR_NONE;
	block->header_end = next + len;
	if (!walk_crc32(view, at + 4, block->header_end - at - 4, &crc))
		return len <= USUAL_LEN ? RAR_CUT : RAR_NONE;
	if (crc != want)
		return RAR_NONE;
	if (!read_number(view, &next, &type) || type < TYPE_MAIN || type > TYPE_END ||
		!read_number(view, &next, &flags) ||
		(flags & HAS_EXTRA && !read_number(view, &next, &extra_len)) ||
		(flags & HAS_DATA && !read_number(view, &next, &data_len)) ||
		next > block->header_end || extra_len > len || data_len > INT64_MAX)
		return RAR_NONE;
	block->kind = kinds[type];
	if (type == TYPE_FILE)
		block->time = read_time(view, next);
	if (type == TYPE_FILE && (flags & (CONTINUES | IS_CONTINUED)) != CONTINUES &&
		!is_encrypted(view, block->header_end - extra_len, block->header_end))
		read_packing(view, next, flags & IS_CONTINUED, block);
	if (type == TYPE_FILE && !block->time)
		block->time =
			read_extra_time(view, block->header_end - extra_len, block->header_end);
	block->end = block->header_end + data_len;
	return RAR_FOUND;
}
