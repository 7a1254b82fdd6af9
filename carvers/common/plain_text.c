#include "plain_text.h"

#include "walk.h"

bool utf8_valid(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int more = bytes[i] < 0x80       ? 0
			   : bytes[i] >> 5 == 6  ? 1
			   : bytes[i] >> 4 == 14 ? 2
						 : 3;

		if (bytes[i] >= 0x80 && (bytes[i] < 0xc2 || bytes[i] > 0xf4))
			return false;
		for (; more; more--)
			if (++i == len || bytes[i] >> 6 != 2)
				return false;
	}
	return true;
}

/* Names in other alphabets are UTF-8; none contains control characters. */
static bool in_name(uint8_t byte)
{
	return byte >= ' ' && byte != 0x7f;
}

bool name_table_valid(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	uint8_t last = 1;
	size_t len;

	for (; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return false;
		for (size_t i = 0; i < len; i++)
			if (p[i] && !in_name(p[i]))
				return false;
		last = p[len - 1];
	}
	return last == 0;
}
