/*
 * An EWF segment file is a 13-byte head, with the segment's number at 9, and a chain of sections. A
 * section starts with 76 bytes: a type (16 bytes), the offset of the next section (u64), its own
 * size (u64), padding and an Adler-32 checksum of all that. The last section's type is "next" when
 * another segment follows and "done" when none does; it leads to itself, or past its own end.
 *
 * A head with a wrong checksum is not trusted, since its offsets may lead anywhere. Instead the
 * next valid head is searched for, byte by byte: a known type, offsets that fit its place in the
 * file and a valid checksum do not occur by accident, nor in an E01 that is stored within the
 * evidence, whose offsets are those of another file. The walk only goes forward, so it ends.
 */
#include "evidence/e01_sections.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"

#define TYPE_LEN 16
#define SUM_AT 72
#define SEARCH_LEN (1u << 20)
/* A segment of 2 GiB has some ten sections, one of 8 TB some 50,000. */
#define SECTIONS_MAX 1000000
/* Texts about the acquisition have some hundred bytes, and decompress to at most a thousand times
 * as much; a table has 256 KiB. */
#define TEXT_LEN_MAX ((uint64_t)64 << 10)
#define OTHER_LEN_MAX ((uint64_t)16 << 20)

static const uint8_t signature[8] = { 'E', 'V', 'F', '\t', '\r', '\n', 0xff, 0 };

static const char *const known_types[] = { "header", "header2", "xheader", "volume", "disk", "data",
	"sectors", "table", "table2", "hash", "digest", "xhash", "error2", "session", "next",
	"done" };

bool e01_probe(const uint8_t *head, size_t len)
{
	return len >= sizeof(signature) && !memcmp(head, signature, sizeof(signature));
}

bool e01_sum_holds(const uint8_t *bytes, size_t len)
{
	return libdeflate_adler32(1, bytes, len) == endian_u32(bytes + len);
}

void e01_make_section_head(
	uint8_t head[E01_SECTION_HEAD_LEN], const char *type, uint64_t next, uint64_t len)
{
	memset(head, 0, E01_SECTION_HEAD_LEN);
	memcpy(head, type, strnlen(type, TYPE_LEN));
	endian_put(head + TYPE_LEN, next, 8);
	endian_put(head + TYPE_LEN + 8, len, 8);
	endian_put(head + SUM_AT, libdeflate_adler32(1, head, SUM_AT), 4);
}

static bool is_last(const char *type)
{
	return !strcmp(type, "next") || !strcmp(type, "done");
}

/* Parses the section head at offset. *next: where the following one starts. False: the checksum is
 * wrong, or the section leads backwards. */
static bool parse_head(
	const uint8_t *head, uint64_t offset, struct e01_section *section, uint64_t *next)
{
	if (!e01_sum_holds(head, SUM_AT))
		return false;
	*section = (struct e01_section){ .offset = offset };
	memcpy(section->type, head, TYPE_LEN);
	*next = endian_u64(head + TYPE_LEN);
	if (!is_last(section->type) && (*next < offset || *next - offset < E01_SECTION_HEAD_LEN))
		return false;
	section->len = *next - offset;
	return true;
}

/* As parse_head, for a place to which no section leads. size: of the file. */
static bool looks_like_head(const uint8_t *head, uint64_t offset, uint64_t size)
{
	struct e01_section section;
	uint64_t next;

	if (head[TYPE_LEN - 1] || head[0] < 'd' || head[0] > 'x')
		return false;
	for (size_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++)
		if (!strncmp((const char *)head, known_types[i], TYPE_LEN))
			return parse_head(head, offset, &section, &next) && next <= size &&
			       (next == offset || next - offset == endian_u64(head + TYPE_LEN + 8));
	return false;
}

/* The offset of the first valid head at or after `from`; size when there is none. */
static uint64_t search_head(int fd, uint64_t size, uint64_t from)
{
	uint8_t *buffer = xmalloc(SEARCH_LEN);
	uint64_t found = size;

	while (found == size && size >= E01_SECTION_HEAD_LEN &&
		from <= size - E01_SECTION_HEAD_LEN) {
		size_t len = size - from < SEARCH_LEN ? (size_t)(size - from) : SEARCH_LEN;
		size_t heads = len - E01_SECTION_HEAD_LEN + 1;

		/* What can't be read has no head that could be found. */
		if (file_read_all_at(fd, buffer, len, from))
			memset(buffer, 0, len);
		for (size_t i = 0; i < heads && found == size; i++)
			if (looks_like_head(buffer + i, from + i, size))
				found = from + i;
		from += heads;
	}
	free(buffer);
	return found;
}

/* Finds the section at *offset or, when that is damaged, the next one; then it changes *offset. */
static bool find_section(int fd, uint64_t size, uint64_t *offset, struct e01_section *section,
	uint64_t *next, bool *damaged)
{
	uint8_t head[E01_SECTION_HEAD_LEN];

	if (size < sizeof(head) || *offset > size - sizeof(head))
		return false;
	if (!file_read_all_at(fd, head, sizeof(head), *offset) &&
		parse_head(head, *offset, section, next))
		return true;
	*damaged = true;
	*offset = search_head(fd, size, *offset + 1);
	if (file_read_all_at(fd, head, sizeof(head), *offset) ||
		!parse_head(head, *offset, section, next))
		return false;
	section->resumed = true;
	return true;
}

struct e01_walk e01_walk_sections(int fd, uint64_t size,
	void (*visit)(void *arg, const struct e01_section *section), void *arg)
{
	struct e01_walk walk = { .ending = E01_ENDS_BROKEN };
	uint64_t offset = E01_FILE_HEAD_LEN, next;
	struct e01_section section;

	for (int i = 0; i < SECTIONS_MAX; i++, offset = next) {
		if (!find_section(fd, size, &offset, &section, &next, &walk.damaged))
			break;
		if (is_last(section.type)) {
			walk.ending = !strcmp(section.type, "next") ? E01_ENDS_NEXT : E01_ENDS_DONE;
			return walk;
		}
		if (section.len > size - section.offset)
			section.len = size - section.offset;
		visit(arg, &section);
		if (next > size) /* cut off, or invented: search after its head */
			next = section.offset + 1;
	}
	walk.damaged = true;
	return walk;
}

static uint64_t plausible_len(const char *type)
{
	if (!strcmp(type, "sectors"))
		return UINT64_MAX;
	return strstr(type, "header") ? TEXT_LEN_MAX : OTHER_LEN_MAX;
}

bool e01_claims_too_much(int fd, uint64_t size, struct e01_section *section)
{
	uint64_t offset = E01_FILE_HEAD_LEN, next = offset;
	uint8_t head[E01_SECTION_HEAD_LEN];

	for (int i = 0; i < SECTIONS_MAX && next >= offset && next < size; i++) {
		offset = next;
		if (file_read_all_at(fd, head, sizeof(head), offset))
			return false;
		*section = (struct e01_section){ .offset = offset,
			.len = endian_u64(head + TYPE_LEN + 8) };
		memcpy(section->type, head, TYPE_LEN);
		next = endian_u64(head + TYPE_LEN);
		if (next > offset && next - offset > section->len) /* libewf trusts that one, too */
			section->len = next - offset;
		if (section->len > plausible_len(section->type))
			return true;
		if (next == offset)
			return false;
	}
	return false;
}
