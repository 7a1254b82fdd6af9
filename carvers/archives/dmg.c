/*
 * Apple's disk images (UDIF; its trailer is described in libyal's libmodi, "Apple Universal Disk
 * Image format").
 *
 *	file:    data fork (runs, mostly compressed), property list, [signature], trailer
 *	trailer: 'koly', 4, 512, flags, offsets and lengths of the data fork and the property list,
 *		checksums; 512 bytes, all big-endian
 *
 * Everything that describes the parts is at the end; a file starts with whatever run was compressed
 * first. A run compressed with zlib can be recognised: it decompresses to whole sectors of a
 * partition map, a boot record, or a volume's head. From there the trailer is searched. It belongs
 * to this start if the property list is at the offset that it gives, and if the data fork has the
 * CRC-32 that it gives, if any.
 *
 * Damage. Without the trailer only the first run is valid.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "walk.h"

#define CRC_BITS 32 /* see view_proved */

enum {
	SECTOR = 512,
	TRAILER_LEN = 512,
	HEAD_LEN = 2048,
	CHECKSUM_CRC32 = 2,
	SIGNATURE_MAX_LEN = 1 << 20,
	RUN_MAX_LEN = 16 << 20,
};

struct dmg_head {
	uint8_t bytes[HEAD_LEN];
	size_t len;
	uint64_t total;
};

static bool collect_head(void *context, const uint8_t *bytes, size_t len)
{
	struct dmg_head *head = context;
	size_t room = HEAD_LEN - head->len;

	head->total += len;
	memcpy(head->bytes + head->len, bytes, len < room ? len : room);
	head->len += len < room ? len : room;
	return head->total <= RUN_MAX_LEN;
}

/* Decompresses the first run: where it ends, or becomes invalid (then *whole is false). */
static uint64_t inflate_run(struct view *view, struct dmg_head *head, bool *whole)
{
	struct inflated inflated = { .inspect = collect_head, .context = head };
	uint64_t at = 0;

	*whole = inflated_walk(&inflated, view, INFLATED_ZLIB, &at, view_size(view)) ==
		 INFLATED_DONE;
	return at;
}

/* Whether this is how a disk, a partition map or a volume starts. */
static bool is_disk(const struct dmg_head *head)
{
	static const struct {
		size_t at, len;
		const char *bytes;
	} marks[] = {
		{ 0, 2, "ER" },
		{ 510, 2, "\x55\xaa" },
		{ 0, 8, "EFI PART" },
		{ 512, 8, "EFI PART" },
		{ 512, 2, "PM" },
		{ 32, 4, "NXSB" },
		{ 1024, 4, "H+\0\4" },
		{ 1024, 4, "HX\0\5" },
		{ 1024, 2, "BD" },
		/* The types of partitions with HFS+ and APFS. */
		{ 0, 16, "\0SFH\0\0\xaa\x11\xaa\x11\0\x30\x65\x43\xec\xac" },
		{ 0, 16, "\xef\x57\x34\x7c\0\0\xaa\x11\xaa\x11\0\x30\x65\x43\xec\xac" },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (marks[i].at + marks[i].len <= head->len &&
			memcmp(head->bytes + marks[i].at, marks[i].bytes, marks[i].len) == 0)
			return true;
	return false;
}

/* Whether a trailer is at `at`. */
static bool is_trailer(struct view *view, uint64_t at)
{
	static const uint8_t zeros[12];
	const uint8_t *p = view_peek(view, at, TRAILER_LEN);

	/* It ends with the type of a checksum, the type of the image, and zeros. */
	return p && memcmp(p, "koly\0\0\0\4\0\0\2\0", 12) == 0 && be32(p + 352) < 8 &&
	       be32(p + 488) < 8 && memcmp(p + 500, zeros, sizeof(zeros)) == 0;
}

/* Why the trailer at `at` does not fit this file, or NULL. */
static const char *check_trailer(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, TRAILER_LEN);
	uint64_t data_at, data_len, list_at, list_len;
	uint32_t kind, want, crc = 0;

	if (!p) /* searching for the trailer has spent the budget */
		return "cannot be read";
	data_at = be64(p + 24);
	data_len = be64(p + 32);
	list_at = be64(p + 216);
	list_len = be64(p + 224);
	kind = be32(p + 80);
	want = be32(p + 88);
	if (data_at > at || data_len > at - data_at || list_at > at || list_len > at - list_at ||
		at - list_at - list_len > SIGNATURE_MAX_LEN)
		return "belongs to another start";
	p = view_peek(view, list_at, 5);
	if (!p || memcmp(p, "<?xml", 5) != 0)
		return "gives a wrong offset of the property list";
	if (kind != CHECKSUM_CRC32)
		return NULL;
	if (!walk_crc32(view, data_at, data_len, &crc) || crc != want)
		return "gives another CRC of the data";
	view_proved(view, data_at, data_at + data_len, CRC_BITS);
	return NULL;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dmg_head head = { .len = 0 };
	bool whole;
	uint64_t run_end = inflate_run(view, &head, &whole), at = run_end, size = view_size(view);
	const char *problem;
	bool found;

	if ((whole ? head.total % SECTOR : head.len < HEAD_LEN) || !is_disk(&head))
		return verdict_because(CARVE_REJECT, finding,
			"the compressed data at 0 is not the start of a disk");
	if (!whole) {
		finding->length = walk_before_fill(view, 1, run_end);
		return verdict_because(
			CARVE_TRUNCATED, finding, "the first run is invalid at %" PRIu64, run_end);
	}
	while ((found = walk_find_word(view, &at, size, "koly")) && !is_trailer(view, at))
		at++;
	if (!found) {
		finding->length = run_end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no trailer before %" PRIu64, size);
	}
	problem = check_trailer(view, at);
	finding->length = problem ? run_end : at + TRAILER_LEN;
	if (problem)
		return verdict_because(
			CARVE_TRUNCATED, finding, "the trailer at %" PRIu64 " %s", at, problem);
	return CARVE_COMPLETE;
}

const struct carver dmg_carver = {
	.name = "dmg",
	.summary = "Apple's disk images compressed with zlib, by their trailer",
	.check = check,
};
