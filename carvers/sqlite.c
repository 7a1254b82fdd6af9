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
 * First the free list and the schema's tree are walked, then all pages in order: b-trees' books are
 * checked, pointer maps' entries, next pages, and that no page is named twice. At the end none may
 * be left that nothing named: a wiped page looks like a payload's last one. Free leaves hold what
 * they did before; behind the last page in use they are looked at, too, since they are where a cut
 * would not show; as is the unused part of the last page.
 *
 * Damage ends the sound part in front of the page that it is in. What payloads and unused parts of
 * pages contain is not checked: there are no checksums.
 */
#include "sqlite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "slack.h"
#include "walk.h"

#define HEADER_LEN 100
#define LOCK_BYTE ((uint64_t)1 << 30)
#define SCHEMA_STACK 1024

struct sqlite {
	struct view *view;
	struct finding *finding;
	uint32_t page_len, usable_len;
	uint32_t told;     /* number of pages by the header, 0 when it is not known */
	uint32_t most;     /* the highest page number that there can be */
	uint32_t held;     /* pages that the view and the bits below have room for */
	uint32_t end;      /* told, or the highest page that was named so far */
	uint32_t map_step; /* a pointer map each so many pages from page 2; 0: none */
	uint32_t visiting; /* the page that is being checked */
	/* A bit a page: something names it; it belongs to the free list; it is one of a tree's (if
	 * it was visited), or is named as such. */
	uint8_t *named, *unused, *tree;
	uint32_t stack[SCHEMA_STACK], stack_count; /* pages of the schema to visit */
	const char *problem;
};

static bool bit(const struct sqlite *db, const uint8_t *bits, uint32_t page)
{
	return page <= db->held && bits[page >> 3] >> (page & 7) & 1;
}

/* A page behind the view is not remembered: the walk will end before it. */
static void set_bit(const struct sqlite *db, uint8_t *bits, uint32_t page)
{
	if (page <= db->held)
		bits[page >> 3] |= (uint8_t)(1 << (page & 7));
}

static bool is_lock_page(const struct sqlite *db, uint32_t page)
{
	return page == LOCK_BYTE / db->page_len + 1;
}

static bool is_map(const struct sqlite *db, uint32_t page)
{
	uint32_t map;

	if (!db->map_step || page < 2)
		return false;
	map = (page - 2) / db->map_step * db->map_step + 2;
	/* The map gives way to the lock byte. */
	return page == (is_lock_page(db, map) ? map + 1 : map);
}

/* Something names this page: false when it can't, or something else did. */
static bool name_page(void *context, uint32_t page, bool tree)
{
	struct sqlite *db = context;

	if (page < 2 || page > db->most || is_lock_page(db, page) || bit(db, db->named, page))
		return false;
	/* One that was visited already has to be what it is named as. */
	if (page < db->visiting && bit(db, db->tree, page) != tree)
		return false;
	set_bit(db, db->named, page);
	if (tree)
		set_bit(db, db->tree, page);
	if (page > db->end)
		db->end = page;
	return true;
}

static const uint8_t *peek_page(const struct sqlite *db, uint32_t page)
{
	return view_peek(db->view, (uint64_t)(page - 1) * db->page_len, db->page_len);
}

