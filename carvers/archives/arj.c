/*
 * ARJ (ARJ's own TECHNOTE.TXT, "ARJ archive file format").
 *
 *	file:   main header, members, end (a header of length 0)
 *	header: 60 EA, length (2 bytes, little-endian), basic header, its CRC-32, extended headers
 *		(each with a length before and a CRC-32 after it), a length of 0
 *	member: header, compressed data
 *
 * Every header has a CRC, and a member's header has the length of its data; so they lead to the
 * end. Each volume of a set is a file of its own. The time is the newest member's, or the
 * archive's.
 *
 * Damage. Data is intact if another header, or the end, follows it.
 */
#include <inttypes.h>

#include "bytes.h"
#include "dates.h"
#include "walk.h"

#define CRC_BITS 32 /* see view_proved */

enum {
	HEADER_MAX_LEN = 2600,
	HEADER_MIN_LEN = 30,
	TYPE_MAIN = 2,
	TYPE_MAX = 5,
	METHOD_MAX = 4,
	EXTENDED_MAX = 16,
};

struct arj_header {
	uint64_t end; /* after all of it */
	bool last;
	uint8_t type, method;
	uint32_t time, data_len;
};

enum arj_found { ARJ_FOUND, ARJ_CUT, ARJ_NONE };

/* Whether the CRC after the len bytes at `at` matches them. */
static enum arj_found check_crc(struct view *view, uint64_t at, uint16_t len)
{
	const uint8_t *p;
	uint32_t crc = 0;

	if (!walk_crc32(view, at, len, &crc))
		return ARJ_CUT;
	p = view_peek(view, at + len, 4);
	if (!p)
		return ARJ_CUT;
	if (le32(p) != crc)
		return ARJ_NONE;
	view_proved(view, at, at + len + 4, CRC_BITS);
	return ARJ_FOUND;
}

static enum arj_found skip_extended(struct view *view, uint64_t *at)
{
	for (int i = 0; i < EXTENDED_MAX; i++) {
		const uint8_t *p = view_peek(view, *at, 2);
		uint16_t len = p ? le16(p) : 0;
		enum arj_found found;

		if (!p)
			return ARJ_CUT;
		*at += 2;
		if (!len)
			return ARJ_FOUND;
		found = check_crc(view, *at, len);
		if (found != ARJ_FOUND)
			return found;
		*at += len + 4;
	}
	return ARJ_NONE;
}

static enum arj_found read_header(struct view *view, uint64_t at, struct arj_header *header)
{
	const uint8_t *p = view_peek(view, at, 4);
	uint16_t len = p ? le16(p + 2) : 0;
	enum arj_found found;

	*header = (struct arj_header){ .end = at + 4 };
	if (!p)
		return ARJ_CUT;
	if (p[0] != 0x60 || p[1] != 0xea || len > HEADER_MAX_LEN)
		return ARJ_NONE;
	header->last = len == 0;
	if (header->last)
		return ARJ_FOUND;
	if (len < HEADER_MIN_LEN)
		return ARJ_NONE;
	found = check_crc(view, at + 4, len);
	if (found != ARJ_FOUND)
		return found;
	p = view_peek(view, at + 4, HEADER_MIN_LEN);
	if (!p)
		return ARJ_CUT;
	header->method = p[5];
	header->type = p[6];
	header->time = le32(p + 8);
	header->data_len = le32(p + 12);
	header->end += len + 4;
	if (p[0] > len || header->type > TYPE_MAX)
		return ARJ_NONE;
	return skip_extended(view, &header->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct arj_header header;
	enum arj_found found = read_header(view, 0, &header);
	uint64_t at = header.end, valid_end = header.end, size = view_size(view);

	if (found != ARJ_FOUND || header.last || header.type != TYPE_MAIN)
		return verdict_because(CARVE_REJECT, finding, "no main header with its CRC at 0");
	finding->time = dos_seconds(header.time);
	for (;; at = header.end + header.data_len) {
		int64_t time;

		found = at > size ? ARJ_CUT : read_header(view, at, &header);
		if (found != ARJ_FOUND || header.last)
			break;
		if (header.type == TYPE_MAIN || header.method > METHOD_MAX) {
			found = ARJ_NONE;
			break;
		}
		valid_end = header.end;
		time = dos_seconds(header.time);
		if (time > finding->time)
			finding->time = time;
	}
	if (found == ARJ_CUT)
		return walk_cut_filled(view, finding, size + 1, valid_end);
	finding->length = found == ARJ_FOUND ? header.end : valid_end;
	if (found == ARJ_FOUND)
		return CARVE_COMPLETE;
	return verdict_because(CARVE_TRUNCATED, finding, "no header with its CRC at %" PRIu64, at);
}

const struct carver arj_carver = {
	.name = "arj",
	.summary = "ARJ archives, by their headers' CRCs",
	.check = check,
};
