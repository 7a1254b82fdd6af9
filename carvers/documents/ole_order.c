/*
 * Where proof is asked for, most files have bytes of others in them: then the place is wanted up to which all is the
 * file's own. A chain that breaks, or an entry that links to nothing, says little of that: the header's lists and the parts of
 * the FAT and the directory that are in their places show what must be where, so each is looked at there.
 * What contradicts them is blamed on whichever of both comes later in the file, as pieces are put together from the
 * start on; only if all tables agree it is the streams' content that is wrong.
 *
 * Where the first part of the FAT is not in its place, the stream that begins in the first sector is followed sector by
 * sector, as nearly all programs write it.
 */
#include "ole.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEADER_LEN 512
#define HEADER_TABLES 109
#define NOTHING UINT64_MAX
#define ENTRIES_MAX ((uint32_t)1 << 16)
#define MINI_FAT_BEYOND ((uint64_t)1 << 20) /* bytes of it, at most, that are past the view's end */
#define WRITTEN_BYTES 64                    /* of memory, for a unit of work */

struct order {
	struct ole ole; /* with those parts of the tables that are there, else free sectors */
	uint32_t tables[HEADER_TABLES];
	bool has_part[HEADER_TABLES]; /* of the FAT */
	struct ole_entry *entries;    /* of the directory; type 0: free, or not there */
	uint64_t tables_end;          /* of what is known of FAT and directory, in the file */
	uint64_t mini_end;            /* and of the mini FAT */
	uint64_t wrong;               /* the first place; NOTHING: there is none */
	const char *why;              /* what is wrong there */
	bool lacks;                   /* something of the tables is not there */
};

static void blame(struct order *order, const char *why, uint64_t at, uint64_t source)
{
	uint64_t place = at > source ? at : source;

	if (place >= order->wrong)
		return;
	order->wrong = place;
	order->why = why;
}

static uint32_t per_sector(const struct order *order)
{
	return 1u << (order->ole.shift - 2);
}

/* Notes that tables are known up to this sector. */
static void know(struct order *order, uint32_t sector, uint64_t *end)
{
	uint64_t at = ole_sector_at(&order->ole, sector);

	if (at > *end)
		*end = at;
}

/* The bytes of a sector of a table. NULL: they are past the view's end. */
static const uint8_t *peek_sector(struct order *order, uint32_t sector)
{
	const uint8_t *p = view_peek(
		order->ole.view, ole_sector_at(&order->ole, sector), (size_t)1 << order->ole.shift);

	order->lacks |= !p;
	return p;
}

/* Adds a part of a table from its sector. Returns whether all entries are possible; *bad: the first that is not. */
static bool add_part(
	struct order *order, const uint8_t *p, uint32_t limit, uint32_t *next, uint32_t *bad)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < per_sector(order); i++) {
		next[i] = le32(p + 4 * i);
		any |= next[i];
		if (next[i] >= limit && next[i] < OLE_TABLE_OF_TABLES) {
			*bad = i;
			return false;
		}
	}
	*bad = 0;
	return any != 0;
}

/* Where the FAT's part for this sector is, or 0. */
static uint64_t part_of(const struct order *order, uint32_t sector)
{
	uint32_t part = sector / per_sector(order);

	return part < order->ole.table_count && order->has_part[part]
		       ? ole_sector_at(&order->ole, order->tables[part])
		       : 0;
}

/* The parts of the FAT that are in their places. Each marks the FAT's own sectors. */
static void read_fat(struct order *order)
{
	struct ole *ole = &order->ole;

	for (uint32_t k = 0; k < ole->table_count; k++) {
		uint32_t *next = ole->fat.next + (size_t)k * per_sector(order), bad;
		const uint8_t *p = peek_sector(order, order->tables[k]);

		if (!p)
			continue;
		if (add_part(order, p, ole->fat.count, next, &bad)) {
			order->has_part[k] = true;
			know(order, order->tables[k], &order->tables_end);
			continue;
		}
		order->lacks = true;
		blame(order, "no part of the FAT", ole_sector_at(ole, order->tables[k]) + 4 * bad,
			0);
		for (uint32_t i = 0; i < per_sector(order); i++)
			next[i] = OLE_FREE;
	}
	for (uint32_t k = 0; k < ole->table_count; k++) {
		uint32_t sector = order->tables[k], mark = ole->fat.next[sector];

		if (part_of(order, sector) && mark != OLE_TABLE && mark != OLE_END)
			blame(order, "the FAT does not list itself", part_of(order, sector), 0);
	}
}

