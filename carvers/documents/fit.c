/*
 * Activities, courses and settings of sports watches and other devices (Garmin, FIT Protocol).
 *
 *	file:       header, records, CRC-16 of all before it
 *	header:     its length (12 or 14), version of the protocol (major one in the upper half), of the profile (2),
 *	            length of the records (4), '.FIT', [CRC-16 of these 12 bytes, or 0]
 *	definition: 01d0tttt (d: developer's fields, too; t: local type), reserved, order of bytes (1: big-endian),
 *	            message (2), number of fields, fields: (number, length, base type);
 *	            [number of the developer's fields, fields: (number, length, developer)]
 *	data:       0000tttt, or 1ttsssss (s: seconds), the fields of the local type's last definition
 *
 * All is little-endian but what a definition says. The first message is file_id (0), whose field 4 is the time.
 * Files may follow each other in one. burin walks the records and checks the CRCs; if both agree to the
 * end, the file is complete. With a wrong CRC it is truncated after the last valid record.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "crc16_arc.h"
#include "cursor.h"
#include "walk.h"

#define HEADER_MIN 12
#define HEADER_MAX 14
#define LOCAL_TYPES 16
#define BASE_TYPES 17
#define FIELD_LEN 3
#define TIME_CREATED 4
#define EPOCH 631065600      /* 1989-12-31 */
#define TIME_MIN 0x10000000u /* less is counted from when a device was switched on */

struct fit {
	struct cursor cursor;
	uint64_t data, end;            /* the records are [data, end) */
	uint32_t lengths[LOCAL_TYPES]; /* of their data; 0: not defined */
	uint64_t messages;
	bool begun;       /* file_id is defined, */
	uint8_t file_id;  /* as this local type */
	uint64_t time_at; /* in its data; 0: nowhere */
	bool time_big;
	int64_t time;
};

static bool read_header(struct fit *fit, uint64_t at)
{
	const uint8_t *p = view_peek(fit->cursor.view, at, HEADER_MAX);

	if (!p || (p[0] != HEADER_MIN && p[0] != HEADER_MAX) ||
		(p[1] >> 4 != 1 && p[1] >> 4 != 2) || memcmp(p + 8, ".FIT", 4) != 0)
		return false;
	if (p[0] == HEADER_MAX && le16(p + 12) && crc16_arc(0, p, HEADER_MAX) != 0)
		return false;
	fit->data = at + p[0];
	fit->end = fit->data + le32(p + 4);
	return true;
}

/* The fields' total length; 0: a field is impossible. */
static uint32_t fields_length(const uint8_t *p, unsigned count, bool based)
{
	uint32_t length = 0;

	for (unsigned i = 0; i < count; i++, p += FIELD_LEN) {
		if (!p[1] || (based && (p[2] & 0x7f) >= BASE_TYPES))
			return 0;
		length += p[1];
	}
	return length;
}

static void find_time(struct fit *fit, const uint8_t *p, unsigned count, uint64_t at)
{
	for (unsigned i = 0; i < count; at += p[FIELD_LEN * i + 1], i++)
		if (p[FIELD_LEN * i] == TIME_CREATED && p[FIELD_LEN * i + 1] == 4)
			fit->time_at = at;
}

/* The cursor is after the record's first byte. */
static bool read_definition(struct fit *fit, uint8_t head)
{
	struct cursor *cursor = &fit->cursor;
	const uint8_t *p = cursor_bytes(cursor, 5);
	unsigned count = p ? p[4] : 0;
	uint32_t length, more;
	int developers = 0;

	if (!count || p[1] > 1 || (!fit->begun && le16(p + 2) != 0))
		return false;
	if (!fit->begun)
		fit->time_big = p[1];
	cursor->at += 5;
	p = cursor_bytes(cursor, FIELD_LEN * count);
	length = p ? fields_length(p, count, true) : 0;
	if (!length)
		return false;
	if (!fit->begun) {
		find_time(fit, p, count, 1);
		fit->file_id = head & 15;
		fit->begun = true;
	}
	cursor->at += FIELD_LEN * count;
	if (head & 0x20 && (developers = cursor_next(cursor)) < 0)
		return false;
	if (developers > 0) {
		p = cursor_bytes(cursor, FIELD_LEN * (unsigned)developers);
		more = p ? fields_length(p, (unsigned)developers, false) : 0;
		if (!more)
			return false;
		length += more;
		cursor->at += FIELD_LEN * (unsigned)developers;
	}
	fit->lengths[head & 15] = length;
	return true;
}

