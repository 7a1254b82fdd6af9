/*
 * EBML: an element is an id, a length, and data. The first bits of both numbers give their length:
 * an id has 1 to 4 bytes, a length 1 to 8. A length that is all ones is unknown.
 */
#include "ebml.h"

#include "bytes.h"
#include "walk.h"

#define CRC_ID 0xbf

/* Bytes of a number that begins with this byte; 0: invalid. */
static size_t number_len(uint8_t first)
{
	size_t len = 1;

	while (len <= 8 && !(first & 0x80 >> (len - 1)))
		len++;
	return len <= 8 ? len : 0;
}

enum ebml_state ebml_read(
	struct view *view, uint64_t at, uint64_t limit, struct ebml_element *element)
{
	size_t have = limit - at < 12 ? (size_t)(limit - at) : 12, id_len, size_len;
	const uint8_t *p;
	uint64_t size, unknown;

	*element = (struct ebml_element){ .at = at, .data = at, .end = at };
	if (at >= limit)
		return EBML_END;
	if (view_size(view) - at < have)
		have = at < view_size(view) ? (size_t)(view_size(view) - at) : 0;
	p = have ? view_peek(view, at, have) : NULL;
	if (!p)
		return EBML_CUT;
	id_len = number_len(p[0]);
	if (id_len == 0 || id_len > 4)
		return EBML_NONE;
	if (have < id_len + 1)
		return EBML_CUT;
	for (size_t i = 0; i < id_len; i++)
		element->id = element->id << 8 | p[i];
	size_len = number_len(p[id_len]);
	if (!size_len)
		return EBML_NONE;
	if (have < id_len + size_len)
		return EBML_CUT;
	size = p[id_len] & (0xff >> size_len);
	for (size_t i = 1; i < size_len; i++)
		size = size << 8 | p[id_len + i];
	unknown = (UINT64_C(1) << (7 * size_len)) - 1;
	element->data = at + id_len + size_len;
	element->unknown_len = size == unknown;
	element->end = element->unknown_len ? limit : element->data + size;
	return element->end <= limit ? EBML_INTACT : EBML_CUT;
}

bool ebml_find(
	struct view *view, uint64_t at, uint64_t end, uint32_t id, struct ebml_element *found)
{
	for (; ebml_read(view, at, end, found) == EBML_INTACT; at = found->end)
		if (found->id == id)
			return true;
	found->id = 0;
	return false;
}

uint64_t ebml_number(struct view *view, const struct ebml_element *element)
{
	size_t len = element->end - element->data <= 8 ? (size_t)(element->end - element->data) : 0;
	const uint8_t *p = len ? view_peek(view, element->data, len) : NULL;
	uint64_t value = 0;

	for (size_t i = 0; p && i < len; i++)
		value = value << 8 | p[i];
	return value;
}

bool ebml_check_crc(struct view *view, const struct ebml_element *element, struct ebml_crc *crc)
{
	struct ebml_element first;
	const uint8_t *p;
	uint32_t value = 0;

	if (ebml_read(view, element->data, element->end, &first) != EBML_INTACT ||
		first.id != CRC_ID || first.end - first.data != 4)
		return false;
	p = view_peek(view, first.data, 4);
	if (!p)
		return false;
	*crc = (struct ebml_crc){ .at = first.data, .from = first.end, .value = le32(p) };
	if (!walk_crc32(view, crc->from, element->end - crc->from, &value))
		return false;
	crc->right = value == crc->value;
	return true;
}
