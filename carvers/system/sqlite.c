/*
 * SQLite 3 databases (sqlite.org/fileformat2.html).
 *
 *	file:  pages of one size, 512 to 65,536 bytes; page 1 starts with the file's header, 100
 *	       bytes
 *	pages: of b-trees (sqlite_page.c); overflow: next page, payload; free: trunks with a next
 *	       trunk and the numbers of leaves, and leaves; pointer maps; the one with byte 2^30,
 *	       unused
 *
 * The header has the number of pages, if the last program to write knew that field: then the change
 * counter equals its copy. If not, the number is the highest page that another one refers to: every
 * page but the first is referred to once, by the schema (roots of trees), a parent, a cell or a
 * page that overflows, or a trunk.
 *
 * First the free list and the schema's tree are walked (sqlite_names.c), then all pages in order:
 * burin checks the accounts of b-trees, the order of rows (sqlite_rows.c), pointer maps' entries, next pages, and that nothing refers
 * to a page twice. At the end something must have referred to every page: a wiped page looks like a
 * payload's last one. Free leaves keep their old contents; those after the last page in use are
 * checked, too, since a cut would not show there; so is the unused part of the last page.
 *
 * A damaged file is valid up to the start of the damaged page. The contents of payloads and of
 * unused parts of pages are not checked: there are no checksums.
 */
#include "sqlite_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "slack.h"
#include "walk.h"

#define GROWN_PAGE_LEN 32768
#define GROWN_BY (512 << 10)

static bool is_map(const struct sqlite *db, uint32_t page)
{
	uint32_t map;

	if (!db->map_step || page < 2)
		return false;
	map = (page - 2) / db->map_step * db->map_step + 2;
	/* A map that would be on the lock byte's page is on the next one. */
	return page == (sqlite_is_lock_page(db, map) ? map + 1 : map);
}

/* Reads the fields of the header: what is impossible, or NULL. */
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
		db->stated = be32(p + 28);
	if (be32(p + 52))
		db->map_step = db->usable_len / 5 + 1;
	pages = view_size(db->view) / db->page_len;
	db->room = pages < UINT32_MAX - 1 ? (uint32_t)pages : UINT32_MAX - 1;
	/* A cut file also refers to pages past the view. */
	db->page_max = db->stated               ? db->stated
		       : pages > UINT32_MAX / 8 ? UINT32_MAX - 1
						: 4 * db->room + 4096;
	if (db->stated && db->stated < db->room)
		db->room = db->stated;
	db->end = db->stated ? db->stated : 1;
	return NULL;
}

/* A pointer map: a type and a parent for each of the pages after it. */
static const char *check_map(const struct sqlite *db, const uint8_t *p, uint32_t page)
{
	for (uint32_t i = 0; i < db->usable_len / 5; i++) {
		uint8_t type = p[5 * i];
		uint32_t parent = be32(p + 5 * i + 1), of = page + 1 + i;

		if (of > db->page_max || (!db->stated && type == 0))
			break;
		if (type == 0 && parent == 0)
			continue;
		if (type < 1 || type > 5 || (type <= 2) != (parent == 0) ||
			(parent > db->page_max && type > 2))
			return "an impossible entry in a pointer map";
	}
	return NULL;
}

/* A page of a tree has an unused part between its list of cells and the cells, which keeps what was there before. */
static void declare_unused(const struct sqlite *db, const struct sqlite_page *page, uint32_t number)
{
	const uint8_t *p = page->bytes + page->header;
	uint32_t from = page->header + (p[0] < 10 ? 12 : 8) + 2u * be16(p + 3);
	uint32_t to = be16(p + 5) ? be16(p + 5) : 65536;
	uint64_t at = (uint64_t)(number - 1) * db->page_len;

	for (uint32_t i = from; i < to && to <= page->usable_len; i++)
		if (page->bytes[i]) {
			view_unverified(db->view, at + from, at + to);
			return;
		}
}

/* What is wrong with a page that is neither free nor the lock byte's, of these bytes, or NULL. */
static const char *check_page(struct sqlite *db, uint32_t number, const uint8_t *bytes,
	bool (*refer)(void *, uint32_t, bool))
{
	struct sqlite_page page = { .bytes = bytes,
		.page_len = db->page_len,
		.usable_len = db->usable_len,
		.header = number == 1 ? SQLITE_HEADER_LEN : 0,
		.refer = refer,
		.context = db };
	struct sqlite_bounds bounds;
	const char *problem;
	uint32_t next;
	bool tree, counts = refer == sqlite_refer;

	if (is_map(db, number))
		return check_map(db, page.bytes, number);
	tree = sqlite_is_btree(&page);
	if (sqlite_has(db, db->referenced, number) && counts) {
		if (tree != sqlite_has(db, db->tree, number))
			return "a type that does not fit the reference to it";
	} else if (tree) {
		sqlite_mark(db, db->tree, number);
	}
	if (tree) {
		page.child = counts ? sqlite_rows_of_child : NULL;
		problem = sqlite_check_btree(&page, &bounds);
		if (!problem && counts)
			declare_unused(db, &page, number);
		return !problem && counts && !sqlite_rows_found(db, number, &bounds)
			       ? "other rows than its parent says"
			       : problem;
	}
	next = be32(page.bytes);
	if (number == 1 || next > db->page_max || (next && !refer(db, next, false)))
		return "neither a page of a tree nor an overflow";
	return NULL;
}

