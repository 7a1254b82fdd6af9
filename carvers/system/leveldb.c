/*
 * LevelDB's logs, which Chrome and programs built on it keep their local storage, IndexedDB and sessions in (LevelDB's
 * doc/log_format.md), and its manifests, which are logs, too.
 *
 *	file:   blocks of 32 KiB
 *	block:  records; fewer than 7 bytes at its end are zeros
 *	record: CRC-32C of kind and data (4, masked), length (2), kind (1: whole; 2, 3, 4: first, middle, last part), data
 *	data:   of a log: sequence (8), number of changes (4), changes; of a manifest: numbered fields
 *
 * Integers are little-endian. CRCs verify all; the number of records is not stored.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "crc32c.h"
#include "leveldb_block.h"
#include "walk.h"

#define BLOCK_LEN 32768
#define HEAD_LEN 7

enum kind { WHOLE = 1, FIRST, MIDDLE, LAST };

/* Whether a record is at `at`: its length, and its kind. */
static uint32_t record_len(struct view *view, uint64_t at, uint8_t *kind)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN);
	uint32_t len = p ? le16(p + 4) : 0;

	if (!p || !p[6] || p[6] > LAST || at % BLOCK_LEN + HEAD_LEN + len > BLOCK_LEN)
		return 0;
	p = view_peek(view, at, HEAD_LEN + len);
	if (!p || !view_work(view, len) || leveldb_mask(crc32c(0, p + 6, 1 + len)) != le32(p))
		return 0;
	*kind = p[6];
	return HEAD_LEN + len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, whole_end = 0, size = view_size(view);
	uint32_t len;
	uint8_t kind = LAST;
	bool open = false;

	for (;; at += len) {
		uint64_t rest = BLOCK_LEN - at % BLOCK_LEN;

		if (rest < HEAD_LEN && walk_zeros(view, at, at + rest))
			at += rest;
		len = record_len(view, at, &kind);
		if (!len || open != (kind == MIDDLE || kind == LAST))
			break;
		if (at)
			view_part(view, at);
		open = kind == FIRST || kind == MIDDLE;
		if (!open)
			whole_end = at + len;
	}
	if (!at)
		return verdict_because(CARVE_REJECT, finding, "no record with a valid CRC at 0");
	finding->length = open ? at : whole_end;
	if (open)
		return at < size ? verdict_because(CARVE_TRUNCATED, finding,
					   "no next part of a record at %" PRIu64, at)
				 : walk_cut(view, finding, size + 1, at);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no record at %" PRIu64 ", and the number of records is not stored", at);
}

const struct carver leveldb_carver = {
	.name = "leveldb",
	.summary = "logs and manifests of LevelDB, by their records' CRCs",
	.check = check,
};
