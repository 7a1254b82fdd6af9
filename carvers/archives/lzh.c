/*
 * LHA (the header description of LHa for UNIX, header.doc.md; also known as LZH).
 *
 *	file:    members, a byte 0; perhaps another such file after it
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
 * their names and fields must be possible, too. Where proof is asked for data of methods 0 and 4 to 7 is decompressed
 * (lzh_unpack.c), and its CRC compared.
 */
#include <inttypes.h>

#include "crc16_arc.h"
#include "lzh_member.h"
#include "lzh_unpack.h"
#include "noise.h"
#include "walk.h"

/* See view_proved: of a member's CRC, and of what was decompressed to as many bytes as it should, and ended where it
 * should: 6 of 19,903 layouts with a wrong joint did. */
enum { CRC_BITS = 16, END_BITS = 10 };

static void add_crc(void *context, const uint8_t *bytes, size_t len)
{
	uint16_t *crc = context;

	*crc = crc16_arc(*crc, bytes, len);
}

/* Whether a member's data can be its own, where proof is asked for. False: *noticed is up to where. */
static bool check_data(struct view *view, const struct lzh_member *member, uint64_t *noticed)
{
	uint16_t crc = 0;
	bool is_stored = member->kind == '0';
	struct lzh_data data = { .method = LZH_STORED,
		.at = member->end,
		.end = member->end + member->data_len,
		.plain_len = member->plain_len,
		.take = add_crc,
		.context = &crc };
	enum lzh_state state;

	if (!view_thorough(view) || !member->data_len ||
		(!is_stored && (member->kind < '4' || member->kind > '7')))
		return true;
	if (!is_stored)
		data.method = LZH_LH4 + (member->kind - '4');
	state = lzh_unpack(view, &data, noticed);
	if (state != LZH_DONE || !member->has_data_crc)
		return state == LZH_DONE;
	if (crc == member->data_crc)
		view_proved(view, data.at, data.end, is_stored ? CRC_BITS : CRC_BITS + END_BITS);
	else
		*noticed = member->end;
	return crc == member->data_crc;
}

/* The verdict when the members end at `at`, the last of them with this header. */
static enum verdict judge_end(
	struct view *view, struct finding *finding, uint64_t at, const struct lzh_member *last)
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
		return walk_cut_filled(view, finding, at + 1, valid_end);
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
	struct lzh_member header, last = { 0 };
	uint64_t at = 0, noticed;
	enum verdict verdict;
	bool proven;

	while (at < view_size(view) && lzh_read_member(view, at, &header)) {
		if (at)
			view_part(view, at);
		last = header;
		if (!check_data(view, &header, &noticed)) {
			finding->length = noticed;
			return verdict_because(CARVE_TRUNCATED, finding,
				"data that can't be decompressed at %" PRIu64, noticed);
		}
		at = header.end + header.data_len;
		if (header.time > finding->time)
			finding->time = header.time;
	}
	if (!at)
		return verdict_because(CARVE_REJECT, finding, "no header with its checksum at 0");
	verdict = judge_end(view, finding, at, &last);
	/* Archives that were put together, end to end. At a sector another file may begin. */
	while (verdict == CARVE_COMPLETE && finding->length % SECTOR &&
		(at = lzh_end(view, finding->length, &proven)) && proven) {
		view_part(view, finding->length);
		finding->length = at;
	}
	return verdict;
}

const struct carver lzh_carver = {
	.name = "lzh",
	.summary = "LHA archives, by their headers' checksums",
	.check = check,
};
