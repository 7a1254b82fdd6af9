/*
 * Records of NTFS's file table ($MFT): what remains of the table of a volume that no longer has one.
 *
 *	record: 'FILE', where its fixups are and how many (2, 2), ..., the bytes used of it and allocated (4, 4 at 24),
 *	        ..., its number (4 at 44), attributes
 *	fixups: a number, and for each sector the two bytes that this number replaces at its end
 *
 * Integers are little-endian. Records follow one another by their numbers; the fixups show that each one's sectors belong
 * together. The first record is the table's own: its data's first run shows how many bytes the records take; those that were
 * never used are zeros. Else their number is not stored here. Small files are in their records: they are carved, too.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 48
#define LEN_MAX 4096
#define DATA 0x80        /* type of an attribute */
#define ATTRIBUTE_LEN 64 /* of one that is not in the record, without its runs */
#define CLUSTER_MAX (2u << 20)
#define IN_USE 1 /* a record's flag */

/* Whether the record is not in use and has no number: some programs write that one later. */
static bool is_unnumbered(const uint8_t *record)
{
	return !le32(record + 44) && !(le16(record + 22) & IN_USE);
}

/* The length of the record at `at` with this number, or with any if at is 0; 0 when there is none. */
static uint32_t record_len(struct view *view, uint64_t at, uint32_t *number)
{
	const uint8_t *p = view_peek(view, at, HEAD_LEN);
	uint32_t fixups = p ? le16(p + 4) : 0, count = p ? le16(p + 6) : 0;
	uint32_t len = p ? le32(p + 28) : 0, used = p ? le32(p + 24) : 0;

	if (!p || memcmp(p, "FILE", 4) != 0 || (len != 1024 && len != LEN_MAX) || used > len ||
		used < HEAD_LEN || count != len / SECTOR + 1 || fixups < 42 ||
		fixups > SECTOR - 2 * count || (at && le32(p + 44) != *number && !is_unnumbered(p)))
		return 0;
	if (!at)
		*number = le32(p + 44);
	p = view_peek(view, at, len);
	for (uint32_t i = 1; p && i < count; i++)
		if (le16(p + i * SECTOR - 2) != le16(p + fixups))
			return 0;
	return p ? len : 0;
}

/* The bytes of the table's first run, from its own record, which starts the view; 0 if it does not say. */
static uint64_t first_run_len(struct view *view)
{
	const uint8_t *p = view_peek(view, 0, SECTOR), *runs;
	uint32_t at = p ? le16(p + 20) : SECTOR, len;
	uint64_t clusters, cluster_len, run = 0;

	for (;; at += len) {
		len = at + ATTRIBUTE_LEN < SECTOR ? le32(p + at + 4) : 0;
		if (len < 24 || len % 8 || len > SECTOR - 2 - at)
			return 0;
		if (le32(p + at) == DATA)
			break;
	}
	runs = p + at + le16(p + at + 32);
	clusters = le64(p + at + 24) + 1;
	cluster_len = clusters ? le64(p + at + 40) / clusters : 0;
	if (!p[at + 8] || le64(p + at + 16) || le16(p + at + 32) + 5u > len ||
		cluster_len < SECTOR || cluster_len > CLUSTER_MAX ||
		cluster_len & (cluster_len - 1) || cluster_len * clusters != le64(p + at + 40) ||
		!(*runs & 15) || (*runs & 15) > 4)
		return 0;
	for (unsigned i = *runs & 15; i; i--)
		run = run << 8 | runs[i];
	run *= cluster_len;
	return run < le64(p + at + 48) ? run : le64(p + at + 48);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint32_t number = 0, first, len = record_len(view, 0, &number), last;
	uint64_t at = len, told, end = len;

	if (!len)
		return verdict_because(CARVE_REJECT, finding, "no record with fixups at 0");
	first = last = number++;
	told = first ? 0 : first_run_len(view);
	if (told > view_size(view))
		told = view_size(view);
	/* Records that were never used are zeros. */
	for (;; at += len, number++) {
		if (record_len(view, at, &number) == len) {
			view_part(view, at);
			end = at + len;
			last = number;
		} else if (at + len > told || !walk_zeros(view, at, at + len)) {
			break;
		}
	}
	if (at == told)
		end = at;
	view_unverified(view, 0, end);
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"records %" PRIu32 " to %" PRIu32 ", and more may be elsewhere", first, last);
}

const struct carver mft_carver = {
	.name = "mft",
	.summary = "records of NTFS's file table, by their numbers and fixups",
	.check = check,
};
