/*
 * ar archives (ar(5) of System V and BSD; Microsoft's PE format, "Archive (Library) File Format").
 *
 *	file:   '!<arch>' 0A, members
 *	member: header of 60 bytes (name, time, owner, mode, decimal length, '`' 0A), data, padded
 *		to an even length
 *
 * Nothing marks the end. In libraries the first member is an index of symbols, which gives the
 * offsets of the members that define them. If the last member is the last one that the index names,
 * is complete as an object file, and does not end in zeros as if wiped (overwrite.c), the archive
 * is complete. Other archives stay unverified.
 *
 * Damage. An index that names members after the last one shows that the end is lost.
 */
#include "ar.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "overwrite.h"
#include "walk.h"

#define ELF_NO_BITS 8
#define MACHO_SYMBOLS 2

struct ar_library {
	uint64_t indexed; /* the last member that the index names; 0: there is no index */
	unsigned indexes; /* Microsoft writes two */
	struct ar_member last;
};

static bool is_named(const struct ar_member *member, const char *name)
{
	return memcmp(member->name, name, strlen(name)) == 0;
}

/* The largest of count offsets of width bytes, each step bytes after the one before. */
static uint64_t largest_offset(struct view *view, uint64_t at, uint64_t count, unsigned step,
	unsigned width, bool big_endian)
{
	uint64_t most = 0, value;

	for (; count; count--, at += step) {
		const uint8_t *p = view_peek(view, at, width);

		if (!p)
			break;
		if (width == 8)
			value = be64(p);
		else
			value = big_endian ? be32(p) : le32(p);
		if (value > most)
			most = value;
	}
	return most;
}

/* GNU's and Microsoft's index: a count, offsets, names. */
static uint64_t read_index(struct view *view, const struct ar_member *member, unsigned width)
{
	uint64_t room = (member->end - member->data) / width;
	const uint8_t *p = view_peek(view, member->data, width);
	uint64_t count = !p ? 0 : width == 8 ? be64(p) : be32(p);

	if (!count || count >= room)
		return 0;
	return largest_offset(view, member->data + width, count, width, width, true);
}

/* BSD's index: the name after the header if it is long, a length, pairs of name and offset. */
static uint64_t read_bsd_index(struct view *view, const struct ar_member *member, uint64_t name_len)
{
	uint64_t at = member->data + name_len;
	const uint8_t *p = view_peek(view, at, 4);
	bool big_endian = p && le32(p) > member->end - at;
	uint64_t len = !p ? 0 : big_endian ? be32(p) : le32(p);

	if (at >= member->end || len > member->end - at)
		return 0;
	return largest_offset(view, at + 8, len / 8, 8, 4, big_endian);
}

static void note_index(
	struct view *view, struct ar_library *library, const struct ar_member *member)
{
	const uint8_t *p;

	if (member->at != AR_START_LEN) {
		library->indexes += is_named(member, "/ ");
		return;
	}
	library->indexes = is_named(member, "/ ");
	if (is_named(member, "/ "))
		library->indexed = read_index(view, member, 4);
	else if (is_named(member, "/SYM64/"))
		library->indexed = read_index(view, member, 8);
	else if (is_named(member, "__.SYMDEF"))
		library->indexed = read_bsd_index(view, member, 0);
	else if (is_named(member, "#1/")) {
		p = view_peek(view, member->data, 9);
		if (p && memcmp(p, "__.SYMDEF", 9) == 0)
			library->indexed = read_bsd_index(view, member, member->name_len);
	}
}

/* Bytes of a member's contents, or NULL: bytes after the member must not matter. */
static const uint8_t *peek_contents(
	struct view *view, const struct ar_member *member, uint64_t offset, size_t len)
{
	uint64_t room = member->end - member->data;

	return offset <= room && len <= room - offset ? view_peek(view, member->data + offset, len)
						      : NULL;
}

/* Whether an entry of an ELF file's section table lies in a file of len bytes. */
static bool section_fits(const uint8_t *p, bool wide, bool big, uint64_t len)
{
	uint32_t type = big ? be32(p + 4) : le32(p + 4);
	uint64_t at, size, alignment;

	if (wide) {
		at = big ? be64(p + 24) : le64(p + 24);
		size = big ? be64(p + 32) : le64(p + 32);
		alignment = big ? be64(p + 48) : le64(p + 48);
	} else {
		at = big ? be32(p + 16) : le32(p + 16);
		size = big ? be32(p + 20) : le32(p + 20);
		alignment = big ? be32(p + 32) : le32(p + 32);
	}
	if (alignment & (alignment - 1))
		return false;
	return type == ELF_NO_BITS || (at <= len && size <= len - at);
}

/* ELF: the section table, mostly at the end, whose first entry is empty. */
static bool elf_is_whole(struct view *view, const struct ar_member *member)
{
	const uint8_t *p = peek_contents(view, member, 0, 64);
	uint64_t len = member->end - member->data, at;
	bool wide = p && p[4] == 2, big = p && p[5] == 2;
	uint16_t size, count;

	if (!p)
		return false;
	if (wide)
		at = big ? be64(p + 40) : le64(p + 40);
	else
		at = big ? be32(p + 32) : le32(p + 32);
	size = big ? be16(p + (wide ? 58 : 46)) : le16(p + (wide ? 58 : 46));
	count = big ? be16(p + (wide ? 60 : 48)) : le16(p + (wide ? 60 : 48));
	if (at > len || size != (wide ? 64 : 40) || (uint64_t)size * count > len - at)
		return false;
	p = peek_contents(view, member, at, 32);
	if (!p || p[0] || memcmp(p, p + 1, 31) != 0)
		return false;
	for (uint16_t i = 1; i < count; i++) {
		p = peek_contents(view, member, at + (uint64_t)i * size, size);
		if (!p || !section_fits(p, wide, big, len) ||
			(!p[0] && memcmp(p, p + 1, size - 1u) == 0))
			return false;
	}
	return true;
}

