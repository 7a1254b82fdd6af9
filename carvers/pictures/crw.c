/*
 * CRW, Canon's raw photos until 2004 (Canon, CIFF specification 1.0 revision 4; ExifTool,
 * CanonRaw).
 *
 *	head:      'II' (or 'MM'), length of the head (4 bytes), 'HEAPCCDR', version; the heap
 *	heap:      data, at last its directory, and the directory's place in the heap (4)
 *	directory: number of entries (2), entries: type (2), length (4), place in the heap (4);
 *	           or, if bit 14 of the type is set, 8 bytes of data
 *
 * Only the end tells where the directory is, and nothing tells where the end is: it is searched as
 * the place where a pointer stands right behind the directory that it points to. Checked is that
 * all entries lie in the heap before it. Canon's programs may append a trailer; where that begins
 * and does not end, the file was cut, though the photo is whole. Without a directory the file was
 * cut, too.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "trailer.h"

#define HEAD_LEN_MIN 14
#define HEAD_LEN_MAX 1024
#define ENTRY_LEN 10
#define ENTRIES_MAX 100
#define SIZE_MAX_CRW (64u << 20)
#define WINDOW_LEN 4096
#define DATA_LEN_MIN 1024
#define CUT_MAX (8u << 20) /* of a file without its directory at most so much is kept */

struct crw {
	struct view *view;
	bool big_endian;
	uint64_t heap; /* where it starts */
};

static uint16_t u16(const struct crw *crw, const uint8_t *p)
{
	return crw->big_endian ? be16(p) : le16(p);
}

static uint32_t u32(const struct crw *crw, const uint8_t *p)
{
	return crw->big_endian ? be32(p) : le32(p);
}

/* Whether the entries of a directory lie in the heap before it. */
static bool sound_directory(const struct crw *crw, uint64_t at, uint32_t count)
{
	const uint8_t *p = view_peek(crw->view, at + 2, count * ENTRY_LEN);

	for (uint32_t i = 0; p && i < count; i++, p += ENTRY_LEN) {
		uint16_t type = u16(crw, p);
		uint64_t len = u32(crw, p + 2), offset = u32(crw, p + 6);

		if (type >> 14 > 1)
			return false;
		if (type >> 14 == 0 && crw->heap + offset + len > at)
			return false;
	}
	return p;
}

/* Whether a pointer at `at`, counted from the heap, can be that behind a directory. */
static bool plausible(uint64_t at, uint32_t pointer)
{
	return pointer < at && at - pointer >= 2 + ENTRY_LEN &&
	       at - pointer <= 2 + ENTRY_LEN * ENTRIES_MAX && (at - pointer - 2) % ENTRY_LEN == 0;
}

/* Whether the pointer at `at` points to a directory that ends there. */
static bool ends_heap(const struct crw *crw, uint64_t at, uint32_t pointer)
{
	uint64_t directory = crw->heap + pointer;
	const uint8_t *p = view_peek(crw->view, directory, 2);
	uint32_t count = p ? u16(crw, p) : 0;

	return p && 2 + count * ENTRY_LEN == at - directory &&
	       sound_directory(crw, directory, count);
}

/* Where the heap ends; 0: nowhere. */
static uint64_t find_end(const struct crw *crw)
{
	uint64_t end = view_size(crw->view);

	if (end > crw->heap + SIZE_MAX_CRW)
		end = crw->heap + SIZE_MAX_CRW;
	for (uint64_t at = crw->heap; at + 4 <= end; at += WINDOW_LEN) {
		size_t len = end - at < WINDOW_LEN + 3 ? (size_t)(end - at) : WINDOW_LEN + 3;
		const uint8_t *p = view_peek(crw->view, at, len);

		for (size_t i = 0; p && i + 4 <= len; i++) {
			uint32_t pointer = u32(crw, p + i);

			if (!plausible(at + i - crw->heap, pointer))
				continue;
			if (ends_heap(crw, at + i, pointer))
				return at + i + 4;
			p = view_peek(crw->view, at, len);
		}
		if (!p)
			break;
	}
	return 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct crw crw = { .view = view };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN_MIN);
	uint64_t end;

	if (!p || p[0] != p[1] || (p[0] != 'I' && p[0] != 'M') || memcmp(p + 6, "HEAPCCDR", 8) != 0)
		return verdict_because(CARVE_REJECT, finding, "no CRW head at 0");
	crw.big_endian = p[0] == 'M';
	crw.heap = u32(&crw, p + 2);
	if (crw.heap < HEAD_LEN_MIN || crw.heap > HEAD_LEN_MAX || crw.heap >= view_size(view))
		return verdict_because(CARVE_REJECT, finding, "no heap at %" PRIu64, crw.heap);
	end = find_end(&crw);
	if (end) {
		finding->length = trailer_end(view, end);
		if (finding->length > end || !trailer_begins(view, end))
			return CARVE_COMPLETE;
		return verdict_because(
			CARVE_TRUNCATED, finding, "a trailer without its end at %" PRIu64, end);
	}
	end = view_size(view) < CUT_MAX ? view_size(view) : CUT_MAX;
	finding->length = plain_start(view, crw.heap, end);
	if (finding->length < end && finding->length < crw.heap + DATA_LEN_MIN) {
		finding->length = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no photo's data at %" PRIu64, crw.heap);
	}
	return verdict_because(CARVE_TRUNCATED, finding, "no directory of the heap before %" PRIu64,
		finding->length);
}

const struct carver crw_carver = {
	.name = "crw",
	.summary = "Canon's raw photos of the older kind (CRW), by their heap's directory",
	.check = check,
};
