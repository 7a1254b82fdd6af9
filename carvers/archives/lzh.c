/*
 * LHA (the header description of LHa for UNIX, header.doc.md; also known as LZH).
 *
 *	file:    members, a byte 0
 *	member:  header of level 0, 1, 2 or 3, compressed data
 *	level 0: length (1 byte), checksum (1 byte) of what follows, method, compressed length,
 *		decompressed length, DOS time, attribute, level, name, CRC-16 of the contents
 *	level 1: the same, then extended headers, each after its length; the compressed length
 *		includes them
 *	level 2: length of the whole header (2 bytes), then as above, UNIX time, extended
 *		headers
 *	level 3: as 2 with lengths of 4 bytes
 *
 * A method is '-lh5-' and the like. Some programs leave out the CRC-16 at level 0. Extended header
 * 0 has a CRC-16 of the whole header, which all programs write at levels 2 and 3. Each member looks
 * like the start of a file, so it is reported as a part. The time is the newest member's.
 *
 * Damage. Data is intact if another header, or the end, follows it; the last member's only if coded
 * bytes do not turn into plain ones. Headers of level 0 and 1 have a checksum of only one byte, so
 * their names and fields must be possible, too.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "noise.h"
#include "walk.h"

enum {
	FIXED_LEN = 21, /* up to the level */
	HEADER_MAX_LEN = 65535,
	EXTENDED_MAX = 64,
	EXTENDED_CRC = 0,
};

struct lzh_header {
	uint64_t at, end, data_len;
	uint8_t level;
	bool coded;      /* with a Huffman code: all byte values are about equally frequent */
	uint64_t crc_at; /* of the CRC-16 in an extended header; 0: none */
	uint16_t crc;
	int64_t time;
};

static uint16_t crc16(uint16_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
	return crc;
}

/* The CRC of a header, in which the CRC itself counts as 0. */
static bool crc_agrees(struct view *view, const struct lzh_header *header)
{
	size_t len = (size_t)(header->end - header->at);
	const uint8_t *p = len <= HEADER_MAX_LEN ? view_peek(view, header->at, len) : NULL;
	uint16_t crc = 0;

	if (!p)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool own = header->at + i == header->crc_at || header->at + i == header->crc_at + 1;

		crc = crc16(crc, own ? 0 : p[i]);
	}
	return crc == header->crc;
}

/* Follows extended headers; *at is after the first one's length, and then after the last one. */
static bool read_extended(struct view *view, struct lzh_header *header, uint64_t *at, uint64_t next)
{
	unsigned width = header->level == 3 ? 4 : 2;
	const uint8_t *p;

	for (int i = 0; next; i++) {
		if (i == EXTENDED_MAX || next < width + 1 || next > HEADER_MAX_LEN)
			return false;
		p = view_peek(view, *at, next);
		if (!p)
			return false;
		if (p[0] == EXTENDED_CRC && next >= width + 3) {
			header->crc_at = *at + 1;
			header->crc = le16(p + 1);
		}
		*at += next;
		next = width == 4 ? le32(p + next - 4) : le16(p + next - 2);
	}
	return true;
}

static bool possible_name(const uint8_t *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' && name[i])
			return false;
	return true;
}

static int64_t dos_seconds(uint32_t date)
{
	return utc_seconds(1980 + (int)(date >> 25), date >> 21 & 15, date >> 16 & 31,
		date >> 11 & 31, date >> 5 & 63, (date & 31) * 2);
}