/* COFF: the symbol table, then the length of the strings and the strings. */
static bool coff_is_whole(struct view *view, const struct ar_member *member)
{
	const uint8_t *p = peek_contents(view, member, 0, 20);
	uint64_t len = member->end - member->data, strings = p ? le32(p + 8) : 0;

	if (!p || !strings)
		return false;
	strings += (uint64_t)le32(p + 12) * 18;
	p = peek_contents(view, member, strings, 4);
	return p && strings + 4 <= len && le32(p) >= 4 && le32(p) <= len - strings &&
	       len - strings - le32(p) < 16;
}

/* A member of an import library: a header of 20 bytes, names. */
static bool import_is_whole(struct view *view, const struct ar_member *member)
{
	const uint8_t *p = peek_contents(view, member, 0, 20);
	bool fits = p && le32(p + 12) + (uint64_t)20 == member->end - member->data;

	if (!fits || le32(p + 12) > VIEW_MAX_PEEK)
		return false;
	p = peek_contents(view, member, 20, member->end - member->data - 20);
	for (uint64_t i = 0; p && i < member->end - member->data - 20; i++)
		if (p[i] && (p[i] < ' ' || p[i] > '~'))
			return false;
	return p && p[member->end - member->data - 21] == 0;
}

/* Mach-O, here little-endian: the string table ends the file, apart from some padding. */
static bool macho_is_whole(struct view *view, const struct ar_member *member)
{
	const uint8_t *p = peek_contents(view, member, 0, 32);
	uint64_t len = member->end - member->data, at = p && p[0] == 0xcf ? 32 : 28;
	uint32_t commands = p ? le32(p + 16) : 0;

	for (; commands && at < len; commands--) {
		p = peek_contents(view, member, at, 24);
		if (!p || le32(p + 4) < 8)
			return false;
		if (le32(p) == MACHO_SYMBOLS) {
			uint64_t strings_end = (uint64_t)le32(p + 16) + le32(p + 20);

			p = strings_end && strings_end <= len
				    ? peek_contents(view, member, strings_end - 1, 1)
				    : NULL;
			return p && !*p && len - strings_end < 16;
		}
		at += le32(p + 4);
	}
	return false;
}

static bool is_whole(struct view *view, const struct ar_member *whole)
{
	struct ar_member contents = *whole, *member = &contents;
	const uint8_t *p;

	contents.data += contents.name_len;
	p = view_peek(view, contents.data, 20);
	if (!p || contents.end - contents.data < 20)
		return false;
	if ((p[0] == 0xce || p[0] == 0xcf) && memcmp(p + 1, "\xfa\xed\xfe", 3) == 0)
		return macho_is_whole(view, member);
	if (memcmp(p, "\177ELF", 4) == 0)
		return elf_is_whole(view, member);
	if (le16(p) == 0 && le16(p + 2) == 0xffff)
		return import_is_whole(view, member);
	return coff_is_whole(view, member);
}

/* Whether the last member, an object file, is complete and does not end in wiped bytes. */
static bool end_is_intact(struct view *view, const struct ar_member *last)
{
	const char *what;
	uint64_t at;

	return is_whole(view, last) &&
	       overwrite_find(view, last->data, last->end, 1, &at, &what) == OVERWRITE_NONE;
}

/* Whether the last member is an ELF object whose sections are not where its header has them. */
static bool lost_sections(struct view *view, const struct ar_member *last)
{
	struct ar_member contents = *last;
	const uint8_t *p;

	contents.data += contents.name_len;
	if (contents.end < contents.data || contents.end - contents.data < 64)
		return false;
	p = peek_contents(view, &contents, 0, 4);
	return p && memcmp(p, "\177ELF", 4) == 0 && !elf_is_whole(view, &contents);
}

static enum verdict judge_end(
	struct view *view, struct finding *finding, const struct ar_library *library)
{
	const struct ar_member *last = &library->last;
	uint64_t size = view_size(view), next = ar_next(last);

	if (last->end > size)
		return walk_cut_filled(view, finding, last->end, last->data);
	finding->extension = library->indexes > 1 ? "lib" : "a";
	finding->length = ar_last_end(view, last);
	if (library->indexed >= next) {
		finding->length = last->data;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no member at %" PRIu64 ", but the index names one at %" PRIu64, next,
			library->indexed);
	}
	if (library->indexed == last->at && finding->length == next && end_is_intact(view, last))
		return CARVE_COMPLETE;
	if (lost_sections(view, last)) {
		finding->length = last->data;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no sections in the last member, at %" PRIu64, last->data);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no member at %" PRIu64 ", and nothing marks the end", next);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ar_library library = { .last = { .end = AR_START_LEN } };
	struct ar_member member;

	if (!ar_starts(view) || !ar_read(view, AR_START_LEN, &member))
		return verdict_because(
			CARVE_REJECT, finding, "no first member at %d", AR_START_LEN);
	if (is_named(&member, "debian-binary"))
		return verdict_because(CARVE_REJECT, finding, "a Debian package at 0");
	do {
		library.last = member;
		note_index(view, &library, &member);
		view_embedded(view, member.data + member.name_len);
		if (member.time > finding->time)
			finding->time = member.time;
	} while (member.end <= view_size(view) && ar_read(view, ar_next(&member), &member));
	return judge_end(view, finding, &library);
}

const struct carver ar_carver = {
	.name = "ar",
	.summary = "ar archives and libraries, by their members and index",
	.check = check,
};
