/*
 * Where a check of an SQLite database can go on, with other pages after those that were visited: what these said of others.
 * The free list and the schema are read again, as their pages may be others. If they now say of a page that was visited what
 * it is not, the check is made from the beginning.
 */
#include "sqlite_file.h"

#include <string.h>

/* A page of which something is known. */
struct item {
	uint32_t page;
	uint8_t flags;
	uint8_t rows[SQLITE_ROWS_LEN];
};

enum { VISITED = 1, TREE = 2, IDLE = 4, REFERRED = 8, HAS_ROWS = 16 };

struct saved {
	uint32_t page, count; /* that is visited next; items */
	struct item items[(CARVE_STATE_MAX - 8) / sizeof(struct item)];
};

#define ITEMS_MAX (sizeof(((struct saved *)NULL)->items) / sizeof(struct item))
#define PAGES_MAX 4096 /* of a file that is kept in a state, */
#define ITEM_WORK 16   /* and units for each */

void sqlite_save(struct sqlite *db, uint32_t page)
{
	struct saved saved; /* of which only the items that are counted are used */
	struct carve_state state = { .offset = (uint64_t)(page - 1) * db->page_len,
		.data = &saved };

	saved.page = page;
	saved.count = 0;
	/* References to pages after the view's end are not known. */
	if (db->room > PAGES_MAX || db->room != db->stated || !view_work(db->view, db->room))
		return;
	for (uint32_t i = 1; i <= db->room; i++) {
		struct item item = { .page = i };

		item.flags = (i < page ? VISITED : 0) | (sqlite_has(db, db->tree, i) ? TREE : 0) |
			     (sqlite_has(db, db->unused, i) ? IDLE : 0) |
			     (sqlite_has(db, db->walked, i) ? REFERRED : 0) |
			     (sqlite_rows_copy(db, i, item.rows) ? HAS_ROWS : 0);
		if (!(item.flags & (VISITED | REFERRED | HAS_ROWS)))
			continue;
		if (saved.count == ITEMS_MAX)
			return;
		saved.items[saved.count++] = item;
	}
	state.len = offsetof(struct saved, items) + saved.count * sizeof(*saved.items);
	view_save(db->view, &state);
}

/* Whether what the free list and the schema say of a page agrees with what it was found to be. */
static bool agrees(const struct sqlite *db, const struct item *item)
{
	bool referred = sqlite_has(db, db->referenced, item->page);
	bool is_tree = item->flags & TREE;

	if (item->flags & REFERRED)
		return !referred;
	if (!(item->flags & VISITED))
		return true;
	return sqlite_has(db, db->unused, item->page) == !!(item->flags & IDLE) &&
	       (!referred || item->flags & IDLE || sqlite_has(db, db->tree, item->page) == is_tree);
}

static void restore(struct sqlite *db, const struct item *item)
{
	if (item->flags & REFERRED) {
		sqlite_mark(db, db->referenced, item->page);
		if (db->walked)
			sqlite_mark(db, db->walked, item->page);
		if (item->page > db->end)
			db->end = item->page;
	}
	if (item->flags & TREE && item->flags & (VISITED | REFERRED))
		sqlite_mark(db, db->tree, item->page);
	if (item->flags & HAS_ROWS)
		sqlite_rows_restore(db, item->page, item->rows);
}

static struct item item_of(const struct carve_state *state, uint32_t number)
{
	struct item item;

	memcpy(&item,
		(const uint8_t *)state->data + offsetof(struct saved, items) +
			number * sizeof(item),
		sizeof(item));
	return item;
}

bool sqlite_go_on(struct sqlite *db, const struct carve_state *state, uint32_t *first)
{
	uint32_t head[2]; /* page and count */

	memcpy(head, state->data, sizeof(head));
	if (!view_work(db->view, ITEM_WORK * head[1]))
		return false;
	for (uint32_t i = 0; i < head[1]; i++) {
		const struct item item = item_of(state, i);

		if (!agrees(db, &item)) {
			view_start_over(db->view);
			return false;
		}
	}
	for (uint32_t i = 0; i < head[1]; i++) {
		const struct item item = item_of(state, i);

		restore(db, &item);
	}
	*first = head[0];
	return true;
}
