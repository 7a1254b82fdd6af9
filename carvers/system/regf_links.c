/*
 * Which pages of a registry hive belong together, where it was put together of pieces. Nothing sums a hive up, but Windows
 * leaves no cell in use that nothing refers to, and no reference to nothing: in a hive of which all of both is so, a page from
 * elsewhere would have its cells in use just where references lead, and nowhere else. Of a reference from another page,
 * one in ten finds a cell of its kind in another hive's page with this number, and one in two where both hives began
 * as copies of the same one (measured; tests/bench/RESULTS.md).
 *
 * That shows that pages are of one hive, but not that they are of one version of it: an older page has most cells where
 * the newer one has them. It has keys that the hive has, too, at the same places in their pages.
 */
#include "regf.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "page_hash.h"
#include "logarithm.h"
#include "sorted.h"

#define PAGE_LEN REGF_PAGE_LEN
#define PAGES_MAX ((uint32_t)1 << 16)
#define CELLS_MAX ((size_t)1 << 21)
#define HEADER_USED 512 /* bytes of the header that its sum covers */
#define LINK_BITS LOG_BIT
#define FIRM_MIN \
	8 /* references that lead into a page, or out of it, of one that others show something of */
#define CONTENT_LEN 12 /* bytes of a cell's content that are hardly elsewhere */
#define KEY_FIELDS 76
#define KIN_SHARE 4 /* of a page's cells, of which as many as one are a version's */

struct cell {
	uint64_t at;
	int64_t len;
};

struct link {
	uint64_t from, to;
	uint32_t len;
	const char *kinds;
};

struct hive {
	struct view *view;
	uint64_t end; /* of the bins */
	uint32_t page_count;
	struct cell *cells;
	size_t cell_count, cell_capacity;
	bool *is_used;      /* of each cell: something refers to it */
	struct link *links; /* in order of where they lead to */
	size_t link_count, link_capacity;
	uint32_t *firmness; /* of each page: links from other pages and to them */
	uint64_t *prints;   /* sorted: of cells and pages */
	size_t print_count, print_capacity;
	bool is_wrong, no_memory;
};

/* ---- hashes -------------------------------------------------------------------------------- */

enum print { PRINT_PAGE = 1, PRINT_KEY, PRINT_CELL };

static uint64_t print_of_page(const uint8_t *bytes)
{
	return page_hash(bytes, PAGE_LEN, PRINT_PAGE);
}

/* Of a cell in use of `len` bytes; in_page: where it is in its page. 0: it may well be in other hives. */
static uint64_t print_of_cell(const uint8_t *cell, size_t len, uint32_t in_page)
{
	const uint8_t *p = cell + 4;
	size_t name;

	if (len < 4 + CONTENT_LEN)
		return 0;
	if (len >= 4 + KEY_FIELDS && !memcmp(p, "nk", 2)) {
		name = le16(p + 72);
		if (name > len - 4 - KEY_FIELDS)
			return 0;
		return page_hash(p + KEY_FIELDS, name,
			page_hash_mix(in_page ^ (uint64_t)le32(p + 16) << 16) ^ PRINT_KEY);
	}
	return page_hash(p, len - 4, page_hash_mix(in_page) ^ PRINT_CELL);
}

