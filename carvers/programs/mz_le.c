/*
 * Linear executables: LE (Windows' virtual drivers, programs of DOS extenders) and LX (32-bit
 * OS/2). See mz.c.
 *
 * Offsets in the header are relative to it, except those of the pages, the second name table and
 * the tables for debuggers, which are relative to the file's start. LE numbers the stored pages,
 * all of one size except the last; LX has an offset and a length for each.
 *
 * Fixups precede the pages and describe them: a relative one patches a branch, and no page that is
 * stored uncompressed has random bytes around a fixup.
 */
#include <string.h>

#include "bytes.h"
#include "mz.h"
#include "noise.h"

#define HEAD_LEN 0xc4
#define PAGES_MAX 0x100000
#define OBJECTS_MAX 0x1000
#define AROUND 512 /* on both sides of a fixup */

/* Of a fixup: */
#define RELATIVE 8   /* its type */
#define SELECTOR 2   /* the same */
#define LISTED 0x20  /* offsets follow the record */
#define BY_ORDINAL 1 /* its target: flags' lowest bits, 0 for an offset in an object */
#define BY_ENTRY 3   /* the program's own */
#define ADDITIVE 4
#define LONG_TARGET 0x10
#define LONG_ADDITIVE 0x20
#define LONG_NUMBER 0x40
#define SHORT_ORDINAL 0x80

struct linear_header {
	uint64_t base, head;
	bool wide; /* LX */
	uint32_t os, flags, page_count, page_len, last_len, shift;
	uint32_t objects, object_count, map, names, entries, fixup_pages, fixups, modules;
	uint32_t data, more_names, more_names_len, version, version_len, debug, debug_len;
};

static bool read_head(struct view *view, struct linear_header *linear)
{
	const uint8_t *p = view_peek(view, linear->head, HEAD_LEN);

	if (!p || le16(p + 2) || le32(p + 4) || le16(p + 8) - 1u > 0x42 || le16(p + 10) > 5)
		return false;
	linear->wide = p[1] == 'X';
	linear->os = le16(p + 10);
	linear->flags = le32(p + 16);
	linear->page_count = le32(p + 20);
	linear->page_len = le32(p + 40);
	linear->last_len = linear->wide ? 0 : le32(p + 44);
	linear->shift = linear->wide ? le32(p + 44) : 0;
	linear->objects = le32(p + 64);
	linear->object_count = le32(p + 68);
	linear->map = le32(p + 72);
	linear->names = le32(p + 88);
	linear->entries = le32(p + 92);
	linear->fixup_pages = le32(p + 104);
	linear->fixups = le32(p + 108);
	linear->modules = le32(p + 112);
	linear->data = le32(p + 128);
	linear->more_names = le32(p + 136);
	linear->more_names_len = le32(p + 140);
	linear->debug = le32(p + 152);
	linear->debug_len = le32(p + 156);
	linear->version = linear->os == 4 ? le32(p + 184) : 0;
	linear->version_len = linear->os == 4 ? le32(p + 188) : 0;
	return linear->page_count < PAGES_MAX && linear->object_count < OBJECTS_MAX &&
	       linear->page_len >= 512 && linear->page_len <= 65536 &&
	       !(linear->page_len & (linear->page_len - 1)) && linear->shift < 16 &&
	       linear->last_len <= linear->page_len;
}

/* Whether the tables are in the order in which linkers write them. */
static bool valid_order(const struct linear_header *linear)
{
	uint64_t map_len = linear->page_count * (linear->wide ? 8ull : 4ull);

	return linear->objects >= 0xa8 && linear->objects < 0x10000 &&
	       linear->objects + 24 * (uint64_t)linear->object_count <= linear->map &&
	       linear->map + map_len <= linear->names && linear->names <= linear->entries &&
	       linear->entries <= linear->fixup_pages &&
	       linear->fixup_pages + 4 * ((uint64_t)linear->page_count + 1) <= linear->fixups &&
	       linear->fixups <= linear->modules && linear->data != 0 && linear->data < INT32_MAX;
}

