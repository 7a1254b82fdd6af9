/*
 * Snappy's format (format_description.txt): the length of what it decompresses to, then pieces. The lowest two bits of a
 * piece's first byte are its kind: 0: a run of bytes follows, from 60 on the count, less 1, has 1 to 4 bytes of its own;
 * 1: 4 to 11 bytes from up to 2,047 before; 2, 3: 1 to 64 bytes from a distance of 2 or 4 bytes.
 */
#include "leveldb_block.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "crc32c.h"

#define MASK 0xa282ead8
#define NUMBER_MAX 9 /* bytes */

enum block_kind { STORED, SNAPPY };

uint32_t leveldb_mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + MASK;
}

bool leveldb_number(const uint8_t **p, const uint8_t *stop, uint64_t *number)
{
	size_t left = (size_t)(stop - *p);
	size_t len = leb128(*p, left < NUMBER_MAX ? left : NUMBER_MAX, number);

	*p += len;
	return len;
}

bool leveldb_handle_read(const uint8_t **p, const uint8_t *stop, struct leveldb_handle *handle)
{
	return leveldb_number(p, stop, &handle->at) && leveldb_number(p, stop, &handle->len);
}

bool leveldb_block_is_valid(struct view *view, const struct leveldb_handle *block)
{
	uint64_t at = block->at, end = at + block->len + 1;
	const uint8_t *p;
	uint32_t crc = 0;

	while (at < end) {
		size_t len = end - at < VIEW_MAX_PEEK ? (size_t)(end - at) : VIEW_MAX_PEEK;

		p = view_peek(view, at, len);
		if (!p || !view_work(view, len))
			return false;
		crc = crc32c(crc, p, len);
		at += len;
	}
	p = view_peek(view, end, 4);
	return p && le32(p) == leveldb_mask(crc);
}

/* The length of a piece that copies, and its distance. 0: it is cut. */
static size_t read_copy(const uint8_t **p, const uint8_t *stop, size_t *distance)
{
	uint8_t tag = *(*p)++;
	size_t width = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;

	if ((size_t)(stop - *p) < width)
		return 0;
	*distance = width == 1 ? (size_t)(tag >> 5) << 8 | **p : width == 2 ? le16(*p) : le32(*p);
	*p += width;
	return width == 1 ? (tag >> 2 & 7u) + 4 : (tag >> 2) + 1u;
}

/* The length of a piece whose bytes follow. 0: it is cut. */
static size_t read_literal(const uint8_t **p, const uint8_t *stop)
{
	size_t len = *(*p)++ >> 2, width = len < 60 ? 0 : len - 59;

	if ((size_t)(stop - *p) < width)
		return 0;
	for (size_t i = 0; i < width; i++)
		len = (i ? len : 0) | (size_t)(*p)[i] << (8 * i);
	*p += width;
	return len + 1 <= (size_t)(stop - *p) ? len + 1 : 0;
}

/* Decompresses [p, stop) into out, which has room for len bytes. */
static bool decompress(const uint8_t *p, const uint8_t *stop, uint8_t *out, size_t len)
{
	size_t at = 0;

	while (p < stop) {
		size_t distance = 0, count;

		if ((*p & 3) == 0) {
			count = read_literal(&p, stop);
			if (!count || count > len - at)
				return false;
			memcpy(out + at, p, count);
			p += count;
			at += count;
			continue;
		}
		count = read_copy(&p, stop, &distance);
		if (!count || !distance || distance > at || count > len - at)
			return false;
		for (; count; count--, at++)
			out[at] = out[at - distance];
	}
	return at == len;
}

static uint8_t *unpack(
	struct view *view, const uint8_t *packed, size_t packed_len, size_t max, size_t *len)
{
	const uint8_t *p = packed, *stop = packed + packed_len;
	uint64_t number;
	uint8_t *out;

	if (!leveldb_number(&p, stop, &number) || !number || number > max ||
		!view_work(view, number))
		return NULL;
	*len = (size_t)number;
	out = malloc(*len);
	if (!out)
		view_no_memory(view);
	if (out && decompress(p, stop, out, *len))
		return out;
	free(out);
	return NULL;
}

uint8_t *leveldb_block_read(
	struct view *view, const struct leveldb_handle *block, size_t max, size_t *len)
{
	uint8_t *stored, *out = NULL;
	const uint8_t *p = view_peek(view, block->at + block->len, 1);
	uint8_t kind = p ? *p : UINT8_MAX;

	if (kind > SNAPPY || !block->len || block->len > max)
		return NULL;
	*len = (size_t)block->len;
	stored = malloc(*len);
	if (!stored) {
		view_no_memory(view);
		return NULL;
	}
	for (size_t at = 0, count; at < *len; at += count) {
		count = *len - at < VIEW_MAX_PEEK ? *len - at : VIEW_MAX_PEEK;
		p = view_peek(view, block->at + at, count);
		if (!p) {
			free(stored);
			return NULL;
		}
		memcpy(stored + at, p, count);
	}
	if (kind == STORED)
		return stored;
	out = unpack(view, stored, *len, max, len);
	free(stored);
	return out;
}
