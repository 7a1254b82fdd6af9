/*
 * The FAT of a compound file ([MS-CFB] 2.3 to 2.5). It is read as a whole, once the header's fields
 * about it are found possible: 4 bytes for each sector that the view could hold.
 */
#include "ole.h"

#include <stdlib.h>

#include "bytes.h"
#include "noise.h"
#include "walk.h"

#define HEADER_LEN 512
#define HEADER_TABLES 109
#define MAX_ENTRIES ((uint32_t)1 << 24) /* 8 GiB of small sectors */
#define ZEROED_BYTES 64                 /* of memory, for a unit of work */

static uint32_t sector_len(const struct ole *ole)
{
	return (uint32_t)1 << ole->shift;
}

static bool alloc_table(struct ole *ole, struct ole_table *table, uint64_t count)
{
	if (!view_work(ole->view, count * sizeof(*table->next) / ZEROED_BYTES))
		return false;
	table->next = calloc(count, sizeof(*table->next));
	table->seen = calloc(count / 8 + 1, 1);
	if (table->next && table->seen)
		return true;
	view_no_memory(ole->view);
	return false;
}

/* Adds a sector's entries to a table; false if the view ends before, or an entry is impossible. */
static bool add_entries(struct ole *ole, struct ole_table *table, uint32_t sector, uint32_t limit)
{
	uint64_t at = ole_sector_at(ole, sector);
	const uint8_t *p = view_peek(ole->view, at, sector_len(ole));
	uint32_t any = 0;

	if (!p)
		return ole_wrong(ole, "no part of the FAT", view_size(ole->view));
	for (uint32_t i = 0; i < sector_len(ole) / 4; i++) {
		uint32_t next = le32(p + 4 * i);

		if (next >= limit && next < OLE_TABLE_OF_TABLES)
			return ole_wrong(ole, "an impossible FAT entry", at + 4 * i);
		table->next[table->count++] = next;
		any |= next;
	}
	return any || ole_wrong(ole, "a wiped part of the FAT", at);
}

/* Adds the part of the FAT in this sector. */
static bool add_table(struct ole *ole, uint32_t sector)
{
	uint32_t limit = ole->table_count * (sector_len(ole) / 4);

	if (sector >= limit || ole->fat.seen[sector / 8] >> sector % 8 & 1)
		return ole_wrong(ole, "an impossible sector in the list of the FAT's", 76);
	ole->fat.seen[sector / 8] |= (uint8_t)(1 << sector % 8);
	if (ole_sector_at(ole, sector) >= view_size(ole->view))
		return ole_wrong(ole, "a part of the FAT", ole_sector_at(ole, sector));
	return add_entries(ole, &ole->fat, sector, limit);
}

/* Each part of the FAT has to be marked as such, or at least not as part of a longer chain. */
static bool check_mark(struct ole *ole, uint32_t sector, uint32_t mark)
{
	return mark == OLE_TABLE || mark == OLE_END ||
	       ole_wrong(ole, "the FAT does not list itself", ole_sector_at(ole, sector));
}

/* Whether the first part of the FAT is marked: so that a false list is noticed before all of it is read. */
static bool check_first_mark(struct ole *ole, const uint32_t *tables)
{
	uint32_t per_sector = sector_len(ole) / 4, part = tables[0] / per_sector;
	const uint8_t *p =
		part < ole->table_count
			? view_peek(ole->view,
				  ole_sector_at(ole, tables[part]) + tables[0] % per_sector * 4, 4)
			: NULL;

	return !p || check_mark(ole, tables[0], le32(p));
}

/* Reads the list of the FAT's sectors: in the header, then in a chain of sectors. */
static bool add_tables(struct ole *ole, uint32_t *tables)
{
	uint32_t per_sector = sector_len(ole) / 4 - 1, sector = ole->first_of_tables, count = 0;
	const uint8_t *p = view_peek(ole->view, 76, HEADER_TABLES * 4);

	for (; p && count < ole->table_count && count < HEADER_TABLES; count++)
		tables[count] = le32(p + 4 * count);
	while (count < ole->table_count) {
		if (sector > OLE_LAST_SECTOR)
			return ole_wrong(ole, "no list of the FAT's parts", 68);
		p = view_peek(ole->view, ole_sector_at(ole, sector), sector_len(ole));
		if (!p)
			return ole_wrong(ole, "the list of the FAT's parts", view_size(ole->view));
		for (uint32_t i = 0; i < per_sector && count < ole->table_count; i++)
			tables[count++] = le32(p + 4 * i);
		sector = le32(p + 4 * per_sector);
	}
	if (!check_first_mark(ole, tables))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!add_table(ole, tables[i]))
			return false;
	return true;
}

void ole_note_checked(struct ole *ole, uint32_t sector)
{
	if (sector < ole->fat.count)
		ole->checked[sector / 8] |= (uint8_t)(1 << sector % 8);
}

bool ole_is_end_proved(const struct ole *ole)
{
	uint64_t last = (ole->end >> ole->shift) - 2;

	return ole->end_confirmed || ole->end_filled ||
	       (last < ole->fat.count && (ole->checked[last / 8] >> last % 8 & 1));
}

