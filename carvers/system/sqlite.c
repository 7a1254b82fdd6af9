/*
 * SQLite 3 databases (sqlite.org/fileformat2.html).
 *
 *	file:  pages of one size, 512 to 65,536 bytes; page 1 starts with the file's header, 100
 *	       bytes
 *	pages: of b-trees (sqlite_page.c); overflow: next page, payload; free: trunks with a next
 *	       trunk and the numbers of leaves, and leaves; pointer maps; the one with byte 2^30,
 *	       unused
 *
 * The header tells the number of pages, if the program that wrote last knew that field: then the
 * change counter equals a copy beside it. If not, the number is the highest page that another one
 * refers to: every page but the first is named once, by the schema (roots of trees), a parent, a
 * cell or a page that overflows, or a trunk.
 *
 * First the free list and the schema's tree are walked (sqlite_names.c), then all pages in order:
 * b-trees' books are checked, pointer maps' entries, next pages, and that no page is named twice.
 * At the end none may be left that nothing named: a wiped page looks like a payload's last one.
 * Free leaves hold what they did before; behind the last page in use they are looked at, too, since
 * they are where a cut would not show; as is the unused part of the last page.
 *
 * Damage ends the sound part in front of the page that it is in. What payloads and unused parts of
 * pages contain is not checked: there are no checksums.
 */
#include "sqlite_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "slack.h"
#include "walk.h"

static bool is_map(const struct sqlite *db, uint32_t page)
{
	uint32_t map;

	if (!db->map_step || page < 2)
		return false;
	map = (page - 2) / db->map_step * db->map_step + 2;
	/* The map gives way to the lock byte. */
	return page == (sqlite_is_lock_page(db, map) ? map + 1 : map);
}

/* The fields of the header: what is impossible, or NULL. */
static const char *read_header(struct sqlite *db)
{
	const uint8_t *p = view_peek(db->view, 0, SQLITE_HEADER_LEN);
	static const uint8_t zeros[20];
	uint64_t pages;

	if (!p || memcmp(p, "SQLite format 3", 16) != 0)
		return "no SQLite header";
	db->page_len = sqlite_page_len(be16(p + 16));
	if (!db->page_len || db->page_len - p[20] < 480)
		return "an impossible page size";
	if (p[18] < 1 || p[18] > 3 || p[19] < 1 || p[19] > 3 || p[21] != 64 || p[22] != 32 ||
		p[23] != 32)
		return "impossible versions or fractions";
	if (be32(p + 44) > 4 || be32(p + 56) > 3 || memcmp(p + 72, zeros, 20) != 0)
		return "an impossible schema format or encoding";
	db->usable_len = db->page_len - p[20];
	if (be32(p + 28) && be32(p + 24) == be32(p + 92))
		db->told = be32(p + 28);
	if (be32(p + 52))
		db->map_step = db->usable_len / 5 + 1;
	pages = view_size(db->view) / db->page_len;
	db->held = pages < UINT32_MAX - 1 ? (uint32_t)pages : UINT32_MAX - 1;
	/* Of a file that is cut, pages behind the view are named, too. */
	db->most = db->told                 ? db->told
		   : pages > UINT32_MAX / 8 ? UINT32_MAX - 1
					    : 4 * db->held + 4096;
	if (db->told && db->told < db->held)
		db->held = db->told;
	db->end = db->told ? db->told : 1;
	return NULL;
}

/* A pointer map: a type and a parent for each of the pages behind it. */
static const char *check_map(const struct sqlite *db, const uint8_t *p, uint32_t page)
{
	for (uint32_t i = 0; i < db->usable_len / 5; i++) {
		uint8_t type = p[5 * i];
		uint32_t parent = be32(p + 5 * i + 1), of = page + 1 + i;

		if (of > db->most || (!db->told && type == 0))
			break;
		if (type == 0 && parent == 0)
			continue;
		if (type < 1 || type > 5 || (type <= 2) != (parent == 0) ||
			(parent > db->most && type > 2))
			return "an impossible entry in a pointer map";
	}
	return NULL;
}

/* What is wrong with a page that is neither free nor the lock byte's, or NULL. */
static const char *check_page(
	struct sqlite *db, uint32_t number, bool (*refer)(void *, uint32_t, bool))
{
	struct sqlite_page page = { .bytes = sqlite_peek(db, number),
		.page_len = db->page_len,
		.usable_len = db->usable_len,
		.header = number == 1 ? SQLITE_HEADER_LEN : 0,
		.refer = refer,
		.context = db };
	uint32_t next;
	bool tree;

	if (is_map(db, number))
		return check_map(db, page.bytes, number);
	tree = sqlite_is_btree(&page);
	if (sqlite_has(db, db->named, number) && refer == sqlite_name) {
		if (tree != sqlite_has(db, db->tree, number))
			return "another kind than what names it";
	} else if (tree) {
		sqlite_mark(db, db->tree, number);
	}
	if (tree)
		return sqlite_check_btree(&page);
	next = be32(page.bytes);
	if (number == 1 || next > db->most || (next && !refer(db, next, false)))
		return "no page of a tree, and no overflow";
	return NULL;
}

/* How far the file is sound before this page. */
static enum verdict cut_at(struct sqlite *db, uint32_t page, const char *problem)
{
	uint64_t at = (uint64_t)(page - 1) * db->page_len;

	if (page == 1)
		return verdict_because(CARVE_REJECT, db->finding, "page 1 has %s", problem);
	db->finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, db->finding, "page %u at %" PRIu64 " has %s", page, at, problem);
}

