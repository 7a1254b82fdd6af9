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
 * Damage. Data is intact if another header, or the end, follows it. Where proof is asked for it is decompressed
 * (lzh_unpack.c), and its CRC compared, unless it is encrypted.
 */
#include <inttypes.h>
#include <isa-l/crc.h>

#include "bytes.h"
#include "dates.h"
#include "lzh_unpack.h"
#include "walk.h"

#define CRC_BITS 32 /* see view_proved */
/* The same of what was decompressed to as many bytes as it should, and ended where it should: 1 of 19,935 layouts with a
 * wrong joint did. */
#define END_BITS 10
#define LINK_BITS 32 /* of a header that follows data whose CRC agrees: its own CRC */
#define WORD_LEN 2
#define WORD "\x60\xea"

enum {
	HEADER_MAX_LEN = 2600,
	HEADER_MIN_LEN = 30,
	TYPE_MAIN = 2,
	TYPE_MAX = 5,
	METHOD_STORED = 0,
	METHOD_FAST = 4,
	FLAG_ENCRYPTED = 1,
	EXTENDED_MAX = 16,
};

struct arj_header {
	uint64_t end; /* after all of it */
	bool last;
	uint8_t type, method, flags;
	uint32_t time, data_len, plain_len, crc;
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
	header->flags = p[4];
	header->method = p[5];
	header->type = p[6];
	header->time = le32(p + 8);
	header->data_len = le32(p + 12);
	header->plain_len = le32(p + 16);
	header->crc = le32(p + 20);
	header->end += len + 4;
	if (p[0] > len || header->type > TYPE_MAX)
		return ARJ_NONE;
	return skip_extended(view, &header->end);
}

static void add_crc(void *context, const uint8_t *bytes, size_t len)
{
	uint32_t *crc = context;

	*crc = crc32_gzip_refl(*crc, bytes, len);
}

/* Whether a member's data can be its own, where proof is asked for. False: *noticed is up to where. */
static bool check_data(
	struct view *view, const struct arj_header *header, uint64_t *noticed, bool *is_proved)
{
	uint32_t crc = 0;
	const struct lzh_data data = { .method = header->method == METHOD_STORED ? LZH_STORED
						 : header->method == METHOD_FAST ? LZH_ARJ_FAST
										 : LZH_ARJ,
		.at = header->end,
		.end = header->end + header->data_len,
		.plain_len = header->plain_len,
		.take = add_crc,
		.context = &crc };
	enum lzh_state state;

	*is_proved = false;
	if (!view_thorough(view) || header->flags & FLAG_ENCRYPTED || !header->data_len)
		return true;
	state = lzh_unpack(view, &data, noticed);
	if (state == LZH_DONE && crc != header->crc) {
		*noticed = header->end;
		return false;
	}
	*is_proved = state == LZH_DONE;
	if (*is_proved)
		view_proved(view, data.at, data.end,
			CRC_BITS + (data.method == LZH_STORED ? 0 : END_BITS));
	return state == LZH_DONE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct arj_header header;
	enum arj_found found = read_header(view, 0, &header);
	uint64_t at = header.end, valid_end = header.end, size = view_size(view), noticed;

	if (found != ARJ_FOUND || header.last || header.type != TYPE_MAIN)
		return verdict_because(CARVE_REJECT, finding, "no main header with its CRC at 0");
	finding->time = dos_seconds(header.time);
	for (bool is_proved = false;; at = header.end + header.data_len) {
		uint64_t data = at - header.data_len;
		int64_t time;

		found = at > size ? ARJ_CUT : read_header(view, at, &header);
		if (found == ARJ_FOUND && is_proved && !header.last)
			view_linked(view, data, header.end, LINK_BITS);
		if (found != ARJ_FOUND || header.last)
			break;
		if (header.type == TYPE_MAIN || header.method > METHOD_FAST) {
			found = ARJ_NONE;
			break;
		}
		valid_end = header.end;
		if (!check_data(view, &header, &noticed, &is_proved)) {
			finding->length = noticed;
			return verdict_because(CARVE_TRUNCATED, finding,
				"data that can't be decompressed at %" PRIu64, noticed);
		}
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

/* The first stored data with another CRC: where a piece may end. */
static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct arj_header header;
	enum arj_found found = read_header(view, 0, &header);
	uint64_t at = header.end, end;

	for (; found == ARJ_FOUND && !header.last && at < view_size(view); at = end) {
		uint32_t crc = 0;

		found = read_header(view, at, &header);
		end = header.end + header.data_len;
		if (found == ARJ_FOUND && !header.last && header.method == METHOD_STORED &&
			!(header.flags & FLAG_ENCRYPTED) &&
			(!walk_crc32(view, header.end, header.data_len, &crc) ||
				crc != header.crc)) {
			*sum = (struct carve_sum){ .from = header.end,
				.to = end,
				.before = UINT32_MAX,
				.after = ~header.crc,
				.next_count = 1,
				.next = { { .offset = end, .len = WORD_LEN, .bytes = WORD } } };
			return true;
		}
	}
	return false;
}

/* Whether a header is there. */
static bool fits(struct view *view, uint64_t at, const struct carve_anchor *anchor)
{
	struct arj_header header;

	(void)anchor;
	return read_header(view, at, &header) == ARJ_FOUND;
}

static const struct carve_map arj_map = {
	.words = { { WORD_LEN, false, WORD } },
	.common = true,
	.sum = find_sum,
	.fits = fits,
};

const struct carver arj_carver = {
	.name = "arj",
	.summary = "ARJ archives, by their headers' CRCs",
	.check = check,
	.map = &arj_map,
};
