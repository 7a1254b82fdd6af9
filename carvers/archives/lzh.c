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
 * their names and fields must be possible, too.
 */
#include <inttypes.h>

#include "lzh_member.h"
#include "noise.h"
#include "walk.h"

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
	uint64_t at = 0;
	enum verdict verdict;
	bool proven;

	while (at < view_size(view) && lzh_read_member(view, at, &header)) {
		if (at)
			view_part(view, at);
		last = header;
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
