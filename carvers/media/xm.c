/*
 * FastTracker 2's modules (XM 1.04; Triton's description, and OpenMPT's of what others write).
 *
 *	header:     'Extended Module: ', title (20), 1A, program (20), version (2), length from here on (4);
 *	            at 70 how many patterns, at 72 how many instruments; little-endian
 *	pattern:    length of its header (4), 0, rows (2), length of the data (2), data
 *	instrument: length of its header (4), name, at 27 how many samples, at 29 the length of a sample's
 *	            header (4); headers, then samples
 *	sample:     length (4); at 17 how it is stored (AD: 4 bits a value)
 *
 * Each part leads to the next. Nothing verifies samples, which mostly end the file.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "tracker_parts.h"

#define HEAD_LEN 80
#define SAMPLES_MAX 256
#define HEADER_MAX 4096
#define ADPCM 0xad

/* The pattern at `at`. Returns where the next part begins; 0: there is none. */
static uint64_t add_pattern(struct tracker *xm, uint64_t at)
{
	const uint8_t *p = tracker_part(xm, "pattern", at, 9, 9);

	if (!p || le32(p) < 9 || le32(p) > HEADER_MAX || p[4])
		return 0;
	return at + le32(p) + le16(p + 7);
}

/* The instrument at `at` with its samples. The same result. */
static uint64_t add_instrument(struct tracker *xm, uint64_t at)
{
	const uint8_t *p = tracker_part(xm, "instrument", at, 29, 29);
	uint32_t count, sample_len = 0;
	uint64_t heads, samples;

	if (!p || le32(p) < 29 || le32(p) > HEADER_MAX || le16(p + 27) > SAMPLES_MAX)
		return 0;
	count = le16(p + 27);
	heads = at + le32(p);
	if (count) {
		p = view_peek(xm->view, at + 29, 4);
		sample_len = p ? le32(p) : 0;
		if (sample_len < 40 || sample_len > HEADER_MAX)
			return 0;
	}
	samples = heads + (uint64_t)count * sample_len;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t len;

		p = view_peek(xm->view, heads + (uint64_t)i * sample_len, 18);
		if (!p)
			return 0;
		len = p[17] == ADPCM ? (le32(p) + UINT64_C(1)) / 2 + 16 : le32(p);
		tracker_samples(xm, samples, len);
		samples += len;
	}
	return samples;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct tracker xm = { .view = view, .finding = finding };
	uint32_t patterns, instruments;
	uint64_t at;

	if (!p || memcmp(p, "Extended Module: ", 17) != 0 || le16(p + 58) != 0x104 ||
		le32(p + 60) < 20 || le32(p + 60) > HEADER_MAX || le16(p + 70) > 256 ||
		le16(p + 72) > 256)
		return verdict_because(CARVE_REJECT, finding, "no header of version 1.04 at 0");
	finding_set_title(finding, p + 17, 20);
	patterns = le16(p + 70);
	instruments = le16(p + 72);
	at = xm.head_end = 60 + (uint64_t)le32(p + 60);
	for (uint32_t part = 0; part < patterns + instruments; part++) {
		uint64_t next = part < patterns ? add_pattern(&xm, at) : add_instrument(&xm, at);

		if (!next && at <= view_size(view)) {
			finding->length = at;
			return verdict_because(CARVE_TRUNCATED, finding, "no %s at %" PRIu64,
				part < patterns ? "pattern" : "instrument", at);
		}
		if (!next)
			break;
		at = next;
	}
	if (xm.end < at)
		xm.end = at;
	return tracker_judge(&xm);
}

const struct carver xm_carver = {
	.name = "xm",
	.summary = "FastTracker 2's modules (XM), by their patterns and instruments",
	.check = check,
};
