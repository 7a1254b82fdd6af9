#include "title.h"

#include <string.h>

#include "bytes.h"
#include "plain_text.h"

#define UTF8_LEN 4

void finding_set_title(struct finding *finding, const uint8_t *bytes, size_t len)
{
	while (len && (bytes[0] == ' ' || bytes[0] == 0)) {
		bytes++;
		len--;
	}
	while (len && (bytes[len - 1] == ' ' || bytes[len - 1] == 0))
		len--;
	if (!len)
		return;
	if (len >= sizeof(finding->title))
		len = sizeof(finding->title) - 1;
	memcpy(finding->title, bytes, len);
	finding->title[len] = 0;
}

/* Appends a code point as UTF-8. False when there is no room for it. */
static bool append(uint8_t *text, size_t size, size_t *len, uint32_t point)
{
	uint8_t *p = text + *len;

	if (size - *len < UTF8_LEN)
		return false;
	if (point < 0x80) {
		p[0] = (uint8_t)point;
		*len += 1;
	} else if (point < 0x800) {
		p[0] = (uint8_t)(0xc0 | point >> 6);
		p[1] = (uint8_t)(0x80 | (point & 0x3f));
		*len += 2;
	} else if (point < 0x10000) {
		p[0] = (uint8_t)(0xe0 | point >> 12);
		p[1] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
		p[2] = (uint8_t)(0x80 | (point & 0x3f));
		*len += 3;
	} else {
		p[0] = (uint8_t)(0xf0 | point >> 18);
		p[1] = (uint8_t)(0x80 | (point >> 12 & 0x3f));
		p[2] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
		p[3] = (uint8_t)(0x80 | (point & 0x3f));
		*len += 4;
	}
	return true;
}

void finding_set_title_utf16(
	struct finding *finding, const uint8_t *bytes, size_t len, bool big_endian)
{
	uint8_t text[sizeof(finding->title)];
	size_t text_len = 0;

	for (size_t i = 0; i + 2 <= len; i += 2) {
		uint32_t point = big_endian ? be16(bytes + i) : le16(bytes + i);

		if (point == 0)
			break;
		if (point >= 0xd800 && point < 0xdc00 && i + 4 <= len) {
			uint32_t low = big_endian ? be16(bytes + i + 2) : le16(bytes + i + 2);

			if (low >= 0xdc00 && low < 0xe000) {
				point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		if (!append(text, sizeof(text), &text_len, point))
			break;
	}
	finding_set_title(finding, text, text_len);
}

void finding_set_title_latin1(struct finding *finding, const uint8_t *bytes, size_t len)
{
	const uint8_t *end = memchr(bytes, 0, len);
	uint8_t text[sizeof(finding->title)];
	size_t text_len = 0;

	if (end)
		len = (size_t)(end - bytes);
	if (utf8_valid(bytes, len)) {
		finding_set_title(finding, bytes, len);
		return;
	}
	for (size_t i = 0; i < len && append(text, sizeof(text), &text_len, bytes[i]); i++)
		;
	finding_set_title(finding, text, text_len);
}
