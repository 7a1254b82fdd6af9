/*
 * New executables: programs, libraries, drivers and fonts of 16-bit Windows and OS/2. See mz.c.
 *
 * Offsets in the header are relative to it, those of segments and resources in units of a power of
 * two from the file's start. A segment's relocations follow it.
 */
#include <string.h>

#include "bytes.h"
#include "mz.h"
#include "title.h"

#define HEAD_LEN 64

enum { RESOURCE_FONT = 0x8008, RESOURCE_VERSION = 0x8010 };

static bool in_name(uint8_t byte)
{
	return byte >= ' ' && byte != 0x7f;
}

bool mz_names(struct view *view, uint64_t at, uint64_t end, uint64_t *past)
{
	while (at < end) {
		const uint8_t *p = view_peek(view, at, 1);
		uint8_t len = p ? *p : 0;

		if (!p)
			return false;
		if (len == 0) {
			*past = at + 1;
			return true;
		}
		p = end - at >= len + 3u ? view_peek(view, at + 1, len) : NULL;
		for (uint8_t i = 0; i < len; i++)
			if (!p || !in_name(p[i]))
				return false;
		at += len + 3u;
	}
	return false;
}

void mz_title(struct view *view, struct finding *finding, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 1);
	uint8_t len = p ? *p : 0;

	p = len ? view_peek(view, at + 1, len) : NULL;
	if (p && finding->title[0] == 0)
		finding_set_title(finding, p, len);
}

static bool valid_relocation(const uint8_t *p)
{
	return !(p[0] & 0xf0) && !(p[1] & 0xf8) && (0x282du >> (p[0] & 0x0f) & 1);
}

/* Relocations: width, type (an ordinal, a name, ...). Their number counts only as far as they are
 * valid. */
static void segment_relocations(struct view *view, uint64_t at, struct mz_extent *extent)
{
	const uint8_t *p = view_peek(view, at, 2);
	uint64_t next = at + 2, end = next + 8 * (uint64_t)(p ? le16(p) : 0);

	for (; next < end && (p = view_peek(view, next, 8)); next += 8) {
		if (!valid_relocation(p)) {
			mz_extend(extent, next);
			mz_mark_broken(extent, next);
			return;
		}
	}
	mz_extend(extent, end);
	if (next < end)
		mz_mark_broken(extent, next);
	else if (end > at + 2)
		mz_prove(extent, end);
}

static void walk_segments(struct view *view, uint64_t base, uint64_t table, uint32_t count,
	uint32_t shift, struct mz_extent *extent)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = view_peek(view, table + 8 * (uint64_t)i, 8);
		uint64_t at = p ? base + ((uint64_t)le16(p) << shift) : 0;
		uint32_t len = p && le16(p + 2) ? le16(p + 2) : 0x10000;
		bool relocated = p && (le16(p + 4) & 0x100);

		if (!p || le16(p) == 0)
			continue;
		mz_extend(extent, at + len);
		if (relocated)
			segment_relocations(view, at + len, extent);
	}
}

/* A font ends with its name, whose offset is at 105. */
static void font_resource(struct view *view, uint64_t at, uint64_t len, struct mz_extent *extent)
{
	const uint8_t *p = view_peek(view, at, 118);
	uint32_t font_len = p ? le32(p + 2) : 0, face = p ? le32(p + 105) : 0;
	uint32_t name_len;

	if (!p || font_len > len || face < 117 || face >= font_len || font_len - face > 64)
		return;
	name_len = font_len - face;
	p = view_peek(view, at + face, name_len);
	for (uint32_t i = 0; p && i < name_len; i++) {
		if (p[i] == 0 && i) {
			mz_prove(extent, at + font_len);
			return;
		}
		if (!in_name(p[i]))
			return;
	}
}

/* The length of a block's head and its key, with the key's zero and padding to a multiple of 4; 0
 * when it is not a key. */
static uint32_t key_len(const uint8_t *p, uint32_t room)
{
	uint32_t len = 0;

	while (len < room && len < 64 && p[len] && in_name(p[len]))
		len++;
	return len && len < room && p[len] == 0 ? (4 + len + 1 + 3) / 4 * 4 : 0;
}

/* Blocks with a length, their value's length and a key; those without a value contain other blocks.
 * The outermost is VS_VERSION_INFO with 52 bytes of numbers. */
