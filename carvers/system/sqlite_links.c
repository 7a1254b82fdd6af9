/*
 * Which pages of an SQLite database belong together (sqlite.org/fileformat2.html, 1.6), where it was put together of pieces.
 * Pages have no checksums, but each shows something of others:
 *
 *	a parent's keys say which rows each child has: chance gives a child these rows once in as many times as its place
 *	among all rows of the table has others, and their number once in as many times as leaves of that number are rare
 *	an index has each of its table's rows once: so the rows of one of its pages are known by those of all others
 *	pages of an overflow, and trunks of the free list, have the numbers of others that nothing else refers to
 *
 * That shows that pages are of one database, but not that they are of one version of it: where rows are changed, the old page
 * has the same place. But it has rows that the database has, too, or many of the same form.
 */
#include "sqlite_file.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "page_hash.h"
#include "logarithm.h"
#include "plain_text.h"

#define PAGES_MAX ((uint32_t)1 << 16)
#define TREES_MAX 1024
#define ROWS_MAX ((size_t)1 << 21) /* of all trees together, of which each page's are known */
#define PRINT_LEN 16               /* bytes of a payload that is hardly elsewhere */
#define FORMS_MIN 3                /* rows of the same form that show another version */
#define SPAN_BITS_MAX (5 * LOG_BIT)
#define INDEX_BITS_MAX (4096 * LOG_BIT)
#define PLACE_SLACK LOG_BIT       /* by which a place is taken to be worth less */
#define NUMBER_BITS (8 * LOG_BIT) /* of a cell whose place another part of its page has */
#define VALUES_MAX ((size_t)1 << 22)
#define VALUE_LEN 4 /* bytes of a text or number that hardly follows from its row's number */
#define VALUE_BITS (4 * LOG_BIT)   /* of such a value in an index that its row has, too, */
#define INTEGER_BITS (LOG_BIT / 2) /* and of an integer */
#define SPANS_MIN 8                /* leaves, of which the numbers of rows show something */
#define USUAL_MIN 32 /* values, after which one that is unlike all of them is not the database's */
#define EXPONENT_SLACK 64 /* by which those of numbers may differ more */
#define TYPE_REAL 7
#define COUNTS_AT 24 /* of changes, in the header, */
#define SIZE_AT 28   /* and of pages */
#define ODD_SHARE 16 /* of the texts, of which fewer that are not UTF-8 may be others' bytes */

enum { INNER_INDEX = 2, INNER_TABLE = 5, LEAF_INDEX = 10, LEAF_TABLE = 13 };
/* Further kinds of pages. */
enum { KIND_UNKNOWN, KIND_OVERFLOW = 32, KIND_OVERFLOW_END, KIND_TRUNK };

/* What is known of a page. */
struct facts {
	uint8_t kind;
	bool has_low, has_high; /* rows that its parent allows: more than low, high at most */
	uint16_t span_bits;     /* 16ths */
	uint32_t tree, parent;  /* parent 0: none */
	int64_t low, high;
	int64_t first, last; /* its own rows, or keys */
	uint32_t cells;
	uint32_t next;     /* of an overflow or a trunk */
	uint64_t rows;     /* a sum over their numbers, */
	uint64_t children; /* its children's or, of a trunk, leaves' */
	uint64_t hash;     /* and all bytes */
};

struct tree {
	uint32_t root;
	uint64_t table; /* its table's name */
	bool is_index;
	bool is_exact; /* an index, and its table, that have the same rows */
	uint64_t rows; /* as in facts */
	size_t first_row, row_count;
};

/* A row, or an index's entry for it. */
struct row {
	uint32_t tree, page;
	int64_t number;
	uint64_t value; /* an entry's first column's */
};

struct hashes {
	uint64_t *items;
	size_t count, capacity;
};

/* Values of records. */
struct values_seen {
	uint32_t texts, wrong_texts; /* wrong: not UTF-8 */
	uint32_t reals, least, most; /* their exponents, from the least to the most */
};

struct database {
	struct view *view;
	uint32_t page_len, usable_len, count;
	struct facts *facts; /* by the page's number; one more than there are */
	struct tree trees[TREES_MAX];
	uint32_t tree_count;
	uint32_t *stack, stack_count; /* pages to visit */
	struct row *rows;
	size_t row_count, row_capacity;
	bool has_all_rows;
	uint8_t header[SQLITE_HEADER_LEN];
	uint64_t schema; /* a hash of the rest of page 1 */
	bool is_utf8;
	struct values_seen seen; /* of all rows */
	struct hashes cells, forms, pages, values;
	uint32_t visiting;
	bool is_wrong, no_memory;
};

