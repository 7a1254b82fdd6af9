/*
 * The order of rows in an SQLite database (sqlite.org/fileformat2.html, 1.6). Row numbers rise within a page of a table's tree
 * and from each of its pages to the next, and a parent's keys say which rows each child may have. A page of another database,
 * or of another place in this one, is found by that. A parent may come after its children in the file.
 */
#include "sqlite_file.h"

#include <stdlib.h>

/* Beyond so many pages (of 4 KiB: 4 GiB) order is not checked. */
#define PAGES_MAX ((uint32_t)1 << 20)

enum { ROWS_UNKNOWN, ROWS_EXPECTED, ROWS_FOUND };

/* EXPECTED: more than low, high at most. FOUND: from low to high; a table's without rows has no bounds. */
struct sqlite_rows {
	int64_t low, high;
	uint8_t state;
	bool is_table, has_low, has_high;
};

bool sqlite_rows_begin(struct sqlite *db)
{
	db->rows_count = db->room < PAGES_MAX ? db->room : PAGES_MAX;
	db->rows = calloc((size_t)db->rows_count + 1, sizeof(*db->rows));
	return db->rows;
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
	const struct sqlite_rows *parent;

	if (!db->rows || child > db->rows_count || db->visiting > db->rows_count)
		return true;
	parent = &db->rows[db->visiting];
	if (parent->state == ROWS_EXPECTED && !expected.has_low) {
		expected.has_low = parent->has_low;
		expected.low = parent->low;
	}
	if (parent->state == ROWS_EXPECTED && !expected.has_high) {
		expected.has_high = parent->has_high;
		expected.high = parent->high;
	}
	if (db->rows[child].state == ROWS_FOUND)
		return fits(&db->rows[child], &expected);
	db->rows[child] = expected;
	return true;
}

bool sqlite_rows_found(struct sqlite *db, uint32_t page, const struct sqlite_bounds *bounds)
{
	const struct sqlite_rows found = { bounds->low, bounds->high, ROWS_FOUND, bounds->is_table,
		bounds->has_low, bounds->has_high };
	bool good;

	if (!db->rows || page > db->rows_count)
		return true;
	good = db->rows[page].state != ROWS_EXPECTED || fits(&found, &db->rows[page]);
	db->rows[page] = found;
	return good;
}
