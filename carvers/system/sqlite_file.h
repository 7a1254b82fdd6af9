/* A database file while it is walked: its pages, and which of them something refers to. */
#ifndef BURIN_CARVERS_SYSTEM_SQLITE_FILE_H
#define BURIN_CARVERS_SYSTEM_SQLITE_FILE_H

#include "sqlite.h"

#define SQLITE_HEADER_LEN 100 /* on page 1 */
#define SQLITE_SCHEMA_STACK 1024
#define SQLITE_ZEROED_BYTES 64 /* of memory, for a unit of work */
#define SQLITE_KNOWN_MAX 48    /* databases of known programs */

struct sqlite {
	struct view *view;
	struct finding *finding;
	uint32_t page_len, usable_len;
	uint32_t stated;   /* number of pages according to the header, 0 when not known */
	uint32_t page_max; /* the highest possible page number */
	uint32_t room;     /* pages that the view and the bits below have room for */
	uint32_t end;      /* stated, or the highest page referred to so far */
	uint32_t map_step; /* pages from one pointer map to the next, from page 2 on; 0: none */
	uint32_t visiting; /* the page being checked */
	bool in_pieces;    /* pieces are being put together */
	/* A bit a page: something refers to it; it belongs to the free list; it is a tree's (if it
	 * was visited), or is referred to as such. */
	uint8_t *referenced, *unused, *tree;
	uint8_t *walked; /* a page that was visited refers to it; NULL: that need not be known */
	struct sqlite_rows **rows; /* of the pages up to rows_count, in blocks; NULL: not checked */
	uint32_t rows_count;
	uint32_t stack[SQLITE_SCHEMA_STACK], stack_count; /* pages of the schema to visit */
	const char *problem;
	uint8_t tables
		[SQLITE_KNOWN_MAX]; /* of each known program's database, a bit a table that it has */
};

/* One of those bits; a page past the view has none: the walk will end before it. */
bool sqlite_has(const struct sqlite *db, const uint8_t *bits, uint32_t page);
void sqlite_mark(const struct sqlite *db, uint8_t *bits, uint32_t page);

/* Whether it is the page that is never used because locks are taken on its bytes. */
bool sqlite_is_lock_page(const struct sqlite *db, uint32_t page);

/* The page's bytes, NULL past the view. */
const uint8_t *sqlite_peek(const struct sqlite *db, uint32_t page);

/* For sqlite_page's refer, with the struct sqlite as its context: notes a reference to this page;
 * false when it is impossible, or the second one. */
bool sqlite_refer(void *context, uint32_t page, bool tree);
/* The same, but ignores the reference. */
bool sqlite_refer_nothing(void *context, uint32_t page, bool tree);

/* Walks the free list: notes references to its pages, and marks them as unused. Sets
 * db->problem. */
void sqlite_read_free_list(struct sqlite *db);

/* Visits the pages of the schema, and notes references to the roots of all trees, and their tables' names. Damage there is
 * found later, when its page is checked. */
void sqlite_read_schema(struct sqlite *db);

/* A row of the schema. */
struct sqlite_object {
	uint8_t kind; /* its type's first letter */
	const uint8_t *name, *table;
	uint64_t name_len, table_len;
	uint64_t root; /* page of its tree; 0: it has none */
};
/* False: it is not one, or not all of it is on the page. */
bool sqlite_read_object(const struct sqlite_cell *cell, struct sqlite_object *object);

/* Notes a table's name; gives a database with the tables of a known program's a title (sqlite_known.c). */
void sqlite_note_table(struct sqlite *db, const uint8_t *name, uint64_t len);
void sqlite_name_known(struct sqlite *db);

/* What is known of pages' rows. False: there is no memory. */
bool sqlite_rows_begin(struct sqlite *db);
void sqlite_rows_end(struct sqlite *db);
/* Copies what is known of a page's rows: SQLITE_ROWS_LEN bytes. False: nothing. */
#define SQLITE_ROWS_LEN 24
bool sqlite_rows_copy(const struct sqlite *db, uint32_t page, uint8_t *to);
void sqlite_rows_restore(struct sqlite *db, uint32_t page, const uint8_t *from);
/* A sqlite_page's child, with the struct sqlite as its context: what the page that is visited says of one. */
bool sqlite_rows_of_child(void *context, uint32_t child, const struct sqlite_bounds *bounds);
/* Notes what a page has; false if its parent says otherwise. */
bool sqlite_rows_found(struct sqlite *db, uint32_t page, const struct sqlite_bounds *bounds);

/* Where a check goes on with other bytes (sqlite_state.c). Saves a state before this page is visited; all before it are valid. */
void sqlite_save(struct sqlite *db, uint32_t page);
/* As if all pages before the state's had been visited, after the free list and the schema: *first is the next one. False: with
 * what these have now, the check is made from the beginning. */
bool sqlite_go_on(struct sqlite *db, const struct carve_state *state, uint32_t *first);

/* Which pages belong together (sqlite_links.c). */
extern const struct carve_pages sqlite_pages;

#endif
