/*
 * Entries of Chromium's simple cache (net/disk_cache/simple/simple_entry_format.h): what Chrome, Android's browsers and
 * programs built on them keep of pages and pictures, a file for each.
 *
 *	header: FCFB6D1BA7725C30 (8, little-endian), version, key's length, key's hash (4 each), 4 bytes
 *	file:   header, key (mostly with the address), the content as it was sent, end, its HTTP header and times, perhaps a SHA-256 of the key,
 *	        end; or header, key, another stream, end
 *	end:    F4FA6F45970D41D8 (8), flags (1: with a CRC, 2: with a SHA-256), CRC-32 of the stream, its length (4 each), 4 bytes
 *
 * Ends are searched for: one is right if its CRC matches the bytes before it. With both ends an entry is complete; with one, a
 * file of another stream and one that is cut look alike. The content counts as unverified, though its CRC agreed: what is in
 * it is worth a file of its own. The title is the key.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 24
#define END_LEN 24
#define END_MAGIC "\xd8\x41\x0d\x97\x45\x6f\xfa\xf4"
#define HEAD_MAGIC "\x30\x5c\x72\xa7\x1b\x6d\xfb\xfc"
#define MAGIC_LEN 8
#define KEY_MAX_LEN 16384
#define SEARCH_MAX (16u << 20)
#define HTTP_MAX (1u << 20)
#define SHA256_LEN 32

enum { WITH_CRC = 1, WITH_SHA256 = 2 };

/* The next magic of an end in [at, limit), or `limit`. Another entry's header ends the search, too. */
static uint64_t find_end(struct view *view, uint64_t at, uint64_t limit)
{
	const uint8_t *window, *found, *other;
	size_t len;

	while ((window = walk_window(view, at, limit, &len)) && len >= MAGIC_LEN) {
		found = memmem(window, len, END_MAGIC, MAGIC_LEN);
		other = memmem(window, len, HEAD_MAGIC, MAGIC_LEN);
		if (other && (!found || other < found))
			return limit;
		if (found)
			return at + (uint64_t)(found - window);
		at += len - (MAGIC_LEN - 1);
	}
	return limit;
}

/* Where the magic is of the end of the stream at `at`, whose CRC or length matches; 0: there is none before limit. *flags:
 * that end's. */
static uint64_t stream_end(
	struct view *view, uint64_t at, uint64_t limit, bool last, uint32_t *flags)
{
	uint64_t end = at, len;
	uint32_t crc = 0, before_hash;
	const uint8_t *p;

	while ((end = find_end(view, end, limit)) < limit) {
		p = view_peek(view, end, END_LEN);
		if (!p)
			return 0;
		*flags = le32(p + 8);
		len = le32(p + 16);
		before_hash = last && *flags & WITH_SHA256 ? SHA256_LEN : 0;
		if (*flags <= (WITH_CRC | WITH_SHA256) && len + before_hash == end - at) {
			uint32_t stored = le32(p + 12);

			if (!walk_crc32(view, at, len, &crc))
				return 0;
			if (!(*flags & WITH_CRC) || crc == stored)
				return end;
			return 0; /* the length is right, and only once */
		}
		end++;
	}
	return 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint32_t key_len = p ? le32(p + 12) : 0, flags, more_flags;
	uint64_t size = view_size(view), content = HEAD_LEN + (uint64_t)key_len, limit, end, last;

	if (!p || memcmp(p, HEAD_MAGIC, MAGIC_LEN) != 0 || !le32(p + 8) || le32(p + 8) > 32 ||
		!key_len || key_len > KEY_MAX_LEN)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	p = view_peek(view, HEAD_LEN, key_len);
	if (!p)
		return walk_cut(view, finding, content, size);
	for (uint32_t i = 0; i < key_len; i++)
		if (p[i] < ' ' || p[i] > '~')
			return verdict_because(CARVE_REJECT, finding, "no key at %" PRIu64,
				(uint64_t)HEAD_LEN + i);
	finding_set_title(finding, p, key_len);
	limit = size - content < SEARCH_MAX ? size : content + SEARCH_MAX;
	end = stream_end(view, content, limit, false, &flags);
	if (!end) {
		finding->length = content;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no end of the content that begins at %" PRIu64, content);
	}
	view_unverified(view, content, end);
	finding->length = end + END_LEN;
	limit = size - finding->length < HTTP_MAX ? size : finding->length + HTTP_MAX;
	last = stream_end(view, finding->length, limit, true, &more_flags);
	if (!last)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no second stream ends after %" PRIu64
			", which another kind of entry lacks",
			finding->length);
	if (more_flags & WITH_SHA256)
		view_unverified(view, last - SHA256_LEN, last);
	finding->length = last + END_LEN;
	return flags & more_flags & WITH_CRC
		       ? CARVE_COMPLETE
		       : verdict_because(CARVE_UNVERIFIED, finding, "a stream without a checksum");
}

const struct carver simplecache_carver = {
	.name = "simplecache",
	.summary = "entries of Chromium's simple cache, by their streams' checksums",
	.check = check,
};