static void read_time(struct fit *fit, uint64_t at)
{
	const uint8_t *p;
	uint32_t seconds;

	fit->cursor.at = at + fit->time_at;
	p = fit->time_at ? cursor_bytes(&fit->cursor, 4) : NULL;
	seconds = !p ? 0 : fit->time_big ? be32(p) : le32(p);
	if (seconds >= TIME_MIN && seconds != UINT32_MAX)
		fit->time = EPOCH + (int64_t)seconds;
}

/* Moves the cursor over one record, which has to end in [at, end). */
static bool read_record(struct fit *fit, uint64_t end)
{
	struct cursor *cursor = &fit->cursor;
	uint64_t at = cursor->at;
	int head = cursor_next(cursor);

	if (head < 0)
		return false;
	if ((head & 0xd0) == 0x40)
		return read_definition(fit, (uint8_t)head) && cursor->at <= end;
	if (head < 0x80 ? head >= LOCAL_TYPES : !fit->lengths[head >> 5 & 3])
		return false;
	head = head < 0x80 ? head : head >> 5 & 3;
	if (!fit->lengths[head] || fit->lengths[head] > end - at - 1)
		return false;
	if (fit->messages++ == 0 && head == fit->file_id)
		read_time(fit, at);
	cursor->at = at + 1 + fit->lengths[head];
	return true;
}

/* The end of the last valid record. */
static uint64_t walk_records(struct fit *fit)
{
	uint64_t size = view_size(fit->cursor.view), at = fit->data;
	uint64_t end = fit->end < size ? fit->end : size;

	for (fit->cursor.at = at; at < end && read_record(fit, end);)
		at = fit->cursor.at;
	return at;
}

/* Whether the CRC after the records is that of [at, end of the records). */
static bool crc_agrees(struct view *view, uint64_t at, uint64_t end)
{
	uint16_t crc = 0;
	const uint8_t *p;
	size_t len;

	for (; at < end + 2; at += len) {
		p = walk_window(view, at, end + 2, &len);
		if (!p)
			return false;
		crc = crc16_arc(crc, p, len);
	}
	return crc == 0;
}

static enum verdict check_file(struct fit *fit, uint64_t at, struct finding *finding)
{
	struct view *view = fit->cursor.view;
	uint64_t valid;

	if (!read_header(fit, at))
		return verdict_because(CARVE_REJECT, finding, "no header at %" PRIu64, at);
	valid = walk_records(fit);
	if (!fit->messages)
		return verdict_because(CARVE_REJECT, finding, "no message at %" PRIu64, valid);
	if (fit->end + 2 > view_size(view))
		return walk_cut(view, finding, fit->end + 2, valid);
	if (crc_agrees(view, at, fit->end)) {
		finding->length = fit->end + 2;
		if (valid < fit->end)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"no record at %" PRIu64 ", but the CRC agrees", valid);
		view_proved(view, at, finding->length, 16);
		return CARVE_COMPLETE;
	}
	finding->length = walk_before_fill(view, fit->data, valid);
	return walk_past_unread(view, finding,
		valid < fit->end
			? verdict_because(CARVE_TRUNCATED, finding, "no record at %" PRIu64, valid)
			: verdict_because(CARVE_TRUNCATED, finding, "CRC wrong at %" PRIu64, valid),
		fit->end + 2);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct fit fit = { .cursor.view = view };
	enum verdict verdict = check_file(&fit, 0, finding);
	struct finding next = { 0 };

	finding->time = fit.time;
	while (verdict == CARVE_COMPLETE) {
		fit = (struct fit){ .cursor.view = view };
		if (check_file(&fit, finding->length, &next) != CARVE_COMPLETE)
			break;
		view_part(view, finding->length);
		finding->length = next.length;
	}
	return verdict;
}

const struct carver fit_carver = {
	.name = "fit",
	.summary = "FIT activities of sports devices, by their records and CRC",
	.check = check,
};