/* The verdict on a file that is valid up to this page. */
static enum verdict truncated_at(struct sqlite *db, uint32_t page, const char *problem)
{
	uint64_t at = (uint64_t)(page - 1) * db->page_len;

	if (page == 1)
		return verdict_because(CARVE_REJECT, db->finding, "page 1 has %s", problem);
	db->finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, db->finding, "page %u at %" PRIu64 " has %s", page, at, problem);
}

/* The same where a file in pieces is put together: a piece may end inside the page. */
static enum verdict truncated_in(
	struct sqlite *db, uint32_t number, const uint8_t *bytes, const char *problem)
{
	const struct sqlite_page page = { .bytes = bytes,
		.page_len = db->page_len,
		.usable_len = db->usable_len,
		.refer = sqlite_refer_nothing,
		.context = db };
	enum verdict verdict = truncated_at(db, number, problem);

	if (db->in_pieces && number > 1 && !is_map(db, number))
		db->finding->length += sqlite_valid_part(&page);
	return verdict;
}

/* Whether the page's contents do not matter. */
static bool is_idle(const struct sqlite *db, uint32_t page)
{
	return sqlite_is_lock_page(db, page) || sqlite_has(db, db->unused, page);
}

/* Checks all pages from this one on in order; true when they are valid. */
static bool check_pages(struct sqlite *db, uint32_t first, enum verdict *verdict)
{
	for (uint32_t page = first; page <= db->end; page++) {
		uint64_t end = (uint64_t)page * db->page_len;
		const char *problem;
		const uint8_t *bytes;

		if (page > first && view_wants_states(db->view))
			sqlite_save(db, page);
		db->visiting = page;
		bytes = sqlite_peek(db, page);
		if (!bytes) {
			uint64_t valid_end =
				view_ends_with_image(db->view) && end > view_size(db->view)
					? view_size(db->view)
					: end - db->page_len;

			*verdict = page == 1 ? verdict_because(CARVE_REJECT, db->finding,
						       "page 1 is cut off")
					     : walk_cut(db->view, db->finding, end, valid_end);
			return false;
		}
		problem = is_idle(db, page) ? NULL : check_page(db, page, bytes, sqlite_refer);
		if (is_idle(db, page))
			view_unverified(db->view, end - db->page_len, end);
		if (problem) {
			*verdict = truncated_in(db, page, bytes, problem);
			return false;
		}
	}
	return true;
}

/* Of the free pages at the file's end, the first one that does not look like a page that was in
 * use, or 0. */
static uint32_t foreign_tail(struct sqlite *db)
{
	uint32_t page = db->end, found = 0;

	for (; page > 1 && is_idle(db, page); page--) {
		const uint8_t *bytes = sqlite_is_lock_page(db, page) ? NULL : sqlite_peek(db, page);

		if (bytes && check_page(db, page, bytes, sqlite_refer_nothing))
			found = page;
	}
	return found;
}

/* Whether the last page has zeros alone, though it has the end of a value: they may be a wiped area. */
static bool ends_in_zeros(const struct sqlite *db)
{
	uint64_t end = (uint64_t)db->end * db->page_len;

	return !is_idle(db, db->end) && !is_map(db, db->end) &&
	       walk_zeros(db->view, end - db->page_len, end);
}

/* Whether the unused part of the last page ends in random bytes: nothing else shows that the page
 * of an empty or nearly empty table was overwritten. */
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

/* Whether the last page is empty, but for bytes in its unused part: no cell after these shows that they are the file's. */
static bool ends_in_remains(const struct sqlite *db)
{
	uint64_t at = (uint64_t)(db->end - 1) * db->page_len, end = at + db->page_len, start;
	const uint8_t *p = is_idle(db, db->end) ? NULL : sqlite_peek(db, db->end);

	if (p && db->end == 1)
		p += SQLITE_HEADER_LEN;
	if (!p || is_map(db, db->end) || (p[0] != 10 && p[0] != 13) || be16(p + 3) || be16(p + 1))
		return false;
	start = at + (db->end == 1 ? SQLITE_HEADER_LEN : 0) + 8;
	start = (start + SECTOR - 1) / SECTOR * SECTOR;
	return start < end && !walk_zeros(db->view, start, end - (db->page_len - db->usable_len));
}

