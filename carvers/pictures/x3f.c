/*
 * X3F, Sigma's raw photos with Foveon sensors (Foveon, X3F File Format Specification 1.0; ExifTool,
 * SigmaRaw).
 *
 *	head:      'FOVb', version (2 and 2 bytes, little-endian), identifier (16), mark (4),
 *	           columns, rows, rotation (4 each)
 *	section:   'SECp', 'SECi', 'SECc' (properties, picture, camera's), 'SEC' and another
 *	           letter; data
 *	directory: 'SECd', version (4), number of entries (4), entries: offset, length, type (4
 *	           each)
 *	end:       the directory's offset (4)
 *
 * Only the end has the directory's offset, so the carver searches for a directory that a pointer to
 * it follows. Each entry has to point to a section before it. Without a directory the file was cut.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "walk.h"

#define HEAD_LEN 40
#define DIRECTORY_LEN 12
#define ENTRY_LEN 12
#define ENTRIES_MAX 100
/* Of a picture, with the first bytes of the JPEG that it may be. */
#define SECTION_HEAD_LEN 32
#define CUT_MAX (64u << 20) /* the most that is kept of a file without its directory */

/* The end of the file whose directory is at `at`; 0: not a directory. */
static uint64_t directory_end(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, DIRECTORY_LEN);
	uint32_t count = p ? le32(p + 8) : 0;
	uint64_t end = at + DIRECTORY_LEN + (uint64_t)count * ENTRY_LEN;

	if (!p || memcmp(p, "SECd", 4) != 0 || !count || count > ENTRIES_MAX)
		return 0;
	p = view_peek(view, end, 4);
	if (!p || le32(p) != at)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t place, len;

		p = view_peek(view, at + DIRECTORY_LEN + i * ENTRY_LEN, ENTRY_LEN);
		place = p ? le32(p) : 0;
		len = p ? le32(p + 4) : 0;
		p = view_peek(view, place, 4);
		if (!p || memcmp(p, "SEC", 3) != 0 || place + len > at)
			return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		p = view_peek(view, at + DIRECTORY_LEN + i * ENTRY_LEN, ENTRY_LEN);
		if (p)
			view_unverified(view, le32(p) + (uint64_t)SECTION_HEAD_LEN,
				le32(p) + (uint64_t)le32(p + 4));
	}
	return end + 4;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, end, size = view_size(view);

	if (!p || memcmp(p, "FOVb", 4) != 0 || le16(p + 6) < 1 || le16(p + 6) > 4)
		return verdict_because(CARVE_REJECT, finding, "no X3F head at 0");
	if (le32(p + 28) > 65535 || le32(p + 32) > 65535 || le32(p + 36) % 90)
		return verdict_because(CARVE_REJECT, finding, "an impossible picture at 28");
	while (walk_find_word(view, &at, size, "SECd")) {
		end = directory_end(view, at);
		if (end) {
			finding->length = end;
			return CARVE_COMPLETE;
		}
		at++;
	}
	finding->length = plain_start(view, HEAD_LEN, size < CUT_MAX ? size : CUT_MAX);
	return verdict_because(
		CARVE_TRUNCATED, finding, "no directory before %" PRIu64, finding->length);
}

const struct carver x3f_carver = {
	.name = "x3f",
	.summary = "Sigma's raw photos (X3F), by their directory",
	.check = check,
};