/* Whether each object has a run of the pages. */
static bool valid_objects(struct view *view, const struct linear_header *linear)
{
	for (uint32_t i = 0; i < linear->object_count; i++) {
		const uint8_t *p =
			view_peek(view, linear->head + linear->objects + 24 * (uint64_t)i, 24);

		if (!p || (le32(p + 16) && le32(p + 16) - 1ull + le32(p + 12) > linear->page_count))
			return false;
	}
	return true;
}

/* Whether the offsets of each page's fixups rise. */
static bool valid_fixups(struct view *view, const struct linear_header *linear)
{
	uint32_t last = 0;

	for (uint64_t i = 0; i <= linear->page_count; i++) {
		const uint8_t *p = view_peek(view, linear->head + linear->fixup_pages + 4 * i, 4);

		if (!p || le32(p) < last || le32(p) > linear->modules - linear->fixups)
			return false;
		last = le32(p);
	}
	return true;
}

/* The offset after the last stored page. */
static uint64_t end_of_pages(struct view *view, const struct linear_header *linear)
{
	uint64_t map = linear->head + linear->map, end = 0;
	uint32_t stored = 0;

	for (uint64_t i = 0; i < linear->page_count; i++) {
		const uint8_t *p = view_peek(view, map + (linear->wide ? 8 : 4) * i, 4);
		uint32_t number = p ? be32(p) >> 8 : 0;

		if (p && linear->wide && (p = view_peek(view, map + 8 * i, 8))) {
			uint64_t page = ((uint64_t)le32(p) << linear->shift) + le16(p + 4);

			if (le16(p + 6) <= 1 || le16(p + 6) == 5)
				end = page > end ? page : end;
		} else if (p && !(p[3] & 0x80) && number > stored) {
			stored = number;
		}
	}
	if (stored)
		end = (stored - 1) * (uint64_t)linear->page_len +
		      (linear->last_len ? linear->last_len : linear->page_len);
	return linear->base + linear->data + end;
}

/* Where a page is stored uncompressed; false when it is not. */
static bool plain_page(
	struct view *view, const struct linear_header *linear, uint64_t index, uint64_t *at)
{
	uint64_t map = linear->head + linear->map, stored;
	const uint8_t *p =
		view_peek(view, map + (linear->wide ? 8 : 4) * index, linear->wide ? 8 : 4);

	if (!p || (linear->wide ? le16(p + 6) != 0 : p[3] != 0 || be32(p) >> 8 == 0))
		return false;
	stored = linear->wide ? (uint64_t)le32(p) << linear->shift
			      : ((be32(p) >> 8) - 1) * (uint64_t)linear->page_len;
	*at = linear->base + linear->data + stored;
	return true;
}

/* What the fixups show about the pages. */
struct linear_fixups {
	uint32_t branches, strays; /* relative ones; those that do not follow a branch */
	uint64_t first_stray, last;
};

/* Adds a fixup that patches the bytes at `at`. */
static void add_fixup(struct view *view, uint8_t kind, uint64_t at, struct linear_fixups *fixups)
{
	const uint8_t *p = (kind & 15) == RELATIVE ? view_peek(view, at - 2, 2) : NULL;

	if (at > fixups->last)
		fixups->last = at;
	if (!p)
		return;
	fixups->branches++;
	if (p[1] == 0xe8 || p[1] == 0xe9 || (p[0] == 0x0f && p[1] >> 4 == 8))
		return;
	if (!fixups->strays++ || at < fixups->first_stray)
		fixups->first_stray = at;
}

/* The length of a fixup's target. */
static uint32_t target_len(uint8_t kind, uint8_t flags)
{
	uint32_t len = flags & LONG_NUMBER ? 2 : 1, more = flags & LONG_TARGET ? 4 : 2;

	if ((flags & 3) == BY_ORDINAL && (flags & SHORT_ORDINAL))
		more = 1;
	if ((flags & 3) != BY_ENTRY && ((flags & 3) || (kind & 15) != SELECTOR))
		len += more;
	if (flags & ADDITIVE)
		len += flags & LONG_ADDITIVE ? 4 : 2;
	return len;
}

/* The fixups in [at, end), of the page that is stored at `page`. */
static void walk_fixups(
	struct view *view, uint64_t at, uint64_t end, uint64_t page, struct linear_fixups *fixups)
{
	const uint8_t *p;

