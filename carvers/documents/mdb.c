/*
 * Databases of Microsoft Access (Jet 3 and 4, ACE) and Money (the mdbtools project's HACKING).
 *
 *	pages of 2,048 bytes (Jet 3) or 4,096; the first has a magic and the version
 *	page: kind (1 rows, 2 a table's definition, 3 and 4 an index, 5 a page map), 1, ...
 *
 * The number of pages is not stored. They are walked as far as they are valid: rows have their
 * offsets inside the page and belong to a definition that is inside the file. Unused pages may
 * contain anything, and count if valid ones follow soon. The file ends where none follows, which is
 * a guess; if a page refers to one past the end, the file is cut. In a database with a password the
 * pages may be encrypted: then it ends where the bytes are no longer random.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "noise.h"
#include "walk.h"

#define UNUSED_MAX 16   /* pages in a row */
#define MONEY_HIDDEN 15 /* the first pages that Money encrypts */
#define PAGES_MAX (1u << 24)
#define ENCRYPTED_MAX ((uint64_t)64 << 20)

enum mdb_page_kind { ROWS = 1, DEFINITION = 2, INDEX = 3, LEAF = 4, MAP = 5 };

struct mdb {
	struct view *view;
	uint32_t page_len;
	uint32_t farthest; /* the highest page that another one refers to */
};

/* Whether the rows' offsets, in a table after the page's head, are valid; two bits of each are
 * flags. */
static bool is_valid_row_table(const struct mdb *mdb, const uint8_t *p)
{
	uint32_t table = mdb->page_len == 2048 ? 10 : 14, count = le16(p + table - 2);

	if (table + 2 * count > mdb->page_len || le16(p + 2) > mdb->page_len)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = le16(p + table + 2 * i) & 0x3fff;

		if (at > mdb->page_len || at < table + 2 * count)
			return false;
	}
	return true;
}

/* Whether the page with this number is in use and valid; *referenced is a page it refers to, or
 * 0. */
static bool is_valid_page(const struct mdb *mdb, uint64_t number, uint32_t *referenced)
{
	const uint8_t *p = view_peek(mdb->view, number * mdb->page_len, mdb->page_len);

	*referenced = 0;
	if (!p || p[1] != 1 || p[0] < ROWS || p[0] > MAP)
		return false;
	if (p[0] == MAP)
		return le16(p + 2) == 0;
	if (p[0] != ROWS || memcmp(p + 4, "LVAL", 4) != 0)
		*referenced = le32(p + 4);
	if (*referenced >= PAGES_MAX || (*referenced == 0 && p[0] != ROWS && p[0] != DEFINITION))
		return false;
	if (p[0] == ROWS)
		return is_valid_row_table(mdb, p);
	return mdb->page_len == 2048 || le16(p + 2) <= mdb->page_len;
}

/* Whether another database begins at this page. */
static bool starts_another_file(const struct mdb *mdb, uint64_t number)
{
	const uint8_t *p = view_peek(mdb->view, number * mdb->page_len, 8);

	return p && le32(p) == 0x100 && memcmp(p + 4, "Stan", 4) == 0;
}

/* Walks from the page `number` on. Returns the number after the last valid page; adds the number of
 * valid pages to *count. */
static uint64_t walk_pages(struct mdb *mdb, uint64_t number, uint64_t *count)
{
	uint64_t valid_end = number, pages = view_size(mdb->view) / mdb->page_len;
	uint32_t referenced;

	for (; number < pages && number < valid_end + UNUSED_MAX && number < PAGES_MAX; number++) {
		if (starts_another_file(mdb, number))
			break;
		if (!is_valid_page(mdb, number, &referenced))
			continue;
		if (referenced > mdb->farthest)
			mdb->farthest = referenced;
		valid_end = number + 1;
		++*count;
	}
	return valid_end;
}

static enum verdict judge_encrypted(struct mdb *mdb, struct finding *finding)
{
	uint64_t size = view_size(mdb->view), page = mdb->page_len;
	uint64_t limit = size < ENCRYPTED_MAX ? size : ENCRYPTED_MAX;

	if (limit < 2 * page || !noise_at(mdb->view, page, limit))
		return verdict_because(CARVE_REJECT, finding, "no page at %" PRIu64, page);
	finding->length = plain_start(mdb->view, page, limit) / page * page;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"encrypted pages, which end where bytes are not random, at %" PRIu64,
		finding->length);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 32);
	struct mdb mdb = { .view = view };
	uint64_t count = 0, first = 1, end;
	bool money;

	if (!p || le32(p) != 0x100 || le32(p + 20) > 16)
		return verdict_because(CARVE_REJECT, finding, "no magic and version at 0");
	money = memcmp(p + 4, "MSISAM", 6) == 0;
	mdb.page_len = le32(p + 20) == 0 && !money ? 2048 : 4096;
	finding->extension = money ? "mny" : memcmp(p + 13, "ACE", 3) == 0 ? "accdb" : "mdb";
	end = walk_pages(&mdb, first, &count);
	if (count == 0 && money)
		end = walk_pages(&mdb, first = MONEY_HIDDEN, &count);
	if (count == 0)
		return judge_encrypted(&mdb, finding);
	finding->length = end * mdb.page_len;
	embedded_find_all(view, mdb.page_len, finding->length);
	if (mdb.farthest >= end && view_size(view) < ((uint64_t)mdb.farthest + 1) * mdb.page_len)
		return walk_cut(view, finding, ((uint64_t)mdb.farthest + 1) * mdb.page_len,
			view_ends_with_image(view) ? view_size(view) : finding->length);
	if (mdb.farthest >= end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"page %" PRIu32 " is referenced, but pages end at %" PRIu64, mdb.farthest,
			finding->length);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no page at %" PRIu64 ", and the number of pages is not stored", finding->length);
}

const struct carver mdb_carver = {
	.name = "mdb",
	.summary = "Access and Money databases (Jet, ACE), by their pages",
	.check = check,
};