/* ---- hashes -------------------------------------------------------------------------------- */

/* Makes room for one more. NULL: there is no memory. */
static void *grow(void *items, size_t *capacity, size_t count, size_t size)
{
	void *grown;

	if (count < *capacity)
		return items;
	grown = realloc(items, (2 * *capacity + 64) * size);
	if (grown)
		*capacity = 2 * *capacity + 64;
	return grown;
}

static bool add_hash(struct hashes *hashes, uint64_t hash)
{
	uint64_t *grown = grow(hashes->items, &hashes->capacity, hashes->count, sizeof(*grown));

	if (!grown)
		return false;
	hashes->items = grown;
	hashes->items[hashes->count++] = hash;
	return true;
}

static void sort_hashes(struct hashes *hashes)
{
	if (hashes->count)
		qsort(hashes->items, hashes->count, sizeof(*hashes->items), page_hash_compare);
}

static bool has_hash(const struct hashes *hashes, uint64_t hash)
{
	return hashes->count && bsearch(&hash, hashes->items, hashes->count, sizeof(*hashes->items),
					page_hash_compare);
}

/* ---- cells --------------------------------------------------------------------------------- */

/* The number of the row for which an index has a cell: the last column of the record. False: not all of it is on the page. */
static bool read_entry(const struct sqlite_cell *cell, int64_t *number)
{
	static const uint8_t lens[] = { 0, 1, 2, 3, 4, 6, 8, 0, 0, 0 };
	uint64_t header, type = 0;
	uint32_t in = sqlite_varint(cell->payload, cell->local, &header), step;
	uint8_t len;

	if (!in || header > cell->local || cell->local != cell->len)
		return false;
	while (in < header) {
		step = sqlite_varint(cell->payload + in, (uint32_t)header - in, &type);
		if (!step)
			return false;
		in += step;
	}
	if (type < 1 || type > 9 || type == 7)
		return false;
	len = lens[type];
	if (len > cell->local - header)
		return false;
	*number = type == 9;
	for (unsigned i = 0; i < len; i++) {
		uint8_t byte = cell->payload[cell->local - len + i];

		*number = i ? (int64_t)((uint64_t)*number << 8 | byte) : (int8_t)byte;
	}
	return true;
}

/* Of a column of a row of this table. 0: it may well be in others; the lowest bit says that it is an integer. */
static uint64_t hash_value(
	uint64_t table, int64_t row, uint64_t type, const uint8_t *bytes, uint64_t len)
{
	bool is_integer = type < 7;

	if (len < (is_integer ? 2 : VALUE_LEN))
		return 0;
	table = page_hash(
		bytes, (size_t)len, page_hash_mix(table ^ page_hash_mix((uint64_t)row) ^ type));
	return (table & ~UINT64_C(1)) | is_integer;
}

/* Hashes a record's columns that are on the page: those of a table's row are added to the values; returns that of the first
 * column. */
static uint64_t hash_columns(
	struct database *db, const struct sqlite_cell *cell, uint64_t table, int64_t row)
{
	uint64_t header, type, at, first = 0;
	uint32_t in = sqlite_varint(cell->payload, cell->local, &header), step;
	bool is_first = true;

	if (!in || header > cell->local)
		return 0;
	for (at = header; in < header; in += step, is_first = false) {
		uint64_t len, hash;

		step = sqlite_varint(cell->payload + in, (uint32_t)header - in, &type);
		len = sqlite_column_len(type);
		if (!step || len > cell->local - at)
			break;
		hash = hash_value(table, row, type, cell->payload + at, len);
		at += len;
		if (is_first)
			first = hash;
		if (!cell->is_table)
			break;
		if (!hash || db->values.count == VALUES_MAX)
			continue;
		if (!add_hash(&db->values, hash)) {
			db->no_memory = true;
			break;
		}
	}
	return first;
}

static uint64_t hash_schema(const struct database *db, const uint8_t *bytes)
{
	return page_hash(bytes + SQLITE_HEADER_LEN, db->page_len - SQLITE_HEADER_LEN, 2);
}

static uint64_t print_of(const struct sqlite_cell *cell)
{
	return page_hash(
		cell->payload, cell->local, page_hash_mix((uint64_t)cell->row ^ cell->len << 40));
}

/* Of a row's number, and the types and lengths of its columns. 0: it has none. */
static uint64_t form_of(const struct sqlite_cell *cell)
{
	uint64_t header;

	if (!cell->is_table || !sqlite_varint(cell->payload, cell->local, &header) ||
		header > cell->local)
		return 0;
	return page_hash(cell->payload, (size_t)header,
		page_hash_mix((uint64_t)cell->row ^ cell->len << 40 ^ UINT64_C(1) << 63));
}

