/*
 * What an examiner typed in is stored in zlib streams ("header", twice, "header2" and "xheader" for
 * the same in other encodings), the hashes in sections with a checksum ("hash", "digest") or in a
 * stream ("xhash"). libewf refuses a whole set if one of them is damaged, so only valid ones are
 * shown to it.
 */
#include "evidence/e01_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

int e01_make_stub(const struct e01_metadata *parts, size_t count)
{
	static const uint8_t file_head[E01_FILE_HEAD_LEN] = "EVF\t\r\n\xff\0\1\1";
	uint8_t head[E01_SECTION_HEAD_LEN];
	int fd = memfd_create("burin", MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "wb");
	uint64_t at = sizeof(file_head);

	if (file) {
		fwrite(file_head, 1, sizeof(file_head), file);
		for (size_t i = 0; i < count; i++) {
			const struct e01_metadata *part = &parts[i];
			uint64_t len = sizeof(head) + part->len;

			e01_make_section_head(head, part->type, at += len, len);
			fwrite(head, 1, sizeof(head), file);
			fwrite(part->bytes, 1, part->len, file);
		}
		e01_make_section_head(head, "done", at, sizeof(head));
		fwrite(head, 1, sizeof(head), file);
	}
	if (file && !fclose(file))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}
