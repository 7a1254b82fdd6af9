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
 * to this start if the property list begins and ends where it says, and if the data fork has the
 * CRC-32 that it gives. If it gives none, the runs are checked that the property list's tables name
 * ('mish', in base64): those of zlib have a checksum of their own, and nothing verifies others. What
 * is between the property list and the trailer has to be the signature or the resource fork.
 *
 * Damage. Without the trailer only the first run is valid.
 */
#include <inttypes.h>
#include <string.h>

#include "base64.h"
#include "bytes.h"
#include "cursor.h"
#include "inflated.h"
#include "walk.h"

#define RUN_BITS 32 /* of a CRC-32, and of Adler-32 with the length; see view_proved */

enum {
	TRAILER_LEN = 512,
	HEAD_LEN = 2048,
	CHECKSUM_CRC32 = 2,
	SIGNATURE_MAX_LEN = 1 << 20,
	RUN_MAX_LEN = 16 << 20,
	TABLE_HEAD_LEN = 204,
	TABLE_ROW_LEN = 40,
};

/* The kinds of runs. */
#define RUN_ZEROS 0u
#define RUN_IGNORED 2u
#define RUN_COMMENT 0x7ffffffeu
#define RUN_ZLIB 0x80000005u
#define RUN_END 0xffffffffu

/* Reads the tables in the property list, and checks the runs. */
struct dmg_tables {
	struct cursor cursor;                       /* in the property list */
	uint64_t list_end, data_at, data_len, base; /* base: of the table's offsets in the data */
	struct base64_bits bits;
	unsigned run_count;     /* that their checksums verify */
	const char *unverified; /* why a run is not verified, or NULL, */
	uint64_t unverified_at; /* and where it is */
};

struct dmg_head {
	uint8_t bytes[HEAD_LEN];
	size_t len;
	uint64_t total;
};

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

static bool collect_head(void *context, const uint8_t *bytes, size_t len)
{
	struct dmg_head *head = context;
	size_t room = HEAD_LEN - head->len;

	head->total += len;
	memcpy(head->bytes + head->len, bytes, len < room ? len : room);
	head->len += len < room ? len : room;
	return head->total <= RUN_MAX_LEN && (head->len < HEAD_LEN || is_disk(head));
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

/* Whether a trailer is at `at`. */
static bool is_trailer(struct view *view, uint64_t at)
{
	static const uint8_t zeros[12];
	const uint8_t *p = view_peek(view, at, TRAILER_LEN);

	/* It ends with the type of a checksum, the type of the image, the count of sectors, and zeros. */
	return p && memcmp(p, "koly\0\0\0\4\0\0\2\0", 12) == 0 && be32(p + 352) < 8 &&
	       be32(p + 488) < 8 && be64(p + 492) && memcmp(p + 500, zeros, sizeof(zeros)) == 0;
}

/* Decodes base64 up to a byte that is not, at most len bytes: how many. */
static size_t decode(struct dmg_tables *tables, uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len && tables->cursor.at < tables->list_end) {
		int byte = cursor_peek(&tables->cursor), digit;

		if (byte < 0)
			break;
		digit = base64_digit((uint8_t)byte);
		if (digit < 0 && byte != '\n' && byte != '\r' && byte != '\t' && byte != ' ')
			break;
		tables->cursor.at++;
		if (digit >= 0 && base64_add(&tables->bits, digit, &bytes[done]))
			done++;
	}
	return done;
}

/* Checks the run of a table's row. False: it is invalid. */
static bool check_run(struct dmg_tables *tables, const uint8_t *row)
{
	struct inflated inflated = { .inspect = NULL };
	struct view *view = tables->cursor.view;
	uint32_t kind = be32(row);
	uint64_t sectors = be64(row + 16), at = be64(row + 24), len = be64(row + 32), end;

	if (kind == RUN_ZEROS || kind == RUN_IGNORED || kind == RUN_COMMENT || kind == RUN_END)
		return true;
	if (tables->base > tables->data_len || at > tables->data_len - tables->base ||
		len > tables->data_len - tables->base - at)
		return false;
	at += tables->data_at + tables->base;
	end = at + len;
	if (kind != RUN_ZLIB) {
		view_unverified(view, at, end);
		tables->unverified = "nothing verifies the run";
		tables->unverified_at = at;
		return true;
	}
	if (sectors > RUN_MAX_LEN / SECTOR ||
		inflated_walk(&inflated, view, INFLATED_ZLIB, &at, end) != INFLATED_DONE ||
		at != end || inflated.output_len != sectors * SECTOR)
		return false;
	view_proved(view, end - len, end, RUN_BITS);
	tables->run_count++;
	cursor_forget(&tables->cursor);
	return true;
}