	while (at + 4 < end && (p = view_peek(view, at, 4))) {
		uint8_t kind = p[0], count = kind & LISTED ? p[2] : 1;
		uint64_t after = at + (kind & LISTED ? 3 : 4) + target_len(kind, p[1]);
		uint64_t offsets = kind & LISTED ? after : at + 2;

		for (uint8_t i = 0; i < count; i++) {
			p = view_peek(view, offsets + 2ull * i, 2);
			/* Those in a page's first bytes may begin in the previous page. */
			if (p && le16(p) >= 2 && le16(p) < INT16_MAX)
				add_fixup(view, kind, page + le16(p), fixups);
		}
		at = kind & LISTED ? after + 2ull * count : after;
	}
}

/* Checks that the fixups belong to the pages. */
static void check_pages(
	struct view *view, const struct linear_header *linear, struct mz_extent *extent)
{
	struct linear_fixups fixups = { 0 };
	uint64_t page;

	for (uint64_t i = 0; i < linear->page_count; i++) {
		uint64_t from = linear->head + linear->fixups, around;
		const uint8_t *p;

		if (!plain_page(view, linear, i, &page))
			continue;
		p = view_peek(view, linear->head + linear->fixup_pages + 4 * i, 8);
		if (!p)
			continue;
		fixups.last = 0;
		walk_fixups(view, from + le32(p), from + le32(p + 4), page, &fixups);
		around = fixups.last > extent->code + AROUND ? fixups.last - AROUND : extent->code;
		if (fixups.last && fixups.last + AROUND <= extent->end &&
			noise_before(view, around, fixups.last + AROUND) == around)
			mz_mark_broken(extent, around);
	}
	if (fixups.strays > 1 && fixups.strays > fixups.branches / 16)
		mz_mark_broken(extent, fixups.first_stray);
}

/* A virtual driver's version: FF, type 16, FF, number, flags, length. */
static void driver_version(
	struct view *view, const struct linear_header *linear, struct mz_extent *extent)
{
	uint64_t at = linear->base + linear->version;
	const uint8_t *p;

	if (linear->version == 0 || linear->version > INT32_MAX || linear->version_len < 12 ||
		linear->version_len > 65536)
		return;
	mz_extend(extent, at + linear->version_len);
	p = view_peek(view, at, 12);
	if (p && p[0] == 0xff && le16(p + 1) == 16 && p[3] == 0xff)
		mz_version(view, at + 12, linear->version_len - 12, extent);
	else
		mz_mark_broken(extent, at);
}

static void second_names(struct view *view, struct finding *finding,
	const struct linear_header *linear, struct mz_extent *extent)
{
	uint64_t at = linear->base + linear->more_names, past;

	if (linear->more_names == 0 || linear->more_names > INT32_MAX ||
		linear->more_names_len == 0 || linear->more_names_len > 1 << 24)
		return;
	mz_extend(extent, at + linear->more_names_len);
	if (mz_names(view, at, at + linear->more_names_len, &past)) {
		mz_prove(extent, past);
		mz_title(view, finding, at);
	} else {
		mz_mark_broken(extent, at);
	}
}

const char *mz_le(struct view *view, struct finding *finding, uint64_t base, uint64_t head,
	struct mz_extent *extent)
{
	struct linear_header linear = { .base = base, .head = head };
	uint64_t past;

	if (!read_head(view, &linear) || !valid_order(&linear))
		return "impossible fields of a linear header";
	if (!valid_objects(view, &linear) || !valid_fixups(view, &linear) ||
		!mz_names(view, head + linear.names, head + linear.entries, &past))
		return "no valid tables of a linear program";
	extent->code = head + linear.modules;
	mz_extend(extent, extent->code);
	mz_extend(extent, end_of_pages(view, &linear));
	check_pages(view, &linear, extent);
	second_names(view, finding, &linear, extent);
	driver_version(view, &linear, extent);
	if (linear.debug && linear.debug_len < INT32_MAX)
		mz_extend(extent, base + linear.debug + linear.debug_len);
	if (linear.os == 4)
		finding->extension = "vxd";
	else if ((linear.flags >> 15 & 7) == 1 || (linear.flags & 0x8000))
		finding->extension = "dll";
	mz_title(view, finding, head + linear.names);
	return NULL;
}
