/*
 * LMDB's databases, data.mdb (OpenLDAP's mdb.c, MDB_VERSION 1), as 64-bit machines write them.
 *
 *	file: pages; two meta pages first, of which the one with the larger number of a transaction counts
 *	page: its number (8), 0 (2), flags (2), where free space begins and ends (2, 2), or, of a value that takes several pages,
 *	      how many (4); places of nodes (2 each), nodes at the end
 *	meta: BEEFC0DE, version 1, address (8), size of the map (8), for each of two trees 48 bytes, the first 4 of which are the
 *	      page's length; number of the last page (8), number of the transaction (8)
 *	node: length of the value (4, in a branch a page), flags (2), length of the key (2), key, value
 *
 * Integers are little-endian. Every page has its number, but for those in the middle of a long value, and those that were never
 * written, which are zeros. burin checks numbers and nodes; values that take several pages are what nothing verifies.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEAD_LEN 16
#define META_LEN 152
#define BRANCH 1
#define LEAF 2
#define LONG_VALUE 4
#define META 8
#define FIXED 0x20 /* a leaf of keys of one length */
#define BIG_VALUE 1
#define NODE_LEN 8
#define LOOSE_MAX 64 /* bytes at the end that may be unverified */

struct lmdb {
	struct view *view;
	uint64_t page_len, last; /* the number of the last page */
	uint64_t loose;          /* bytes at the last page's end that nothing verifies */
};

/* Reads a meta page; false if it is not one. */
static bool read_meta(struct lmdb *lmdb, uint64_t at, uint64_t number)
{
	const uint8_t *p = view_peek(lmdb->view, at, META_LEN);
	uint32_t page_len = p ? le32(p + 40) : 0;

	if (!p || le64(p) != number || le16(p + 10) != META || le32(p + 16) != 0xbeefc0de ||
		le32(p + 20) != 1 || page_len < 512 || page_len > 65536 ||
		page_len & (page_len - 1) || le64(p + 136) < 1 || le64(p + 136) > UINT64_C(1) << 36)
		return false;
	lmdb->page_len = page_len;
	if (le64(p + 136) > lmdb->last)
		lmdb->last = le64(p + 136);
	return true;
}

/* Whether the page's nodes lie in it. Sets loose to what the last node's value has at the page's end. */
static bool valid_nodes(struct lmdb *lmdb, const uint8_t *p, uint16_t flags)
{
	uint16_t lower = le16(p + 12), upper = le16(p + 14);

	if (lower < HEAD_LEN || lower > upper || upper > lmdb->page_len || lower % 2)
		return false;
	if (flags & FIXED)
		return true;
	for (uint32_t at = HEAD_LEN; at < lower; at += 2) {
		uint32_t node = le16(p + at), len;

		if (node < upper || node + NODE_LEN > lmdb->page_len)
			return false;
		len = NODE_LEN + le16(p + node + 6);
		if (flags & LEAF)
			len += le16(p + node + 4) & BIG_VALUE ? 8 : le32(p + node);
		if (len > lmdb->page_len - node)
			return false;
		if (node + ((len + 1) & ~1u) == lmdb->page_len)
			lmdb->loose = len - NODE_LEN;
	}
	return true;
}

/* How many pages the one with this number begins; 0: it is not one of this database. */
static uint64_t pages_at(struct lmdb *lmdb, uint64_t number)
{
	const uint8_t *p = view_peek(lmdb->view, number * lmdb->page_len, (size_t)lmdb->page_len);
	uint16_t flags = p ? le16(p + 10) : 0;

	lmdb->loose = 0;
	if (!p)
		return 0;
	if (!le64(p)) {
		lmdb->loose = lmdb->page_len;
		return walk_zeros(
			lmdb->view, number * lmdb->page_len, (number + 1) * lmdb->page_len);
	}
	if (le64(p) != number || flags >> 8)
		return 0;
	switch (flags & ~0x10) {
	case BRANCH:
	case LEAF:
	case LEAF | FIXED:
	case LEAF | FIXED | 0x40:
		return valid_nodes(lmdb, p, flags);
	case LONG_VALUE:
		lmdb->loose = lmdb->page_len;
		return le32(p + 12) && le32(p + 12) <= lmdb->last + 1 - number ? le32(p + 12) : 0;
	}
	return 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct lmdb lmdb = { .view = view };
	uint64_t size = view_size(view), number = 2, pages, end;

	if (!read_meta(&lmdb, 0, 0))
		return verdict_because(CARVE_REJECT, finding, "no meta page at 0");
	if (!read_meta(&lmdb, lmdb.page_len, 1))
		return verdict_because(
			CARVE_REJECT, finding, "no meta page at %" PRIu64, lmdb.page_len);
	end = (lmdb.last + 1) * lmdb.page_len;
	while (number <= lmdb.last && (number + 1) * lmdb.page_len <= size) {
		pages = pages_at(&lmdb, number);
		if (!pages) {
			/* A page that was freed may be a piece of what was a long value. */
			finding->length = number * lmdb.page_len;
			return verdict_because(CARVE_TRUNCATED, finding,
				"no page of this file at %" PRIu64, finding->length);
		}
		if (pages > 1)
			view_unverified(view, number * lmdb.page_len + HEAD_LEN,
				(number + pages) * lmdb.page_len);
		number += pages;
	}
	if (end > size)
		return walk_cut(view, finding, end,
			number * lmdb.page_len < size ? number * lmdb.page_len : size);
	finding->length = end;
	if (lmdb.loose > LOOSE_MAX) {
		view_holds(view, 0, end);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last %" PRIu64 " bytes cannot be verified", lmdb.loose);
	}
	return CARVE_COMPLETE;
}

const struct carver lmdb_carver = {
	.name = "lmdb",
	.summary = "LMDB's databases, by their pages",
	.check = check,
};