/* Checks the runs of the table at the cursor, if one is there. False: one is invalid, or the table is cut. */
static bool check_table(struct dmg_tables *tables)
{
	uint8_t head[TABLE_HEAD_LEN], row[TABLE_ROW_LEN];

	tables->bits.count = 0;
	if (decode(tables, head, 4) < 4 || memcmp(head, "mish", 4) != 0)
		return true;
	if (decode(tables, head + 4, sizeof(head) - 4) < sizeof(head) - 4)
		return false;
	tables->base = be64(head + 24);
	for (uint32_t left = be32(head + 200); left; left--)
		if (decode(tables, row, sizeof(row)) < sizeof(row) || !check_run(tables, row))
			return false;
	return true;
}

/* Checks the runs of all tables in the property list. False: one is invalid. */
static bool check_runs(struct dmg_tables *tables)
{
	while (cursor_find(&tables->cursor, tables->list_end, "<data>")) {
		tables->cursor.at += 6;
		if (!check_table(tables))
			return false;
	}
	if (!tables->run_count && !tables->unverified) {
		tables->unverified = "no table names the runs of the data";
		tables->unverified_at = tables->data_at;
	}
	return true;
}

/* Whether [start, end) has no zeros, as text has none. */
static bool lacks_zeros(struct view *view, uint64_t start, uint64_t end)
{
	return !walk_find(view, &start, end, 0) && start == end;
}

/* Whether the property list ends before `end`, but for blanks. */
static bool list_ends(struct view *view, uint64_t start, uint64_t end)
{
	size_t len = end - start < 64 ? (size_t)(end - start) : 64;
	const uint8_t *p = view_peek(view, end - len, len);

	while (p && len && (p[len - 1] <= ' '))
		len--;
	return p && len >= 8 && memcmp(p + len - 8, "</plist>", 8) == 0 &&
	       lacks_zeros(view, start, end - start > 64 ? end - 64 : start);
}

/* Whether the part of the file that `field` of the trailer at p gives is [from, to). */
static bool is_part(const uint8_t *field, uint64_t from, uint64_t to)
{
	return be64(field) == from && be64(field + 8) == to - from;
}

/* Why the trailer at `at` does not fit this file, or NULL. *tables: what it leaves unverified. */
static const char *check_trailer(struct view *view, uint64_t at, struct dmg_tables *tables)
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
	if (list_at + list_len < at && !is_part(p + 296, list_at + list_len, at) &&
		!is_part(p + 40, list_at + list_len, at)) {
		tables->unverified = "nothing announces the bytes";
		tables->unverified_at = list_at + list_len;
	}
	view_unverified(view, list_at + list_len, at);
	p = view_peek(view, list_at, 5);
	if (!p || memcmp(p, "<?xml", 5) != 0)
		return "gives a wrong offset of the property list";
	if (!list_ends(view, list_at, list_at + list_len))
		return "gives a wrong length of the property list";
	if (kind != CHECKSUM_CRC32) {
		tables->cursor = (struct cursor){ .view = view, .at = list_at };
		tables->list_end = list_at + list_len;
		tables->data_at = data_at;
		tables->data_len = data_len;
		return check_runs(tables) ? NULL : "has a table with an invalid run";
	}
	if (!walk_crc32(view, data_at, data_len, &crc) || crc != want)
		return "gives another CRC of the data";
	view_proved(view, data_at, data_at + data_len, RUN_BITS);
	return NULL;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dmg_head head = { .len = 0 };
	struct dmg_tables tables = { .unverified = NULL };
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
	problem = check_trailer(view, at, &tables);
	finding->length = problem ? run_end : at + TRAILER_LEN;
	if (problem)
		return verdict_because(
			CARVE_TRUNCATED, finding, "the trailer at %" PRIu64 " %s", at, problem);
	if (tables.unverified)
		return verdict_because(CARVE_UNVERIFIED, finding, "%s at %" PRIu64,
			tables.unverified, tables.unverified_at);
	return CARVE_COMPLETE;
}

const struct carver dmg_carver = {
	.name = "dmg",
	.summary = "Apple's disk images compressed with zlib, by their trailer",
	.check = check,
};
