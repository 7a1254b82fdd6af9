/*
 * Which pages of a compound file belong together. The header says where the FAT begins, which marks itself there, and where the
 * directory is; the directory where streams with well-known first bytes begin. In workbooks and presentations records
 * follow one another over pages, and offsets in one page say which records begin in others; a picture's digest covers its pages. How
 * seldom that is so of other files' pages was measured (tests/bench/RESULTS.md).
 *
 * A version of the file may have the same records in the same places, with other content: so nothing is proved where the image has a page
 * of which much that few files have is at the same offset of one of the file's pages.
 */
#include "ole_pages.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "logarithm.h"
#include "ole_kin.h"
#include "ole_places.h"
#include "sorted.h"
#include "walk.h"

#define PAGES_MAX ((uint32_t)1 << 15) /* 16 MiB */
#define LINKS_MAX ((size_t)1 << 17)
#define TABLE_BITS 10           /* at most, of a part of the FAT that marks itself, */
#define DIRECTORY_BITS 8        /* of the root entry where the FAT is elsewhere, */
#define CHAIN_BITS 4            /* of a stream's chain, */
#define CHAINS 2                /* of which there are */
#define BEGIN_BITS 4            /* of a stream's first bytes; */
#define LAYOUT ((uint64_t)4096) /* programs make streams as long as a multiple of that */
#define END_BITS 8              /* of records that end with their stream */
#define NEAR 4 /* sectors: many files have tables in the first ones, or one beside the other */
#define START_LEN 24 /* first bytes of streams that are compared */
#define MARKS_MAX ((size_t)1 << 18)
#define MARKS_MIN 2   /* of a page that is known by them */
#define PROVED_MIN 64 /* bytes of a page that a digest covers */

enum page_kind {
	PAGE_ANY,   /* nothing shows what is in it */
	PAGE_TABLE, /* of numbers of sectors */
	PAGE_DIRECTORY,
	PAGE_BEGIN, /* of a well-known stream */
	PAGE_ZEROS,
	PAGE_RECORDS,
	PAGE_TEXT,    /* with marks */
	PAGE_FORMATS, /* of text */
	PAGE_PROVED,  /* a digest covers it */
};

struct page {
	uint8_t kind;
	uint8_t head_len;
	uint16_t first, limit,
		after; /* the first header, where bytes end, and the header after those of this page */
	uint32_t entry;    /* of the stream that begins there, at `first` */
	uint32_t from, to; /* of formats */
	size_t (*len)(const uint8_t *p);
};

/* A character that ends a paragraph: sorted by place. */
struct mark {
	uint64_t at; /* in the file */
	bool is_wide;
};

struct ole_pages {
	struct ole ole;
	struct finding finding;
	uint32_t count;
	uint8_t *bytes; /* all pages; zeros after the file's end */
	struct page *pages;
	struct ole_entry *entries;
	struct carve_page_link *links;
	size_t link_count, link_room;
	struct mark *marks;
	size_t mark_count, mark_room;
	struct ole_kin *kin;
};

static uint8_t *page_bytes(const struct ole_pages *pages, uint32_t page)
{
	return pages->bytes + (size_t)page * OLE_PAGE;
}

/* ---- links ---------------------------------------------------------------------------------- */

static void add_link(struct ole_pages *pages, uint32_t page, uint32_t other, unsigned bits)
{
	struct carve_page_link *list;

	if (page == other || page >= pages->count || other >= pages->count || !bits)
		return;
	list = walk_list_grow(pages->ole.view, pages->links, pages->link_count, &pages->link_room,
		LINKS_MAX, sizeof(*list));
	if (!list)
		return;
	pages->links = list;
	list[pages->link_count++] =
		(struct carve_page_link){ .page = page, .other = other, .bits = bits * LOG_BIT };
}

void ole_link(const struct ole_flat *flat, uint32_t at, uint32_t other, unsigned bits)
{
	if (other < flat->len)
		ole_link_page(flat, at, ole_flat_page(flat, other), bits);
}