static void note_value(struct values_seen *seen, uint64_t type, const uint8_t *value, size_t len)
{
	uint32_t exponent = type == TYPE_REAL ? be16(value) >> 4 & 0x7ff : 0;

	if (exponent) {
		seen->least = seen->reals && seen->least < exponent ? seen->least : exponent;
		seen->most = seen->most > exponent ? seen->most : exponent;
		seen->reals++;
	} else if (type >= 13 && type % 2 && len) {
		seen->texts++;
		seen->wrong_texts += !utf8_valid(value, len) || memchr(value, 0, len);
	}
}

/* Notes those values of a cell that are all on the page. */
static void note_values(struct values_seen *seen, const struct sqlite_cell *cell)
{
	uint64_t header, type, at;
	uint32_t in = sqlite_varint(cell->payload, cell->local, &header), step;

	if (!in || header > cell->local)
		return;
	for (at = header; in < header; in += step) {
		uint64_t len;

		step = sqlite_varint(cell->payload + in, (uint32_t)header - in, &type);
		len = sqlite_column_len(type);
		if (!step || len > cell->local - at)
			return;
		note_value(seen, type, cell->payload + at, (size_t)len);
		at += len;
	}
}

/* Whether values are other than the database's are, where it has enough of them. */
static bool are_unusual(
	const struct values_seen *known, const struct values_seen *others, bool is_utf8)
{
	if (is_utf8 && known->texts >= USUAL_MIN && !known->wrong_texts && others->wrong_texts)
		return true;
	return known->reals >= USUAL_MIN && others->reals &&
	       (others->least + EXPONENT_SLACK < known->least ||
		       others->most > known->most + EXPONENT_SLACK);
}

/* ---- the walk ------------------------------------------------------------------------------ */

static void fail(struct database *db)
{
	db->is_wrong = true;
}

/* Notes what a page is, once. False: it was known already, or is not in the file. */
static bool claim(struct database *db, uint32_t number, uint8_t kind, uint32_t parent)
{
	struct facts *facts = &db->facts[number <= db->count ? number : 0];

	if (number < 2 || number > db->count || facts->kind) {
		fail(db);
		return false;
	}
	facts->kind = kind;
	facts->parent = parent;
	return true;
}

/* Any kind of tree, until it is visited. */
#define KIND_TREE 255

static bool note_child(void *context, uint32_t child, const struct sqlite_bounds *bounds)
{
	struct database *db = context;
	const struct facts *parent = &db->facts[db->visiting];
	struct facts *facts = &db->facts[child <= db->count ? child : 0];

	if (!claim(db, child, KIND_TREE, db->visiting))
		return false;
	facts->tree = parent->tree;
	facts->has_low = bounds->has_low || parent->has_low;
	facts->low = bounds->has_low ? bounds->low : parent->low;
	facts->has_high = bounds->has_high || parent->has_high;
	facts->high = bounds->has_high ? bounds->high : parent->high;
	db->stack[db->stack_count++] = child;
	return true;
}

static void add_row(struct database *db, int64_t number, uint64_t value)
{
	struct row *grown;

	if (db->row_count == ROWS_MAX)
		db->has_all_rows = false;
	if (!db->has_all_rows)
		return;
	grown = grow(db->rows, &db->row_capacity, db->row_count, sizeof(*grown));
	if (!grown) {
		db->no_memory = true;
		return;
	}
	db->rows = grown;
	db->rows[db->row_count++] =
		(struct row){ db->facts[db->visiting].tree, db->visiting, number, value };
}

/* What may_be and kin compare of a page. */
struct content {
	const struct database *db; /* NULL: no cells are looked for in it */
	uint32_t cells, same_cells, same_forms;
	uint64_t rows, children;
	struct values_seen seen;
	bool is_unknown; /* an entry's row is */
};

static void add_to_content(void *context, const struct sqlite_cell *cell)
{
	struct content *content = context;
	int64_t number = cell->row;

	content->cells++;
	note_values(&content->seen, cell);
	if (!cell->is_table && !read_entry(cell, &number))
		content->is_unknown = true;
	content->rows += page_hash_mix((uint64_t)number);
	if (!content->db)
		return;
	content->same_cells +=
		cell->local >= PRINT_LEN && has_hash(&content->db->cells, print_of(cell));
	content->same_forms += cell->is_table && has_hash(&content->db->forms, form_of(cell));
}

