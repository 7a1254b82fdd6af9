/*
 * GnuPG's keybox (kbx/keybox-blob.c of GnuPG describes the format).
 *
 *	file: blobs; the first is the header, with 'KBXf' at 8
 *	blob: length with these 4 bytes (4, big-endian), type (0: deleted, 1: header, 2: OpenPGP, 3: X.509),
 *	      version 1 or 2, ..., SHA-1 of all before it
 *	keys: offset and length of the key or certificate in the blob, at 8 and 12
 *
 * Old versions stored 4 zeros and the MD5 of all before it instead of the SHA-1. The number of blobs is not stored: the file ends where none follows, and is unverified.
 * The keys in it are not files of their own.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "md5.h"
#include "sha1.h"
#include "walk.h"

#define BLOB_MAX (UINT32_C(5) << 20) /* GnuPG refuses longer ones */
#define BLOB_MIN 40                  /* of keys */
#define HEADER_LEN 32

enum blob_type { BLOB_DELETED, BLOB_HEADER, BLOB_OPENPGP, BLOB_X509 };

/* The length of the blob at `at`, or 0. *type is its type. */
static uint32_t blob_len(struct view *view, uint64_t at, enum blob_type *type)
{
	const uint8_t *p = view_peek(view, at, 16);
	uint32_t len = p ? be32(p) : 0;

	if (!p || p[4] > BLOB_X509 || (p[4] == BLOB_HEADER) != (at == 0) || len > BLOB_MAX)
		return 0;
	*type = (enum blob_type)p[4];
	if (*type == BLOB_HEADER)
		return len == HEADER_LEN && memcmp(p + 8, "KBXf", 4) == 0 ? len : 0;
	if (p[5] > 2 || !p[5] || len < BLOB_MIN)
		return 0;
	return *type == BLOB_DELETED || (be32(p + 8) < len && be32(p + 12) <= len - be32(p + 8))
		       ? len
		       : 0;
}

/* 4 zeros, and the MD5 of the blob with them. */
static bool old_sum(struct view *view, uint64_t start, uint64_t end, uint8_t sum[SHA1_LEN])
{
	struct md5 md5;

	memset(sum, 0, SHA1_LEN);
	md5_start(&md5);
	if (!md5_add_view(&md5, view, start, end + SHA1_LEN - MD5_LEN))
		return false;
	md5_end(&md5, sum + SHA1_LEN - MD5_LEN);
	return true;
}

static bool sum_matches(struct view *view, uint64_t at, uint32_t len)
{
	uint64_t end = at + len - SHA1_LEN;
	const uint8_t *p = view_peek(view, end, SHA1_LEN);
	uint8_t stored[SHA1_LEN], sum[SHA1_LEN];

	if (!p)
		return false;
	memcpy(stored, p, SHA1_LEN);
	if (memcmp(stored, "\0\0\0\0", 4) == 0 ? !old_sum(view, at, end, sum)
					       : !sha1_of_view(view, at, end, sum))
		return false;
	if (memcmp(stored, sum, SHA1_LEN) != 0)
		return false;
	view_proved(view, at, at + len, 8 * MD5_LEN);
	return true;
}

static void name_key(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at + 8, 4);

	if (p)
		view_embedded(view, at + be32(p));
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view);
	enum blob_type type;
	uint32_t len;

	for (; (len = blob_len(view, at, &type)); at += len) {
		if (at + len > size)
			return walk_cut(
				view, finding, at + len, view_ends_with_image(view) ? size : at);
		finding->length = at;
		if (type == BLOB_OPENPGP || type == BLOB_X509) {
			if (!sum_matches(view, at, len))
				return verdict_because(CARVE_TRUNCATED, finding,
					"wrong checksum of the blob at %" PRIu64, at);
			name_key(view, at);
			view_holds(view, at, at + len);
		}
	}
	if (!at)
		return verdict_because(CARVE_REJECT, finding, "no header blob at 0");
	return walk_uncounted(view, finding, at, at, 0, "blob");
}

const struct carver kbx_carver = {
	.name = "kbx",
	.summary = "GnuPG's keyboxes, by their blobs and checksums",
	.check = check,
};
