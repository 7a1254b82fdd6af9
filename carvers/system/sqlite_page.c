/*
 * One page of an SQLite b-tree (sqlite.org/fileformat2.html, 1.6).
 *
 *	[100 bytes of the file's header, on page 1] header, cell pointers, gap, cell content,
 *	reserved
 *
 * The header (8 bytes, in inner pages 12) has the type, the first free block, the number of cells,
 * the start of the content, and how many bytes in it are lost in fragments of 1 to 3 bytes. SQLite
 * keeps exact accounts: cells, free blocks and fragments together fill the content area. This is
 * checked, so that a page whose end was overwritten is not accepted.
 */
#include "sqlite.h"

#include <stdlib.h>

#include "bytes.h"

#define CELLS_MAX 4096 /* of a page of which a part is valid */

enum { INNER_INDEX = 2, INNER_TABLE = 5, LEAF_INDEX = 10, LEAF_TABLE = 13 };

uint32_t sqlite_page_len(uint32_t field)
{
	uint32_t len = field == 1 ? 65536 : field;

	return len >= 512 && len <= 65536 && (len & (len - 1)) == 0 ? len : 0;
}

uint32_t sqlite_varint(const uint8_t *p, uint32_t len, uint64_t *value)
{
	*value = 0;
	for (uint32_t i = 0; i < len && i < 9; i++) {
		if (i == 8) {
			*value = *value << 8 | p[i];
			return 9;
		}
		*value = *value << 7 | (p[i] & 0x7f);
		if (p[i] < 0x80)
			return i + 1;
	}
	return 0;
}

bool sqlite_is_btree(const struct sqlite_page *page)
{
	uint8_t kind = page->bytes[page->header];

	return kind == INNER_INDEX || kind == INNER_TABLE || kind == LEAF_INDEX ||
	       kind == LEAF_TABLE;
}

/* How many bytes of a payload are on the page itself (1.6, "Cell payload overflow pages"). */
static uint32_t local_len(const struct sqlite_page *page, bool table, uint64_t payload)
{
	uint32_t usable = page->usable_len, min_len = (usable - 12) * 32 / 255 - 23;
	uint32_t max_len = table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
	uint64_t partial;

	if (payload <= max_len)
		return (uint32_t)payload;
	partial = min_len + (payload - min_len) % (usable - 4);
	return partial <= max_len ? (uint32_t)partial : min_len;
}

static __attribute__((noinline)) void tell_cell(const struct sqlite_page *page,
	const uint8_t *payload, uint32_t local, uint64_t len, bool is_table, const uint64_t *row)
{
	uint32_t left = (uint32_t)(page->bytes + page->usable_len - payload) - local;
	const struct sqlite_cell cell = { .payload = payload,
		.local = local,
		.len = len,
		.overflow = local < len && left >= 4 ? be32(payload + local) : 0,
		.row = (int64_t)*row,
		.is_table = is_table };

	page->cell(page->context, &cell);
}

/* The length of the cell at `at`, 0 when it is invalid. *key: a table's row number. */
static uint32_t cell_len(const struct sqlite_page *page, uint8_t kind, uint32_t at, uint64_t *key)
{
	const uint8_t *p = page->bytes + at;
	uint32_t left = page->usable_len - at, taken = 0, step, local;
	bool table = kind == INNER_TABLE || kind == LEAF_TABLE;
	uint64_t payload;

	if (kind == INNER_TABLE || kind == INNER_INDEX) {
		if (left < 4 || !page->refer(page->context, be32(p), true))
			return 0;
		taken = 4;
	}
	if (kind == INNER_TABLE) {
		step = sqlite_varint(p + taken, left - taken, key);
		return step ? taken + step : 0;
	}
	step = sqlite_varint(p + taken, left - taken, &payload);
	if (!step || payload > INT32_MAX)
		return 0;
	taken += step;
	if (table) {
		step = sqlite_varint(p + taken, left - taken, key);
		if (!step)
			return 0;
		taken += step;
	}
	local = local_len(page, table, payload);
	if (local > left - taken)
		return 0;
	if (page->cell)
		tell_cell(page, p + taken, local, payload, table, key);
	taken += local;
	if (local < payload) {
		if (left - taken < 4 || !page->refer(page->context, be32(p + taken), false))
			return 0;
		taken += 4;
	}
	/* So that it can become a free block. */
	return taken < 4 ? 4 : taken;
}

