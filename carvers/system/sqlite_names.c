/*
 * What refers to pages of an SQLite database before they are walked in order: the free list (trunks
 * with the numbers of leaves), and the schema, a table whose rows have each tree's root.
 */
#include "sqlite_file.h"

#include "bytes.h"

#define LOCK_BYTE ((uint64_t)1 << 30)

bool sqlite_has(const struct sqlite *db, const uint8_t *bits, uint32_t page)
{
	return page <= db->room && bits[page >> 3] >> (page & 7) & 1;
}

void sqlite_mark(const struct sqlite *db, uint8_t *bits, uint32_t page)
{
	if (page <= db->room)
		bits[page >> 3] |= (uint8_t)(1 << (page & 7));
}

bool sqlite_is_lock_page(const struct sqlite *db, uint32_t page)
{
	return page == LOCK_BYTE / db->page_len + 1;
}

const uint8_t *sqlite_peek(const struct sqlite *db, uint32_t page)
{
	return view_peek(db->view, (uint64_t)(page - 1) * db->page_len, db->page_len);
}

bool sqlite_refer(void *context, uint32_t page, bool tree)
{
	struct sqlite *db = context;

	if (page < 2 || page > db->page_max || sqlite_is_lock_page(db, page) ||
		sqlite_has(db, db->referenced, page))
		return false;
	/* A page already visited has to be of the type that the reference states. */
	if (page < db->visiting && sqlite_has(db, db->tree, page) != tree)
		return false;
	sqlite_mark(db, db->referenced, page);
	if (tree)
		sqlite_mark(db, db->tree, page);
	if (page > db->end)
		db->end = page;
	return true;
}

bool sqlite_refer_nothing(void *context, uint32_t page, bool tree)
{
	(void)tree;
	(void)context;
	(void)page;
	return true;
}

/* Reads one trunk: false when it is invalid, or past the view. */
static bool read_trunk(
	struct sqlite *db, uint32_t trunk, uint32_t left, uint32_t *next, uint32_t *count)
{
	const uint8_t *p = sqlite_peek(db, trunk);

	if (!p)
		return false;
	*next = be32(p);
	*count = be32(p + 4);
	if (*count > db->usable_len / 4 - 2 || *count >= left)
		return false;
	for (uint32_t i = 0; i < *count; i++) {
		uint32_t leaf = be32(p + 8 + 4 * i);

		if (!sqlite_refer(db, leaf, false))
			return false;
		sqlite_mark(db, db->unused, leaf);
	}
	return true;
}

/* The header has the length of the list. */
void sqlite_read_free_list(struct sqlite *db)
{
	const uint8_t *p = view_peek(db->view, 32, 8);
	uint32_t trunk = p ? be32(p) : 0, left = p ? be32(p + 4) : 0, count;

	while (trunk && left) {
		if (!sqlite_refer(db, trunk, false))
			break;
		sqlite_mark(db, db->unused, trunk);
		if (!read_trunk(db, trunk, left, &trunk, &count))
			break;
		left -= count + 1;
	}
	if (trunk || left)
		db->problem = "the list of free pages is invalid";
}

/* Notes children of the schema's pages; other references do not matter here. */
static bool push_child(void *context, uint32_t page, bool tree)
{
	struct sqlite *db = context;

	if (page < 2 || page > db->page_max || !tree)
		return false;
	if (db->stack_count < SQLITE_SCHEMA_STACK)
		db->stack[db->stack_count++] = page;
	return true;
}

/* The length of a column with this serial type. */
static uint64_t column_len(uint64_t type)
{
	static const uint8_t lens[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

	return type < 12 ? lens[type] : (type - 12) / 2;
}

/* Reads a row of the schema: type, name, table, root page, SQL. Notes the reference to the root. */
static void read_schema_row(void *context, const uint8_t *payload, uint32_t len)
{
	struct sqlite *db = context;
	uint64_t header, type = 0, at, root = 0, name = 0, name_len = 0;
	uint32_t step = sqlite_varint(payload, len, &header), in = step;

	if (!step || header > len || header < step) /* it counts its own bytes, too */
		return;
	at = header;
	for (int column = 0; column < 4; column++) {
		at += column ? column_len(type) : 0;
		if (column == 2) {
			name_len = column_len(type);
			name = at - name_len;
		}
		step = sqlite_varint(payload + in, (uint32_t)header - in, &type);
		if (!step || type > INT32_MAX)
			return;
		in += step;
	}
	if (type > 6 || at + column_len(type) > len)
		return;
	if (header < len && name + name_len <= len && payload[header] == 't')
		sqlite_note_table(db, payload + name, name_len);
	for (uint64_t i = 0; i < column_len(type); i++)
		root = root << 8 | payload[at + i];
	if (root > db->page_max)
		db->problem = "the schema has a root past the end";
	else if (root > 1 && !sqlite_has(db, db->referenced, (uint32_t)root))
		sqlite_refer(db, (uint32_t)root, true);
}

void sqlite_read_schema(struct sqlite *db)
{
	struct sqlite_bounds bounds;
	uint32_t visited = 0;

	db->stack[db->stack_count++] = 1;
	while (db->stack_count && visited++ < 4 * SQLITE_SCHEMA_STACK) {
		uint32_t number = db->stack[--db->stack_count];
		struct sqlite_page page = { .bytes = sqlite_peek(db, number),
			.page_len = db->page_len,
			.usable_len = db->usable_len,
			.header = number == 1 ? SQLITE_HEADER_LEN : 0,
			.refer = sqlite_refer_nothing,
			.row = read_schema_row,
			.context = db };

		if (!page.bytes || !sqlite_is_btree(&page))
			continue;
		if (page.bytes[page.header] == 5)
			page.refer = push_child;
		sqlite_check_btree(&page, &bounds);
	}
}