void ole_link_page(const struct ole_flat *flat, uint32_t at, uint32_t page, unsigned bits)
{
	if (at < flat->len)
		add_link(flat->pages, ole_flat_page(flat, at), page, bits);
}

struct view *ole_pages_view(const struct ole_pages *pages)
{
	return pages->ole.view;
}

uint32_t ole_flat_place(const struct ole_flat *flat, uint32_t at)
{
	return flat->places[at >> flat->shift] + (at & ((1u << flat->shift) - 1));
}

static struct page *flat_page(const struct ole_flat *flat, uint32_t at)
{
	return &flat->pages->pages[ole_flat_page(flat, at)];
}

static bool has_bit(const uint8_t *bits, uint32_t n)
{
	return bits[n / 8] >> n % 8 & 1;
}

/* Where the chain of records leads from the header at `first` on, in a page with bytes up to `limit`; 0: it breaks. */
static unsigned chain_end(const struct page *page, const uint8_t *p)
{
	unsigned at = page->first;

	while (at + page->head_len <= page->limit) {
		size_t len = page->len(p + at);

		if (!len || len > UINT16_MAX / 2)
			return !len ? 0 : UINT16_MAX;
		at += (unsigned)len;
	}
	return at;
}

/* A page of records is known by where the first one begins, and where the chain from there leads. */
static void note_records(const struct ole_flat *flat, uint32_t from, uint32_t first, uint32_t end,
	size_t head_len, size_t (*len)(const uint8_t *p))
{
	struct page *page = flat_page(flat, from);
	uint32_t limit = end - from < OLE_PAGE ? end - from : OLE_PAGE;

	if (page->kind != PAGE_ANY || first + head_len > from + limit)
		return;
	page->first = (uint16_t)(first - from);
	page->limit = (uint16_t)limit;
	page->head_len = (uint8_t)head_len;
	page->len = len;
	page->after = (uint16_t)chain_end(page, flat->bytes + from);
	if (page->after && page->after != UINT16_MAX)
		page->kind = PAGE_RECORDS;
}

void ole_link_records(const struct ole_flat *flat, const uint8_t *starts, uint32_t end,
	size_t head_len, size_t (*len)(const uint8_t *p), unsigned bits)
{
	uint32_t before = UINT32_MAX, next_page = 0;

	for (uint32_t at = 0; at < end; at++) {
		if (!has_bit(starts, at))
			continue;
		if (before != UINT32_MAX && at / OLE_PAGE != before / OLE_PAGE)
			ole_link(flat, at, before, bits);
		if (at >= next_page) {
			note_records(flat, at / OLE_PAGE * OLE_PAGE, at, end, head_len, len);
			next_page = (at / OLE_PAGE + 1) * OLE_PAGE;
		}
		before = at;
	}
}

static int compare_pointers(const void *a, const void *b)
{
	const struct ole_pointer *left = a, *right = b;

	return left->to < right->to ? -1 : left->to > right->to;
}

/* Whether a number is only once in a sorted list. */
static bool is_single(const uint32_t *list, size_t count, uint32_t number)
{
	const uint32_t *found =
		bsearch(&number, list, count, sizeof(*list), sorted_compare_numbers);

	return found && (found == list || found[-1] != number) &&
	       (found + 1 == list + count || found[1] != number);
}

static uint32_t distance(const struct ole_pointer *pointer)
{
	return pointer->to < pointer->from ? pointer->from - pointer->to
					   : pointer->to - pointer->from;
}

/* Leaves one of those with targets near one another: where the first is, from where the farthest is. */
static size_t join_near(struct ole_pointer *pointers, size_t count, uint32_t far)
{
	size_t kept = 0;
	uint32_t before = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_near = i && pointers[i].to - before < far;

		before = pointers[i].to;
		if (!is_near)
			pointers[kept++] = pointers[i];
		else if (distance(&pointers[i]) > distance(&pointers[kept - 1]))
			pointers[kept - 1].from = pointers[i].from;
	}
	return kept;
}