static bool add_child_to_content(void *context, uint32_t child, const struct sqlite_bounds *bounds)
{
	struct content *content = context;

	content->children += page_hash_mix(child) ^ (bounds->has_high && bounds->is_table ? 1 : 0);
	return true;
}

static void add_tree(struct database *db, const struct sqlite_object *object)
{
	if (db->tree_count == TREES_MAX || object->root > db->count ||
		!claim(db, (uint32_t)object->root, KIND_TREE, 0)) {
		fail(db);
		return;
	}
	db->facts[object->root].tree = db->tree_count;
	db->stack[db->stack_count++] = (uint32_t)object->root;
	db->trees[db->tree_count++] = (struct tree){ .root = (uint32_t)object->root,
		.is_index = object->kind == 'i',
		.table = page_hash(object->table, (size_t)object->table_len, 1) };
}

/* An overflow's pages come one after another; each has the next one's number, the last one 0. */
static void follow_overflow(struct database *db, const struct sqlite_cell *cell)
{
	uint64_t left = cell->len - cell->local;
	uint32_t number = cell->overflow, parent = db->visiting;

	/* They are read later: what is peeked at now must stay. */
	if (!claim(db, number, KIND_OVERFLOW, parent))
		return;
	db->facts[number].rows = left;
	db->stack[db->stack_count++] = number;
}

static void note_cell(void *context, const struct sqlite_cell *cell)
{
	struct database *db = context;
	struct facts *facts = &db->facts[db->visiting];
	struct sqlite_object object;
	int64_t number = cell->row;

	facts->cells++;
	note_values(&db->seen, cell);
	if (cell->overflow)
		follow_overflow(db, cell);
	if (!facts->tree) {
		if (sqlite_read_object(cell, &object) && object.root)
			add_tree(db, &object);
		else if (cell->is_table && cell->local != cell->len &&
			 !sqlite_read_object(cell, &object))
			fail(db); /* its root is not known */
	}
	if (!cell->is_table && !read_entry(cell, &number)) {
		db->has_all_rows = false;
		return;
	}
	facts->rows += page_hash_mix((uint64_t)number);
	if (!facts->tree)
		return;
	add_row(db, number, hash_columns(db, cell, db->trees[facts->tree].table, number));
	if (cell->local >= PRINT_LEN && !add_hash(&db->cells, print_of(cell)))
		db->no_memory = true;
	if (cell->is_table && !add_hash(&db->forms, form_of(cell)))
		db->no_memory = true;
}

static bool refer_to_any(void *context, uint32_t page, bool tree)
{
	(void)context;
	(void)tree;
	return page != 0;
}

static const uint8_t *peek(struct database *db, uint32_t number)
{
	const uint8_t *bytes =
		view_peek(db->view, (uint64_t)(number - 1) * db->page_len, db->page_len);

	if (!bytes || !view_work(db->view, db->page_len / 8))
		fail(db);
	return db->is_wrong ? NULL : bytes;
}

static void visit_overflow(struct database *db, uint32_t number, const uint8_t *bytes)
{
	struct facts *facts = &db->facts[number];
	uint64_t left = facts->rows, room = db->usable_len - 4;

	facts->next = be32(bytes);
	facts->rows = 0;
	if ((left > room) != (facts->next != 0)) {
		fail(db);
		return;
	}
	if (!facts->next) {
		facts->kind = KIND_OVERFLOW_END;
		return;
	}
	if (claim(db, facts->next, KIND_OVERFLOW, number)) {
		db->facts[facts->next].rows = left - room;
		db->stack[db->stack_count++] = facts->next;
	}
}

static struct sqlite_page page_of(const struct database *db, uint32_t number, const uint8_t *bytes)
{
	return (struct sqlite_page){ .bytes = bytes,
		.page_len = db->page_len,
		.usable_len = db->usable_len,
		.header = number == 1 ? SQLITE_HEADER_LEN : 0,
		.refer = refer_to_any };
}

static void visit_tree(struct database *db, uint32_t number, const uint8_t *bytes)
{
	struct facts *facts = &db->facts[number];
	struct sqlite_page page = page_of(db, number, bytes);
	struct content content = { .cells = 0 };
	struct sqlite_bounds bounds;

	facts->kind = bytes[page.header];
	if (number == 1)
		db->schema = hash_schema(db, bytes);
	page.child = add_child_to_content;
	page.context = &content;
	if (!sqlite_is_btree(&page) || sqlite_check_btree(&page, &bounds)) {
		fail(db);
		return;
	}
	facts->children = content.children;
	facts->first = bounds.low;
	facts->last = bounds.high;
	page.child = note_child;
	page.cell = note_cell;
	page.context = db;
	sqlite_check_btree(&page, &bounds);
}

