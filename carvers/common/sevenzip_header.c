#include "sevenzip_header.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

const char *sevenzip_read(struct view *view, uint64_t start, struct sevenzip *head)
{
	const uint8_t *p = view_peek(view, start, SEVENZIP_START_LEN);
	uint32_t crc = 0, want;

	if (!p || memcmp(p, "7z\xbc\xaf\x27\x1c\0", 7) != 0)
		return "no signature at 0";
	want = le32(p + 8);
	*head = (struct sevenzip){ .at = le64(p + 12), .len = le64(p + 20), .crc = le32(p + 28) };
	if (!walk_crc32(view, start + 12, 20, &crc) || crc != want)
		return "the start header's CRC is wrong at 8";
	if (head->at > INT64_MAX / 2 || head->len > INT64_MAX / 2)
		return "impossible lengths at 12";
	head->at += start + SEVENZIP_START_LEN;
	head->end = head->at + head->len;
	return NULL;
}

bool sevenzip_header_valid(struct view *view, const struct sevenzip *head)
{
	uint32_t crc = 0;

	return head->end <= view_size(view) && walk_crc32(view, head->at, head->len, &crc) &&
	       crc == head->crc;
}
