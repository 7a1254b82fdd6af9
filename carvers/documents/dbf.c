/*
 * dBase tables (dBase III to V, FoxPro, Visual FoxPro; the Library of Congress has descriptions).
 *
 *	header: version, date of the last change (year less 1900, month, day), records (4, little-endian), length
 *	        of the header (2), length of a record (2), 20 bytes
 *	field:  name (11, ended by zeros), type (a letter), 4 bytes, length, decimals, 14 bytes
 *	0D, in Visual FoxPro 263 bytes more, records, 1A
 *	record: a blank, or an asterisk if it was deleted; the fields' values
 *
 * The fields have to fill a record. Nothing verifies the values, and 1A may be missing.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "noise.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 32
#define FIELD_LEN 32
#define END_OF_FIELDS 0x0d
#define END_OF_FILE 0x1a

static bool is_version(uint8_t version)
{
	static const uint8_t versions[] = { 0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63,
		0x83, 0x8b, 0xcb, 0xf5, 0xfb };

	return memchr(versions, version, sizeof(versions));
}

/* Whether a field starts at p; adds its length. */
static bool add_field(const uint8_t *p, uint32_t *record_len)
{
	size_t name_len = strnlen((const char *)p, 11);

	if (!name_len || !strchr("CNLDMFBGPYTIVX@O+0WQ", p[11]) || !p[11])
		return false;
	for (size_t i = 0; i < name_len; i++)
		if (p[i] <= ' ' || p[i] == 0x7f)
			return false;
	/* Text may be longer than 255 bytes: then the decimals are the length's upper half. */
	*record_len += p[16] + (p[11] == 'C' ? p[17] << 8 : 0);
	return p[16] || p[17];
}

/* Whether the fields fill the header and a record. */
static bool fields_fit(struct view *view, uint32_t head_len, uint32_t record_len)
{
	uint32_t at = HEAD_LEN, fields_len = 1;
	const uint8_t *p;

	while (at + FIELD_LEN < head_len) {
		p = view_peek(view, at, FIELD_LEN);
		if (!p || p[0] == END_OF_FIELDS || !add_field(p, &fields_len))
			break;
		at += FIELD_LEN;
	}
	p = view_peek(view, at, 1);
	return p && *p == END_OF_FIELDS && at > HEAD_LEN && fields_len == record_len &&
	       head_len - at <= 264;
}

/* Where in [start, end) the first record is that does not begin as one; end if there is none. */
static uint64_t records_end(struct view *view, uint64_t start, uint64_t end, uint32_t record_len)
{
	for (uint64_t at = start; at < end; at += record_len) {
		const uint8_t *p = view_peek(view, at, 1);

		if (!p || (*p != ' ' && *p != '*'))
			return at;
	}
	return end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint32_t head_len = p ? le16(p + 8) : 0, record_len = p ? le16(p + 10) : 0;
	uint64_t end, at, size = view_size(view);

	if (!p || !is_version(p[0]) || !p[2] || p[2] > 12 || !p[3] || p[3] > 31 || p[12] || p[13] ||
		head_len < HEAD_LEN + FIELD_LEN + 1)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	end = head_len + (uint64_t)le32(p + 4) * record_len;
	if (!fields_fit(view, head_len, record_len))
		return verdict_because(CARVE_REJECT, finding, "no fields at 32");
	at = records_end(view, head_len, end, record_len);
	if (at < end && at < size) {
		finding->length = noise_before(view, head_len, at);
		return verdict_because(CARVE_TRUNCATED, finding, "no record at %" PRIu64, at);
	}
	view_holds(view, head_len, end);
	p = view_peek(view, end, 1);
	return stored_check(view, finding, head_len, end + (p && *p == END_OF_FILE));
}

const struct carver dbf_carver = {
	.name = "dbf",
	.summary = "dBase tables, by their fields and records",
	.check = check,
	.quick = true,
};
