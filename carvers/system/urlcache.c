/*
 * Internet Explorer's index.dat (libyal's documentation of the MSIE cache file format).
 *
 *	file:   header, bitmap of blocks up to offset 16,384, blocks of 128 bytes
 *	header: 'Client UrlCache MMF Ver 5.2' (or 4.7), 0, file size, offset of the first hash
 *		table, number of blocks, blocks in use
 *	record: signature ('HASH', 'URL ', 'REDR', 'LEAK'), number of blocks, ...
 *
 * The size has to match the number of blocks. The chain of hash tables is walked, and the entries
 * in use have to lead to a record that lies in the file; the number of bits in the map has to be
 * the number of blocks in use. All other blocks are unused; random bytes in them show that the file
 * was overwritten.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "slack.h"
#include "walk.h"

#define BLOCK_LEN 128
#define MAP_AT 592
#define BLOCKS_AT 16384
#define TABLES_MAX 4096

struct url_index {
	struct view *view;
	uint64_t size;
	uint64_t valid_end; /* after the last record found */
	uint32_t table, block_count, used_count;
	const char *problem;
	uint64_t problem_at;
};

static const char *read_header(struct url_index *index)
{
	const uint8_t *p = view_peek(index->view, 0, 48);

	if (!p || memcmp(p, "Client UrlCache MMF Ver ", 24) != 0 || p[27] != 0)
		return "no header";
	index->size = le32(p + 28);
	index->table = le32(p + 32);
	index->block_count = le32(p + 36);
	index->used_count = le32(p + 40);
	if (index->size < BLOCKS_AT || index->used_count > index->block_count ||
		index->size != BLOCKS_AT + (uint64_t)index->block_count * BLOCK_LEN ||
		index->table >= index->size)
		return "sizes that do not agree";
	return NULL;
}

/* The length of the record at `at`, 0 when there is none. */
static uint64_t record_len(struct url_index *index, uint64_t at)
{
	static const char kinds[][5] = { "HASH", "URL ", "REDR", "LEAK" };
	const uint8_t *p = view_peek(index->view, at, 8);
	uint64_t len = p ? (uint64_t)le32(p + 4) * BLOCK_LEN : 0;

	if (!p || at < BLOCKS_AT || at % BLOCK_LEN || len == 0 || len > index->size - at)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (memcmp(p, kinds[i], 4) == 0)
			return len;
	return 0;
}

static bool index_failed(struct url_index *index, const char *problem, uint64_t at)
{
	index->problem = problem;
	index->problem_at = at;
	return false;
}

/* Whether the block at `at` is in use according to the map. */
static bool block_in_use(struct url_index *index, uint64_t at)
{
	uint64_t block = (at - BLOCKS_AT) / BLOCK_LEN;
	const uint8_t *p = block / 8 < BLOCKS_AT - MAP_AT
				   ? view_peek(index->view, MAP_AT + block / 8, 1)
				   : NULL;

	return p && *p >> (block % 8) & 1;
}

/* The entries of a table (hash with flags, offset of a record) in [at, end). */
static bool check_entries(struct url_index *index, uint64_t at, uint64_t end)
{
	for (; at < end; at += 8) {
		const uint8_t *p = view_peek(index->view, at, 8);
		uint32_t hash = p ? le32(p) : 0, record = p ? le32(p + 4) : 0;
		uint64_t len;

		if (!p)
			return index_failed(index, "entries that are cut off", at);
		/* Marked as unused, or never used. */
		if (hash & 1 || hash == record || record < BLOCKS_AT || record % BLOCK_LEN ||
			record >= index->size || !block_in_use(index, record))
			continue;
		len = record_len(index, record);
		if (!len)
			return index_failed(index, "an entry that does not lead to a record", at);
		if (record + len > index->valid_end)
			index->valid_end = record + len;
	}
	return true;
}

/* Walks the chain of hash tables. */
static bool walk_tables(struct url_index *index)
{
	uint64_t at = index->table;

	for (int i = 0; at && i < TABLES_MAX; i++) {
		const uint8_t *p = view_peek(index->view, at, 16);
		uint64_t len = record_len(index, at), next;

		if (!p || !len || len < 16)
			return index_failed(index, "no hash table", at);
		p = view_peek(index->view, at, 16);
		if (!p || memcmp(p, "HASH", 4) != 0)
			return index_failed(index, "no hash table", at);
		next = le32(p + 8);
		if (at + len > index->valid_end)
			index->valid_end = at + len;
		if (!check_entries(index, at + 16, at + len))
			return false;
		if (next && (next <= at || next >= index->size))
			return index_failed(index, "a hash table with an impossible next one", at);
		at = next;
	}
	return true;
}

/* Counts the bits set in the map. */
static bool check_map(struct url_index *index)
{
	uint32_t len = (index->block_count + 7) / 8, count = 0;
	const uint8_t *p;

	if (len > BLOCKS_AT - MAP_AT)
		len = BLOCKS_AT - MAP_AT;
	p = view_peek(index->view, MAP_AT, len ? len : 1);
	for (uint32_t i = 0; p && i < len; i++)
		count += (uint32_t)__builtin_popcount(p[i]);
	return (p && count == index->used_count) ||
	       index_failed(index, "a map with a different number of blocks in use", MAP_AT);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct url_index index = { .view = view, .valid_end = BLOCKS_AT };
	const char *problem = read_header(&index);
	uint64_t noise;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	if (!check_map(&index))
		return verdict_because(CARVE_REJECT, finding, "%s", index.problem);
	if (index.table && !walk_tables(&index)) {
		if (index.size > view_size(view))
			return walk_cut(view, finding, index.size,
				view_ends_with_image(view) ? view_size(view) : index.valid_end);
		finding->length = index.valid_end < index.size ? index.valid_end : index.size;
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, index.problem,
			index.problem_at);
	}
	if (index.size > view_size(view))
		return walk_cut(view, finding, index.size,
			view_ends_with_image(view) ? view_size(view) : index.valid_end);
	noise = slack_noise(view, index.valid_end, index.size);
	finding->length = noise;
	if (noise < index.size)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes in unused blocks, at %" PRIu64, noise);
	if (!index.table)
		return verdict_because(CARVE_UNVERIFIED, finding, "no hash table");
	return CARVE_COMPLETE;
}

const struct carver urlcache_carver = {
	.name = "urlcache",
	.summary = "Internet Explorer's index.dat, by its hash tables",
	.check = check,
};
