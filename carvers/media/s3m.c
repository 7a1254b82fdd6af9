/*
 * Scream Tracker 3's modules (S3M; Future Crew, TECH.DOC).
 *
 *	header:     title (28), 1A, 16; at 32 the number of orders, instruments and patterns (2 each,
 *	            little-endian), 'SCRM' at 44, at 53 FC if a table of 32 bytes follows the places; 96 bytes
 *	tables:     orders (1 each), places of instruments and patterns (2 each, in units of 16 bytes)
 *	instrument: kind (1: with values), name (12), place of the values (highest byte, lower two), their
 *	            number (4); at 31 flags; 80 bytes, with 'SCRS' or 'SCRI' at the end
 *	pattern:    length (2), data
 *
 * The part that ends last ends the file. Nothing verifies values.
 */
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "tracker_parts.h"

#define HEAD_LEN 96
#define INSTRUMENT_LEN 80
#define COUNT_MAX 256

enum { STEREO = 2, WIDE = 4 };

static void add_instrument(struct tracker *s3m, uint64_t at)
{
	const uint8_t *p = tracker_part(s3m, "instrument", at, INSTRUMENT_LEN, INSTRUMENT_LEN);
	uint64_t len, place;

	if (!p)
		return;
	if (memcmp(p + 76, "SCR", 3) != 0) {
		if (p[0]) /* empty ones need no mark */
			tracker_wrong(s3m, "instrument", at);
		return;
	}
	len = le32(p + 16);
	place = ((uint64_t)p[13] << 16 | le16(p + 14)) * 16;
	if (p[0] == 1)
		tracker_samples(
			s3m, place, len * (p[31] & WIDE ? 2 : 1) * (p[31] & STEREO ? 2 : 1));
}

static void add_pattern(struct tracker *s3m, uint64_t at)
{
	const uint8_t *p = tracker_part(s3m, "pattern", at, 2, 2);

	if (p)
		tracker_part(s3m, "pattern", at, le16(p), 0);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct tracker s3m = { .view = view, .finding = finding };
	uint32_t instruments, patterns;
	uint64_t at;

	if (!p || p[28] != 0x1a || p[29] != 16 || memcmp(p + 44, "SCRM", 4) != 0 ||
		le16(p + 34) > COUNT_MAX || le16(p + 36) > COUNT_MAX || le16(p + 32) > COUNT_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	finding_set_title(finding, p, 28);
	instruments = le16(p + 34);
	patterns = le16(p + 36);
	at = HEAD_LEN + (uint64_t)le16(p + 32);
	s3m.head_end = at + 2 * ((uint64_t)instruments + patterns);
	s3m.end = s3m.head_end + (p[53] == 0xfc ? 32 : 0);
	for (uint32_t i = 0; i < instruments + patterns; i++, at += 2) {
		uint64_t place;

		p = view_peek(view, at, 2);
		if (!p)
			return verdict_because(CARVE_REJECT, finding, "no places of parts");
		place = (uint64_t)le16(p) * 16;
		if (place && i < instruments)
			add_instrument(&s3m, place);
		else if (place)
			add_pattern(&s3m, place);
	}
	return tracker_judge(&s3m);
}

const struct carver s3m_carver = {
	.name = "s3m",
	.summary = "Scream Tracker 3's modules, by the places of their parts",
	.check = check,
};