/* The first page that nothing refers to, 0 when there is none; *to_end: nor to any after it. */
static uint32_t first_unreferenced(const struct sqlite *db, bool *to_end)
{
	uint32_t found = 0;

	for (uint32_t page = 2; page <= db->end; page++) {
		bool referenced = sqlite_has(db, db->referenced, page) || is_idle(db, page);

		if (is_map(db, page))
			continue;
		if (!referenced && !found) {
			found = page;
			*to_end = true;
		}
		if (referenced && found)
			*to_end = false;
	}
	return found;
}

/* Whether page 1 is in a write-ahead log (a frame of 24 bytes and a page follow), or a rollback
 * journal (4 bytes, a number, a page): then it is a copy, and the log is carved. */
static bool is_logged(const struct sqlite *db)
{
	const uint8_t *p = view_peek(db->view, db->page_len, 36);
	const uint8_t *page[2] = { p ? p + 24 : NULL, p ? p + 8 : NULL };
	uint32_t number[2] = { p ? be32(p) : 0, p ? be32(p + 4) : 0 };

	for (int i = 0; p && i < 2; i++) {
		bool tree =
			page[i][0] == 2 || page[i][0] == 5 || page[i][0] == 10 || page[i][0] == 13;

		if (number[i] && number[i] <= db->page_max &&
			(tree || be32(page[i]) <= db->page_max))
			return true;
	}
	return false;
}

/* Firefox's databases, whose pages have 32 KiB, grow in steps of 512 KiB, which zeros fill. */
static uint64_t grown_end(const struct sqlite *db, uint64_t end)
{
	uint64_t grown = (end + GROWN_BY - 1) / GROWN_BY * GROWN_BY;

	return db->page_len == GROWN_PAGE_LEN && walk_zeros(db->view, end, grown) ? grown : end;
}

static enum verdict judge_pages(struct sqlite *db, const struct carve_state *state)
{
	enum verdict verdict;
	uint32_t page, first = 1;
	bool to_end = false;

	sqlite_read_free_list(db);
	sqlite_read_schema(db);
	sqlite_name_known(db);
	if (state && !sqlite_go_on(db, state, &first))
		return CARVE_REJECT;
	if (!check_pages(db, first, &verdict)) {
		if (verdict == CARVE_TRUNCATED && db->finding->length == db->page_len &&
			is_logged(db)) {
			db->finding->length = 0;
			db->finding->title[0] = 0;
			return verdict_because(
				CARVE_REJECT, db->finding, "a copy of page 1, in a log");
		}
		return verdict;
	}
	page = foreign_tail(db);
	if (page)
		return truncated_at(db, page, "foreign bytes, though it is free");
	page = first_unreferenced(db, &to_end);
	if (page && to_end)
		return truncated_at(db, page, "no reference to it, nor has any page after it");
	db->finding->length = (uint64_t)db->end * db->page_len;
	if (page)
		return verdict_because(
			CARVE_UNVERIFIED, db->finding, "nothing refers to page %u", page);
	if (ends_in_zeros(db))
		return verdict_because(
			CARVE_UNVERIFIED, db->finding, "zeros in the last page, which is in use");
	if (ends_in_noise(db))
		return verdict_because(CARVE_UNVERIFIED, db->finding,
			"random bytes in the last page's unused part");
	if (ends_in_remains(db))
		return verdict_because(CARVE_UNVERIFIED, db->finding,
			"nothing verifies the bytes of the last page, which is empty");
	if (db->problem)
		return verdict_because(CARVE_UNVERIFIED, db->finding, "%s", db->problem);
	db->finding->length = grown_end(db, db->finding->length);
	return CARVE_COMPLETE;
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct sqlite db = {
		.view = view, .finding = finding, .in_pieces = state || walk_assembles(view)
	};
	const char *problem = read_header(&db);
	enum verdict verdict;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	if (!view_work(view, 3 * (uint64_t)(db.room / 8) / SQLITE_ZEROED_BYTES))
		return CARVE_REJECT;
	db.referenced = calloc(db.room / 8 + 1, 1);
	db.unused = calloc(db.room / 8 + 1, 1);
	db.tree = calloc(db.room / 8 + 1, 1);
	if (view_wants_states(view))
		db.walked = calloc(db.room / 8 + 1, 1);
	if (db.referenced && db.unused && db.tree && (db.walked || !view_wants_states(view)) &&
		sqlite_rows_begin(&db)) {
		verdict = judge_pages(&db, state);
		verdict =
			walk_past_unread(view, finding, verdict, (uint64_t)db.stated * db.page_len);
	} else {
		view_no_memory(view);
		verdict = verdict_because(CARVE_REJECT, finding, "no memory for its pages");
	}
	free(db.referenced);
	free(db.unused);
	free(db.tree);
	free(db.walked);
	sqlite_rows_end(&db);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

const struct carver sqlite_carver = {
	.name = "sqlite",
	.summary = "SQLite databases, by their pages, trees and free list",
	.check = check,
	.resume = resume,
	.pages = &sqlite_pages,
};
