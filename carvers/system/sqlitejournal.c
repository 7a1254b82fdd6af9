/*
 * Rollback journals of SQLite (sqlite.org/fileformat2.html, 3): the old contents of pages that a
 * transaction overwrites. A journal that remains on a disk was hot, or its program does not remove
 * journals.
 *
 *	file:    segments, [name of a super-journal]
 *	segment: header, padded to a sector; records of a page's number, its bytes, a checksum; the
 *	         next segment starts at a sector
 *	header:  D9 D5 05 F9 20 A1 63 D7, number of records, nonce, database's size in pages, sector
 *	         size, page size (each 4 bytes, big-endian)
 *
 * A record's checksum is the sum of the nonce and each 200th byte of the page from its end. Magic
 * and number are zeros before the records are synchronised, and the number is -1 when they never
 * are: then the walk goes as far as checksums match, and the end is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "sqlite.h"
#include "walk.h"

#define MAGIC "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
#define HEADER_LEN 28
#define SUPER_NAME_MAX 1024
#define LOCK_BYTE ((uint32_t)1 << 30)

struct sqlite_journal {
	struct view *view;
	uint64_t end; /* after the last valid record or header */
	uint64_t records;
	uint32_t count, nonce, pages, sector_len, page_len; /* of the segment */
	bool open;                                          /* its count is not known */
};

/* Reads a segment's header, later ones with the same sizes: false when there is none. */
static bool read_header(struct sqlite_journal *journal, uint64_t at, bool first)
{
	const uint8_t *p = view_peek(journal->view, at, HEADER_LEN);
	static const uint8_t unsynced[12];
	uint32_t sector_len, page_len;

	/* A journal's nonce is random; if even that is 0 there are only zeros. */
	if (!p || (memcmp(p, MAGIC, 8) != 0 && (memcmp(p, unsynced, 12) != 0 || be32(p + 12) == 0)))
		return false;
	sector_len = be32(p + 20);
	page_len = be32(p + 24);
	if (sector_len < 32 || sector_len > 65536 || (sector_len & (sector_len - 1)) ||
		page_len == 1 || sqlite_page_len(page_len) == 0)
		return false;
	if (!first && (sector_len != journal->sector_len || page_len != journal->page_len))
		return false;
	journal->count = be32(p + 8);
	journal->nonce = be32(p + 12);
	journal->pages = be32(p + 16);
	journal->sector_len = sector_len;
	journal->page_len = page_len;
	journal->open = journal->count == 0 || journal->count == UINT32_MAX;
	return true;
}

/* Whether the record at `at` has its checksum; *cut: it is not all readable. */
static bool check_record(const struct sqlite_journal *journal, uint64_t at, bool *cut)
{
	uint32_t page_len = journal->page_len, sum = journal->nonce, page;
	const uint8_t *p = view_peek(journal->view, at, 4);

	*cut = !p;
	if (!p)
		return false;
	page = be32(p);
	if (page == 0 || page > journal->pages)
		return false;
	p = view_peek(journal->view, at + 4, page_len);
	if (p)
		for (uint32_t i = page_len - 200; i > 0 && i < page_len; i -= 200)
			sum += p[i];
	p = p ? view_peek(journal->view, at + 4 + page_len, 4) : NULL;
	*cut = !p;
	return p && be32(p) == sum;
}

/* Adds the name of a super-journal after the records, with its length, sum and the magic again. */
static void add_super_name(struct sqlite_journal *journal)
{
	uint64_t left = view_size(journal->view) - journal->end;
	size_t len = left < SUPER_NAME_MAX + 20 ? (size_t)left : SUPER_NAME_MAX + 20;
	const uint8_t *p = len > 20 ? view_peek(journal->view, journal->end, len) : NULL;
	uint32_t sum = 0;

	if (!p || be32(p) != LOCK_BYTE / journal->page_len + 1)
		return;
	for (size_t i = 4; i + 16 <= len; i++) {
		if (memcmp(p + i + 8, MAGIC, 8) == 0 && be32(p + i) == i - 4 &&
			be32(p + i + 4) == sum) {
			journal->end += i + 16;
			return;
		}
		sum += (uint32_t)(int32_t)(int8_t)p[i];
	}
}

/* Walks one segment's records; false when one is invalid or cut, with *verdict set. */
static bool walk_segment(
	struct sqlite_journal *journal, struct finding *finding, enum verdict *verdict)
{
	uint64_t len = journal->page_len + 8;
	bool cut = false;

	for (uint32_t i = 0; journal->open || i < journal->count; i++) {
		if (!check_record(journal, journal->end, &cut)) {
			if (journal->open)
				break;
			if (cut)
				*verdict = walk_cut(journal->view, finding, journal->end + len,
					view_ends_with_image(journal->view)
						? view_size(journal->view)
						: journal->end);
			else
				*verdict = verdict_because(CARVE_TRUNCATED, finding,
					"the checksum of the record at %" PRIu64 " is wrong",
					journal->end);
			return false;
		}
		journal->end += len;
		journal->records++;
	}
	return true;
}

/* A segment starts like a journal, but is not one of its own. */
static bool next_segment(struct sqlite_journal *journal, uint64_t at)
{
	if (!read_header(journal, at, false))
		return false;
	view_part(journal->view, at);
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct sqlite_journal journal = { .view = view };
	enum verdict verdict = CARVE_COMPLETE;
	uint64_t next = 0;

	if (!read_header(&journal, 0, true))
		return verdict_because(CARVE_REJECT, finding, "no journal header");
	do {
		journal.end = next + journal.sector_len;
		if (journal.end > view_size(view)) {
			verdict = walk_cut(view, finding, journal.end, view_size(view));
			break;
		}
		if (!walk_segment(&journal, finding, &verdict))
			break;
		next = (journal.end + journal.sector_len - 1) / journal.sector_len *
		       journal.sector_len;
	} while (!journal.open && next_segment(&journal, next));
	if (journal.records == 0) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no valid record");
	}
	if (verdict == CARVE_TRUNCATED) {
		if (finding->length == 0)
			finding->length = journal.end;
		return verdict;
	}
	add_super_name(&journal);
	finding->length = journal.end;
	view_holds(view, journal.sector_len, journal.end);
	if (journal.open)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the number of records is not stored; %" PRIu64 " are valid",
			journal.records);
	return CARVE_COMPLETE;
}

const struct carver sqlitejournal_carver = {
	.name = "sqlitejournal",
	.summary = "SQLite's rollback journals, by their records and checksums",
	.check = check,
};