static bool has_print(const struct hive *hive, uint64_t print)
{
	return print && hive->print_count &&
	       bsearch(&print, hive->prints, hive->print_count, sizeof(*hive->prints),
		       page_hash_compare);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Room for one more item. NULL: there is no memory. */
static void *grow(struct hive *hive, void *items, size_t *capacity, size_t count, size_t size)
{
	void *grown;

	if (count < *capacity)
		return items;
	grown = realloc(items, (2 * *capacity + 64) * size);
	if (grown)
		*capacity = 2 * *capacity + 64;
	else
		hive->no_memory = true;
	return grown;
}

static void add_print(struct hive *hive, uint64_t print)
{
	uint64_t *grown =
		grow(hive, hive->prints, &hive->print_capacity, hive->print_count, sizeof(*grown));

	if (!grown)
		return;
	hive->prints = grown;
	hive->prints[hive->print_count++] = print;
}

static bool add_cell(void *context, uint64_t at, int64_t len)
{
	struct hive *hive = context;
	struct cell *grown;
	size_t used = len < 0 ? (size_t)-len : 0;
	const uint8_t *p;

	if (hive->cell_count == CELLS_MAX)
		return false;
	grown = grow(hive, hive->cells, &hive->cell_capacity, hive->cell_count, sizeof(*grown));
	if (!grown)
		return false;
	hive->cells = grown;
	hive->cells[hive->cell_count++] = (struct cell){ at, len };
	if (!used || used > PAGE_LEN - at % PAGE_LEN)
		return true;
	p = view_peek(hive->view, at, used);
	if (p)
		add_print(hive, print_of_cell(p, used, at % PAGE_LEN));
	return p && !hive->no_memory;
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

/* The cell that begins there. NULL: none does. */
static const struct cell *cell_at(const struct hive *hive, uint64_t at)
{
	const struct cell wanted = { .at = at };

	return bsearch(&wanted, hive->cells, hive->cell_count, sizeof(wanted), compare_cells);
}

static void add_reference(void *context, const struct regf_reference *reference)
{
	struct hive *hive = context;
	const struct cell *cell = reference->is_right ? cell_at(hive, reference->to) : NULL;
	struct link *grown;

	if (!cell || hive->link_count == CELLS_MAX)
		hive->is_wrong = true;
	if (hive->is_wrong || hive->no_memory)
		return;
	hive->is_used[cell - hive->cells] = true;
	grown = grow(hive, hive->links, &hive->link_capacity, hive->link_count, sizeof(*grown));
	if (!grown)
		return;
	hive->links = grown;
	hive->links[hive->link_count++] =
		(struct link){ reference->from, reference->to, reference->len, reference->kinds };
}

static int compare_links(const void *a, const void *b)
{
	const struct link *left = a, *right = b;

	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

/* Reads all cells, and what they refer to. False: not all are referred to, or not all references are right. */
static bool read_hive(struct hive *hive)
{
	if (!regf_each_cell(hive->view, hive->end, add_cell, hive) || !hive->cell_count)
		return false;
	hive->is_used = calloc(hive->cell_count, sizeof(*hive->is_used));
	hive->firmness = calloc(hive->page_count, sizeof(*hive->firmness));
	if (!hive->is_used || !hive->firmness) {
		hive->no_memory = true;
		return false;
	}
	if (!regf_each_reference(hive->view, hive->end, hive->end, add_reference, hive) ||
		hive->is_wrong || hive->no_memory)
		return false;
	for (size_t i = 0; i < hive->cell_count; i++)
		if (hive->cells[i].len < 0 && !hive->is_used[i])
			return false;
	return true;
}

static bool add_page_prints(struct hive *hive)
{
	for (uint32_t i = 0; i < hive->page_count; i++) {
		const uint8_t *p = view_peek(hive->view, (uint64_t)i * PAGE_LEN, PAGE_LEN);

		if (!p)
			return false;
		add_print(hive, print_of_page(p));
	}
	return !hive->no_memory;
}

static uint32_t page_of(uint64_t at)
{
	return (uint32_t)(at / PAGE_LEN);
}

/* That of the root is at the same place in all hives. */
static bool shows_nothing(const struct link *link)
{
	return page_of(link->from) == page_of(link->to) || link->from < REGF_HEADER_LEN;
}

static void finish(struct hive *hive)
{
	qsort(hive->links, hive->link_count, sizeof(*hive->links), compare_links);
	qsort(hive->prints, hive->print_count, sizeof(*hive->prints), page_hash_compare);
	for (size_t i = 0; i < hive->link_count; i++) {
		const struct link *link = &hive->links[i];

		if (shows_nothing(link))
			continue;
		hive->firmness[page_of(link->from)]++;
		hive->firmness[page_of(link->to)]++;
	}
	hive->view = NULL;
}

static void end(void *pages)
{
	struct hive *hive = pages;

	free(hive->cells);
	free(hive->is_used);
	free(hive->links);
	free(hive->firmness);
	free(hive->prints);
	free(hive);
}

static void *begin(struct view *view, uint32_t *page_len, uint32_t *count)
{
	const uint8_t *p = view_peek(view, 0, HEADER_USED);
	uint64_t pages = view_size(view) / PAGE_LEN, bins = p ? le32(p + 40) : 0;
	struct hive *hive;

	if (!bins || bins % PAGE_LEN || pages < 2 || pages > PAGES_MAX ||
		bins > (pages - 1) * PAGE_LEN)
		return NULL;
	hive = calloc(1, sizeof(*hive));
	if (!hive) {
		view_no_memory(view);
		return NULL;
	}
	hive->view = view;
	hive->end = bins + REGF_HEADER_LEN;
	*page_len = PAGE_LEN;
	*count = hive->page_count = (uint32_t)pages;
	if (read_hive(hive) && add_page_prints(hive)) {
		finish(hive);
		return hive;
	}
	if (hive->no_memory)
		view_no_memory(view);
	end(hive);
	return NULL;
}

/* ---- what they show ------------------------------------------------------------------------ */

static void links(const void *pages, void (*add)(void *context, const struct carve_page_link *link),
	void *context)
{
	const struct hive *hive = pages;

	for (size_t i = 0; i < hive->link_count; i++) {
		const struct link *own = &hive->links[i];
		const struct carve_page_link link = {
			.page = page_of(own->to), .other = page_of(own->from), .bits = LINK_BITS
		};

		if (!shows_nothing(own))
			add(context, &link);
	}
}

/* The first link that leads to `at` or further. */
static size_t first_link(const struct hive *hive, uint64_t at)
{
	return sorted_first(
		hive->links, hive->link_count, sizeof(*hive->links), offsetof(struct link, to), at);
}

/* The first cell that begins at `at` or further. */
static size_t first_cell(const struct hive *hive, uint64_t at)
{
	return sorted_first(
		hive->cells, hive->cell_count, sizeof(*hive->cells), offsetof(struct cell, at), at);
}

/* Whether the cells of the page's bytes, of which the first one begins where the hive's does, end where it has one, too. */
static bool cells_meet(const struct hive *hive, uint64_t start, const uint8_t *bytes)
{
	size_t first = first_cell(hive, start);
	uint64_t at, stop = start + PAGE_LEN;

	if (first == hive->cell_count || hive->cells[first].at >= stop)
		return true; /* all of it is inside a cell */
	at = hive->cells[first].at;
	/* A bin begins with its own place. */
	if (at - start >= REGF_BIN_HEADER_LEN && !memcmp(bytes, "hbin", 4) &&
		le32(bytes + 4) != start - REGF_HEADER_LEN)
		return false;
	while (at < stop) {
		int64_t len = (int32_t)le32(bytes + (at - start));

		len = len < 0 ? -len : len;
		if (len < 8 || len % 8)
			return false;
		at += (uint64_t)len;
	}
	return at == hive->end || cell_at(hive, at) ||
	       (at % PAGE_LEN == 0 && cell_at(hive, at + REGF_BIN_HEADER_LEN));
}

/* Whether references from other pages lead to cells of their kind there. */
static bool references_lead_there(const struct hive *hive, uint64_t start, const uint8_t *bytes)
{
	uint64_t stop = start + PAGE_LEN;

	for (size_t i = first_link(hive, start); i < hive->link_count && hive->links[i].to < stop;
		i++) {
		const struct link *link = &hive->links[i];

		if (page_of(link->from) != page_of(start) && stop - link->to >= 8 &&
			!regf_is_cell(bytes + (link->to - start), link->len, link->kinds))
			return false;
	}
	return true;
}

/* The header, by its sum; after what that covers no header has anything if this one has not. */
static bool may_be_header(const uint8_t *bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < HEADER_USED - 4; i += 4)
		sum ^= le32(bytes + i);
	return sum == le32(bytes + HEADER_USED - 4);
}

static bool may_be(const void *pages, uint32_t page, const uint8_t *bytes)
{
	const struct hive *hive = pages;
	uint64_t start = (uint64_t)page * PAGE_LEN;

	if (page >= hive->page_count || start >= hive->end)
		return true;
	if (!page)
		return bytes && may_be_header(bytes);
	if (!bytes)
		return hive->firmness[page] < FIRM_MIN;
	return cells_meet(hive, start, bytes) && references_lead_there(hive, start, bytes);
}

static unsigned inner_bits(
	const void *pages, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to)
{
	const struct hive *hive = pages;
	uint64_t start = (uint64_t)page * PAGE_LEN, stop = start + to;
	unsigned bits = 0;

	(void)bytes;
	for (size_t i = first_link(hive, start); i < hive->link_count && hive->links[i].to < stop;
		i++) {
		const struct link *link = &hive->links[i];
		bool is_before = link->to < start + from;

		if (page_of(link->from) == page && link->from < stop &&
			(link->from < start + from) != is_before)
			bits += LINK_BITS;
	}
	return bits;
}

/* ---- other versions ------------------------------------------------------------------------ */

/* Whether a page that may be in the middle of a bin has a key of the hive's. */
static bool has_own_key(const struct hive *hive, const uint8_t *bytes)
{
	for (uint32_t at = 0; at + 4 + KEY_FIELDS <= PAGE_LEN; at += 8) {
		int64_t len = -(int64_t)(int32_t)le32(bytes + at);

		if (bytes[at + 4] != 'n' || bytes[at + 5] != 'k' || len < 4 + KEY_FIELDS ||
			len > PAGE_LEN - at)
			continue;
		if (has_print(hive, print_of_cell(bytes + at, (size_t)len, at)))
			return true;
	}
	return false;
}

/* Whether a page with the beginning of a bin of the same place has many cells that are the hive's, too. */
static bool has_own_cells(const struct hive *hive, const uint8_t *bytes)
{
	uint32_t used = 0, own = 0;

	if (memcmp(bytes, "hbin", 4) != 0 ||
		!cell_at(hive, (uint64_t)le32(bytes + 4) + REGF_HEADER_LEN + REGF_BIN_HEADER_LEN))
		return false;
	for (uint32_t at = REGF_BIN_HEADER_LEN; at + 8 <= PAGE_LEN;) {
		int64_t len = (int32_t)le32(bytes + at);
		uint64_t size = (uint64_t)(len < 0 ? -len : len), print;

		if (size < 8 || size > PAGE_LEN - at)
			break;
		print = len < 0 ? print_of_cell(bytes + at, (size_t)size, at) : 0;
		used += len < 0;
		own += has_print(hive, print);
		at += (uint32_t)size;
	}
	return own && own * KIN_SHARE >= used;
}

static enum carve_kin kin(const void *pages, const uint8_t *bytes)
{
	const struct hive *hive = pages;
	bool is_kin = has_own_key(hive, bytes) || has_own_cells(hive, bytes);

	/* Zeros after the bins are a page, too. */
	if (!is_kin && (bytes[0] != 'h' && bytes[0] != 'r'))
		return CARVE_NO_KIN;
	if (has_print(hive, print_of_page(bytes)))
		return CARVE_COPY;
	return is_kin ? CARVE_VERSION : CARVE_NO_KIN;
}

const struct carve_pages regf_pages = { begin, links, may_be, inner_bits, kin, end };