/* A page whose contents don't matter. */
static bool is_idle(const struct sqlite *db, uint32_t page)
{
	return sqlite_is_lock_page(db, page) || sqlite_has(db, db->unused, page);
}

/* All pages in order; true when they are sound. */
static bool check_pages(struct sqlite *db, enum verdict *verdict)
{
	for (uint32_t page = 1; page <= db->end; page++) {
		uint64_t end = (uint64_t)page * db->page_len;
		const char *problem;

		db->visiting = page;
		if (!sqlite_peek(db, page)) {
			uint64_t sound = view_ends_with_image(db->view) && end > view_size(db->view)
						 ? view_size(db->view)
						 : end - db->page_len;

			*verdict = page == 1 ? verdict_because(CARVE_REJECT, db->finding,
						       "page 1 is cut off")
					     : walk_cut(db->view, db->finding, end, sound);
			return false;
		}
		problem = is_idle(db, page) ? NULL : check_page(db, page, sqlite_name);
		if (problem) {
			*verdict = cut_at(db, page, problem);
			return false;
		}
	}
	return true;
}

/* Free pages that end the file: the first one that does not look like a page that was in use, or
 * 0. */
static uint32_t foreign_tail(struct sqlite *db)
{
	uint32_t page = db->end, found = 0;

	for (; page > 1 && is_idle(db, page); page--)
		if (!sqlite_is_lock_page(db, page) && sqlite_peek(db, page) &&
			check_page(db, page, sqlite_ignore))
			found = page;
	return found;
}

/* Whether the last page ends in random bytes: of a table that is empty, or nearly, nothing else
 * tells that its page was overwritten. */
static bool ends_in_noise(const struct sqlite *db)
{
	uint64_t at = (uint64_t)(db->end - 1) * db->page_len, gap, content;
	const uint8_t *p = is_idle(db, db->end) ? NULL : sqlite_peek(db, db->end);

	if (!p || db->end == 1 || is_map(db, db->end) || p[0] == 0)
		return false;
	gap = (p[0] < 10 ? 12 : 8) + 2u * be16(p + 3);
	content = be16(p + 5) ? be16(p + 5) : 65536;
	return slack_noise(db->view, at + gap, at + content) < at + content;
}

/* The first page that nothing named, 0 when there is none; *to_end: none behind it was either. */
static uint32_t first_unnamed(const struct sqlite *db, bool *to_end)
{
	uint32_t found = 0;

	for (uint32_t page = 2; page <= db->end; page++) {
		bool named = sqlite_has(db, db->named, page) || is_idle(db, page);

		if (is_map(db, page))
			continue;
		if (!named && !found) {
			found = page;
			*to_end = true;
		}
		if (named && found)
			*to_end = false;
	}
	return found;
}

/* Whether page 1 stands in a write-ahead log (a frame of 24 bytes and a page follow), or a rollback
 * journal (4 bytes, a number, a page): then it is a copy, and the log is carved. */
static bool is_logged(const struct sqlite *db)
{
	const uint8_t *p = view_peek(db->view, db->page_len, 36);
	const uint8_t *page[2] = { p ? p + 24 : NULL, p ? p + 8 : NULL };
	uint32_t number[2] = { p ? be32(p) : 0, p ? be32(p + 4) : 0 };

	for (int i = 0; p && i < 2; i++) {
		bool tree =
			page[i][0] == 2 || page[i][0] == 5 || page[i][0] == 10 || page[i][0] == 13;

		if (number[i] && number[i] <= db->most && (tree || be32(page[i]) <= db->most))
			return true;
	}
	return false;
}

static enum verdict judge(struct sqlite *db)
{
	enum verdict verdict;
	uint32_t page;
	bool to_end = false;

	sqlite_read_free_list(db);
	sqlite_read_schema(db);
	if (!check_pages(db, &verdict)) {
		if (verdict == CARVE_TRUNCATED && db->finding->length == db->page_len &&
			is_logged(db)) {
			db->finding->length = 0;
			return verdict_because(
				CARVE_REJECT, db->finding, "a copy of page 1, in a log");
		}
		return verdict;
	}
	page = foreign_tail(db);
	if (page)
		return cut_at(db, page, "nothing of a database, though it is free");
	page = first_unnamed(db, &to_end);
	if (page && to_end)
		return cut_at(db, page, "no place in the database, nor has any behind it");
	db->finding->length = (uint64_t)db->end * db->page_len;
	if (page)
		return verdict_because(CARVE_UNVERIFIED, db->finding,
			"page %u has no place in the database", page);
	if (ends_in_noise(db))
		return verdict_because(
			CARVE_UNVERIFIED, db->finding, "the last page's unused part is noise");
	if (db->problem)
		return verdict_because(CARVE_UNVERIFIED, db->finding, "%s", db->problem);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct sqlite db = { .view = view, .finding = finding };
	const char *problem = read_header(&db);
	enum verdict verdict;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	db.named = calloc(db.held / 8 + 1, 1);
	db.unused = calloc(db.held / 8 + 1, 1);
	db.tree = calloc(db.held / 8 + 1, 1);
	verdict = db.named && db.unused && db.tree
			  ? judge(&db)
			  : verdict_because(CARVE_REJECT, finding, "no memory for its pages");
	free(db.named);
	free(db.unused);
	free(db.tree);
	return verdict;
}

const struct carver sqlite_carver = {
	.name = "sqlite",
	.summary = "SQLite databases, by their pages, trees and free list",
	.check = check,
};
