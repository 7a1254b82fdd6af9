/*
 * What NTFS notes of changes to files, in the stream $J of $UsnJrnl ([MS-FSCC] 2.3.62, USN_RECORD_V2 and V3).
 *
 *	page:   4,096 bytes: records, then zeros
 *	record: length (4, a multiple of 8), version 2.0 or 3.0 (2, 2), file and its folder (8 each; in version 3 16),
 *	        place in the stream (8), time (8), reason, source, security, attributes (4 each), length of the name
 *	        and where it is (2, 2), name in UTF-16
 *
 * Integers are little-endian. A journal begins and ends anywhere; what is carved are the records that follow one another,
 * each at the place it names, counted from the first. The title is the first one's name, the time the last one's.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"
#include "walk.h"

#define PAGE 4096
#define HEAD_MIN 60 /* of version 2 */
#define RECORDS_MIN 3

struct record {
	uint32_t len, name_at, name_len;
	uint64_t place;
	int64_t time;
};

static bool read_record(struct view *view, uint64_t at, struct record *record)
{
	const uint8_t *p = view_peek(view, at, HEAD_MIN);
	uint32_t more = p && le16(p + 4) == 3 ? 16 : 0;

	if (!p || (le16(p + 4) != 2 && !more) || le16(p + 6))
		return false;
	p = more ? view_peek(view, at, HEAD_MIN + more) : p;
	if (!p)
		return false;
	*record = (struct record){ .len = le32(p),
		.place = le64(p + 24 + more),
		.time = filetime_seconds(le64(p + 32 + more)),
		.name_len = le16(p + 56 + more),
		.name_at = le16(p + 58 + more) };
	return record->len % 8 == 0 && record->len <= PAGE && record->name_at == HEAD_MIN + more &&
	       record->name_len && record->name_len % 2 == 0 && record->time > 0 &&
	       record->place % 8 == 0 &&
	       record->len == (record->name_at + record->name_len + 7) / 8 * 8;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, end = 0, count = 0, first = 0;
	struct record record;

	for (; read_record(view, at, &record); at += record.len) {
		uint64_t rest;

		first = count ? first : record.place;
		if (record.place - first != at || at + record.len > view_size(view))
			break;
		if (!count++) {
			const uint8_t *p = view_peek(view, record.name_at, record.name_len);

			if (p)
				finding_set_title_utf16(finding, p, record.name_len, false);
		}
		if (at)
			view_part(view, at);
		finding->time = record.time;
		end = at + record.len;
		rest = PAGE - (first + end) % PAGE;
		if (rest < PAGE && walk_zeros(view, end, end + rest))
			at += rest;
	}
	if (count < RECORDS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no three records at 0");
	finding->length = end;
	if (read_record(view, end, &record) && end + record.len > view_size(view))
		return walk_cut(view, finding, end + record.len, view_size(view));
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no record at %" PRIu64 ", and the number of records is not stored", at);
}

const struct carver usn_carver = {
	.name = "usn",
	.summary = "NTFS's journal of changes ($UsnJrnl), by its records",
	.check = check,
	.quick = true,
};
