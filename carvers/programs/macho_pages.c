/*
 * A code directory (xnu's cs_blobs.h) has the hashes of all pages before the signature, mostly of 4,096 bytes, with SHA-1 or,
 * since 2016, SHA-256: each shows which bytes are there. A signature may have several directories, with one kind of hash each.
 * Of 63 directories (tests/bench/RESULTS.md) all hashes were right.
 */
#include "macho_pages.h"

#include <string.h>

#include "bytes.h"
#include "macho_signature.h"
#include "sha1.h"
#include "sha256.h"

#define DIRECTORY_LEN 44
#define PAGE_SHIFT_MIN 9
#define PAGE_SHIFT_MAX 16 /* a page is peeked at as a whole */
#define HASH_BITS \
	64 /* of a joint: that of other bytes is the same by chance only, but something counts */
#define HASH_WORK 2 /* bytes, to hash which takes a unit */

enum { SHA1 = 1, SHA256 = 2, SHA256_CUT = 3 };

/* Reads the directory at `at`. False: it is none, or of other hashes. */
static bool read_directory(
	struct view *view, uint64_t at, uint64_t len, uint64_t limit, struct macho_pages *pages)
{
	const uint8_t *p = len >= DIRECTORY_LEN ? view_peek(view, at, DIRECTORY_LEN) : NULL;
	uint32_t own_len = p ? be32(p + 4) : 0, hashes = p ? be32(p + 16) : 0;
	uint8_t kind = p ? p[37] : 0, digest_len = p ? p[36] : 0, shift = p ? p[39] : 0;
	struct macho_pages read = { .limit = limit };

	if (!p || be32(p) != MACHO_CODE_DIRECTORY || own_len > len || be32(p + 32) != limit ||
		(kind == SHA256 ? digest_len != SHA256_LEN : digest_len != SHA1_LEN) ||
		(kind != SHA1 && kind != SHA256 && kind != SHA256_CUT) || shift < PAGE_SHIFT_MIN ||
		shift > PAGE_SHIFT_MAX)
		return false;
	read.page_len = 1u << shift;
	read.count = be32(p + 28);
	read.digest_len = digest_len;
	read.is_sha1 = kind == SHA1;
	read.hashes = at + hashes;
	if (!read.count || read.count != (limit + read.page_len - 1) / read.page_len ||
		hashes > own_len || (uint64_t)read.count * digest_len > own_len - hashes)
		return false;
	*pages = read;
	return true;
}

bool macho_pages_read(
	struct view *view, uint64_t at, uint64_t len, uint64_t limit, struct macho_pages *pages)
{
	const uint8_t *p = len >= 12 ? view_peek(view, at, 12) : NULL;
	uint32_t count = p && be32(p) == MACHO_SIGNATURE ? be32(p + 8) : 0;
	bool found = false;

	for (uint32_t i = 0; i < count && i < MACHO_BLOBS_MAX; i++) {
		struct macho_pages read;
		uint32_t offset;

		p = view_peek(view, at + 12 + 8 * (uint64_t)i, 8);
		offset = p ? be32(p + 4) : 0;
		if (!p || offset >= len ||
			!read_directory(view, at + offset, len - offset, limit, &read) ||
			(found && read.is_sha1))
			continue;
		*pages = read;
		found = true;
	}
	return found;
}

void macho_pages_digest(const struct macho_pages *pages, const uint8_t *bytes, size_t len,
	uint8_t digest[MACHO_DIGEST_LEN])
{
	if (pages->is_sha1)
		sha1_of_bytes(bytes, len, digest);
	else
		sha256_of_bytes(bytes, len, digest);
}

bool macho_pages_fit(struct view *view, const struct macho_pages *pages, uint64_t *wrong_at)
{
	for (uint32_t i = 0; i < pages->count; i++) {
		uint64_t at = (uint64_t)i * pages->page_len, left = pages->limit - at;
		uint32_t len = left < pages->page_len ? (uint32_t)left : pages->page_len;
		uint8_t digest[MACHO_DIGEST_LEN];
		const uint8_t *p = view_peek(view, pages->base + at, len);

		*wrong_at = pages->base + at;
		if (!p || !view_work(view, len / HASH_WORK))
			return false;
		macho_pages_digest(pages, p, len, digest);
		p = view_peek(
			view, pages->hashes + (uint64_t)i * pages->digest_len, pages->digest_len);
		if (!p || memcmp(p, digest, pages->digest_len) != 0)
			return false;
	}
	/* Nothing here is known of the signature's bytes after the hashes. */
	view_proved(view, pages->base, pages->hashes + (uint64_t)pages->count * pages->digest_len,
		HASH_BITS);
	return true;
}