void ole_name_unverified(struct ole *ole, uint64_t end)
{
	uint64_t from = ole->shift == 9 ? ole_sector_at(ole, 0) : HEADER_LEN;

	for (uint32_t i = 0; i < ole->fat.count && ole_sector_at(ole, i) < end; i++) {
		if (!(ole->checked[i / 8] >> i % 8 & 1))
			continue;
		view_unverified(ole->view, from, ole_sector_at(ole, i));
		from = ole_sector_at(ole, i + 1);
	}
	view_unverified(ole->view, from, end);
}

void ole_confirm_sector(struct ole *ole, uint32_t sector)
{
	ole_note_checked(ole, sector);
	ole_confirm(ole, ole_sector_at(ole, sector + 1));
	if (ole->end && ole_sector_at(ole, sector + 1) == ole->end)
		ole->end_confirmed = true;
}

static bool check_marks(struct ole *ole, const uint32_t *tables)
{
	for (uint32_t i = 0; i < ole->table_count; i++) {
		if (!check_mark(ole, tables[i], ole->fat.next[tables[i]]))
			return false;
		ole_confirm_sector(ole, tables[i]);
	}
	return true;
}

static void find_end(struct ole *ole)
{
	uint32_t last = ole->fat.count;

	/* Some writers fill the rest with zeros, which are not links to the first sector. */
	while (last && (ole->fat.next[last - 1] == OLE_FREE || ole->fat.next[last - 1] == 0))
		last--;
	ole->end = ole_sector_at(ole, last);
}

void ole_guess_valid_end(struct ole *ole)
{
	uint64_t limit = ole->problem_at, end = HEADER_LEN, noise;

	if (limit > view_size(ole->view))
		limit = view_size(ole->view);
	if (!walk_find_word(ole->view, &end, limit, "\xd0\xcf\x11\xe0"))
		end = limit;
	noise = noise_start(ole->view, HEADER_LEN, end);
	if (noise < end)
		ole_confirm(ole, noise);
}

bool ole_read_fat(struct ole *ole)
{
	uint64_t entries = (uint64_t)ole->table_count * (sector_len(ole) / 4);
	uint32_t *tables;
	bool valid;

	/* All tables have to be in the file, even if they map only a part of it. */
	if (entries > MAX_ENTRIES ||
		(uint64_t)ole->table_count << ole->shift > view_size(ole->view))
		return ole_wrong(ole, "an impossible FAT size", 44);
	tables = malloc(ole->table_count * sizeof(*tables));
	ole->checked = calloc(entries / 8 + 1, 1);
	if (!tables || !ole->checked)
		view_no_memory(ole->view);
	if (!alloc_table(ole, &ole->fat, entries) || !tables || !ole->checked)
		valid = ole_wrong(ole, "no memory for the FAT", 44);
	else
		valid = add_tables(ole, tables);
	if (valid) {
		find_end(ole);
		valid = check_marks(ole, tables);
	}
	if (!valid && ole->problem_at > HEADER_LEN && !view_is_trial(ole->view))
		ole_guess_valid_end(ole);
	free(tables);
	return valid;
}

bool ole_chain(
	struct ole *ole, struct ole_table *table, uint32_t start, uint32_t **list, uint32_t *count)
{
	size_t room = 0;

	*count = 0;
	for (uint32_t sector = start; sector != OLE_END; sector = table->next[sector]) {
		if (sector >= table->count || table->seen[sector / 8] >> sector % 8 & 1)
			return false;
		table->seen[sector / 8] |= (uint8_t)(1 << sector % 8);
		table->last = sector;
		if (list) {
			uint32_t *sectors = walk_list_grow(
				ole->view, *list, *count, &room, table->count, sizeof(*sectors));

			if (!sectors)
				return false;
			*list = sectors;
			sectors[*count] = sector;
		}
		++*count;
	}
	return true;
}

/* Reading ends at the first sector that is not in the view, so no more are needed than fit into it. */
bool ole_read_mini_fat(struct ole *ole)
{
	uint64_t per_sector = sector_len(ole) / 4,
		 fitting = (view_size(ole->view) >> ole->shift) + 1;
	uint64_t limit;
	uint32_t *sectors = NULL, count = 0;
	bool valid = true;

	if (ole->mini_table_start > OLE_LAST_SECTOR)
		return true;
	if (!ole_chain(ole, &ole->fat, ole->mini_table_start, &sectors, &count) ||
		!alloc_table(ole, &ole->mini, (count < fitting ? count : fitting) * per_sector))
		valid = ole_wrong(ole, "the chain of the mini FAT breaks", 60);
	limit = count * per_sector < OLE_LAST_SECTOR ? count * per_sector : OLE_LAST_SECTOR;
	for (uint32_t i = 0; valid && i < count; i++) {
		valid = add_entries(ole, &ole->mini, sectors[i], (uint32_t)limit);
		if (valid)
			ole_confirm_sector(ole, sectors[i]);
	}
	free(sectors);
	return valid;
}

void ole_free(struct ole *ole)
{
	free(ole->checked);
	free(ole->fat.next);
	free(ole->fat.seen);
	free(ole->mini.next);
	free(ole->mini.seen);
	free(ole->directory);
	free(ole->mini_stream);
}
