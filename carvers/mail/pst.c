/*
 * Outlook's personal folders, PST and OST ([MS-PST]).
 *
 *	header: '!BDN', CRC of 471 bytes from 8 on, 'SM' (PST), 'SO' (OST) or 'AB' (address book),
 *	        version: 14 or 15 with offsets of 32 bits, 21 and 23 with 64, 36 with pages of
 *	        4 KiB; the root: the file's size, where the last allocation map is, and where the two
 *	        B-trees' first pages are
 *	page:   496 bytes (500), then kind, kind again, signature, CRC of those bytes, the page's
 *	        number
 *	tree:   a page's entries lead to pages one level lower, the block tree's last ones to blocks
 *	block:  data, filled up, then a trailer with their length and CRC
 *
 * An allocation map is at 4400h and every 253,952 bytes from there on, up to the last one. Each has
 * its kind and a CRC, but if Outlook was not closed properly the maps are outdated and only their
 * kind counts. All pages of both B-trees have to have their CRC, and so do all blocks. They are
 * checked in the order of the file, not of the tree, so that each byte is read once; that needs 16
 * bytes of memory for each of them. A file with all these and its full size is complete, but if free
 * space with more than zeros ends it: then nothing proves its end, and it is unverified. Without an
 * allocation map the valid part ends before it, and so it does before the first invalid block, if no
 * valid one follows; else the file is unverified. Bytes that no page or block holds are free space,
 * which nothing verifies.
 *
 * Files with pages of 4 KiB are not documented: the header's size is used unchecked.
 */
#include <inttypes.h>
#include <isa-l/crc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEADER_LEN 564
#define ANSI_HEADER_LEN 512
#define PAGE_LEN 512
#define FIRST_MAP UINT64_C(0x4400)
#define MAP_STEP UINT64_C(253952)
#define BLOCK_UNIT 64
#define BLOCK_MAX 8192 /* with its trailer */
#define LEVEL_MAX 8
#define PARTS_MAX ((size_t)1 << 24) /* 256 MiB of memory */

enum { BLOCK_TREE = 0x80, NODE_TREE = 0x81, MAP = 0x84 };

/* A part of the file whose CRC was checked, or will be. */
struct pst_part {
	uint64_t at;
	uint32_t len;   /* all of it */
	uint16_t bytes; /* of a block's data; 0: not a block */
};

struct pst {
	struct view *view;
	struct pst_part *parts;
	size_t part_count, part_room;
	uint64_t page_count; /* of the trees */
	uint64_t end, last_map, node_tree, block_tree;
	bool wide;  /* offsets of 64 bits */
	bool pages; /* of 4 KiB */
	bool maps_valid;
	uint64_t wrong_at; /* where no page of a tree is, though one should be */
};

