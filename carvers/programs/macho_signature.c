/*
 * Code signatures (xnu's cs_blobs.h): blobs of magic and length, big-endian, one after the other at
 * the offsets that an index gives, and zeros after the last.
 *
 * The code directory gives the end of the code, which is where the signature starts, and ends with
 * the hash of the code's last page. The signer's message (CMS, RFC 5652) is in BER: elements of
 * definite lengths, and indefinite ones that two zeros close. It is walked from element to element.
 * Neither that hash nor the message's last element, another hash encrypted, ends in zeros: one that
 * does was wiped.
 */
#include "macho_signature.h"

#include "bytes.h"
#include "walk.h"

#define MESSAGE 0xfade0b01
#define DEPTH_MAX 24
#define INDEFINITE UINT64_MAX
#define WIPED_LEN 8

static bool ends_wiped(struct view *view, uint64_t end)
{
	return walk_zeros(view, end - WIPED_LEN, end);
}

/* Reads the head of the element at *at, and moves *at past it. Returns the element's end, or
 * INDEFINITE; 0: there is none. */
static uint64_t read_head(struct view *view, uint64_t *at, uint64_t limit, uint8_t *tag)
{
	const uint8_t *p = limit - *at >= 2 ? view_peek(view, *at, 2) : NULL;
	uint64_t len = p ? p[1] : 0;
	size_t count = len & 0x7f;

	if (!p || (p[0] & 0x1f) == 0x1f)
		return 0;
	*tag = p[0];
	*at += 2;
	if (len == 0x80)
		return INDEFINITE;
	if (len > 0x80) {
		p = count <= 4 && limit - *at >= count ? view_peek(view, *at, count) : NULL;
		len = 0;
		for (size_t i = 0; p && i < count; i++)
			len = len << 8 | p[i];
		*at += count;
	}
	return p && len <= limit - *at ? *at + len : 0;
}

/* Whether elements fill [at, end). */
static bool valid_message(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t ends[DEPTH_MAX], last = 0;
	unsigned depth = 0;

	ends[0] = end;
	while (at < end) {
		uint64_t limit = end, element;
		uint8_t tag = 0;

		for (unsigned i = 0; i <= depth; i++)
			limit = ends[i] < limit ? ends[i] : limit;
		element = read_head(view, &at, limit, &tag);
		if (tag == 0 && element == at && ends[depth] == INDEFINITE) {
			depth--;
		} else if (tag & 0x20 && element) {
			if (++depth == DEPTH_MAX || (element != INDEFINITE && element == at))
				return false;
			ends[depth] = element;
		} else {
			if (tag == 0 || element == 0 || element == INDEFINITE)
				return false;
			last = element - at >= WIPED_LEN ? element : last;
			at = element;
		}
		while (depth && ends[depth] == at)
			depth--;
	}
	return depth == 0 && last && !ends_wiped(view, last);
}

static bool valid_blob(struct view *view, uint64_t at, uint64_t max_len, uint64_t code_len)
{
	const uint8_t *p = view_peek(view, at, 9);
	uint32_t magic = p ? be32(p) : 0, len = p ? be32(p + 4) : 0;

	if (magic >> 16 != 0xfade || len < 8 || len > max_len)
		return false;
	if (magic == MACHO_CODE_DIRECTORY) {
		p = len >= 44 ? view_peek(view, at, 44) : NULL;
		return p && be32(p + 32) == code_len && !ends_wiped(view, at + len);
	}
	return magic != MESSAGE || len == 8 || valid_message(view, at + 8, at + len);
}

bool macho_signature_valid(struct view *view, uint64_t at, uint64_t end, uint64_t code_len)
{
	const uint8_t *p = view_peek(view, at, 12);
	uint32_t len = p ? be32(p + 4) : 0, count = p ? be32(p + 8) : 0;
	uint64_t last = 12 + 8 * (uint64_t)count;

	if (!p || be32(p) != MACHO_SIGNATURE || len > end - at || count - 1 >= MACHO_BLOBS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t offset;

		p = view_peek(view, at + 12 + 8 * (uint64_t)i, 8);
		offset = p ? be32(p + 4) : 0;
		if (!p || offset < last || offset > len ||
			!valid_blob(view, at + offset, len - offset, code_len))
			return false;
		p = view_peek(view, at + offset, 8);
		last = offset + (uint64_t)(p ? be32(p + 4) : 0);
	}
	return last <= len && walk_zeros(view, at + len, end);
}
