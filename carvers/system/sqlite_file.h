/* A database file while it is walked: its pages, and which of them something names. */
#ifndef BURIN_CARVERS_SYSTEM_SQLITE_FILE_H
#define BURIN_CARVERS_SYSTEM_SQLITE_FILE_H

#include "sqlite.h"

#define SQLITE_HEADER_LEN 100 /* on page 1 */
#define SQLITE_SCHEMA_STACK 1024

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
	uint32_t stack[SQLITE_SCHEMA_STACK], stack_count; /* pages of the schema to visit */
	const char *problem;
};

/* A bit of those a page; a page behind the view is not remembered: the walk will end before it. */
bool sqlite_has(const struct sqlite *db, const uint8_t *bits, uint32_t page);
void sqlite_mark(const struct sqlite *db, uint8_t *bits, uint32_t page);

/* Whether it is the page that is never used, since locks are taken on its bytes. */
bool sqlite_is_lock_page(const struct sqlite *db, uint32_t page);

/* The page's bytes, NULL behind the view. */
const uint8_t *sqlite_peek(const struct sqlite *db, uint32_t page);

/* For sqlite_page's refer, with the struct sqlite as its context: something names this page; false
 * when it can't, or something else did. */
bool sqlite_name(void *context, uint32_t page, bool tree);
/* The same for whoever does not want to know. */
bool sqlite_ignore(void *context, uint32_t page, bool tree);

/* Walks the free list: names its pages, and marks them as unused. What is wrong is db->problem. */
void sqlite_read_free_list(struct sqlite *db);

/* Visits the pages of the schema, and names the roots of all trees. What is broken there is found
 * later, in its turn. */
void sqlite_read_schema(struct sqlite *db);

#endif