/* [MS-PST] 5.3: CRC-32 that neither starts nor ends inverted. */
static uint32_t weak_crc(const uint8_t *p, size_t len)
{
	return ~crc32_gzip_refl(UINT32_MAX, p, len);
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

static bool add_part(struct pst *pst, uint64_t at, uint32_t len, uint16_t bytes)
{
	struct pst_part *parts = walk_list_grow(
		pst->view, pst->parts, pst->part_count, &pst->part_room, SIZE_MAX, sizeof(*parts));

	if (!parts)
		return false;
	pst->parts = parts;
	pst->parts[pst->part_count++] = (struct pst_part){ at, len, bytes };
	return true;
}

/* The little-endian number of the file's width. */
static uint64_t read_wide(const struct pst *pst, const uint8_t *p)
{
	return pst->wide ? le64(p) : le32(p);
}

/* Adds the block that an entry of the block tree names. */
static bool add_block(struct pst *pst, const uint8_t *entry)
{
	uint64_t at = read_wide(pst, entry + (pst->wide ? 8 : 4));
	uint16_t bytes = le16(entry + (pst->wide ? 16 : 8));
	uint32_t len = (uint32_t)(bytes + (pst->wide ? 16 : 12) + BLOCK_UNIT - 1) / BLOCK_UNIT *
		       BLOCK_UNIT;

	/* More blocks than fit into the file, or than are checked. */
	if (pst->part_count > pst->end / BLOCK_UNIT || pst->part_count >= PARTS_MAX || !bytes ||
		len > BLOCK_MAX || len > pst->end || at > pst->end - len)
		return false;
	return add_part(pst, at, len, bytes);
}

/* Reads the tree from the page at `at` on, which must be below `level`. */
static bool read_tree(struct pst *pst, uint64_t at, uint8_t kind, unsigned level)
{
	size_t len = pst->wide ? 488 : 496, width = pst->wide ? 8 : 4, entry_len, count;
	uint8_t page[PAGE_LEN];
	const uint8_t *p;

	pst->wrong_at = at;
	if (!is_valid_page(pst, at, kind, true) || pst->page_count++ > pst->end / PAGE_LEN)
		return false;
	p = view_peek(pst->view, at, PAGE_LEN);
	if (!p)
		return false;
	memcpy(page, p, PAGE_LEN);
	count = page[len];
	entry_len = page[len + 2];
	if (page[len + 3] >= level || count * entry_len > len || (count && entry_len < 3 * width) ||
		!add_part(pst, at, PAGE_LEN, 0))
		return false;
	level = page[len + 3];
	for (size_t i = 0; i < count; i++) {
		const uint8_t *entry = page + i * entry_len;

		if (level && !read_tree(pst, read_wide(pst, entry + 2 * width), kind, level))
			return false;
		if (!level && kind == BLOCK_TREE && !add_block(pst, entry)) {
			pst->wrong_at = at;
			return false;
		}
	}
	return true;
}

static bool is_valid_block(const struct pst *pst, const struct pst_part *part)
{
	const uint8_t *p = view_peek(pst->view, part->at, part->len), *trailer;

	if (!p)
		return false;
	trailer = p + part->len - (pst->wide ? 16 : 12);
	return le16(trailer) == part->bytes &&
	       le32(trailer + (pst->wide ? 4 : 8)) == weak_crc(p, part->bytes);
}

static int compare_parts(const void *a, const void *b)
{
	const struct pst_part *left = a, *right = b;

	return (left->at > right->at) - (left->at < right->at);
}

/* Checks all blocks, and names the space between all parts. */
static enum verdict check_parts(struct pst *pst, struct finding *finding)
{
	uint64_t from = pst->wide ? HEADER_LEN : ANSI_HEADER_LEN, wrong_at = 0;
	bool valid_after = false;

	qsort(pst->parts, pst->part_count, sizeof(*pst->parts), compare_parts);
	for (size_t i = 0; i < pst->part_count; i++) {
		const struct pst_part *part = &pst->parts[i];

		if (part->at < from && !wrong_at)
			wrong_at = part->at; /* two parts overlap */
		view_unverified(pst->view, from, part->at);
		from = part->at + part->len;
		if (!part->bytes)
			continue;
		if (is_valid_block(pst, part))
			valid_after = wrong_at != 0;
		else if (!wrong_at)
			wrong_at = part->at;
	}
	view_unverified(pst->view, from, pst->end);
	finding->length = pst->end;
	if (!wrong_at && walk_zeros(pst->view, from, pst->end))
		return CARVE_COMPLETE;
	if (!wrong_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the free space from %" PRIu64 " up to the end", from);
	if (!valid_after)
		return truncated_at(finding, wrong_at, "valid block");
	return verdict_because(CARVE_UNVERIFIED, finding, "no valid block at %" PRIu64, wrong_at);
}

/* Checks the allocation maps, then the trees, then what those name. */
static enum verdict check_file(struct pst *pst, struct finding *finding)
{
	uint64_t size = view_size(pst->view);

	for (uint64_t at = FIRST_MAP; at <= pst->last_map; at += MAP_STEP) {
		if (at + PAGE_LEN > size)
			break;
		if (!is_valid_page(pst, at, MAP, pst->maps_valid))
			return truncated_at(finding, at, "allocation map");
		if (!add_part(pst, at, PAGE_LEN, 0))
			return CARVE_REJECT;
	}
	if (pst->end > size)
		return walk_cut(pst->view, finding, pst->end, size);
	finding->length = pst->end;
	if (!read_tree(pst, pst->node_tree, NODE_TREE, LEVEL_MAX) ||
		!read_tree(pst, pst->block_tree, BLOCK_TREE, LEVEL_MAX))
		return verdict_because(
			CARVE_UNVERIFIED, finding, "no tree page at %" PRIu64, pst->wrong_at);
	return check_parts(pst, finding);
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
	if (!pst.pages) {
		enum verdict verdict = check_file(&pst, finding);

		free(pst.parts);
		return verdict;
	}
	if (pst.end > view_size(view))
		return walk_cut(view, finding, pst.end, view_size(view));
	finding->length = pst.end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"only the header confirms that the file ends at %" PRIu64, pst.end);
}

const struct carver pst_carver = {
	.name = "pst",
	.summary = "Outlook's personal folders, by the CRCs of their pages and blocks",
	.check = check,
};
