/*
 * Write-ahead logs of SQLite (sqlite.org/fileformat2.html, 4).
 *
 *	file:  header of 32 bytes, frames
 *	frame: page number, size of the database in pages (0 except for commits), salts, checksum
 *		(24 bytes); a page
 *
 * Each checksum continues from the previous one, over the frame's first 8 bytes and its page. When
 * everything was copied into the database, the log is written again from its start with other salts
 * (the first is one higher), and older frames remain after the new ones; they, too, confirm each
 * other. A log may end after any frame, so its end is never verified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "sqlite.h"
#include "walk.h"

#define HEADER_LEN 32
#define FRAME_LEN 24
#define RESETS_MAX 4096 /* by how much an older frame's first salt may be less */

struct wal {
	struct view *view;
	uint32_t page_len, first_salt;
	uint32_t sums[2]; /* up to the frame read last */
	uint8_t salts[8]; /* of the current frames */
	bool big_endian;  /* the byte order of summed words */
};

static void add_up(struct wal *wal, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i + 8 <= len; i += 8) {
		wal->sums[0] += (wal->big_endian ? be32(p + i) : le32(p + i)) + wal->sums[1];
		wal->sums[1] +=
			(wal->big_endian ? be32(p + i + 4) : le32(p + i + 4)) + wal->sums[0];
	}
}

static const char *read_header(struct wal *wal)
{
	const uint8_t *p = view_peek(wal->view, 0, HEADER_LEN);

	if (!p || (be32(p) & ~1u) != 0x377f0682 || be32(p + 4) != 3007000)
		return "no log header";
	wal->big_endian = p[3] & 1;
	wal->page_len = be32(p + 8) > 1 ? sqlite_page_len(be32(p + 8)) : 0;
	if (!wal->page_len)
		return "an impossible page size";
	add_up(wal, p, 24);
	if (be32(p + 24) != wal->sums[0] || be32(p + 28) != wal->sums[1])
		return "the header's checksum is wrong";
	memcpy(wal->salts, p + 16, 8);
	wal->first_salt = be32(p + 16);
	return NULL;
}

enum wal_frame { FRAME_VALID, FRAME_END, FRAME_BAD };

/* Reads the frame at `at`. FRAME_END: there is none; FRAME_BAD: it is invalid. */
static enum wal_frame read_frame(struct wal *wal, uint64_t at)
{
	const uint8_t *p = view_peek(wal->view, at, FRAME_LEN);
	uint32_t stored[2];
	bool same;

	if (!p || be32(p) == 0)
		return FRAME_END;
	same = memcmp(p + 8, wal->salts, 8) == 0;
	if (!same && (wal->first_salt - be32(p + 8) - 1 >= RESETS_MAX || p[0]))
		return FRAME_END;
	memcpy(wal->salts, p + 8, 8);
	stored[0] = be32(p + 16);
	stored[1] = be32(p + 20);
	add_up(wal, p, 8);
	p = view_peek(wal->view, at + FRAME_LEN, wal->page_len);
	if (!p)
		return FRAME_BAD;
	add_up(wal, p, wal->page_len);
	/* The first of older frames continues from one that was overwritten. */
	if (same && (stored[0] != wal->sums[0] || stored[1] != wal->sums[1]))
		return FRAME_BAD;
	memcpy(wal->sums, stored, sizeof(stored));
	return FRAME_VALID;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct wal wal = { .view = view };
	const char *problem = read_header(&wal);
	uint64_t at = HEADER_LEN, end;
	enum wal_frame frame;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	while ((frame = read_frame(&wal, at)) == FRAME_VALID)
		at += FRAME_LEN + wal.page_len;
	finding->length = at;
	view_holds(view, HEADER_LEN, at);
	end = at + FRAME_LEN + wal.page_len;
	if (frame == FRAME_BAD && end > view_size(view))
		return walk_cut(
			view, finding, end, view_ends_with_image(view) ? view_size(view) : at);
	if (frame == FRAME_BAD)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the checksum of the frame at %" PRIu64 " is wrong", at);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"a log may end after any frame; those up to %" PRIu64 " are valid", at);
}

const struct carver sqlitewal_carver = {
	.name = "sqlitewal",
	.summary = "SQLite's write-ahead logs, by their salts and checksums",
	.check = check,
};