void mz_version(struct view *view, uint64_t at, uint64_t len, struct mz_extent *extent)
{
	const uint8_t *p = view_peek(view, at, 24);
	uint32_t total = p ? le16(p) : 0, offset = 72;

	if (!p || memcmp(p + 4, "VS_VERSION_INFO", 16) != 0 || total > len || total < offset ||
		le32(p + 20) != 0xfeef04bd)
		return;
	p = view_peek(view, at, total);
	while (p && total - offset >= 8) {
		uint32_t block_len = le16(p + offset),
			 head_len = key_len(p + offset + 4, total - offset - 4);

		if (head_len == 0 || block_len > total - offset || head_len > block_len + 3) {
			mz_mark_broken(extent, at + offset);
			return;
		}
		offset += le16(p + offset + 2) ? (block_len + 3) / 4 * 4 : head_len;
		if (offset > total)
			offset = total;
	}
	mz_prove(extent, at + total);
}

/* The resource table in [at, end): types with their entries. False when it is not one. */
static bool walk_resources(struct view *view, struct finding *finding, uint64_t base, uint64_t at,
	uint64_t end, struct mz_extent *extent)
{
	const uint8_t *p = view_peek(view, at, 2);
	uint32_t shift = p ? le16(p) : 16, kind, count;

	if (shift > 15)
		return false;
	for (at += 2; at + 2 <= end;) {
		p = view_peek(view, at, 2);
		kind = p ? le16(p) : 0;
		if (kind == 0)
			return p != NULL;
		p = view_peek(view, at, 8);
		count = p ? le16(p + 2) : 0;
		at += 8;
		if (!p || at > end || count * (uint64_t)12 > end - at)
			return false;
		for (; count; count--, at += 12) {
			uint64_t offset, len;

			p = view_peek(view, at, 12);
			if (!p)
				return false;
			offset = base + ((uint64_t)le16(p) << shift);
			len = (uint64_t)le16(p + 2) << shift;
			mz_extend(extent, offset + len);
			if (kind == RESOURCE_FONT)
				font_resource(view, offset, len, extent);
			if (kind == RESOURCE_VERSION)
				mz_version(view, offset, len, extent);
			if (kind == RESOURCE_FONT)
				finding->extension = "fon";
		}
	}
	return false;
}

struct ne_tables {
	uint32_t segments, resources, names, modules, imports, entries;
	uint32_t segment_count, module_count, entries_len, shift, flags;
	uint64_t more_names, more_names_len;
};

/* Reads the tables' offsets: they rise, as linkers write them. */
static bool read_tables(struct view *view, uint64_t head, struct ne_tables *tables)
{
	const uint8_t *p = view_peek(view, head, HEAD_LEN);

	if (!p)
		return false;
	*tables = (struct ne_tables){ .entries = le16(p + 4),
		.entries_len = le16(p + 6),
		.flags = le16(p + 12),
		.segment_count = le16(p + 28),
		.module_count = le16(p + 30),
		.more_names_len = le16(p + 32),
		.segments = le16(p + 34),
		.resources = le16(p + 36),
		.names = le16(p + 38),
		.modules = le16(p + 40),
		.imports = le16(p + 42),
		.more_names = le32(p + 44),
		.shift = le16(p + 50) ? le16(p + 50) : 9 };
	return tables->segments >= HEAD_LEN && tables->segment_count < 256 &&
	       tables->resources >= tables->segments + 8 * tables->segment_count &&
	       tables->names >= tables->resources && tables->modules > tables->names &&
	       tables->imports >= tables->modules + 2 * tables->module_count &&
	       tables->entries >= tables->imports && tables->shift < 16;
}

const char *mz_ne(struct view *view, struct finding *finding, uint64_t base, uint64_t head,
	struct mz_extent *extent)
{
	struct ne_tables tables;
	uint64_t past;

	if (!read_tables(view, head, &tables))
		return "impossible tables in an NE header";
	if (!mz_names(view, head + tables.names, head + tables.modules, &past))
		return "no name of an NE module";
	extent->code = head + tables.entries + tables.entries_len;
	mz_extend(extent, extent->code);
	if (tables.flags & 0x8000)
		finding->extension = "dll";
	walk_segments(
		view, base, head + tables.segments, tables.segment_count, tables.shift, extent);
	if (tables.names > tables.resources &&
		!walk_resources(
			view, finding, base, head + tables.resources, head + tables.names, extent))
		mz_mark_broken(extent, head + tables.resources);
	if (tables.more_names && tables.more_names_len) {
		uint64_t at = base + tables.more_names, end = at + tables.more_names_len;

		mz_extend(extent, end);
		if (mz_names(view, at, end, &past)) {
			mz_prove(extent, past);
			mz_title(view, finding, at);
		} else {
			mz_mark_broken(extent, at);
		}
	}
	mz_title(view, finding, head + tables.names);
	return NULL;
}
