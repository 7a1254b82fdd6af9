/*
 * Overlays: bytes after a program's last section. Archives whose end is known are included, and
 * verified as far as they prove that end:
 *
 *	7z:   both headers by their CRCs
 *	RAR:  blocks with CRCs up to the end block
 *	ZIP:  the directory's end record, whose offsets fit, relative to the program's start or the
 *		archive's own
 *	LHA:  members with checksums up to the byte that ends them
 *	NSIS: the length of everything from its first header ('NullsoftInst') on, which proves
 *		nothing. The header is at a sector, not always the first: NSIS may add a section's
 *		data that its table does not count
 *
 * An archive's data that is not checked is named as unverified, and the archive as embedded.
 */
#include "overlay.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "lzh_member.h"
#include "rar_blocks.h"
#include "sevenzip_header.h"
#include "walk.h"

#define ZIP_END_LEN 22
#define NSIS_HEAD_LEN 28
#define NSIS_SECTOR 512
#define NSIS_SEARCH_LEN 16384

bool overlay_at(struct view *view, uint64_t at)
{
	static const struct {
		const char *bytes;
		uint8_t len, at;
	} heads[] = { { "PK\3\4", 4, 0 }, { "Rar!\x1a", 5, 0 }, { "7z\xbc\xaf\x27", 5, 0 },
		{ "MSCF\0\0\0\0", 8, 0 }, { "NullsoftInst", 12, 8 }, { "zlb\x1a", 4, 0 },
		{ ";!@Install@!UTF-8!", 18, 0 }, { "\xef\xbb\xbf;!@Install@", 13, 0 },
		{ "rDlPt", 5, 0 }, { "ISSetupStream", 13, 0 }, { "ISc(", 4, 0 },
		{ "\xa3\x48\x4b\xbe\x98\x6c\x4a\xa9", 8, 0 }, { "wwgT)", 5, 0 },
		{ "\x78\xda", 2, 0 }, { "idska32\x1a", 8, 0 } };
	const uint8_t *p = view_peek(view, at, 24);

	for (size_t i = 0; p && i < sizeof(heads) / sizeof(*heads); i++)
		if (memcmp(p + heads[i].at, heads[i].bytes, heads[i].len) == 0)
			return true;
	return false;
}

/* Whether ZIP's end record at `at` is that of the archive that starts at `start`. */
static bool zip_ends(struct view *view, uint64_t start, uint64_t at, uint64_t *end)
{
	const uint8_t *p = view_peek(view, at, ZIP_END_LEN);
	uint64_t len, offset;

	if (!p || le32(p) != 0x06054b50)
		return false;
	len = le32(p + 12);
	offset = le32(p + 16);
	*end = at + ZIP_END_LEN + le16(p + 20);
	if (*end > view_size(view) || (offset + len != at && start + offset + len != at) || !len)
		return false;
	p = view_peek(view, at - len, 4);
	return p && le32(p) == 0x02014b50;
}

static uint64_t zip_end(struct view *view, uint64_t start)
{
	uint64_t at = start, size = view_size(view), end;
	const uint8_t *window, *found;
	size_t len;

	while ((window = walk_window(view, at, size, &len))) {
		found = memmem(window, len, "PK\5\6", 4);
		if (!found) {
			at += len > 3 ? len - 3 : len;
			continue;
		}
		at += (uint64_t)(found - window);
		if (zip_ends(view, start, at, &end))
			return end;
		at += 4;
	}
	return 0;
}

/* Where the 7z archive ends, or 0. */
static uint64_t sevenzip_end(struct view *view, uint64_t at)
{
	struct sevenzip head;

	if (sevenzip_read(view, at, &head) || !sevenzip_header_valid(view, &head))
		return 0;
	view_unverified(view, at + SEVENZIP_START_LEN, head.at);
	return head.end;
}

/* Where the NSIS installer ends whose first header is at `at`, or at one of the next sectors; or 0. */
static uint64_t nsis_end(struct view *view, uint64_t at)
{
	for (uint64_t limit = at + NSIS_SEARCH_LEN; at < limit; at += NSIS_SECTOR) {
		const uint8_t *p = view_peek(view, at, NSIS_HEAD_LEN);

		if (!p)
			return 0;
		if (memcmp(p + 4, "\xef\xbe\xad\xdeNullsoftInst", 16) == 0)
			return le32(p + 24) >= NSIS_HEAD_LEN ? at + le32(p + 24) : 0;
	}
	return 0;
}

/* Where the archive at `at` ends, or 0. *proven: by more than a length. */
static uint64_t archive_end(struct view *view, uint64_t at, bool *proven)
{
	const uint8_t *p = view_peek(view, at, NSIS_HEAD_LEN);
	uint64_t end;

	*proven = true;
	if (!p)
		return 0;
	if (memcmp(p, "PK\3\4", 4) == 0) {
		end = zip_end(view, at);
		view_unverified(view, at, end);
		return end;
	}
	if (memcmp(p, "Rar!\x1a\x07", 6) == 0)
		return rar_end(view, at);
	if (memcmp(p, "7z\xbc\xaf", 4) == 0)
		return sevenzip_end(view, at);
	if (memcmp(p + 2, "-lh", 3) == 0) {
		end = lzh_end(view, at, proven);
		view_unverified(view, at, end);
		return end;
	}
	*proven = false;
	return nsis_end(view, at);
}

bool overlay_include(struct view *view, uint64_t at, struct finding *finding, enum verdict *verdict)
{
	bool proven;
	uint64_t end = archive_end(view, at, &proven);

	if (end <= at || end > view_size(view))
		return false;
	view_embedded(view, at);
	finding->length = end;
	*verdict = verdict_because(proven ? CARVE_COMPLETE : CARVE_UNVERIFIED, finding,
		"the overlay at %" PRIu64 " is an archive", at);
	return true;
}