/* The fields of the header: what is impossible, or NULL. */
static const char *read_header(struct sqlite *db)
{
	const uint8_t *p = view_peek(db->view, 0, HEADER_LEN);
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

/* One trunk: false when it is none, or behind the view. */
static bool read_trunk(
	struct sqlite *db, uint32_t trunk, uint32_t left, uint32_t *next, uint32_t *count)
{
	const uint8_t *p = peek_page(db, trunk);

	if (!p)
		return false;
	*next = be32(p);
	*count = be32(p + 4);
	if (*count > db->usable_len / 4 - 2 || *count >= left)
		return false;
	for (uint32_t i = 0; i < *count; i++) {
		uint32_t leaf = be32(p + 8 + 4 * i);

		if (!name_page(db, leaf, false))
			return false;
		set_bit(db, db->unused, leaf);
	}
	return true;
}

/* Walks the free list. The header tells how long it is. */
static void read_free_list(struct sqlite *db)
{
	const uint8_t *p = view_peek(db->view, 32, 8);
	uint32_t trunk = p ? be32(p) : 0, left = p ? be32(p + 4) : 0, count;

	while (trunk && left) {
		if (!name_page(db, trunk, false))
			break;
		set_bit(db, db->unused, trunk);
		if (!read_trunk(db, trunk, left, &trunk, &count))
			break;
		left -= count + 1;
	}
	if (trunk || left)
		db->problem = "the list of free pages is broken";
}

/* Children of the schema's pages; what else they refer to is of no interest here. */
static bool push_child(void *context, uint32_t page, bool tree)
{
	struct sqlite *db = context;

	if (page < 2 || page > db->most || !tree)
		return false;
	if (db->stack_count < SCHEMA_STACK)
		db->stack[db->stack_count++] = page;
	return true;
}

static bool ignore(void *context, uint32_t page, bool tree)
{
	(void)tree;
	(void)context;
	(void)page;
	return true;
}

/* The length of a column with this serial type. */
static uint64_t column_len(uint64_t type)
{
	static const uint8_t lens[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

	return type < 12 ? lens[type] : (type - 12) / 2;
}

/* A row of the schema: type, name, table, root page, SQL. Names the root. */
static void read_schema_row(void *context, const uint8_t *payload, uint32_t len)
{
	struct sqlite *db = context;
	uint64_t header, type = 0, at, root = 0;
	uint32_t step = sqlite_varint(payload, len, &header), in = step;

	if (!step || header > len)
		return;
	at = header;
	for (int column = 0; column < 4; column++) {
		at += column ? column_len(type) : 0;
		step = sqlite_varint(payload + in, (uint32_t)header - in, &type);
		if (!step || type > INT32_MAX)
			return;
		in += step;
	}
	if (type > 6 || at + column_len(type) > len)
		return;
	for (uint64_t i = 0; i < column_len(type); i++)
		root = root << 8 | payload[at + i];
	if (root > db->most)
		db->problem = "the schema has a root behind the end";
	else if (root > 1 && !bit(db, db->named, (uint32_t)root))
		name_page(db, (uint32_t)root, true);
}

/* Visits the pages of the schema. What is broken there is found later, in its turn. */
static void read_schema(struct sqlite *db)
{
	uint32_t visited = 0;

	db->stack[db->stack_count++] = 1;
	while (db->stack_count && visited++ < 4 * SCHEMA_STACK) {
		uint32_t number = db->stack[--db->stack_count];
		struct sqlite_page page = { .bytes = peek_page(db, number),
			.page_len = db->page_len,
			.usable_len = db->usable_len,
			.header = number == 1 ? HEADER_LEN : 0,
			.refer = ignore,
			.row = read_schema_row,
			.context = db };

		if (!page.bytes || !sqlite_is_btree(&page))
			continue;
		if (page.bytes[page.header] == 5)
			page.refer = push_child;
		sqlite_check_btree(&page);
	}
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
	struct sqlite_page page = { .bytes = peek_page(db, number),
		.page_len = db->page_len,
		.usable_len = db->usable_len,
		.header = number == 1 ? HEADER_LEN : 0,
		.refer = refer,
		.context = db };
	uint32_t next;
	bool tree;

	if (is_map(db, number))
		return check_map(db, page.bytes, number);
	tree = sqlite_is_btree(&page);
	if (bit(db, db->named, number) && refer == name_page) {
		if (tree != bit(db, db->tree, number))
			return "another kind than what names it";
	} else if (tree) {
		set_bit(db, db->tree, number);
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
	return is_lock_page(db, page) || bit(db, db->unused, page);
}

/* All pages in order; true when they are sound. */
static bool check_pages(struct sqlite *db, enum verdict *verdict)
{
	for (uint32_t page = 1; page <= db->end; page++) {
		uint64_t end = (uint64_t)page * db->page_len;
		const char *problem;

		db->visiting = page;
		if (!peek_page(db, page)) {
			uint64_t sound = view_ends_with_image(db->view) && end > view_size(db->view)
						 ? view_size(db->view)
						 : end - db->page_len;

			*verdict = page == 1 ? verdict_because(CARVE_REJECT, db->finding,
						       "page 1 is cut off")
					     : walk_cut(db->view, db->finding, end, sound);
			return false;
		}
		problem = is_idle(db, page) ? NULL : check_page(db, page, name_page);
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
		if (!is_lock_page(db, page) && peek_page(db, page) && check_page(db, page, ignore))
			found = page;
	return found;
}

/* Whether the last page ends in random bytes: of a table that is empty, or nearly, nothing else
 * tells that its page was overwritten. */
static bool ends_in_noise(const struct sqlite *db)
{
	uint64_t at = (uint64_t)(db->end - 1) * db->page_len, gap, content;
	const uint8_t *p = is_idle(db, db->end) ? NULL : peek_page(db, db->end);

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
		bool named = bit(db, db->named, page) || is_idle(db, page);

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

	read_free_list(db);
	read_schema(db);
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
