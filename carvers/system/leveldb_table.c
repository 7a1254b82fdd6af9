/*
 * LevelDB's tables (.ldb, .sst), in which Chrome and programs built on it keep what their logs had before: local and
 * session storage, IndexedDB (LevelDB's doc/table_format.md).
 *
 *	file:  blocks of data, a block of filters, their description, the index, 48 bytes at the end
 *	block: entries, or what Snappy made of them; kind (0: as they are, 1: Snappy), CRC-32C of both (4, masked)
 *	entry: bytes of the key shared with the one before, other bytes of the key, bytes of the value, these and those
 *	index: entries whose values are the place and length of each block of data; then places of entries (4 each), their
 *	       number (4)
 *	end:   place and length of the description of filters, and of the index; zeros; 57 FB 80 8B 24 75 47 DB
 *
 * Numbers have 7 bits a byte, the lowest first. A key ends with a kind (0, 1) and a sequence (7). No header begins a
 * table but its first key. Its end is found by the bytes there, and fits if the index is right before it: then the CRCs
 * of the index and of all blocks, which lead from the first byte to the filters, prove the file.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "leveldb_block.h"
#include "walk.h"

#define END_LEN 48
#define MARK "\x57\xfb\x80\x8b\x24\x75\x47\xdb"
#define MARK_WORD "\x57\xfb\x80\x8b"
#define MARK_AT 40
#define SEARCH_MAX (UINT64_C(64) << 20)
#define INDEX_MAX ((size_t)16 << 20)
#define FIRST_LEN 256
#define SUFFIX_LEN 8 /* of a key: kind and sequence */

struct table {
	struct view *view;
	uint64_t end; /* of the file */
	struct leveldb_handle filters, index;
};

/* Where the first entry begins in the bytes [p, stop), and (*literal) how many of its bytes Snappy left as they are.
 * NULL: not there. */
static const uint8_t *first_entry(const uint8_t *p, const uint8_t *stop, size_t *literal)
{
	uint64_t number;

	*literal = (size_t)(stop - p);
	if (*p == 0)
		return p;
	if (!leveldb_number(&p, stop, &number) || stop - p < 3 || (*p & 3) != 0 || *p >> 2 > 61)
		return NULL;
	*literal = (*p >> 2 == 61 ? le16(p + 1) : *p >> 2 == 60 ? p[1] : *p >> 2) + 1u;
	p += *p >> 2 < 60 ? 1 : (*p >> 2) - 58;
	return p;
}

/* Whether the file may start with an entry: it shares nothing, and its key ends as all do. */
static bool starts_well(struct view *view)
{
	const uint8_t *first = view_peek(view, 0, FIRST_LEN),
		      *stop = first ? first + FIRST_LEN : NULL;
	size_t literal = 0;
	const uint8_t *start = first ? first_entry(first, stop, &literal) : NULL, *p = start;
	uint64_t shared, key_len, value_len;

	if (!p || !leveldb_number(&p, stop, &shared) || shared ||
		!leveldb_number(&p, stop, &key_len) || !leveldb_number(&p, stop, &value_len) ||
		key_len < SUFFIX_LEN || value_len > SEARCH_MAX)
		return false;
	if (key_len > (size_t)(stop - p) || (size_t)(p - start) + key_len > literal)
		return true; /* too long to tell */
	p += key_len - SUFFIX_LEN;
	return p[0] <= 1 && !p[SUFFIX_LEN - 1];
}

/* Reads what the 48 bytes at `at` say, if they end a table. */
static bool read_end(struct table *table, uint64_t at)
{
	const uint8_t *p = view_peek(table->view, at, END_LEN), *stop = p ? p + MARK_AT : NULL;
	const struct leveldb_handle *filters = &table->filters, *index = &table->index;

	if (!p || memcmp(p + MARK_AT, MARK, 8) != 0 ||
		!leveldb_handle_read(&p, stop, &table->filters) ||
		!leveldb_handle_read(&p, stop, &table->index))
		return false;
	for (; p < stop; p++)
		if (*p)
			return false;
	table->end = at + END_LEN;
	return index->len < at && filters->at < index->at && filters->len < index->at &&
	       filters->at + filters->len + LEVELDB_TAIL_LEN == index->at;
}

