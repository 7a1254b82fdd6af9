/*
 * A table has a head of 24 bytes (the number of entries at 0, the base of their offsets at 8, a
 * checksum at 20), entries of four bytes and a checksum of these. "table2" after it is a copy. An
 * entry is the offset of a chunk in 31 bits; bit 31 marks a compressed chunk. A chunk ends at the
 * next entry or, for the last one, with the section "sectors" before the table. EnCase 6.7 wrote
 * tables whose offsets exceed 31 bits: from the first offset that would be smaller than the one
 * before, all 32 bits are the offset.
 *
 * SMART, and the first EnCase, have the chunks after the entries in the table's own section, and
 * neither "sectors" nor "table2" nor a checksum of the entries.
 *
 * All tables are read once when the set is opened, since an examiner must learn of a damaged one
 * before the run. Of the two copies the one with valid checksums is used. If neither is valid the
 * table is suspect: its chunks are read more strictly (e01_chunks.c), since each has a checksum of
 * its own.
 *
 * A table does not say which chunks of the medium it lists, only how many: the number of a chunk is
 * the sum of those before. After a missing segment numbers are counted from the medium's end, if
 * that exists; what is between two gaps has no known place.
 */
#include "evidence/e01_tables.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"
#include "evidence/e01_rebuild.h"

#define HEAD_LEN 24
#define HEAD_SUM_AT 20
#define BASE_AT 8
#define ENTRY_LEN 4
#define BUFFER_LEN 65536 /* bytes of entries read at once */

/* Checks the entries' checksum, and finds where offsets begin to have 32 bits. */
static void check_entries(int fd, struct e01_copy *copy)
{
	uint8_t *bytes = xmalloc(BUFFER_LEN), sum_bytes[ENTRY_LEN];
	uint64_t at = copy->entries_at, left = (uint64_t)copy->count * ENTRY_LEN;
	uint32_t sum = 1, before = 0, index = 0;

	copy->overflow = copy->count;
	while (left) {
		size_t len = left < BUFFER_LEN ? (size_t)left : BUFFER_LEN;

		if (file_read_all_at(fd, bytes, len, at))
			break;
		sum = libdeflate_adler32(sum, bytes, len);
		for (size_t i = 0; i < len && copy->overflow == copy->count; i += 4, index++) {
			uint32_t entry = endian_u32(bytes + i), offset = entry & INT32_MAX;

			if (offset < before && entry > before)
				copy->overflow = index;
			before = offset;
		}
		at += len;
		left -= len;
	}
	copy->sum_valid = !left && !file_read_all_at(fd, sum_bytes, sizeof(sum_bytes), at) &&
			  endian_u32(sum_bytes) == sum;
	if (!copy->sum_valid)
		copy->overflow = copy->count;
	free(bytes);
}

/* How many entries, with the checksum after them, fit into the section. */
static uint32_t room_for(const struct e01_section *section)
{
	uint64_t heads = E01_SECTION_HEAD_LEN + HEAD_LEN + ENTRY_LEN;
	uint64_t room = section->len < heads ? 0 : (section->len - heads) / ENTRY_LEN;

	return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX - 1;
}

static struct e01_copy read_copy(int fd, const struct e01_section *section)
{
	struct e01_copy copy = { .section = *section, .exists = true };
	uint64_t at = section->offset + E01_SECTION_HEAD_LEN;
	uint32_t room = room_for(section);
	uint8_t head[HEAD_LEN];

	copy.entries_at = at + HEAD_LEN;
	copy.head_valid = room && !file_read_all_at(fd, head, sizeof(head), at) &&
			  e01_sum_holds(head, HEAD_SUM_AT) && endian_u32(head) <= room;
	if (copy.head_valid) {
		copy.count = endian_u32(head);
		copy.base = endian_u64(head + BASE_AT);
		copy.head_valid = copy.base <= INT64_MAX;
	}
	if (!copy.head_valid)
		copy.count = room;
	check_entries(fd, &copy);
	return copy;
}

/* Without a valid head: offsets count from the file's start or from the section of the chunks. */
static uint64_t guess_base(int fd, const struct e01_copy *copy, uint64_t data_start)
{
	uint8_t entry[ENTRY_LEN];

	if (file_read_all_at(fd, entry, sizeof(entry), copy->entries_at) ||
		(endian_u32(entry) & INT32_MAX) >= data_start)
		return 0;
	return data_start;
}

static void add_table(struct e01_set *set, const struct e01_table *table)
{
	set->tables =
		xgrow(set->tables, &set->table_capacity, set->table_count, sizeof(*set->tables));
	set->tables[set->table_count++] = *table;
}