static void visit_all(struct database *db)
{
	while (db->stack_count && !db->is_wrong && !db->no_memory) {
		uint32_t number = db->stack[--db->stack_count];
		const uint8_t *bytes = peek(db, number);

		if (!bytes)
			return;
		db->visiting = number;
		db->facts[number].hash = page_hash(bytes, db->page_len, 0);
		if (db->facts[number].kind == KIND_OVERFLOW)
			visit_overflow(db, number, bytes);
		else
			visit_tree(db, number, bytes);
	}
}

static uint64_t sum_of_leaves(const struct database *db, const uint8_t *bytes)
{
	uint32_t count = be32(bytes + 4);
	uint64_t sum = count;

	for (uint32_t i = 0; i < count && i < db->usable_len / 4 - 2; i++)
		sum += page_hash_mix(be32(bytes + 8 + 4 * i));
	return sum;
}

static void visit_trunks(struct database *db, uint32_t trunk)
{
	uint32_t parent = 1;

	while (trunk && !db->is_wrong) {
		const uint8_t *bytes;

		if (!claim(db, trunk, KIND_TRUNK, parent))
			return;
		bytes = peek(db, trunk);
		if (!bytes)
			return;
		db->facts[trunk].next = be32(bytes);
		db->facts[trunk].cells = be32(bytes + 4);
		db->facts[trunk].children = sum_of_leaves(db, bytes);
		parent = trunk;
		trunk = be32(bytes);
	}
}

/* ---- what is known of all ------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->tree != right->tree)
		return left->tree < right->tree ? -1 : 1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return left->page < right->page ? -1 : left->page > right->page;
}

/* The rows are in order of trees and numbers. */
static void list_rows(struct database *db)
{
	if (db->row_count)
		qsort(db->rows, db->row_count, sizeof(*db->rows), compare_rows);
	for (size_t i = 0; i < db->row_count; i++) {
		struct tree *tree = &db->trees[db->rows[i].tree];

		if (!tree->row_count++)
			tree->first_row = i;
		tree->rows += page_hash_mix((uint64_t)db->rows[i].number);
	}
}

/* The tree that has the rows of an index's table; 0: none. */
static uint32_t table_of(const struct database *db, const struct tree *index)
{
	for (uint32_t i = 1; i < db->tree_count; i++)
		if (!db->trees[i].is_index && db->trees[i].table == index->table)
			return i;
	return 0;
}

static void compare_indexes(struct database *db)
{
	for (uint32_t i = 1; i < db->tree_count && db->has_all_rows; i++) {
		struct tree *index = &db->trees[i], *table;

		if (!index->is_index || !index->row_count)
			continue;
		table = &db->trees[table_of(db, index)];
		if (table == db->trees || table->row_count != index->row_count ||
			table->rows != index->rows)
			continue;
		index->is_exact = table->is_exact = true;
	}
}

/* Of x, at least 1, in 16ths. */
static unsigned log_of(uint64_t x)
{
	unsigned over = 0;

	for (; x > UINT32_MAX; x >>= 1)
		over += LOG_BIT;
	return x ? (unsigned)log_16((uint32_t)x) + over : 0;
}

static uint64_t span_of(const struct facts *facts)
{
	return (uint64_t)facts->last - (uint64_t)facts->first;
}

struct span {
	uint32_t tree, page;
	uint64_t span;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	if (left->tree != right->tree)
		return left->tree < right->tree ? -1 : 1;
	if (left->span != right->span)
		return left->span < right->span ? -1 : 1;
	return left->page < right->page ? -1 : left->page > right->page;
}

/* How rare the number of rows of each leaf is among those of its tree. */
static void rate_spans(struct database *db)
{
	struct span *spans = calloc(db->count + 1, sizeof(*spans));
	size_t count = 0, in_tree[TREES_MAX] = { 0 };

	if (!spans) {
		db->no_memory = true;
		return;
	}
	for (uint32_t i = 2; i <= db->count; i++)
		if (db->facts[i].kind == LEAF_TABLE && db->facts[i].cells) {
			spans[count++] =
				(struct span){ db->facts[i].tree, i, span_of(&db->facts[i]) };
			in_tree[db->facts[i].tree]++;
		}
	qsort(spans, count, sizeof(*spans), compare_spans);
	for (size_t i = 0, next; i < count; i = next) {
		size_t all = in_tree[spans[i].tree];
		unsigned bits;

		for (next = i + 1; next < count && spans[next].tree == spans[i].tree &&
				   spans[next].span == spans[i].span;)
			next++;
		bits = all < SPANS_MIN ? 0
				       : (unsigned)(log_16((uint32_t)all + 1) -
						    log_16((uint32_t)(next - i) + 1));
		bits = bits > SPAN_BITS_MAX ? SPAN_BITS_MAX : bits;
		for (size_t k = i; k < next; k++)
			db->facts[spans[k].page].span_bits = (uint16_t)bits;
	}
	free(spans);
}

