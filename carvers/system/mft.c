/*
 * Records of NTFS's file table ($MFT): what is left of the table of a volume that no longer has one.
 *
 *	record: 'FILE', where its fixups are and how many (2, 2), ..., the bytes used of it and allocated (4, 4 at 24),
 *	        ..., its number (4 at 44), attributes
 *	fixups: a number, and for each sector the two bytes that this number replaces at its end
 *
 * Integers are little-endian. Records follow one another by their numbers; the fixups show that each one's sectors belong
 * together. The number of records is not stored here. Small files are in their records: they are carved, too.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"

#define SECTOR 512
#define HEAD_LEN 48
#define LEN_MAX 4096

/* The length of the record at `at` with this number, or with any if at is 0; 0 when there is none. */
static uint32_t record_len(struct view *view, uint64_t at, uint32_t *number)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN);
	uint32_t fixups = p ? le16(p + 4) : 0, count = p ? le16(p + 6) : 0;
	uint32_t len = p ? le32(p + 28) : 0, used = p ? le32(p + 24) : 0;

	if (!p || memcmp(p, "FILE", 4) != 0 || (len != 1024 && len != LEN_MAX) || used > len ||
		used < HEAD_LEN || count != len / SECTOR + 1 || fixups < 42 ||
		fixups > SECTOR - 2 * count || (at && le32(p + 44) != *number))
		return 0;
	*number = le32(p + 44);
	p = view_peek(view, at, len);
	for (uint32_t i = 1; p && i < count; i++)
		if (le16(p + i * SECTOR - 2) != le16(p + fixups))
			return 0;
	return p ? len : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint32_t number = 0, first, len = record_len(view, 0, &number), next;
	uint64_t at = len;

	if (!len)
		return verdict_because(CARVE_REJECT, finding, "no record with fixups at 0");
	first = number++;
	for (; (next = record_len(view, at, &number)) == len; at += len, number++)
		view_part(view, at);
	view_unverified(view, 0, at);
	finding->length = at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"records %" PRIu32 " to %" PRIu32 ", and more may be elsewhere", first, number - 1);
}

const struct carver mft_carver = {
	.name = "mft",
	.summary = "records of NTFS's file table, by their numbers and fixups",
	.check = check,
};