/* Levels 0 and 1. */
static bool read_old(struct view *view, struct lzh_header *header)
{
	const uint8_t *p = view_peek(view, header->at, 2);
	size_t len = p ? p[0] : 0;
	uint8_t sum = 0, want = p ? p[1] : 0;
	uint64_t at;

	p = view_peek(view, header->at + 2, len);
	if (!p || len < 20 || p[19] > len - 20 || !possible_name(p + 20, p[19]))
		return false;
	for (size_t i = 0; i < len; i++)
		sum += p[i];
	if (sum != want)
		return false;
	header->time = dos_seconds(le32(p + 13));
	header->data_len = le32(p + 5);
	header->end = at = header->at + 2 + len;
	if (header->level == 0)
		return true;
	if (len < 25 || !read_extended(view, header, &at, le16(p + len - 2)) ||
		at - header->end > header->data_len)
		return false;
	header->data_len -= at - header->end;
	header->end = at;
	return true;
}

/* Levels 2 and 3. */
static bool read_new(struct view *view, struct lzh_header *header)
{
	bool wide = header->level == 3;
	const uint8_t *p = view_peek(view, header->at, wide ? 32 : 26);
	uint64_t len, at;

	if (!p || (wide && le16(p) != 4))
		return false;
	len = wide ? le32(p + 24) : le16(p);
	at = header->at + (wide ? 32 : 26);
	header->time = le32(p + 15);
	header->data_len = le32(p + 7);
	header->end = header->at + len;
	if (len < 26 || len > HEADER_MAX_LEN ||
		!read_extended(view, header, &at, wide ? le32(p + 28) : le16(p + 24)))
		return false;
	/* A byte of padding keeps the first byte from being 0. */
	return at <= header->end && header->end - at <= 1;
}

static bool read_header(struct view *view, uint64_t at, struct lzh_header *header)
{
	const uint8_t *p = view_peek(view, at, FIXED_LEN);

	*header = (struct lzh_header){ .at = at };
	if (!p || p[2] != '-' || (p[3] != 'l' && p[3] != 'p') || p[6] != '-' || p[20] > 3)
		return false;
	if (!memchr("hzm", p[4], 3) || !memchr("01234567dsxe", p[5], 12))
		return false;
	header->level = p[20];
	header->coded = p[3] == 'l' && p[4] == 'h' && p[5] >= '1' && p[5] <= '7';
	if (!(header->level < 2 ? read_old(view, header) : read_new(view, header)))
		return false;
	return header->crc_at ? crc_agrees(view, header) : true;
}

/* The verdict when the members end at `at`, the last of them with this header. */
static enum verdict judge_end(
	struct view *view, struct finding *finding, uint64_t at, const struct lzh_header *last)
{
	uint64_t size = view_size(view), valid_end = last->end, plain = at;
	const uint8_t *p = at < size ? view_peek(view, at, 1) : NULL;

	bool ends = p && !*p;

	if (ends && last->coded)
		plain = plain_start(view, valid_end, at);
	if (plain < at) {
		finding->length = plain;
		return verdict_because(CARVE_TRUNCATED, finding,
			"plain bytes instead of coded ones at %" PRIu64, plain);
	}
	if (at >= size)
		return walk_cut(view, finding, at + 1,
			view_ends_with_image(view) ? walk_before_fill(view, valid_end, size)
						   : valid_end);
	if (ends) {
		finding->length = at + 1;
		return walk_before_fill(view, valid_end, at) == at
			       ? CARVE_COMPLETE
			       : verdict_because(CARVE_UNVERIFIED, finding,
					 "the last member ends in zeros, as if wiped, at %" PRIu64,
					 at);
	}
	finding->length = valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "neither a header nor the end at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct lzh_header header, last = { 0 };
	uint64_t at = 0;

	while (at < view_size(view) && read_header(view, at, &header)) {
		if (at)
			view_part(view, at);
		last = header;
		at = header.end + header.data_len;
		if (header.time > finding->time)
			finding->time = header.time;
	}
	if (!at)
		return verdict_because(CARVE_REJECT, finding, "no header with its checksum at 0");
	return judge_end(view, finding, at, &last);
}

const struct carver lzh_carver = {
	.name = "lzh",
	.summary = "LHA archives, by their headers' checksums",
	.check = check,
};
