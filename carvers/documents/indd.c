/*
 * Adobe InDesign (XMP Specification, part 3, 1.1.6).
 *
 *	two master pages of 4,096 bytes: GUID, 'DOCUMENT' or another word, order of bytes at 24 (1: little-endian),
 *	            a number that rises with each save (8 bytes at 264), pages of the database (4 at 280)
 *	the pages of the database, the master pages included
 *	objects:    GUID, 8 bytes, length of the data (4), checksum (4); data; the same 32 bytes with another GUID
 *	zeros up to the end of a page
 *
 * The newer master page counts. Nothing verifies the database.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "stored.h"
#include "walk.h"

#define PAGE_LEN 4096
#define OBJECT_LEN 32
#define PAGES_MAX (1u << 24)

static const uint8_t master_id[] = { 0x06, 0x06, 0xed, 0xf5, 0xd8, 0x1d, 0x46, 0xe5, 0xbd, 0x31,
	0xef, 0xe7, 0xfe, 0x74, 0xb7, 0x1d };
static const uint8_t start_id[] = { 0xde, 0x39, 0x39, 0x79, 0x51, 0x88, 0x4b, 0x6c, 0x8e, 0x63,
	0xee, 0xf8, 0xae, 0xe0, 0xdd, 0x38 };
static const uint8_t end_id[] = { 0xfd, 0xce, 0xdb, 0x70, 0xf7, 0x86, 0x4b, 0x4f, 0xa4, 0xd3, 0xc7,
	0x28, 0xb3, 0x41, 0x71, 0x06 };

/* Reads a master page: when it was saved, and the pages it counts. */
static bool read_master(struct view *view, uint64_t at, uint64_t *saved, uint32_t *pages)
{
	const uint8_t *p = view_peek(view, at, 284);

	if (!p || memcmp(p, master_id, sizeof(master_id)) != 0 || p[24] - 1 > 1)
		return false;
	*saved = le64(p + 264);
	*pages = le32(p + 280);
	return *pages >= 2 && *pages <= PAGES_MAX;
}

/* Where the objects end that start at `at`, after zeros up to a page's end. */
static uint64_t objects_end(struct view *view, uint64_t at)
{
	const uint8_t *p;
	uint64_t len, end;

	while ((p = view_peek(view, at, OBJECT_LEN)) &&
		memcmp(p, start_id, sizeof(start_id)) == 0) {
		len = le32(p + 24);
		view_embedded(view, at + OBJECT_LEN);
		view_embedded(view, at + OBJECT_LEN + 4); /* XMP after its length */
		p = view_peek(view, at + OBJECT_LEN + len, OBJECT_LEN);
		if (!p || memcmp(p, end_id, sizeof(end_id)) != 0)
			break;
		at += OBJECT_LEN + len + OBJECT_LEN;
	}
	end = (at + PAGE_LEN - 1) / PAGE_LEN * PAGE_LEN;
	return walk_zeros(view, at, end) ? end : at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t saved, other, end;
	uint32_t pages, others;
	enum verdict verdict;

	if (!read_master(view, 0, &saved, &pages))
		return verdict_because(CARVE_REJECT, finding, "no master page at 0");
	view_part(view, PAGE_LEN);
	if (read_master(view, PAGE_LEN, &other, &others) && other > saved)
		pages = others;
	end = (uint64_t)pages * PAGE_LEN;
	verdict = stored_check_coded(view, finding, UINT64_C(2) * PAGE_LEN, end);
	if (verdict == CARVE_UNVERIFIED)
		finding->length = objects_end(view, end);
	return verdict;
}

const struct carver indd_carver = {
	.name = "indd",
	.summary = "Adobe InDesign documents, by their pages and objects",
	.check = check,
};
