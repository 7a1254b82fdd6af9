/* Pages of SQLite databases: a database's own, and those in its log files. */
#ifndef BURIN_CARVERS_SYSTEM_SQLITE_H
#define BURIN_CARVERS_SYSTEM_SQLITE_H

#include <stdbool.h>

#include "carver.h"

/* Which rows a page may have, or has: row numbers of a table's tree. */
struct sqlite_bounds {
	int64_t low, high;
	bool is_table, has_low, has_high;
};

/* What a cell has but for a table's inner pages. */
struct sqlite_cell {
	const uint8_t *payload;
	uint32_t local;    /* bytes of it that are on the page, */
	uint64_t len;      /* of all of it */
	uint32_t overflow; /* the page that has the next ones; 0: none */
	int64_t row;       /* a table's row number */
	bool is_table;
};

struct sqlite_page {
	const uint8_t *bytes;
	uint32_t page_len,
		usable_len; /* the latter without the bytes that extensions reserve at the end */
	uint32_t header;    /* where the b-tree's header is: 100 on page 1, else 0 */
	/* Called for each page number in it, of a child (a tree's page) or an overflow; returns
	 * false if it is impossible. */
	bool (*refer)(void *context, uint32_t page, bool tree);
	/* Called for each child: its rows are more than low, and high at most. Returns false if it is known to have
	 * others. May be NULL. */
	bool (*child)(void *context, uint32_t page, const struct sqlite_bounds *bounds);
	/* Called for each cell with a payload. May be NULL. */
	void (*cell)(void *context, const struct sqlite_cell *cell);
	void *context;
};

/* Whether a page can be one of a b-tree by its first byte. */
bool sqlite_is_btree(const struct sqlite_page *page);

/* What is wrong with a page of a b-tree, or NULL: its cells, free blocks and fragments have to fill
 * it, and row numbers to rise. *bounds: its own rows, from low to high. */
const char *sqlite_check_btree(const struct sqlite_page *page, struct sqlite_bounds *bounds);

/* Of a page that is not valid: the offset in it of the cell after which something is wrong, when the cells are in the order of
 * their places; 0: that is not known. */
uint32_t sqlite_valid_part(const struct sqlite_page *page);

/* Reads a varint at p, of at most len bytes: returns its length, 0 when it is cut. */
uint32_t sqlite_varint(const uint8_t *p, uint32_t len, uint64_t *value);

/* The length of a column with this serial type. */
uint64_t sqlite_column_len(uint64_t type);

/* The page size stored as `field`: 0 when it is impossible. */
uint32_t sqlite_page_len(uint32_t field);

#endif
