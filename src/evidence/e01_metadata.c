/*
 * What an examiner typed in is stored in zlib streams ("header", twice, "header2" and "xheader" for
 * the same in other encodings), the hashes in sections with a checksum ("hash", "digest") or in a
 * stream ("xhash"). libewf refuses a whole set if one of them is damaged, so only valid ones are
 * shown to it.
 */
#include "evidence/e01_metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "evidence/deflated.h"

#define HASH_LEN 36
#define DIGEST_LEN 80
#define SUM_LEN 4
#define TEXT_MAX (1u << 20)

bool e01_is_metadata(const struct e01_section *section)
{
	static const char *const types[] = { "header", "header2", "xheader", "hash", "digest",
		"xhash" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(section->type, types[i]))
			return true;
	return false;
}

static bool is_valid_metadata(const char *type, const uint8_t *bytes, size_t len)
{
	uint8_t *text;
	size_t text_len;
	bool valid;

	if (!strcmp(type, "hash"))
		return len >= HASH_LEN && e01_sum_holds(bytes, HASH_LEN - SUM_LEN);
	if (!strcmp(type, "digest"))
		return len >= DIGEST_LEN && e01_sum_holds(bytes, DIGEST_LEN - SUM_LEN);
	text = malloc(TEXT_MAX);
	valid = text && inflate_whole(INFLATE_ZLIB, bytes, len, text, TEXT_MAX, &text_len);
	free(text);
	return valid;
}

bool e01_metadata_read(int fd, const struct e01_section *section, struct e01_metadata *part)
{
	uint64_t len = section->len - E01_SECTION_HEAD_LEN;

	if (len > TEXT_MAX)
		return false;
	part->len = (size_t)len;
	part->bytes = xmalloc(part->len + 1);
	memcpy(part->type, section->type, sizeof(part->type));
	if (!file_read_all_at(fd, part->bytes, part->len, section->offset + E01_SECTION_HEAD_LEN) &&
		is_valid_metadata(part->type, part->bytes, part->len))
		return true;
	free(part->bytes);
	return false;
}

/* Puts a section with len bytes of content at *at, and moves *at past it. last: no section follows. */
static void put_section(
	uint8_t *stub, size_t *at, const char *type, const void *bytes, size_t len, bool last)
{
	size_t next = *at + E01_SECTION_HEAD_LEN + len;

	e01_make_section_head(stub + *at, type, last ? *at : next, E01_SECTION_HEAD_LEN + len);
	if (len)
		memcpy(stub + *at + E01_SECTION_HEAD_LEN, bytes, len);
	*at = next;
}

uint8_t *e01_make_stub(const struct e01_metadata *parts, size_t count, size_t *len)
{
	static const uint8_t file_head[E01_FILE_HEAD_LEN] = "EVF\t\r\n\xff\0\1\1";
	size_t at = sizeof(file_head);
	uint8_t *stub;

	*len = at + E01_SECTION_HEAD_LEN;
	for (size_t i = 0; i < count; i++)
		*len += E01_SECTION_HEAD_LEN + parts[i].len;
	stub = xmalloc(*len);
	memcpy(stub, file_head, sizeof(file_head));
	for (size_t i = 0; i < count; i++)
		put_section(stub, &at, parts[i].type, parts[i].bytes, parts[i].len, false);
	put_section(stub, &at, "done", NULL, 0, true);
	return stub;
}
