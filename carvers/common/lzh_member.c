/* The members of LHA archives: see archives/lzh.c. */
#include "lzh_member.h"

#include <string.h>

#include "bytes.h"
#include "crc16_arc.h"
#include "dates.h"
#include "noise.h"
#include "walk.h"

enum {
	FIXED_LEN = 21, /* up to the level */
	HEADER_MAX_LEN = 65535,
	EXTENDED_MAX = 64,
	EXTENDED_CRC = 0,
};

/* The CRC of a header, in which the CRC itself counts as 0. */
static bool crc_agrees(struct view *view, const struct lzh_member *member)
{
	size_t len = (size_t)(member->end - member->at);
	const uint8_t *p = len <= HEADER_MAX_LEN ? view_peek(view, member->at, len) : NULL;
	const uint8_t zero = 0;
	uint16_t crc = 0;

	if (!p)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool own = member->at + i == member->crc_at || member->at + i == member->crc_at + 1;

		crc = crc16_arc(crc, own ? &zero : p + i, 1);
	}
	return crc == member->crc;
}

/* Follows extended headers; *at is after the first one's length, and then after the last one. */
static bool read_extended(struct view *view, struct lzh_member *member, uint64_t *at, uint64_t next)
{
	unsigned width = member->level == 3 ? 4 : 2;
	const uint8_t *p;

	for (int i = 0; next; i++) {
		if (i == EXTENDED_MAX || next < width + 1 || next > HEADER_MAX_LEN)
			return false;
		p = view_peek(view, *at, next);
		if (!p)
			return false;
		if (p[0] == EXTENDED_CRC && next >= width + 3) {
			member->crc_at = *at + 1;
			member->crc = le16(p + 1);
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

/* Levels 0 and 1. */
static bool read_old(struct view *view, struct lzh_member *member)
{
	const uint8_t *p = view_peek(view, member->at, 2);
	size_t len = p ? p[0] : 0;
	uint8_t sum = 0, want = p ? p[1] : 0;
	uint64_t at;

	p = view_peek(view, member->at + 2, len);
	if (!p || len < 20 || p[19] > len - 20 || !possible_name(p + 20, p[19]))
		return false;
	for (size_t i = 0; i < len; i++)
		sum += p[i];
	if (sum != want)
		return false;
	member->time = dos_seconds(le32(p + 13));
	member->data_len = le32(p + 5);
	member->plain_len = le32(p + 9);
	member->has_data_crc = len >= 22 + (size_t)p[19];
	if (member->has_data_crc)
		member->data_crc = le16(p + 20 + p[19]);
	member->end = at = member->at + 2 + len;
	if (member->level == 0)
		return true;
	if (len < 25 || !read_extended(view, member, &at, le16(p + len - 2)) ||
		at - member->end > member->data_len)
		return false;
	member->data_len -= at - member->end;
	member->end = at;
	return true;
}

/* Levels 2 and 3. */
static bool read_new(struct view *view, struct lzh_member *member)
{
	bool wide = member->level == 3;
	const uint8_t *p = view_peek(view, member->at, wide ? 32 : 26);
	uint64_t len, at;

	if (!p || (wide && le16(p) != 4))
		return false;
	len = wide ? le32(p + 24) : le16(p);
	at = member->at + (wide ? 32 : 26);
	member->time = le32(p + 15);
	member->data_len = le32(p + 7);
	member->plain_len = le32(p + 11);
	member->has_data_crc = true;
	member->data_crc = le16(p + 21);
	member->end = member->at + len;
	if (len < 26 || len > HEADER_MAX_LEN ||
		!read_extended(view, member, &at, wide ? le32(p + 28) : le16(p + 24)))
		return false;
	/* A byte of padding keeps the first byte from being 0. */
	return at <= member->end && member->end - at <= 1;
}

bool lzh_read_member(struct view *view, uint64_t at, struct lzh_member *member)
{
	const uint8_t *p = view_peek(view, at, FIXED_LEN);

	*member = (struct lzh_member){ .at = at };
	if (!p || p[2] != '-' || (p[3] != 'l' && p[3] != 'p') || p[6] != '-' || p[20] > 3)
		return false;
	if (!memchr("hzm", p[4], 3) || !memchr("01234567dsxe", p[5], 12))
		return false;
	member->level = p[20];
	member->kind = p[3] == 'l' && p[4] == 'h' ? p[5] : 0;
	member->coded = p[3] == 'l' && p[4] == 'h' && p[5] >= '1' && p[5] <= '7';
	if (!(member->level < 2 ? read_old(view, member) : read_new(view, member)))
		return false;
	return member->crc_at ? crc_agrees(view, member) : true;
}

uint64_t lzh_end(struct view *view, uint64_t start, bool *proven)
{
	struct lzh_member member, last = { 0 };
	uint64_t at = start;
	const uint8_t *p;

	while (at < view_size(view) && lzh_read_member(view, at, &member)) {
		last = member;
		at = member.end + member.data_len;
	}
	p = at > start && at < view_size(view) ? view_peek(view, at, 1) : NULL;
	if (!p || *p)
		return 0;
	*proven = (!last.coded || plain_start(view, last.end, at) == at) &&
		  walk_before_fill(view, last.end, at) == at;
	return at + 1;
}