void ole_link_pointers(const struct ole_flat *flat, struct ole_pointer *pointers, size_t count,
	unsigned bits, uint32_t far)
{
	uint32_t *gaps = calloc(count + 1, sizeof(*gaps));

	if (!gaps) {
		view_no_memory(flat->pages->ole.view);
		return;
	}
	if (count)
		qsort(pointers, count, sizeof(*pointers), compare_pointers);
	count = join_near(pointers, count, far ? far : 1);
	for (size_t i = 1; i < count; i++)
		gaps[i - 1] = pointers[i].to - pointers[i - 1].to;
	if (count)
		qsort(gaps, count - 1, sizeof(*gaps), sorted_compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (!i || is_single(gaps, count - 1, pointers[i].to - pointers[i - 1].to))
			ole_link(flat, pointers[i].to, pointers[i].from, bits);
	free(gaps);
}

/* ---- what few files have -------------------------------------------------------------------- */

void ole_note_own(const struct ole_flat *flat, uint32_t from, uint32_t to)
{
	to = to < flat->len ? to : flat->len;
	for (uint32_t at = (from + 3) / 4 * 4, end; at + 4 <= to; at = end) {
		end = (at / OLE_PAGE + 1) * OLE_PAGE;
		end = end < to ? end : to;
		ole_kin_add_words(flat->pages->kin, ole_flat_page(flat, at), at % OLE_PAGE,
			flat->bytes + at, end - at);
	}
}

void ole_note_text(const struct ole_flat *flat, uint32_t from, uint32_t to)
{
	to = to < flat->len ? to : flat->len;
	for (uint32_t at = from, end; at < to; at = end) {
		end = (at / OLE_PAGE + 1) * OLE_PAGE;
		end = end < to ? end : to;
		ole_kin_add_text(
			flat->pages->kin, ole_flat_page(flat, at), flat->bytes + at, end - at);
	}
}

void ole_note_time(struct ole_pages *pages, uint64_t time)
{
	ole_kin_add_time(pages->kin, time);
}

static enum carve_kin kin(const void *context, const uint8_t *bytes)
{
	const struct ole_pages *pages = context;
	uint32_t page;

	if (!ole_kin_has(pages->kin, bytes, &page))
		return CARVE_NO_KIN;
	return page < pages->count && memcmp(bytes, page_bytes(pages, page), OLE_PAGE) == 0
		       ? CARVE_COPY
		       : CARVE_VERSION;
}

/* ---- text ----------------------------------------------------------------------------------- */

bool ole_ends_paragraph(uint8_t character)
{
	return character == 0x0d || character == 0x07 || character == 0x0c;
}

void ole_note_mark(const struct ole_flat *flat, uint32_t at, bool is_wide)
{
	struct ole_pages *pages = flat->pages;
	struct mark *list = walk_list_grow(pages->ole.view, pages->marks, pages->mark_count,
		&pages->mark_room, MARKS_MAX, sizeof(*list));

	if (!list)
		return;
	pages->marks = list;
	list[pages->mark_count++] = (struct mark){ ole_flat_place(flat, at), is_wide };
}

void ole_note_formats(const struct ole_flat *flat, uint32_t at, uint32_t from, uint32_t to)
{
	struct page *page = flat_page(flat, at);

	if (page->kind != PAGE_ANY)
		return;
	page->kind = PAGE_FORMATS;
	page->from = from;
	page->to = to;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

static size_t first_mark(const struct ole_pages *pages, uint64_t at)
{
	return sorted_first(pages->marks, pages->mark_count, sizeof(*pages->marks),
		offsetof(struct mark, at), at);
}

/* Pages with some marks are known by them. */
static void close_marks(struct ole_pages *pages)
{
	if (pages->mark_count)
		qsort(pages->marks, pages->mark_count, sizeof(*pages->marks), compare_marks);
	for (size_t i = 0; i + MARKS_MIN <= pages->mark_count; i++) {
		uint64_t page = pages->marks[i].at / OLE_PAGE;

		if (pages->marks[i + MARKS_MIN - 1].at / OLE_PAGE == page &&
			pages->pages[page].kind == PAGE_ANY)
			pages->pages[page].kind = PAGE_TEXT;
	}
}

static bool has_marks(const struct ole_pages *pages, uint32_t number, const uint8_t *bytes)
{
	uint64_t from = (uint64_t)number * OLE_PAGE, to = from + OLE_PAGE;

	for (size_t i = first_mark(pages, from); i < pages->mark_count && pages->marks[i].at < to;
		i++) {
		const struct mark *mark = &pages->marks[i];
		const uint8_t *p = bytes + (mark->at - from);

		if (!ole_ends_paragraph(p[0]) || (mark->is_wide && mark->at + 1 < to && p[1] != 0))
			return false;
	}
	return true;
}

static bool are_formats(const struct page *page, const uint8_t *bytes)
{
	unsigned last = 4u * bytes[OLE_PAGE - 1];

	return last && last <= OLE_PAGE - 8 && le32(bytes) == page->from &&
	       le32(bytes + last) == page->to;
}

/* ---- pictures ------------------------------------------------------------------------------- */

void ole_prove_pages(struct ole_pages *pages, uint64_t from, uint64_t to, unsigned bits)
{
	for (uint64_t at = from; at < to; at = (at / OLE_PAGE + 1) * OLE_PAGE) {
		uint32_t number = (uint32_t)(at / OLE_PAGE);
		uint64_t rest = to - at;

		if (at != from)
			add_link(pages, number, number - 1, bits);
		if (at % OLE_PAGE < OLE_PAGE - PROVED_MIN && rest >= PROVED_MIN &&
			number < pages->count && pages->pages[number].kind == PAGE_ANY)
			pages->pages[number].kind = PAGE_PROVED;
	}
}

/* ---- tables --------------------------------------------------------------------------------- */

static uint32_t page_of_sector(const struct ole *ole, uint32_t sector)
{
	return (uint32_t)(ole_sector_at(ole, sector) / OLE_PAGE);
}

static void set_sector(struct ole_pages *pages, uint32_t sector, enum page_kind kind)
{
	uint32_t first = page_of_sector(&pages->ole, sector);

	for (uint32_t i = 0; i < (1u << pages->ole.shift) / OLE_PAGE; i++)
		if (first + i < pages->count)
			pages->pages[first + i].kind = (uint8_t)kind;
}

/* By how much a place in the file, or a length, shows that a table is this file's: new documents of one program are laid out alike, so by
 * no more than how many places there are up to it. */
static unsigned layout_bits(uint64_t len, unsigned most)
{
	uint64_t places = len / LAYOUT;
	unsigned bits = places ? (unsigned)log_16((uint32_t)places) / LOG_BIT : 0;

	return bits < most ? bits : most;
}

static void note_tables(struct ole_pages *pages)
{
	struct ole *ole = &pages->ole;
	uint32_t per_sector = 1u << (ole->shift - 2), first_table = OLE_FREE;

	for (uint32_t k = 0; k < ole->table_count && k < OLE_HEADER_TABLES; k++) {
		uint32_t sector = le32(pages->bytes + 76 + 4 * (size_t)k), part, at;

		if (sector >= ole->fat.count)
			return;
		set_sector(pages, sector, PAGE_TABLE);
		first_table = k ? first_table : sector;
		part = le32(pages->bytes + 76 + 4 * (size_t)(sector / per_sector));
		at = 4 * (sector % per_sector);
		if (sector >= NEAR && part <= OLE_LAST_SECTOR && ole->fat.next[sector] == OLE_TABLE)
			add_link(pages, page_of_sector(ole, part) + at / OLE_PAGE, 0,
				layout_bits(ole_sector_at(ole, sector), TABLE_BITS));
	}
	for (uint32_t sector = ole->mini_table_start, n = 0;
		sector < ole->fat.count && n < ole->fat.count; sector = ole->fat.next[sector], n++)
		set_sector(pages, sector, PAGE_TABLE);
	for (uint32_t n = 0; n < ole->directory_count; n++)
		set_sector(pages, ole->directory[n], PAGE_DIRECTORY);
	if (ole->directory_start >= NEAR &&
		(first_table < NEAR || first_table > ole->directory_start + NEAR ||
			ole->directory_start > first_table + NEAR))
		add_link(pages, page_of_sector(ole, ole->directory_start), 0,
			layout_bits(ole_sector_at(ole, ole->directory_start), DIRECTORY_BITS));
}

/* ---- streams -------------------------------------------------------------------------------- */

const struct ole_entry *ole_pages_entries(const struct ole_pages *pages, uint32_t *count)
{
	*count = ole_entry_count(&pages->ole);
	return pages->entries;
}

uint32_t ole_page_of_entry(const struct ole_pages *pages, uint32_t i)
{
	uint32_t per_sector = (1u << pages->ole.shift) / OLE_ENTRY_LEN;

	return page_of_sector(&pages->ole, pages->ole.directory[i / per_sector]) +
	       i % per_sector * OLE_ENTRY_LEN / OLE_PAGE;
}

/* The FAT has a chain as long as the stream, from where it begins: for the first streams of a directory that is after the FAT, as where
 * either is shows much of that already. */
static void link_chains(struct ole_pages *pages)
{
	struct ole *ole = &pages->ole;
	uint32_t per_sector = 1u << (ole->shift - 2), linked = 0;

	for (uint32_t i = 0; i < ole_entry_count(ole) && linked < CHAINS; i++) {
		const struct ole_entry *entry = &pages->entries[i];
		uint32_t part, page;

		if (entry->type != OLE_STREAM || entry->len < ole->cutoff ||
			entry->start / per_sector >= OLE_HEADER_TABLES)
			continue;
		part = le32(pages->bytes + 76 + 4 * (size_t)(entry->start / per_sector));
		page = page_of_sector(ole, part) + entry->start % per_sector * 4 / OLE_PAGE;
		if (part > OLE_LAST_SECTOR || ole_page_of_entry(pages, i) <= page)
			continue;
		add_link(pages, ole_page_of_entry(pages, i), page,
			layout_bits(entry->len, CHAIN_BITS));
		linked += layout_bits(entry->len, CHAIN_BITS) != 0;
	}
}

/* A stream's first bytes, if they are well-known. */
static void note_begin(struct ole_pages *pages, uint32_t i)
{
	const struct ole_entry *entry = &pages->entries[i];
	struct ole_position position = { .entry = entry };
	uint64_t at = entry->len >= START_LEN ? ole_file_offset(&pages->ole, &position, 0) : 0;
	uint32_t number = (uint32_t)(at / OLE_PAGE);
	struct page *page = &pages->pages[number];

	if (!at || number >= pages->count || ole_start_bits(entry, pages->bytes + at) <= 0)
		return;
	if (at >= ole_sector_at(&pages->ole, NEAR))
		add_link(pages, ole_page_of_entry(pages, i), number, layout_bits(at, BEGIN_BITS));
	if (page->kind != PAGE_ANY)
		return;
	page->kind = PAGE_BEGIN;
	page->first = (uint16_t)(at % OLE_PAGE);
	page->entry = i;
}

bool ole_flatten(struct ole_pages *pages, uint32_t i, struct ole_flat *flat)
{
	const struct ole_entry *entry = &pages->entries[i];
	struct ole_position position = { .entry = entry };
	unsigned shift = entry->len < pages->ole.cutoff ? OLE_MINI_SHIFT : OLE_PAGE_SHIFT;
	uint32_t part_len = 1u << shift;
	uint32_t count = (uint32_t)((entry->len + part_len - 1) >> shift), *places;
	uint8_t *bytes;

	if (!entry->len || entry->len > (uint64_t)PAGES_MAX * OLE_PAGE)
		return false;
	places = calloc(count, sizeof(*places));
	bytes = calloc(count, part_len);
	*flat = (struct ole_flat){ pages, bytes, (uint32_t)entry->len, shift, places };
	if (!places || !bytes) {
		view_no_memory(pages->ole.view);
		count = 0;
	}
	for (uint32_t n = 0; n < count; n++) {
		uint64_t at = ole_file_offset(&pages->ole, &position, (uint64_t)n << shift);

		if (!at || at / OLE_PAGE >= pages->count || !view_work(pages->ole.view, 1)) {
			count = 0;
			break;
		}
		places[n] = (uint32_t)at;
		memcpy(bytes + ((size_t)n << shift), pages->bytes + at, part_len);
	}
	if (count)
		return true;
	ole_drop_flat(flat);
	return false;
}

void ole_drop_flat(struct ole_flat *flat)
{
	free((void *)(uintptr_t)flat->places);
	free((void *)(uintptr_t)flat->bytes);
	*flat = (struct ole_flat){ 0 };
}

void ole_note_zeros(const struct ole_flat *flat, uint32_t from)
{
	uint32_t at = (from + OLE_PAGE - 1) / OLE_PAGE * OLE_PAGE;

	for (; flat->shift == OLE_PAGE_SHIFT && from && at < flat->len; at += OLE_PAGE) {
		struct page *page = flat_page(flat, at);

		for (uint32_t i = 0; i < OLE_PAGE; i++)
			if (flat->bytes[at + i])
				return;
		if (page->kind == PAGE_ANY)
			page->kind = PAGE_ZEROS;
	}
}

/* `Current User` has the place of the last edit ([MS-PPT] 2.3.2). */
static uint32_t find_edit(struct ole_pages *pages, uint32_t *page)
{
	uint8_t bytes[20];

	for (uint32_t i = 0; i < ole_entry_count(&pages->ole); i++) {
		struct ole_position position = { .entry = &pages->entries[i] }, first = position;

		if (!ole_named(position.entry, "Current User") ||
			!ole_read(&pages->ole, &position, 0, bytes, sizeof(bytes)))
			continue;
		*page = (uint32_t)(ole_file_offset(&pages->ole, &first, 16) / OLE_PAGE);
		return le32(bytes + 16);
	}
	return 0;
}

static void link_stream(struct ole_pages *pages, uint32_t i)
{
	const struct ole_entry *entry = &pages->entries[i];
	bool is_book = ole_is_book(entry);
	struct ole_flat flat;
	uint32_t end = 0, edit_page = 0;

	if (entry->len < pages->ole.cutoff || !ole_flatten(pages, i, &flat))
		return;
	if (is_book) {
		end = ole_link_workbook(&flat);
	} else if (ole_named(entry, "PowerPoint Document")) {
		uint32_t edit = find_edit(pages, &edit_page);

		end = ole_link_presentation(&flat, edit, edit_page);
	}
	if (end && end == flat.len)
		ole_link_page(&flat, end - 1, ole_page_of_entry(pages, i), END_BITS);
	ole_note_zeros(&flat, end);
	ole_drop_flat(&flat);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void end(void *context)
{
	struct ole_pages *pages = context;

	ole_free(&pages->ole);
	free(pages->bytes);
	free(pages->pages);
	free(pages->entries);
	free(pages->links);
	free(pages->marks);
	ole_kin_free(pages->kin);
	free(pages);
}

static bool read_bytes(struct ole_pages *pages)
{
	struct view *view = pages->ole.view;
	uint64_t size = view_size(view);

	for (uint64_t at = 0; at < size && at < (uint64_t)pages->count * OLE_PAGE;
		at += VIEW_MAX_PEEK) {
		size_t len = size - at < VIEW_MAX_PEEK ? (size_t)(size - at) : VIEW_MAX_PEEK;
		const uint8_t *p;

		if (len > pages->count * (uint64_t)OLE_PAGE - at)
			len = (size_t)(pages->count * (uint64_t)OLE_PAGE - at);
		p = view_peek(view, at, len);
		if (!p)
			return false;
		memcpy(pages->bytes + at, p, len);
	}
	return true;
}

static bool read_entries(struct ole_pages *pages)
{
	uint32_t count = ole_entry_count(&pages->ole);

	pages->entries = calloc((size_t)count + 1, sizeof(*pages->entries));
	if (!pages->entries) {
		view_no_memory(pages->ole.view);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!ole_read_entry(&pages->ole, i, &pages->entries[i]))
			return false;
	return true;
}

static bool get_rooms(struct ole_pages *pages)
{
	pages->bytes = calloc(pages->count, OLE_PAGE);
	pages->pages = calloc(pages->count, sizeof(*pages->pages));
	if (pages->bytes && pages->pages) {
		pages->kin = ole_kin_new(pages->ole.view, pages->count);
		return pages->kin != NULL;
	}
	view_no_memory(pages->ole.view);
	return false;
}

static bool read_file(struct ole_pages *pages)
{
	struct ole *ole = &pages->ole;
	uint64_t size = view_size(ole->view);

	if (!ole_open(ole))
		return false;
	if (ole->end < size)
		size = ole->end;
	if (!size || size > (uint64_t)PAGES_MAX * OLE_PAGE)
		return false;
	pages->count = (uint32_t)((size + OLE_PAGE - 1) / OLE_PAGE);
	return get_rooms(pages) && read_bytes(pages) && read_entries(pages);
}

static void *begin(struct view *view, uint32_t *page_len, uint32_t *count)
{
	struct ole_pages *pages = calloc(1, sizeof(*pages));

	if (!pages) {
		view_no_memory(view);
		return NULL;
	}
	pages->ole = (struct ole){
		.view = view, .finding = &pages->finding, .only_looks = true, .pages = pages
	};
	if (!read_file(pages)) {
		end(pages);
		return NULL;
	}
	note_tables(pages);
	link_chains(pages);
	for (uint32_t i = 0; i < ole_entry_count(&pages->ole); i++)
		if (pages->entries[i].type == OLE_STREAM && pages->entries[i].len) {
			link_stream(pages, i);
			note_begin(pages, i);
		}
	ole_check_pictures(&pages->ole);
	ole_link_document(pages);
	ole_link_message(pages);
	close_marks(pages);
	/* Of a file of which no version would be noticed, nothing is proved. */
	if (!ole_kin_close(pages->kin))
		pages->link_count = 0;
	*page_len = OLE_PAGE;
	*count = pages->count;
	return pages;
}

static void links(const void *context,
	void (*add)(void *adding, const struct carve_page_link *link), void *adding)
{
	const struct ole_pages *pages = context;

	for (size_t i = 0; i < pages->link_count; i++)
		add(adding, &pages->links[i]);
}

/* Whether a page of a directory could be another one: all its entries are possible. */
static bool are_entries(const struct ole_pages *pages, const uint8_t *bytes)
{
	struct ole_entry entry;

	for (uint32_t at = 0; at < OLE_PAGE; at += OLE_ENTRY_LEN)
		if (!ole_parse_entry(pages->ole.shift, bytes + at, &entry))
			return false;
	return true;
}

static bool are_sectors(const struct ole_pages *pages, const uint8_t *bytes)
{
	for (uint32_t at = 0; at < OLE_PAGE; at += 4) {
		uint32_t sector = le32(bytes + at);

		if (sector >= pages->ole.fat.count && sector < OLE_TABLE_OF_TABLES)
			return false;
	}
	return true;
}

static bool may_be(const void *context, uint32_t number, const uint8_t *bytes)
{
	const struct ole_pages *pages = context;
	const struct page *page = &pages->pages[number];

	if (number >= pages->count || page->kind == PAGE_ANY)
		return number != 0;
	if (!bytes)
		return false;
	switch (page->kind) {
	case PAGE_TABLE:
		return are_sectors(pages, bytes);
	case PAGE_DIRECTORY:
		return are_entries(pages, bytes);
	case PAGE_BEGIN:
		return ole_start_bits(&pages->entries[page->entry], bytes + page->first) > 0;
	case PAGE_RECORDS:
		return chain_end(page, bytes) == page->after;
	case PAGE_TEXT:
		return has_marks(pages, number, bytes);
	case PAGE_FORMATS:
		return are_formats(page, bytes);
	default:
		return false;
	}
}

/* Clusters are never smaller than a page. */
static unsigned inner_bits(
	const void *context, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to)
{
	(void)context;
	(void)bytes;
	(void)page;
	(void)from;
	(void)to;
	return 0;
}

const struct carve_pages ole_pages = { begin, links, may_be, inner_bits, kin, end };
