/*
 * CRW, Canon's raw photos until 2004 (Canon, CIFF specification 1.0 revision 4; ExifTool,
 * CanonRaw).
 *
 *	head:      'II' (or 'MM'), length of the head (4 bytes), 'HEAPCCDR', version; the heap
 *	heap:      data, then its directory, and the directory's offset in the heap (4)
 *	directory: number of entries (2), entries: type (2), length (4), offset in the heap (4);
 *	           or, if bit 14 of the type is set, 8 bytes of data
 *
 * The end has the directory's offset, but nothing has the offset of the end. So the carver searches
 * for a pointer directly after the directory that it points to, all of whose entries are in the
 * heap before it. Canon's programs may append a trailer; if that starts and does not end, the file
 * was cut, though the photo is complete. Without a directory the file was cut too.
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
#define DIRECTORY_MAX (2 + ENTRY_LEN * ENTRIES_MAX)
#define BLOCK 64 /* pointers that are compared at once */
#define START_LEN 4
#define SIZE_MAX_CRW (32u << 20) /* of 8 megapixels at most */
#define WINDOW_LEN 4096
#define DATA_LEN_MIN 1024
#define CUT_MAX (8u << 20) /* the most that is kept of a file without its directory */

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

/* Whether all entries of a directory are in the heap before it. */
static bool directory_valid(const struct crw *crw, uint64_t at, uint32_t count)
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

/* Names the data of a valid directory's entries as unverified, but for their first bytes: some are
 * JPEG files. */
static void name_unverified(const struct crw *crw, uint64_t at)
{
	const uint8_t *p = view_peek(crw->view, at, 2);
	uint32_t count = p ? u16(crw, p) : 0;

	p = view_peek(crw->view, at + 2, count * ENTRY_LEN);
	for (uint32_t i = 0; p && i < count; i++, p += ENTRY_LEN) {
		uint64_t data = crw->heap + u32(crw, p + 6);

		if (u16(crw, p) >> 14 == 0)
			view_unverified(crw->view, data + START_LEN, data + u32(crw, p + 2));
	}
}

/* Whether a pointer at `at`, relative to the heap, can be the one after a directory. */
static bool pointer_plausible(uint64_t at, uint32_t pointer)
{
	uint64_t more = at - pointer - (2 + ENTRY_LEN); /* than one entry; huge where it is less */

	return more <= DIRECTORY_MAX - (2 + ENTRY_LEN) && more % ENTRY_LEN == 0;
}

/* Whether one of the BLOCK pointers from p on, of which the first is at `at` relative to the heap, has the upper 16 bits
 * of such a one. A loop that compilers turn into vector instructions. */
static bool may_point(const struct crw *crw, uint64_t at, const uint8_t *p)
{
	uint32_t low = (uint32_t)(at > DIRECTORY_MAX ? at - DIRECTORY_MAX : 0) >> 16;
	uint32_t high = (uint32_t)(at + BLOCK) >> 16;
	uint8_t low_2 = (uint8_t)low, low_3 = (uint8_t)(low >> 8), found = 0;
	uint8_t high_2 = (uint8_t)high, high_3 = (uint8_t)(high >> 8);
	const uint8_t *second = p + (crw->big_endian ? 1 : 2);
	const uint8_t *first = p + (crw->big_endian ? 0 : 3);

	for (size_t i = 0; i < BLOCK; i++)
		found |= (uint8_t)(((second[i] == low_2) & (first[i] == low_3)) |
				   ((second[i] == high_2) & (first[i] == high_3)));
	return found;
}

/* Whether the pointer at `at` points to a directory that ends there. */
static bool ends_heap(const struct crw *crw, uint64_t at, uint32_t pointer)
{
	uint64_t directory = crw->heap + pointer;
	const uint8_t *p = view_peek(crw->view, directory, 2);
	uint32_t count = p ? u16(crw, p) : 0;

	return p && 2 + count * ENTRY_LEN == at - directory &&
	       directory_valid(crw, directory, count);
}

/* Finds the end of the heap; 0: not found. */
static uint64_t find_end(const struct crw *crw)
{
	uint64_t end = view_size(crw->view);

	if (end > crw->heap + SIZE_MAX_CRW)
		end = crw->heap + SIZE_MAX_CRW;
	for (uint64_t at = crw->heap; at + 4 <= end; at += WINDOW_LEN) {
		size_t len = end - at < WINDOW_LEN + 3 ? (size_t)(end - at) : WINDOW_LEN + 3;
		const uint8_t *p = view_peek(crw->view, at, len);

		for (size_t i = 0; p && i + 4 <= len; i++) {
			uint32_t pointer;

			if (i % BLOCK == 0 && len - i >= BLOCK + 3 &&
				!may_point(crw, at + i - crw->heap, p + i)) {
				i += BLOCK - 1;
				continue;
			}
			pointer = u32(crw, p + i);
			if (!pointer_plausible(at + i - crw->heap, pointer))
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
		p = view_peek(view, end - 4, 4);
		if (p)
			name_unverified(&crw, crw.heap + u32(&crw, p));
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
			CARVE_REJECT, finding, "no photo data at %" PRIu64, crw.heap);
	}
	return verdict_because(CARVE_TRUNCATED, finding, "no directory of the heap before %" PRIu64,
		finding->length);
}

const struct carver crw_carver = {
	.name = "crw",
	.summary = "Canon's raw photos of the older kind (CRW), by their heap's directory",
	.check = check,
};