/* Whether a few texts are not UTF-8: a cluster may be another file's, or a version's. */
static bool has_odd_texts(const struct database *db)
{
	return db->is_utf8 && db->seen.wrong_texts &&
	       (uint64_t)db->seen.wrong_texts * ODD_SHARE < db->seen.texts;
}

static bool walk(struct database *db)
{
	const uint8_t *header = view_peek(db->view, 32, 4);
	uint32_t trunk = header ? be32(header) : 0;

	db->trees[0] = (struct tree){ .root = 1 };
	db->tree_count = 1;
	db->facts[1].kind = KIND_TREE;
	db->stack[db->stack_count++] = 1;
	visit_all(db);
	if (!db->is_wrong)
		visit_trunks(db, trunk);
	if (db->is_wrong || db->no_memory || has_odd_texts(db) ||
		!view_work(db->view, 8 * db->row_count))
		return false;
	list_rows(db);
	compare_indexes(db);
	rate_spans(db);
	for (uint32_t i = 1; i <= db->count && !db->no_memory; i++)
		if (db->facts[i].hash && !add_hash(&db->pages, db->facts[i].hash))
			db->no_memory = true;
	sort_hashes(&db->cells);
	sort_hashes(&db->forms);
	sort_hashes(&db->pages);
	sort_hashes(&db->values);
	return !db->no_memory;
}

static void end(void *pages)
{
	struct database *db = pages;

	free(db->facts);
	free(db->stack);
	free(db->rows);
	free(db->cells.items);
	free(db->forms.items);
	free(db->pages.items);
	free(db->values.items);
	free(db);
}

static void *begin(struct view *view, uint32_t *page_len, uint32_t *count)
{
	const uint8_t *p = view_peek(view, 0, SQLITE_HEADER_LEN);
	uint32_t len = p ? sqlite_page_len(be16(p + 16)) : 0, reserved = p ? p[20] : 0;
	uint8_t header[SQLITE_HEADER_LEN] = { 0 };
	uint64_t pages = len ? view_size(view) / len : 0;
	struct database *db;

	if (p)
		memcpy(header, p, sizeof(header));
	if (!pages || pages > PAGES_MAX || len - reserved < 480 ||
		!view_work(view, pages * sizeof(struct facts) / SQLITE_ZEROED_BYTES))
		return NULL;
	db = calloc(1, sizeof(*db));
	if (!db) {
		view_no_memory(view);
		return NULL;
	}
	*page_len = db->page_len = len;
	*count = db->count = (uint32_t)pages;
	db->view = view;
	db->usable_len = len - reserved;
	db->has_all_rows = true;
	memcpy(db->header, header, sizeof(header));
	db->is_utf8 = be32(header + 56) == 1;
	db->facts = calloc(db->count + 1, sizeof(*db->facts));
	db->stack = calloc(db->count + 1, sizeof(*db->stack));
	if (!db->facts || !db->stack)
		db->no_memory = true;
	if (!db->no_memory && walk(db)) {
		db->view = NULL;
		return db;
	}
	if (db->no_memory)
		view_no_memory(view);
	end(db);
	return NULL;
}

/* ---- links --------------------------------------------------------------------------------- */

struct adding {
	const struct database *db;
	void (*add)(void *context, const struct carve_page_link *link);
	void *context;
};

static void add_link(const struct adding *adding, uint32_t number, uint32_t other, unsigned bits,
	unsigned first_bits, unsigned way)
{
	const struct carve_page_link link = { .page = number - 1,
		.other = other - 1,
		.bits = bits,
		.first_bits = first_bits,
		.way = way };

	if (bits || first_bits)
		adding->add(adding->context, &link);
}

static unsigned less(unsigned bits, unsigned by)
{
	return bits > by ? bits - by : 0;
}

