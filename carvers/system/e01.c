/*
 * Segments of evidence files (EnCase's E01, FTK's and SMART's; Metz, Expert Witness Compression Format).
 *
 *	header:  'EVF' 09 0D 0A FF 00 (logical evidence: 'LVF'), 1, number of the segment (2, little-endian), 0 (2)
 *	section: type (16, ended by zeros), place of the next section (8), length with these 76 bytes (8; may be 0),
 *	         40 zeros, Adler-32 of the 72 bytes before it
 *
 * The sections lead from one to the next, up to 'next' (another segment follows) or 'done', which gives its
 * own place. Each one's checksum has to match; the chunks of the image, in 'sectors', are not decompressed.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 13
#define SECTION_LEN 76

static bool is_section(const uint8_t *p)
{
	if (p[0] < 'a' || p[0] > 'z')
		return false;
	return le32(p + 72) == (uint32_t)adler32(1, p, 72);
}

static bool is_last(const uint8_t *section)
{
	return strcmp((const char *)section, "done") == 0 ||
	       strcmp((const char *)section, "next") == 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, size = view_size(view), next;

	if (!p || (memcmp(p, "EVF\x09\r\n\xff", 8) != 0 && memcmp(p, "LVF\x09\r\n\xff", 8) != 0) ||
		p[8] != 1 || !le16(p + 9))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	finding->extension = p[0] == 'L' ? "l01" : "e01";
	for (;; at = next) {
		if (at + SECTION_LEN > size)
			return walk_cut(view, finding, at + SECTION_LEN, size);
		p = view_peek(view, at, SECTION_LEN);
		if (!p || !is_section(p)) {
			finding->length = at > HEAD_LEN ? at : 0;
			return verdict_because(finding->length ? CARVE_TRUNCATED : CARVE_REJECT,
				finding, "no section at %" PRIu64, at);
		}
		next = le64(p + 16);
		if (is_last(p)) {
			finding->length = at + SECTION_LEN;
			return CARVE_COMPLETE;
		}
		if (next < at + SECTION_LEN || next > (uint64_t)1 << 48) {
			finding->length = at + SECTION_LEN;
			return verdict_because(CARVE_TRUNCATED, finding,
				"the section at %" PRIu64 " leads nowhere", at);
		}
		view_unverified(view, at + SECTION_LEN, next < size ? next : size);
	}
}

const struct carver e01_carver = {
	.name = "e01",
	.summary = "segments of evidence files (E01), by their sections",
	.check = check,
};