/* The sectors of a chain, as far as the FAT is known. False: it is impossible; then *at is the part of the FAT with which it
 * breaks. */
static bool list_chain(
	struct order *order, uint32_t start, uint32_t **list, uint32_t *count, uint64_t *at)
{
	struct ole_table *fat = &order->ole.fat;
	size_t room = 0;

	*at = 0;
	for (uint32_t sector = start; sector != OLE_END; sector = fat->next[sector]) {
		if (sector >= fat->count || fat->seen[sector / 8] >> sector % 8 & 1)
			return false;
		fat->seen[sector / 8] |= (uint8_t)(1 << sector % 8);
		if (list) {
			uint32_t *sectors = walk_list_grow(order->ole.view, *list, *count, &room,
				fat->count, sizeof(*sectors));

			if (!sectors)
				return true;
			*list = sectors;
			sectors[*count] = sector;
		}
		++*count;
		*at = part_of(order, sector);
		if (!*at) {
			order->lacks = true;
			return true;
		}
	}
	return true;
}

/* Reads the entries of the directory's sector with this number. False: they are not there, or impossible. */
static bool read_entries(struct order *order, uint32_t n)
{
	uint32_t each = ole_entry_count(&order->ole) / order->ole.directory_count;
	struct ole_entry *entries = order->entries + (size_t)n * each;
	bool good = true;

	for (uint32_t i = 0; good && i < each; i++)
		good = ole_read_entry(&order->ole, n * each + i, &entries[i]);
	if (good && (n || entries[0].type == OLE_ROOT))
		return true;
	memset(entries, 0, each * sizeof(*entries));
	return false;
}

/* The directory's sectors. What is not one of it gets a number outside the file. */
static void read_directory(struct order *order)
{
	struct ole *ole = &order->ole;
	uint64_t source = 0, at;

	if (!list_chain(order, ole->directory_start, &ole->directory, &ole->directory_count, &at))
		blame(order, "the directory's chain breaks", at ? at : order->tables_end, 0);
	if (ole_entry_count(ole) > ENTRIES_MAX)
		ole->directory_count = 0;
	order->entries = calloc((size_t)ole_entry_count(ole) + 1, sizeof(*order->entries));
	if (!order->entries) {
		view_no_memory(ole->view);
		ole->directory_count = 0;
	}
	for (uint32_t n = 0; n < ole->directory_count; n++) {
		uint32_t sector = ole->directory[n];
		bool is_there = peek_sector(order, sector);

		if (is_there && read_entries(order, n)) {
			know(order, sector, &order->tables_end);
		} else {
			ole->directory[n] = OLE_FREE;
			order->lacks = true;
			if (is_there)
				blame(order, "no part of the directory", ole_sector_at(ole, sector),
					n ? source : 0);
		}
		source = part_of(order, sector) > source ? part_of(order, sector) : source;
	}
}

/* Where the directory's entry is in the file; 0: it was not found. */
static uint64_t place_of_entry(const struct order *order, uint32_t i)
{
	uint32_t each = 1u << (order->ole.shift - 7);
	uint32_t sector =
		i / each < order->ole.directory_count ? order->ole.directory[i / each] : OLE_FREE;

	return sector == OLE_FREE ? 0 : ole_sector_at(&order->ole, sector);
}