/* A page of a table's rows, by what its parent says of them. */
static void link_to_parent(const struct adding *adding, uint32_t number)
{
	const struct facts *facts = &adding->db->facts[number], *before = facts - 1;
	const struct tree *tree = &adding->db->trees[facts->tree];
	unsigned place, bits = 0, slack;
	const struct row *rows;

	if (!facts->cells || !tree->row_count || !adding->db->has_all_rows)
		return;
	rows = adding->db->rows + tree->first_row;
	place = less(log_of((uint64_t)rows[tree->row_count - 1].number - (uint64_t)rows[0].number),
		PLACE_SLACK);
	if (facts->has_low && facts->has_high) {
		slack = log_of((uint64_t)facts->high - (uint64_t)facts->low - span_of(facts));
		place = less(place, slack);
		bits = less(facts->span_bits, slack);
	} else if (facts->has_low) {
		place = less(place, log_of((uint64_t)facts->first - (uint64_t)facts->low));
	} else {
		place = 0;
		if (facts->has_high && facts->high == facts->last)
			bits = facts->span_bits;
	}
	if (before->kind == facts->kind && before->tree == facts->tree && before->has_high &&
		facts->has_low && before->high == facts->low)
		add_link(adding, number, facts->parent, bits, place, 0);
	else
		add_link(adding, number, facts->parent, bits + place, 0, 0);
}

/* Where a table has this row, among all of its; row_count: nowhere. */
static size_t rank_of(const struct database *db, const struct tree *table, int64_t number)
{
	const struct row *rows = db->rows + table->first_row;
	size_t low = 0, high = table->row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->row_count && rows[low].number == number ? low : table->row_count;
}

static int compare_pages(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->page != right->page)
		return left->page < right->page ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* The bits of an entry's value, if its row has that. */
static unsigned value_bits(const struct database *db, const struct row *entry)
{
	if (!entry->value || !has_hash(&db->values, entry->value))
		return 0;
	return entry->value & 1 ? INTEGER_BITS : VALUE_BITS;
}

/* The entries of one page of an index, in order of their rows: each sequence of them could have begun elsewhere. */
static void link_entries(const struct adding *adding, const struct tree *table,
	const struct row *entries, size_t count)
{
	const struct database *db = adding->db;
	const struct row *rows = db->rows + table->first_row;
	size_t sequences = 0, before = table->row_count;
	uint64_t bits;

	for (size_t i = 0; i < count; i++) {
		size_t rank = rank_of(db, table, entries[i].number);

		if (rank == table->row_count)
			return;
		sequences += rank != before + 1;
		before = rank;
	}
	bits = sequences *
	       (uint64_t)less(log_of(table->row_count), log_of(sequences) + 2 * LOG_BIT);
	for (size_t i = 0, next; i < count; i = next) {
		uint32_t page = rows[rank_of(db, table, entries[i].number)].page;
		uint64_t own = 0, all;

		for (next = i;
			next < count && rows[rank_of(db, table, entries[next].number)].page == page;
			next++)
			own += value_bits(db, &entries[next]);
		all = bits * (next - i) / count + own;
		add_link(adding, entries[0].page, page,
			(unsigned)(all > INDEX_BITS_MAX ? INDEX_BITS_MAX : all), 0, 1);
	}
}

static void link_index(const struct adding *adding, const struct tree *index)
{
	const struct database *db = adding->db;
	const struct tree *table = &db->trees[table_of(db, index)];
	struct row *entries = calloc(index->row_count, sizeof(*entries));

	if (!entries)
		return; /* which only loses links */
	memcpy(entries, db->rows + index->first_row, index->row_count * sizeof(*entries));
	qsort(entries, index->row_count, sizeof(*entries), compare_pages);
	for (size_t i = 0, next; i < index->row_count; i = next) {
		for (next = i + 1;
			next < index->row_count && entries[next].page == entries[i].page;)
			next++;
		link_entries(adding, table, entries + i, next - i);
	}
	free(entries);
}

static void links(const void *pages, void (*add)(void *context, const struct carve_page_link *link),
	void *context)
{
	const struct database *db = pages;
	const struct adding adding = { db, add, context };
	unsigned number_bits = log_of(db->count);

	for (uint32_t i = 2; i <= db->count; i++) {
		const struct facts *facts = &db->facts[i];

		if ((facts->kind == LEAF_TABLE || facts->kind == INNER_TABLE) && facts->parent)
			link_to_parent(&adding, i);
		else if (facts->kind == KIND_OVERFLOW)
			add_link(&adding, i, facts->parent, number_bits, 0, 0);
		else if (facts->kind == KIND_TRUNK)
			add_link(&adding, i, facts->parent,
				number_bits * (facts->cells < 4 ? facts->cells : 4), 0, 0);
	}
	for (uint32_t i = 1; i < db->tree_count; i++)
		if (db->trees[i].is_index && db->trees[i].is_exact)
			link_index(&adding, &db->trees[i]);
}

