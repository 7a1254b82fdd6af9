/*
 * Outlook's personal folders, PST and OST ([MS-PST]).
 *
 *	header: '!BDN', CRC of 471 bytes from 8 on, 'SM' (PST), 'SO' (OST) or 'AB' (address book),
 *	        version: 14 or 15 with offsets of 32 bits, 21 and 23 with 64, 36 with pages of
 *	        4 KiB; the root: the file's size, where the last allocation map is, and where the two
 *	        B-trees' first pages are
 *	page:   496 bytes (500), then kind, kind again, signature, CRC of those bytes, the page's
 *	        number
 *
 * An allocation map is at 4400h and every 253,952 bytes from there on, up to the last one. Each has
 * its kind and a CRC, but if Outlook was not closed properly the maps are outdated and only their
 * kind counts. The B-trees' first pages have a CRC, too. A file with all these and its full size is
 * complete; otherwise the valid part ends before the first invalid map. Files with pages of 4 KiB
 * are not documented: the header's size is used unchecked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEADER_LEN 564
#define ANSI_HEADER_LEN 512
#define PAGE_LEN 512
#define FIRST_MAP UINT64_C(0x4400)
#define MAP_STEP UINT64_C(253952)

enum { BLOCK_TREE = 0x80, NODE_TREE = 0x81, MAP = 0x84 };

struct pst {
	struct view *view;
	uint64_t end, last_map, node_tree, block_tree;
	bool wide;  /* offsets of 64 bits */
	bool pages; /* of 4 KiB */
	bool maps_valid;
};

/* [MS-PST] 5.3: CRC-32 that neither starts nor ends inverted. */
static uint32_t weak_crc(const uint8_t *p, size_t len)
{
	return ~(uint32_t)crc32(UINT32_MAX, p, (uInt)len);
}

/* What is wrong with the header, or NULL. */
static const char *read_header(struct pst *pst)
{
	const uint8_t *p = view_peek(pst->view, 0, ANSI_HEADER_LEN);
	unsigned version;

	if (!p || memcmp(p, "!BDN", 4) != 0)
		return "no signature";
	version = le16(p + 10);
	if (weak_crc(p + 8, 471) != le32(p + 4))
		return "wrong header CRC";
	pst->wide = version > 15;
	pst->pages = version >= 36;
	if (pst->wide) {
		p = view_peek(pst->view, 0, HEADER_LEN);
		if (!p || weak_crc(p + 8, 516) != le32(p + 524))
			return "wrong second header CRC";
		pst->end = le64(p + 184);
		pst->last_map = le64(p + 192);
		pst->node_tree = le64(p + 224);
		pst->block_tree = le64(p + 240);
		pst->maps_valid = p[248] != 0;
	} else {
		pst->end = le32(p + 168);
		pst->last_map = le32(p + 172);
		pst->node_tree = le32(p + 188);
		pst->block_tree = le32(p + 196);
		pst->maps_valid = p[200] != 0;
	}
	if (pst->pages)
		return pst->end < 4096 ? "an impossible size" : NULL;
	if (pst->end < FIRST_MAP + PAGE_LEN || pst->last_map < FIRST_MAP ||
		pst->last_map >= pst->end || (pst->last_map - FIRST_MAP) % MAP_STEP)
		return "impossible offsets";
	return NULL;
}

/* Whether a valid page of this kind is at `at`. */
static bool is_valid_page(const struct pst *pst, uint64_t at, uint8_t kind, bool check_crc)
{
	const uint8_t *p = view_peek(pst->view, at, PAGE_LEN);
	size_t len = pst->wide ? 496 : 500;

	if (!p || p[len] != kind || p[len + 1] != kind)
		return false;
	return !check_crc || le32(p + len + (pst->wide ? 4 : 8)) == weak_crc(p, len);
}

static enum verdict truncated_at(struct finding *finding, uint64_t at, const char *what)
{
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding, "no %s at %" PRIu64, what, at);
}

static enum verdict check_maps(struct pst *pst, struct finding *finding)
{
	uint64_t size = view_size(pst->view);

	for (uint64_t at = FIRST_MAP; at <= pst->last_map; at += MAP_STEP) {
		if (at + PAGE_LEN > size)
			break;
		if (!is_valid_page(pst, at, MAP, pst->maps_valid))
			return truncated_at(finding, at, "allocation map");
	}
	if (pst->end > size)
		return walk_cut(pst->view, finding, pst->end, size);
	finding->length = pst->end;
	if (!is_valid_page(pst, pst->node_tree, NODE_TREE, true) ||
		!is_valid_page(pst, pst->block_tree, BLOCK_TREE, true))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no first tree page at %" PRIu64 " or %" PRIu64, pst->node_tree,
			pst->block_tree);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pst pst = { .view = view };
	const char *problem = read_header(&pst);
	const uint8_t *p;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	p = view_peek(view, 8, 2);
	finding->extension = p && p[1] == 'O' ? "ost" : p && p[0] == 'A' ? "pab" : "pst";
	if (!pst.pages)
		return check_maps(&pst, finding);
	if (pst.end > view_size(view))
		return walk_cut(view, finding, pst.end, view_size(view));
	finding->length = pst.end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"only the header confirms that the file ends at %" PRIu64, pst.end);
}

const struct carver pst_carver = {
	.name = "pst",
	.summary = "Outlook's personal folders, by their header and allocation maps",
	.check = check,
};
