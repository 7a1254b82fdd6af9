/*
 * Shell links of Windows ([MS-SHLLINK] 8.0).
 *
 *	file: header of 76 bytes, [list of items], [location of the target], [up to five strings],
 *		extra blocks, 00 00 00 00
 *
 * Flags in the header show which parts are there; each part starts with its length: the list and
 * each of its items in 2 bytes, the location and the extra blocks in 4, strings in characters.
 * burin checks the offsets in the location, the signatures and lengths that the specification gives
 * for extra blocks, and the chain of values in property stores. The file ends after a block shorter
 * than 4 bytes. A cut link followed by zeros could look like a complete one: a string with zeros in
 * it, or items that end before their list does, end the valid part, and zeros where a sector of the
 * file begins leave doubt (overwrite.c).
 *
 * Some programs forget the last four bytes: such a file is unverified. The title is the
 * description, else the target's path; the time is when the target was last written.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "overwrite.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEN 76
#define HAS_LIST 0x01
#define HAS_LOCATION 0x02
#define HAS_NAME 0x04
#define LAST_STRING 0x40
#define IS_UNICODE 0x80
#define NO_LOCATION 0x100
#define BLOCK_MIN 8
#define BLOCK_ENVIRONMENT 1
#define BLOCK_DARWIN 6
#define BLOCK_ICON 7

static const uint8_t class_id[] = "\x4c\0\0\0\x01\x14\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46";

struct lnk {
	struct view *view;
	struct finding *finding;
	uint64_t at; /* after the last valid part */
	uint32_t flags;
	uint64_t parts_end; /* where the strings start */
	bool texts, empty;  /* flags announce strings; they are all empty */
	const char *part;   /* the one being read, for people */
	bool known_block;   /* the extra block being read has a known signature */
	uint32_t blocks;    /* the kinds of those that were read, a bit each */
};

enum lnk_read { READ_OK, READ_BAD, READ_CUT };

static const char *read_header(struct lnk *lnk)
{
	const uint8_t *p = view_peek(lnk->view, 0, HEADER_LEN);

	if (!p || memcmp(p, class_id, 20) != 0)
		return "no header";
	lnk->flags = le32(p + 20);
	if (lnk->flags >> 27 || le32(p + 24) >> 18 || le16(p + 66) || le32(p + 68) || le32(p + 72))
		return "impossible flags, or reserved bytes that are set";
	if (le32(p + 60) > 11)
		return "an impossible window state";
	lnk->finding->time = filetime_seconds(le64(p + 44));
	lnk->at = HEADER_LEN;
	return NULL;
}

/* Items at [at, end), ended by a length of 0 just before end. */
static bool walk_items(struct view *view, uint64_t at, uint64_t end)
{
	while (end - at >= 2) {
		const uint8_t *p = view_peek(view, at, 2);
		uint16_t len = p ? le16(p) : 0;

		if (!p)
			return false;
		if (len == 0)
			return end - at == 2;
		if (len < 2 || len > end - at - 2)
			return false;
		at += len;
	}
	return false;
}

static enum lnk_read read_list(struct lnk *lnk)
{
	const uint8_t *p = view_peek(lnk->view, lnk->at, 2);
	uint64_t end = p ? lnk->at + 2 + le16(p) : 0;

	if (!p || end > view_size(lnk->view))
		return READ_CUT;
	if (!walk_items(lnk->view, lnk->at + 2, end))
		return READ_BAD;
	lnk->at = end;
	return READ_OK;
}

/* Sets the title to the base path of the location at p, of len bytes. Its strings have to end
 * inside it. */
static bool read_paths(struct lnk *lnk, const uint8_t *p, uint32_t len)
{
	uint32_t header_len = le32(p + 4), base = le32(p + 16), suffix = le32(p + 24);

	if (le32(p + 8) & 1) {
		if (base < header_len || base >= len || !memchr(p + base, 0, len - base))
			return false;
		finding_set_title_latin1(lnk->finding, p + base, len - base);
	}
	return suffix == 0 ||
	       (suffix >= header_len && suffix < len && memchr(p + suffix, 0, len - suffix));
}

static enum lnk_read read_location(struct lnk *lnk)
{
	const uint8_t *p = view_peek(lnk->view, lnk->at, 28);
	uint32_t len = p ? le32(p) : 0, header_len = p ? le32(p + 4) : 0;