/* Adds up the chain of free blocks, whose offsets rise: false when it is invalid. */
static bool free_len(const struct sqlite_page *page, uint32_t start, uint32_t *sum)
{
	uint32_t at = be16(page->bytes + page->header + 1);

	while (at) {
		uint32_t next, len;

		if (at < start || at > page->usable_len - 4)
			return false;
		next = be16(page->bytes + at);
		len = be16(page->bytes + at + 2);
		if (len < 4 || len > page->usable_len - at || (next && next < at + len))
			return false;
		*sum += len;
		at = next;
	}
	return true;
}

/* A child's rows are between those of the cells around it. */
static bool tell_child(const struct sqlite_page *page, uint32_t child, bool is_table,
	const struct sqlite_bounds *cells, const uint64_t *key)
{
	const struct sqlite_bounds bounds = { .is_table = is_table,
		.has_low = cells->has_high,
		.low = cells->high,
		.has_high = key != NULL,
		.high = key ? (int64_t)*key : 0 };

	return !page->child || page->child(page->context, child, &bounds);
}

/* Adds a cell's row number. False: it does not rise. */
static bool add_row(struct sqlite_bounds *bounds, uint64_t key)
{
	if (bounds->has_high && (int64_t)key <= bounds->high)
		return false;
	if (!bounds->has_low)
		bounds->low = (int64_t)key;
	bounds->high = (int64_t)key;
	bounds->has_low = bounds->has_high = true;
	return true;
}

const char *sqlite_check_btree(const struct sqlite_page *page, struct sqlite_bounds *bounds)
{
	const uint8_t *p = page->bytes + page->header;
	uint8_t kind = p[0];
	bool inner = kind == INNER_TABLE || kind == INNER_INDEX;
	bool is_table = kind == INNER_TABLE || kind == LEAF_TABLE;
	uint32_t pointers = page->header + (inner ? 12 : 8), count = be16(p + 3);
	uint32_t start = be16(p + 5), sum = p[7];

	*bounds = (struct sqlite_bounds){ .is_table = is_table };
	if (start == 0)
		start = 65536;
	if (start > page->usable_len || start < pointers || count > (start - pointers) / 2)
		return "more cells than there is room for";
	if (!free_len(page, start, &sum))
		return "impossible free blocks";
	for (uint32_t i = 0; i < count && sum <= page->usable_len; i++) {
		uint32_t at = be16(page->bytes + pointers + 2 * i), len;
		uint64_t key = 0;

		if (at < start || at > page->usable_len - 4)
			return "a cell outside the content";
		len = cell_len(page, kind, at, &key);
		if (!len || len > page->usable_len - at)
			return "an impossible cell";
		if (inner && !tell_child(page, be32(page->bytes + at), is_table, bounds,
				     is_table ? &key : NULL))
			return "a child with other rows";
		if (is_table && !add_row(bounds, key))
			return "row numbers that do not rise";
		sum += len;
	}
	if (sum != page->usable_len - start)
		return "cells and free blocks that do not fill it";
	if (inner && !page->refer(page->context, be32(p + 8), true))
		return "an impossible last child";
	if (inner && !tell_child(page, be32(p + 8), is_table, bounds, NULL))
		return "a last child with other rows";
	return NULL;
}

static int compare_offsets(const void *a, const void *b)
{
	const uint16_t *left = a, *right = b;

	return *left - *right;
}

uint32_t sqlite_valid_part(const struct sqlite_page *page)
{
	const uint8_t *p = page->bytes + page->header;
	bool inner = p[0] == INNER_TABLE || p[0] == INNER_INDEX;
	uint32_t pointers = page->header + (inner ? 12 : 8), count = be16(p + 3), good = 0;
	uint32_t start = be16(p + 5) ? be16(p + 5) : 65536;
	uint16_t offsets[CELLS_MAX];

	if (!sqlite_is_btree(page) || count > CELLS_MAX || start > page->usable_len ||
		start < pointers || count > (start - pointers) / 2)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		offsets[i] = be16(page->bytes + pointers + 2 * i);
		if (offsets[i] < start || offsets[i] > page->usable_len - 4)
			return 0;
	}
	qsort(offsets, count, sizeof(*offsets), compare_offsets);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t end = i + 1 < count ? offsets[i + 1] : page->usable_len, len;
		uint64_t key = 0;

		len = cell_len(page, p[0], offsets[i], &key);
		if (!len || len > end - offsets[i])
			return good;
		good = offsets[i];
	}
	return 0;
}
