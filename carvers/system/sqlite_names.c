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
	if (db->walked && db->visiting)
		sqlite_mark(db, db->walked, page);
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

uint64_t sqlite_column_len(uint64_t type)
{
	static const uint8_t lens[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

	return type < 12 ? lens[type] : (type - 12) / 2;
}

bool sqlite_read_object(const struct sqlite_cell *cell, struct sqlite_object *object)
{
	const uint8_t *payload = cell->payload;
	uint32_t len = cell->local, step, in;
	uint64_t header, type = 0, at, places[4], lens[4];

	in = step = sqlite_varint(payload, len, &header);
	if (!cell->is_table || !step || header > len ||
		header < step) /* it counts its own bytes, too */
		return false;
	at = header;
	for (int column = 0; column < 4; column++) {
		step = sqlite_varint(payload + in, (uint32_t)header - in, &type);
		if (!step || type > INT32_MAX)
			return false;
		in += step;
		places[column] = at;
		lens[column] = sqlite_column_len(type);
		at += lens[column];
	}
	if (type > 6 || at > len)
		return false;
	*object = (struct sqlite_object){ .kind = header < len ? payload[header] : 0,
		.name = payload + places[1],
		.name_len = lens[1],
		.table = payload + places[2],
		.table_len = lens[2] };
	for (uint64_t i = 0; i < lens[3]; i++)
		object->root = object->root << 8 | payload[places[3] + i];
	return true;
}

/* Notes the reference to the root of a row of the schema, and its table's name. */
static void read_schema_row(void *context, const struct sqlite_cell *cell)
{
	struct sqlite *db = context;
	struct sqlite_object object;

	if (!sqlite_read_object(cell, &object))
		return;
	if (object.kind == 't')
		sqlite_note_table(db, object.name, object.name_len);
	if (object.root > db->page_max)
		db->problem = "the schema has a root past the end";
	else if (object.root > 1 && !sqlite_has(db, db->referenced, (uint32_t)object.root))
		sqlite_refer(db, (uint32_t)object.root, true);
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
			.cell = read_schema_row,
			.context = db };

		if (!page.bytes || !sqlite_is_btree(&page))
			continue;
		if (page.bytes[page.header] == 5)
			page.refer = push_child;
		sqlite_check_btree(&page, &bounds);
	}
}