/* ---- other bytes --------------------------------------------------------------------------- */

static bool is_tree(const struct facts *facts)
{
	return facts->kind && facts->kind <= LEAF_TABLE;
}

static bool may_be_tree(const struct database *db, uint32_t number, const uint8_t *bytes)
{
	const struct facts *facts = &db->facts[number];
	const struct tree *tree = &db->trees[facts->tree];
	struct sqlite_page page = page_of(db, number, bytes);
	struct content content = { .cells = 0 };
	struct sqlite_bounds bounds;
	bool is_inner = facts->kind == INNER_TABLE || facts->kind == INNER_INDEX;

	page.child = add_child_to_content;
	page.cell = add_to_content;
	page.context = &content;
	if (bytes[page.header] != facts->kind || sqlite_check_btree(&page, &bounds))
		return false;
	if (number == 1 && memcmp(bytes, "SQLite format 3", 16) != 0)
		return false;
	if (is_inner && content.children != facts->children)
		return false;
	if (tree->is_exact && !is_inner && !content.is_unknown && content.rows != facts->rows)
		return false;
	if (are_unusual(&db->seen, &content.seen, db->is_utf8))
		return false;
	return (!bounds.has_low || !facts->has_low || bounds.low > facts->low) &&
	       (!bounds.has_high || !facts->has_high || bounds.high <= facts->high);
}

static bool may_be(const void *pages, uint32_t page, const uint8_t *bytes)
{
	const struct database *db = pages;
	const struct facts *facts;

	if (page >= db->count)
		return true;
	facts = &db->facts[page + 1];
	if (!bytes)
		return !is_tree(facts) && facts->kind != KIND_OVERFLOW && facts->kind != KIND_TRUNK;
	if (is_tree(facts))
		return may_be_tree(db, page + 1, bytes);
	if (facts->kind == KIND_TRUNK)
		return be32(bytes) == facts->next && be32(bytes + 4) == facts->cells &&
		       sum_of_leaves(db, bytes) == facts->children;
	return (facts->kind != KIND_OVERFLOW && facts->kind != KIND_OVERFLOW_END) ||
	       be32(bytes) == facts->next;
}

static unsigned inner_bits(
	const void *pages, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to)
{
	const struct database *db = pages;
	uint32_t header = page ? 0 : SQLITE_HEADER_LEN, begin, count, bits = 0;

	if (page >= db->count || !is_tree(&db->facts[page + 1]))
		return 0;
	begin = header + (bytes[header] < LEAF_INDEX ? 12 : 8);
	count = be16(bytes + header + 3);
	for (uint32_t i = 0;
		i < count && begin + 2 * i + 2 <= from && begin + 2 * i + 2 <= db->page_len; i++) {
		uint32_t at = be16(bytes + begin + 2 * i);

		bits += at >= from && at < to ? NUMBER_BITS : 0;
	}
	return bits;
}

/* Whether it would do as page 1, as its header differs in counts of changes alone. */
static bool may_be_first(const struct database *db, const uint8_t *bytes)
{
	return !memcmp(bytes, db->header, COUNTS_AT) &&
	       be32(bytes + SIZE_AT) == be32(db->header + SIZE_AT) &&
	       hash_schema(db, bytes) == db->schema;
}

static enum carve_kin kin(const void *pages, const uint8_t *bytes)
{
	const struct database *db = pages;
	struct sqlite_page page = page_of(db, 2, bytes);
	struct content content = { .db = db };
	struct sqlite_bounds bounds;
	bool is_same, is_same_form;

	if (may_be_first(db, bytes))
		return has_hash(&db->pages, page_hash(bytes, db->page_len, 0)) ? CARVE_COPY
									       : CARVE_VERSION;
	page.cell = add_to_content;
	page.context = &content;
	if (!sqlite_is_btree(&page) || sqlite_check_btree(&page, &bounds))
		return CARVE_NO_KIN;
	is_same_form = content.same_forms && 2 * content.same_forms >= content.cells &&
		       (content.same_forms >= FORMS_MIN || content.same_forms == content.cells);
	/* Two databases may have the same text at the same row. */
	is_same = content.same_cells && (bounds.is_table || content.same_cells >= FORMS_MIN ||
						content.same_cells == content.cells);
	if (!is_same && !is_same_form)
		return CARVE_NO_KIN;
	return has_hash(&db->pages, page_hash(bytes, db->page_len, 0)) ? CARVE_COPY : CARVE_VERSION;
}

const struct carve_pages sqlite_pages = { begin, links, may_be, inner_bits, kin, end };
