#include "plain_text.h"

#include "walk.h"

size_t utf8_len(const uint8_t *p, size_t len)
{
	size_t more = p[0] < 0x80 ? 0 : p[0] < 0xe0 ? 1 : p[0] < 0xf0 ? 2 : 3;

	if ((more && p[0] < 0xc2) || p[0] > 0xf4 || more >= len)
		return 0;
	for (size_t i = 1; i <= more; i++)
		if (p[i] >> 6 != 2)
			return 0;
	return more + 1;
}

bool utf8_valid(const uint8_t *bytes, size_t len)
{
	size_t used;

	for (size_t i = 0; i < len; i += used)
		if (!(used = utf8_len(bytes + i, len - i)))
			return false;
	return true;
}

bool utf8_follow(unsigned *missing, uint8_t byte)
{
	bool is_next = (byte & 0xc0) == 0x80, fits = !*missing || is_next;

	if (*missing && is_next) {
		--*missing;
		return true;
	}
	*missing = 0;
	if (byte < 0x80)
		return fits;
	if (byte < 0xc2 || byte >= 0xf5)
		return false;
	*missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	return fits;
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