	if (!p)
		return READ_CUT;
	if (len < 28 || len > VIEW_MAX_PEEK || header_len < 28 || header_len > len ||
		le32(p + 8) > 3 || le32(p + 12) >= len || le32(p + 20) >= len)
		return READ_BAD;
	p = view_peek(lnk->view, lnk->at, len);
	if (!p)
		return READ_CUT;
	if (!read_paths(lnk, p, len))
		return READ_BAD;
	lnk->at += len;
	return READ_OK;
}

/* Whether a string has no control characters and only complete surrogates. Some programs count the
 * zero that ends it. */
static bool possible_string(const uint8_t *p, size_t len, size_t width)
{
	bool high = false;

	for (size_t i = 0; i < len; i += width) {
		uint16_t character = width == 2 ? le16(p + i) : p[i];
		bool low = width == 2 && character >> 10 == 0xdc00 >> 10;

		if (character == 0 && !high)
			return i > 0 && i + width == len;
		if (character < ' ' && character != '\t' && character != '\n' && character != '\r')
			return false;
		if (character >= 0xfffe || low != high)
			return false;
		high = width == 2 && character >> 10 == 0xd800 >> 10;
	}
	return !high;
}

static enum lnk_read read_string(struct lnk *lnk, uint32_t flag)
{
	const uint8_t *p = view_peek(lnk->view, lnk->at, 2);
	size_t width = lnk->flags & IS_UNICODE ? 2 : 1, len = p ? le16(p) * width : 0;

	if (!p)
		return READ_CUT;
	if (len > VIEW_MAX_PEEK)
		return READ_BAD;
	p = view_peek(lnk->view, lnk->at + 2, len);
	if (!p && len)
		return READ_CUT;
	if (!possible_string(p, len, width))
		return READ_BAD;
	if (len && (flag == HAS_NAME || !lnk->finding->title[0])) {
		if (width == 2)
			finding_set_title_utf16(lnk->finding, p, len, false);
		else
			finding_set_title_latin1(lnk->finding, p, len);
	}
	lnk->at += 2 + len;
	lnk->texts = true;
	lnk->empty &= len == 0;
	return READ_OK;
}

/* Whether a value of len bytes was wiped: it has content but no type, or is a text whose second
 * last character is 0. */
static bool value_is_wiped(struct view *view, uint64_t at, uint32_t len)
{
	const uint8_t *p = len >= 21 ? view_peek(view, at, len < 4096 ? len : 4096) : NULL;
	uint32_t count = p ? le32(p + 13) : 0;

	if (p && le16(p + 9) == 0)
		return true;
	if (!p || le16(p + 9) != 31 || count < 2 || count > (len - 17) / 2 || len > 4096)
		return false;
	return le16(p + 17 + 2 * (count - 2)) == 0;
}

/* Property storages in [at, end): each a length, a mark, a class, values; 0 ends them. */
static bool walk_properties(struct view *view, uint64_t at, uint64_t end)
{
	while (end - at >= 4) {
		const uint8_t *p = view_peek(view, at, 4);
		uint32_t len = p ? le32(p) : 0;
		uint64_t value = at + 24, storage_end;

		if (!p)
			return false;
		if (len == 0)
			return end - at == 4;
		p = view_peek(view, at, 8);
		if (!p || len < 28 || len > end - at || memcmp(p + 4, "1SPS", 4) != 0)
			return false;
		for (storage_end = at + len; storage_end - value > 4;) {
			p = view_peek(view, value, 4);
			len = p ? le32(p) : 0;
			if (len < 9 || len > storage_end - value - 4 ||
				value_is_wiped(view, value, len))
				return false;
			value += len;
		}
		if (storage_end - value != 4)
			return false;
		at = storage_end;
	}
	return false;
}

/* The lengths of blocks, by the last byte of their signature; 0: any. */
static const uint16_t block_lens[] = { 0, 0x314, 0xcc, 0x60, 0x0c, 0x10, 0x314, 0x314, 0, 0, 0,
	0x1c, 0 };

/* Reads an extra block. READ_OK with *last: that was the end. */
static enum lnk_read read_block(struct lnk *lnk, bool *last)
{
	const uint8_t *p = view_peek(lnk->view, lnk->at, 4);
	uint32_t len = p ? le32(p) : 0, kind;