static void complete_table(struct e01_collector *collector)
{
	struct e01_set *set = collector->set;
	int fd = set->segments[collector->segment].fd;
	struct e01_copy *copies = collector->copies, *best = &copies[0], *other = &copies[1];
	const struct e01_section *sectors = &collector->sectors;
	struct e01_table table = { .segment = collector->segment, .after_gap = collector->gap };

	if (2 * other->head_valid + other->sum_valid + other->exists >
		2 * best->head_valid + best->sum_valid + best->exists) {
		best = &copies[1];
		other = &copies[0];
	}
	table.data_start = *sectors->type ? sectors->offset : 0;
	table.data_end = *sectors->type ? sectors->offset + sectors->len : best->section.offset;
	table.end_known = *sectors->type && !collector->smart;
	table.count = best->count;
	table.overflow = best->overflow;
	table.base = best->head_valid ? best->base : guess_base(fd, best, table.data_start);
	if (collector->smart) {
		table.data_start = best->section.offset;
		table.data_end = best->section.offset + best->section.len;
		table.count = best->head_valid ? best->count : 0;
	}
	table.entries_at[0] = best->entries_at;
	table.suspect = !best->head_valid || !best->sum_valid;
	if (table.suspect && other->exists && other->count == best->count)
		table.entries_at[1] = other->entries_at;
	collector->suspects += table.suspect && !collector->smart;
	collector->spare +=
		!table.suspect && other->exists && !(other->head_valid && other->sum_valid);
	collector->gap = table.count == 0;
	memset(copies, 0, sizeof(collector->copies));
	collector->has_table |= table.count != 0;
	if (table.count)
		add_table(set, &table);
}

/* The last section of chunks has no table: it was lost. */
static void rebuild_table(struct e01_collector *collector)
{
	struct e01_set *set = collector->set;
	const struct e01_section *sectors = &collector->sectors;
	uint64_t from = sectors->offset + E01_SECTION_HEAD_LEN;
	uint64_t end = sectors->offset + sectors->len;
	struct e01_table table = { .segment = collector->segment };

	if (!*sectors->type || collector->has_table || !collector->chunk_len)
		return;
	do {
		table.after_gap = collector->gap;
		table.base = table.data_start = from;
		table.count = table.overflow = e01_rebuild(set->segments[table.segment].fd, from,
			end, collector->chunk_len, &table.entries, &from);
		table.data_end = from;
		collector->rebuilt += table.count;
		collector->gap = false;
		if (table.count)
			add_table(set, &table);
	} while (table.count && from < end);
	collector->gap = true;
}

void e01_collect_end(struct e01_collector *collector)
{
	if (collector->copies[0].exists || collector->copies[1].exists)
		complete_table(collector);
	rebuild_table(collector);
	collector->sectors = (struct e01_section){ 0 };
	collector->has_table = false;
}

void e01_collect(struct e01_collector *collector, const struct e01_section *section)
{
	int fd = collector->set->segments[collector->segment].fd;
	const struct e01_section *table = &collector->copies[0].section;
	bool second = !strcmp(section->type, "table2");

	if (second && collector->copies[0].exists &&
		section->offset == table->offset + table->len) {
		collector->copies[1] = read_copy(fd, section);
		complete_table(collector);
		return;
	}
	if (collector->copies[0].exists)
		complete_table(collector);
	collector->gap |= section->resumed;
	if (!strcmp(section->type, "sectors")) {
		rebuild_table(collector);
		collector->sectors = *section;
		collector->has_table = false;
	} else if (second) {
		collector->copies[1] = read_copy(fd, section);
		complete_table(collector);
	} else if (!strcmp(section->type, "table")) {
		collector->copies[0] = read_copy(fd, section);
	}
}

/* Numbers the tables from the front up to the first gap. Returns how many those are. */
static size_t number_from_front(struct e01_set *set, bool stop_at_gap)
{
	uint64_t next = 0;
	size_t i;

	for (i = 0; i < set->table_count; i++) {
		if (stop_at_gap && set->tables[i].after_gap)
			break;
		set->tables[i].first = next;
		next += set->tables[i].count;
	}
	return i;
}

/* Numbers the tables after the last gap, of those from `from` on. */
static void number_from_end(struct e01_set *set, size_t from, uint64_t chunks)
{
	for (size_t i = set->table_count; i-- > from;) {
		struct e01_table *table = &set->tables[i];

		if (table->count > chunks)
			return;
		chunks -= table->count;
		table->first = chunks;
		if (table->after_gap)
			return;
	}
}

uint64_t e01_number_tables(struct e01_collector *collector, uint64_t chunks)
{
	struct e01_set *set = collector->set;
	uint64_t sum = 0, numbered = 0;
	size_t kept = 0, front;

	for (size_t i = 0; i < set->table_count; i++) {
		set->tables[i].first = E01_NO_CHUNK;
		sum += set->tables[i].count;
	}
	/* If none is missing there was nothing in the gaps. */
	front = number_from_front(set, sum < chunks);
	if (front < set->table_count && !collector->gap)
		number_from_end(set, front, chunks);
	for (size_t i = 0; i < set->table_count; i++) {
		if (set->tables[i].first == E01_NO_CHUNK) {
			free(set->tables[i].entries);
			continue;
		}
		set->tables[kept++] = set->tables[i];
		numbered += set->tables[kept - 1].count;
	}
	set->table_count = kept;
	return numbered;
}
