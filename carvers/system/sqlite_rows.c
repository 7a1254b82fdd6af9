/*
 * The order of rows in an SQLite database (sqlite.org/fileformat2.html, 1.6). Row numbers rise within a page of a table's tree
 * and from each of its pages to the next, and a parent's keys say which rows each child may have. A page of another database,
 * or of another place in this one, is found by that. A parent may come after its children in the file.
 */
#include "sqlite_file.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many pages (of 4 KiB: 4 GiB) order is not checked. */
#define PAGES_MAX ((uint32_t)1 << 20)

enum { ROWS_UNKNOWN, ROWS_EXPECTED, ROWS_FOUND };

/* EXPECTED: more than low, high at most. FOUND: from low to high; a table's without rows has no bounds. */
struct sqlite_rows {
	int64_t low, high;
	uint8_t state;
	bool is_table, has_low, has_high;
};

/* So many pages' rows are allocated at a time, once one of the pages is visited or referred to: a header may state any
 * number of pages. */
#define BLOCK_PAGES 1024
#define BLOCK_WORK (BLOCK_PAGES * sizeof(struct sqlite_rows) / SQLITE_ZEROED_BYTES)

bool sqlite_rows_begin(struct sqlite *db)
{
	db->rows_count = db->room < PAGES_MAX ? db->room : PAGES_MAX;
	db->rows = calloc(db->rows_count / BLOCK_PAGES + 1, sizeof(*db->rows));
	return db->rows;
}

void sqlite_rows_end(struct sqlite *db)
{
	for (uint32_t i = 0; db->rows && i <= db->rows_count / BLOCK_PAGES; i++)
		free(db->rows[i]);
	free(db->rows);
}

/* The page's; NULL: the check is to end. */
static struct sqlite_rows *rows_of(struct sqlite *db, uint32_t page)
{
	struct sqlite_rows **block = &db->rows[page / BLOCK_PAGES];

	if (!*block) {
		if (!view_work(db->view, BLOCK_WORK))
			return NULL;
		*block = calloc(BLOCK_PAGES, sizeof(**block));
		if (!*block) {
			view_no_memory(db->view);
			return NULL;
		}
	}
	return &(*block)[page % BLOCK_PAGES];
}

_Static_assert(sizeof(struct sqlite_rows) == SQLITE_ROWS_LEN, "the length of what is copied");

bool sqlite_rows_copy(const struct sqlite *db, uint32_t page, uint8_t *to)
{
	const struct sqlite_rows *block =
		page <= db->rows_count ? db->rows[page / BLOCK_PAGES] : NULL;

	if (!block || block[page % BLOCK_PAGES].state == ROWS_UNKNOWN)
		return false;
	memcpy(to, &block[page % BLOCK_PAGES], SQLITE_ROWS_LEN);
	return true;
}

void sqlite_rows_restore(struct sqlite *db, uint32_t page, const uint8_t *from)
{
	struct sqlite_rows *rows = page <= db->rows_count ? rows_of(db, page) : NULL;

	if (rows)
		memcpy(rows, from, SQLITE_ROWS_LEN);
}

static bool fits(const struct sqlite_rows *found, const struct sqlite_rows *expected)
{
	return found->is_table == expected->is_table &&
	       (!found->has_low || !expected->has_low || found->low > expected->low) &&
	       (!found->has_high || !expected->has_high || found->high <= expected->high);
}

bool sqlite_rows_of_child(void *context, uint32_t child, const struct sqlite_bounds *bounds)
{
	struct sqlite *db = context;
	struct sqlite_rows expected = { bounds->low, bounds->high, ROWS_EXPECTED, bounds->is_table,
		bounds->has_low, bounds->has_high };
	struct sqlite_rows *parent, *known;

	if (!db->rows || child > db->rows_count || db->visiting > db->rows_count)
		return true;
	parent = rows_of(db, db->visiting);
	known = rows_of(db, child);
	if (!parent || !known)
		return true;
	if (parent->state == ROWS_EXPECTED && !expected.has_low) {
		expected.has_low = parent->has_low;
		expected.low = parent->low;
	}
	if (parent->state == ROWS_EXPECTED && !expected.has_high) {
		expected.has_high = parent->has_high;
		expected.high = parent->high;
	}
	if (known->state == ROWS_FOUND)
		return fits(known, &expected);
	*known = expected;
	return true;
}

bool sqlite_rows_found(struct sqlite *db, uint32_t page, const struct sqlite_bounds *bounds)
{
	const struct sqlite_rows found = { bounds->low, bounds->high, ROWS_FOUND, bounds->is_table,
		bounds->has_low, bounds->has_high };
	struct sqlite_rows *known;
	bool good;

	if (!db->rows || page > db->rows_count)
		return true;
	known = rows_of(db, page);
	if (!known)
		return true;
	good = known->state != ROWS_EXPECTED || fits(&found, known);
	*known = found;
	return good;
}