/* An entry and what it links to are both in use. */
static void check_links(struct order *order, uint32_t i, const struct ole_entry *entry)
{
	const uint32_t links[] = { entry->left, entry->right, entry->child };

	for (int n = 0; n < 3; n++)
		if (links[n] != OLE_FREE && place_of_entry(order, links[n]) &&
			!order->entries[links[n]].type)
			blame(order, "an unused entry that is linked to",
				place_of_entry(order, links[n]), place_of_entry(order, i));
}

static void read_mini_fat(struct order *order)
{
	struct ole *ole = &order->ole;
	uint32_t *sectors = NULL, count = 0;
	uint64_t at;

	if (ole->mini_table_start > OLE_LAST_SECTOR)
		return;
	if (!list_chain(order, ole->mini_table_start, &sectors, &count, &at))
		blame(order, "the mini FAT's chain breaks", at ? at : order->tables_end, 0);
	if ((uint64_t)count << ole->shift > view_size(ole->view) + MINI_FAT_BEYOND ||
		!view_work(ole->view, ((uint64_t)count << ole->shift) / WRITTEN_BYTES)) {
		order->lacks = true;
		free(sectors);
		return;
	}
	ole->mini.next = malloc(((size_t)count + 1) << ole->shift);
	ole->mini.seen = calloc((size_t)count * per_sector(order) / 8 + 1, 1);
	if (!ole->mini.next || !ole->mini.seen)
		view_no_memory(ole->view);
	for (uint32_t n = 0; n < count && ole->mini.next && ole->mini.seen; n++) {
		uint32_t *next = ole->mini.next + (size_t)n * per_sector(order), bad = 0;
		const uint8_t *p = peek_sector(order, sectors[n]);
		bool good = p && add_part(order, p,
					 order->lacks ? OLE_LAST_SECTOR : count * per_sector(order),
					 next, &bad);

		if (p && !good)
			blame(order, "no part of the mini FAT",
				ole_sector_at(ole, sectors[n]) + 4 * bad,
				n ? part_of(order, sectors[n - 1]) : 0);
		if (good)
			know(order, sectors[n], &order->mini_end);
		else
			order->lacks = true;
		for (uint32_t i = 0; !good && i < per_sector(order); i++)
			next[i] = OLE_FREE;
		ole->mini.count += per_sector(order);
	}
	free(sectors);
}

/* The chains of entries that are in their places, each for as long as it must be. */
static void check_chains(struct order *order)
{
	struct ole *ole = &order->ole;

	for (uint32_t i = 0; i < ole_entry_count(ole); i++) {
		const struct ole_entry *entry = &order->entries[i];
		bool is_root = i == 0;
		uint32_t count = 0;
		uint64_t at;

		if (!entry->type)
			continue;
		check_links(order, i, entry);
		if ((!is_root && (entry->type != OLE_STREAM || entry->len < ole->cutoff)) ||
			!entry->len)
			continue;
		if (!list_chain(order, entry->start, is_root ? &ole->mini_stream : NULL,
			    is_root ? &ole->mini_stream_count : &count, &at) ||
			(at && (uint64_t)(is_root ? ole->mini_stream_count : count) << ole->shift <
					entry->len))
			blame(order, "a stream's chain breaks", at ? at : order->tables_end,
				place_of_entry(order, i));
	}
}

/* ---- content -------------------------------------------------------------------------------- */

/* Something of a stream's content is wrong. It may be the tables that are, unless all of them agree. */
static void blame_content(struct order *order, uint64_t source)
{
	struct ole *ole = &order->ole;

	if (ole->problem)
		blame(order, ole->problem, ole->problem_at, source);
	ole->problem = NULL;
}

/* Where what says which sectors the entry's stream has is in the file, for one of them. */
static uint64_t source_of(const struct order *order, uint32_t i)
{
	const struct ole *ole = &order->ole;
	uint64_t source = place_of_entry(order, i), at = part_of(order, order->entries[i].start);

	if (order->entries[i].len < ole->cutoff) {
		source = order->mini_end > source ? order->mini_end : source;
		at = part_of(order, order->entries[0].start);
	}
	if (ole->problem && (ole->problem_at >> ole->shift) > 0) {
		uint64_t part = part_of(order, (uint32_t)(ole->problem_at >> ole->shift) - 1);

		at = part > at ? part : at;
	}
	return at > source ? at : source;
}

