/*
 * Telegram Desktop's files (tdata; storage/details/storage_file_utilities.cpp): keys, maps and settings.
 *
 *	header: 'TDF$', version (4, little-endian)
 *	item:   length (4, big-endian; FFFFFFFF: none), bytes, mostly encrypted
 *	then the MD5 of the items, their length, the version (4 each, little-endian) and 'TDF$'
 *
 * The number of items is not stored: after each one the MD5 is tried, which proves the file.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "md5.h"
#include "walk.h"

#define MAGIC "TDF$"
#define HEAD_LEN 8
#define ITEMS_MAX 64
#define ITEM_MAX_LEN (64u << 20)
#define NO_ITEM UINT32_MAX

/* Whether the MD5 at `at` is that of the items before it. */
static bool md5_matches(struct view *view, struct md5 md5, uint64_t at, const uint8_t version[4])
{
	uint8_t digest[MD5_LEN], len[4];
	const uint8_t *p;

	put_le(len, at - HEAD_LEN, 4);
	md5_add(&md5, len, sizeof(len));
	md5_add(&md5, version, 4);
	md5_add(&md5, (const uint8_t *)MAGIC, 4);
	md5_end(&md5, digest);
	p = view_peek(view, at, MD5_LEN);
	return p && memcmp(p, digest, MD5_LEN) == 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, next, size = view_size(view);
	uint8_t version[4];
	struct md5 md5;

	if (!p || memcmp(p, MAGIC, 4) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	memcpy(version, p + 4, sizeof(version));
	md5_start(&md5);
	for (int i = 0; i < ITEMS_MAX; i++, at = next) {
		uint32_t len;

		p = view_peek(view, at, 4);
		len = p ? be32(p) : ITEM_MAX_LEN + 1;
		if (len == NO_ITEM)
			len = 0;
		next = at + 4 + len;
		if (len > ITEM_MAX_LEN)
			break;
		if (next + MD5_LEN > size) {
			if (i && view_ends_with_image(view))
				return walk_cut(view, finding, next + MD5_LEN, size);
			break;
		}
		if (!md5_add_view(&md5, view, at, next))
			break;
		if (md5_matches(view, md5, next, version)) {
			finding->length = next + MD5_LEN;
			return CARVE_COMPLETE;
		}
	}
	return verdict_because(CARVE_REJECT, finding, "no items with their MD5 up to %" PRIu64, at);
}

const struct carver tdf_carver = {
	.name = "tdf",
	.summary = "Telegram Desktop's files, by their MD5",
	.check = check,
};