/* Whether the table whose end was read starts at 0. */
static bool starts_here(const struct table *table, uint64_t at)
{
	const struct leveldb_handle *index = &table->index;

	return index->at < at && index->at + index->len + LEVELDB_TAIL_LEN == at;
}

/* Whether it starts before 0: what looks like its start is in one of its blocks. The index's CRC proves it, unless that block is
 * the index. */
static bool starts_before(const struct table *table, uint64_t at)
{
	uint64_t len = table->index.len + LEVELDB_TAIL_LEN;
	const struct leveldb_handle index = { at - len, table->index.len };

	if (table->index.len > INDEX_MAX)
		return false;
	return len > at ||
	       (table->index.at > index.at && leveldb_block_is_valid(table->view, &index));
}

/* Returns NULL, or why there is none. */
static const char *find_end(struct table *table)
{
	uint64_t size = view_size(table->view), at = MARK_AT, end;

	while (walk_find_word(table->view, &at, size < SEARCH_MAX ? size : SEARCH_MAX, MARK_WORD)) {
		end = at++ - MARK_AT;
		if (!read_end(table, end))
			continue;
		if (starts_here(table, end))
			return NULL;
		if (starts_before(table, end))
			return "0 is inside a table that starts before it";
	}
	return "no table starts at 0 and ends";
}

/* Reads the handle in the index's next entry, of [*p, stop). */
static bool next_block(const uint8_t **p, const uint8_t *stop, struct leveldb_handle *block)
{
	uint64_t shared, key_len, value_len;
	const uint8_t *end;

	if (!leveldb_number(p, stop, &shared) || !leveldb_number(p, stop, &key_len) ||
		!leveldb_number(p, stop, &value_len) || key_len > (size_t)(stop - *p) ||
		value_len > (size_t)(stop - *p) - key_len)
		return false;
	*p += key_len;
	end = *p + value_len;
	return leveldb_handle_read(p, end, block) && *p == end;
}

static enum verdict check_blocks(
	struct table *table, const uint8_t *p, size_t len, struct finding *finding)
{
	uint32_t restarts = len >= 4 ? le32(p + len - 4) : 0;
	struct leveldb_handle block;
	const uint8_t *stop;
	uint64_t next = 0;

	if (!restarts || restarts > (len - 4) / 4)
		return verdict_because(CARVE_REJECT, finding, "no entries in the index at %" PRIu64,
			table->index.at);
	for (stop = p + len - 4 - 4 * (size_t)restarts; p < stop;
		next += block.len + LEVELDB_TAIL_LEN) {
		if (!next_block(&p, stop, &block) || block.at != next ||
			block.len > table->filters.at ||
			block.len + LEVELDB_TAIL_LEN > table->filters.at - next)
			return verdict_because(CARVE_REJECT, finding,
				"no block in the index at %" PRIu64 " for %" PRIu64,
				table->index.at, next);
		if (!leveldb_block_is_valid(table->view, &block)) {
			finding->length = next;
			return verdict_because(next ? CARVE_TRUNCATED : CARVE_REJECT, finding,
				"wrong CRC of the block at %" PRIu64, next);
		}
		view_proved(table->view, next, next + block.len + LEVELDB_TAIL_LEN, 32);
	}
	if (!next)
		return verdict_because(
			CARVE_REJECT, finding, "no block before %" PRIu64, table->filters.at);
	finding->length = table->end;
	if (!leveldb_block_is_valid(table->view, &table->filters))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"wrong CRC of the block at %" PRIu64, table->filters.at);
	view_unverified(table->view, next, table->filters.at); /* filters */
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct table table = { .view = view };
	const char *problem = "no table starts at 0";
	enum verdict verdict;
	uint8_t *index;
	size_t len;

	if (starts_well(view))
		problem = find_end(&table);
	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	if (table.index.len > INDEX_MAX || !leveldb_block_is_valid(view, &table.index))
		return verdict_because(CARVE_REJECT, finding, "wrong CRC of the index at %" PRIu64,
			table.index.at);
	index = leveldb_block_read(view, &table.index, INDEX_MAX, &len);
	if (!index)
		return verdict_because(
			CARVE_REJECT, finding, "no index at %" PRIu64, table.index.at);
	verdict = check_blocks(&table, index, len, finding);
	free(index);
	return verdict;
}

const struct carver leveldb_table_carver = {
	.name = "leveldb_table",
	.summary = "LevelDB's tables, by their index and CRCs",
	.check = check,
};