/* What the streams hold, as far as their sectors are known. */
static void check_streams(struct order *order)
{
	struct ole *ole = &order->ole;
	bool is_sure = !order->lacks && order->wrong == NOTHING;

	if (!ole_entry_count(ole) || order->entries[0].type != OLE_ROOT)
		return;
	for (uint32_t i = 0; i < ole_entry_count(ole); i++) {
		if (order->entries[i].type != OLE_STREAM)
			continue;
		ole_check_stream(ole, &order->entries[i]);
		ole_check_property(ole, &order->entries[i]);
		blame_content(order, is_sure ? 0 : source_of(order, i));
	}
	ole_check_edit(ole, &order->entries[0]);
	ole_check_documents(ole, &order->entries[0]);
	if (!ole->problem && order->wrong == NOTHING)
		ole_check_pictures(ole);
	blame_content(order, is_sure ? 0 : order->tables_end);
}

/* The stream that begins in the first sector, where the FAT does not say how it goes on: over all sectors that are not the
 * tables'. */
static void check_first_stream(struct order *order)
{
	struct ole *ole = &order->ole;
	uint32_t last = 0;

	ole->fat.next[0] = OLE_END;
	for (uint32_t i = 1; i < ole->fat.count; i++) {
		bool is_table = i == ole->directory_start || i == ole->mini_table_start;

		for (uint32_t k = 0; k < ole->table_count && !is_table; k++)
			is_table = order->tables[k] == i;
		ole->fat.next[i] = OLE_END;
		if (is_table)
			continue;
		ole->fat.next[last] = i;
		last = i;
	}
	ole->problem = NULL;
	ole_check_first_stream(ole);
	if (ole->problem)
		blame(order, ole->problem, ole->problem_at, 0);
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool prepare(struct order *order)
{
	struct ole *ole = &order->ole;
	uint64_t entries = (uint64_t)ole->table_count * per_sector(order);
	const uint8_t *p = view_peek(ole->view, 76, sizeof(order->tables));

	if (!p || ole->table_count > HEADER_TABLES || !view_work(ole->view, entries / 16))
		return false;
	for (uint32_t k = 0; k < ole->table_count; k++) {
		order->tables[k] = le32(p + 4 * k);
		if (order->tables[k] >= entries)
			return false;
	}
	ole->fat.next = malloc(entries * sizeof(*ole->fat.next));
	ole->fat.seen = calloc(entries / 8 + 1, 1);
	ole->checked = calloc(entries / 8 + 1, 1);
	if (!ole->fat.next || !ole->fat.seen || !ole->checked) {
		view_no_memory(ole->view);
		return false;
	}
	ole->fat.count = (uint32_t)entries;
	for (uint64_t i = 0; i < entries; i++)
		ole->fat.next[i] = OLE_FREE;
	return true;
}

/* What is before the FAT's place may be random bytes, or compressed ones. */
static void look_for_noise(struct order *order)
{
	struct ole *ole = &order->ole;

	ole->problem_at = order->wrong;
	ole->valid_end = 0;
	ole_guess_valid_end(ole);
	if (ole->valid_end)
		blame(order, "noise", ole->valid_end, 0);
}

const char *ole_first_wrong(const struct ole *header, uint64_t *at)
{
	struct finding finding = { 0 };
	struct order order = { .ole = *header, .wrong = NOTHING };

	order.ole.finding = &finding;
	order.ole.only_looks = true;
	if (prepare(&order)) {
		read_fat(&order);
		read_directory(&order);
		read_mini_fat(&order);
		check_chains(&order);
		check_streams(&order);
		if (!order.has_part[0])
			check_first_stream(&order);
		if (!order.has_part[0] && order.why && !view_is_trial(order.ole.view))
			look_for_noise(&order);
	}
	free(order.entries);
	ole_free(&order.ole);
	*at = order.wrong;
	return order.why;
}