	*last = p && len < 4;
	if (!p)
		return READ_CUT;
	if (*last) {
		lnk->at += 4;
		return READ_OK;
	}
	lnk->known_block = false;
	p = view_peek(lnk->view, lnk->at, BLOCK_MIN);
	if (!p)
		return READ_CUT;
	kind = le32(p + 4) - 0xa0000000;
	if (len < BLOCK_MIN || kind == 0 || kind >= sizeof(block_lens) / sizeof(*block_lens) ||
		(block_lens[kind] && len != block_lens[kind]) || len > 1 << 20)
		return READ_BAD;
	lnk->known_block = true;
	if (len > view_size(lnk->view) - lnk->at)
		return READ_CUT;
	lnk->part = "property store";
	if (kind == 9 && !walk_properties(lnk->view, lnk->at + 8, lnk->at + len))
		return READ_BAD;
	lnk->part = "list in an extra block";
	if (kind == 12 && !walk_items(lnk->view, lnk->at + 8, lnk->at + len))
		return READ_BAD;
	lnk->part = "extra block";
	lnk->at += len;
	lnk->blocks |= 1u << kind;
	return READ_OK;
}

/* The parts that flags announce, in order. */
static enum lnk_read read_parts(struct lnk *lnk)
{
	enum lnk_read got = READ_OK;

	lnk->part = "list of items";
	if (lnk->flags & HAS_LIST)
		got = read_list(lnk);
	if (got == READ_OK && (lnk->flags & HAS_LOCATION) && !(lnk->flags & NO_LOCATION)) {
		lnk->part = "location of the target";
		got = read_location(lnk);
	}
	lnk->parts_end = lnk->at;
	lnk->empty = true;
	for (uint32_t flag = HAS_NAME; got == READ_OK && flag <= LAST_STRING; flag <<= 1) {
		lnk->part = "string";
		if (lnk->flags & flag)
			got = read_string(lnk, flag);
	}
	return got;
}

static enum verdict judge_damage(struct lnk *lnk, enum lnk_read got)
{
	uint64_t size = view_size(lnk->view);

	lnk->finding->length = lnk->at;
	if (got == READ_CUT)
		return walk_cut(lnk->view, lnk->finding, size + 1,
			view_ends_with_image(lnk->view) ? size : lnk->at);
	return verdict_because(
		CARVE_TRUNCATED, lnk->finding, "an impossible %s at %" PRIu64, lnk->part, lnk->at);
}

/* Whether each extra block was read that a flag announces. */
static bool has_blocks(const struct lnk *lnk)
{
	static const struct {
		uint8_t flag, kind; /* number of the bit, of the block */
	} announced[] = { { 9, BLOCK_ENVIRONMENT }, { 12, BLOCK_DARWIN }, { 14, BLOCK_ICON } };

	for (size_t i = 0; i < sizeof(announced) / sizeof(*announced); i++)
		if (lnk->flags >> announced[i].flag & 1 && !(lnk->blocks >> announced[i].kind & 1))
			return false;
	return true;
}

/* The verdict when the end, which consists of zeros, was found. */
static enum verdict judge_end(struct lnk *lnk)
{
	const char *what;
	uint64_t at;

	if (!has_blocks(lnk))
		return verdict_because(CARVE_UNVERIFIED, lnk->finding,
			"an extra block that the flags announce is not before %" PRIu64, lnk->at);
	if (overwrite_find(lnk->view, HEADER_LEN, lnk->at, 1, &at, &what) == OVERWRITE_NONE)
		return CARVE_COMPLETE;
	return verdict_because(CARVE_UNVERIFIED, lnk->finding,
		"%s from %" PRIu64 " on: padding of a block, or a wiped end", what, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct lnk lnk = { .view = view, .finding = finding };
	const char *problem = read_header(&lnk);
	bool last = false;
	enum lnk_read got;
	uint64_t strings_end;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	got = read_parts(&lnk);
	if (got != READ_OK)
		return judge_damage(&lnk, got);
	strings_end = lnk.at;
	lnk.part = "extra block";
	while (got == READ_OK && !last)
		got = read_block(&lnk, &last);
	if (got == READ_OK && lnk.texts && lnk.empty && lnk.at == strings_end + 4) {
		/* Only zeros after the first parts. */
		lnk.at = lnk.parts_end;
		lnk.part = "string";
		return judge_damage(&lnk, READ_BAD);
	}
	finding->length = lnk.at;
	if (got == READ_OK)
		return judge_end(&lnk);
	if (got == READ_BAD && (lnk.at > strings_end || lnk.known_block))
		return judge_damage(&lnk, got);
	if (got == READ_CUT && view_size(view) > lnk.at)
		return judge_damage(&lnk, got);
	return verdict_because(CARVE_UNVERIFIED, finding, "no final block at %" PRIu64, lnk.at);
}

const struct carver lnk_carver = {
	.name = "lnk",
	.summary = "Windows shell links, by their parts and blocks",
	.check = check,
};
