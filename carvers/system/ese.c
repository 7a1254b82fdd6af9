/*
 * Databases of the Extensible Storage Engine: Windows Search, web cache, SRUM, Active Directory,
 * Exchange (libyal's documentation of the EDB format; Microsoft's published source of ESE).
 *
 *	file:   header in a page, a copy in the next one, pages from number 1 on
 *	header: checksum (words XORed from offset 4 on, and 89ABCDEF), 89ABCDEF, version 620, type,
 *		..., page size at 236
 *	page:   checksum, then its number (old), or a checksum that can correct bits (new)
 *
 * An old page's checksum is computed like the header's. A new one's is its number and the words
 * from offset 8 on, XORed; pages above 8 KiB have one for each quarter, of which the first is
 * checked, and the number at 64. Pages that were never used are zeros.
 *
 *	flags at 36, tags at 34 (12 bits), from the page's end down: length and place of a record (13 or 15 bits each)
 *	pages 2 and 3: the roots of the trees of extents that the database owns, and of those that are free
 *	record in them: key's length (2), key: the last page (4, big-endian), number of pages (4, little-endian)
 *
 * The last extent that is owned shows the number of pages. Free pages hold zeros or what they held before, and nothing
 * verifies it: a file is complete if its pages up to the free ones at its end are valid, and those are zeros. Where
 * the trees can't be read, the walk goes up to the last page whose checksum matches.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define SEED 0x89abcdef
#define LARGE 8192
#define HEADER_LEN 668
#define UNUSED_MAX 4096 /* pages of zeros in a row, where the number of pages is unknown */
#define OWNED_ROOT 2
#define FREE_ROOT 3
#define TREE_DEPTH_MAX 4
#define UNWRITTEN_MAX \
	16 /* pages before those that are free, which a table has and did not write to yet */

enum { IS_LEAF = 2, IS_TREE_OF_EXTENTS = 0x20 };                 /* a page's flags */
enum { RECORD_DELETED = 2, RECORD_SHARES_KEY = 4, KEY_LEN = 4 }; /* a record's */

enum ese_page { PAGE_VALID, PAGE_UNUSED, PAGE_BAD, PAGE_CUT };

static uint32_t xor_words(const uint8_t *p, size_t from, size_t to, uint32_t sum)
{
	for (size_t i = from; i + 4 <= to; i += 4)
		sum ^= le32(p + i);
	return sum;
}

/* The page size of the header at `at`, 0 when it is not a header, or its checksum is wrong. */
static uint32_t read_header(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint32_t len;

	if (!p || le32(p + 4) != SEED || le32(p + 8) != 0x620 || le32(p + 12) > 1)
		return 0;
	len = le32(p + 236);
	if (len != 2048 && len != 4096 && len != 8192 && len != 16384 && len != 32768)
		return 0;
	p = view_peek(view, at, len);
	return p && xor_words(p, 4, len, SEED) == le32(p) ? len : 0;
}

static enum ese_page check_page(struct view *view, uint64_t at, uint32_t len, uint32_t number)
{
	const uint8_t *p = view_peek(view, at, len);

	if (!p)
		return PAGE_CUT;
	if (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0)
		return PAGE_UNUSED;
	if ((le32(p + 4) == number && xor_words(p, 4, len, SEED) == le32(p)) ||
		((len <= LARGE || le64(p + 64) == number) &&
			xor_words(p, 8, len > LARGE ? len / 4 : len, number) == le32(p))) {
		view_holds(view, at, at + len);
		return PAGE_VALID;
	}
	return PAGE_BAD;
}

/* A record of a page: what follows its key. NULL: there is none of that key's length. */
static const uint8_t *find_record(
	const uint8_t *page, uint32_t len, unsigned tag, const uint8_t **key, unsigned *key_len)
{
	bool large = len > LARGE;
	uint32_t mask = large ? 0x7fff : 0x1fff, head = large ? 80 : 40;
	const uint8_t *p = page + len - 4 * (tag + 1);
	uint32_t size = le16(p) & mask, at = head + (le16(p + 2) & mask), flags;

	if (size < 2 + 4 || at > len - 4 * (tag + 1) || size > len - 4 * (tag + 1) - at)
		return NULL;
	p = page + at;
	flags = large ? le16(p) >> 13 : le16(page + len - 4 * (tag + 1) + 2) >> 13;
	*key_len = le16(p) & 0x1fff;
	if (flags & (RECORD_DELETED | RECORD_SHARES_KEY) || *key_len > size - 2 - 4)
		return NULL;
	*key = p + 2;
	return *key + *key_len;
}

/* The last extent of the tree: its pages are first to last. False: it can't be read. */
static bool last_extent(
	struct view *view, uint32_t len, uint32_t root, uint64_t *first, uint64_t *last)
{
	uint32_t number = root;

	for (int depth = 0; depth < TREE_DEPTH_MAX; depth++) {
		uint64_t at = ((uint64_t)number + 1) * len;
		const uint8_t *page, *key, *data;
		unsigned tags, key_len;

		if (check_page(view, at, len, number) != PAGE_VALID)
			return false;
		page = view_peek(view, at, len);
		tags = page ? le16(page + 34) & 0xfff : 0;
		if (tags < 2 || 4 * tags > len - 80 || !(le32(page + 36) & IS_TREE_OF_EXTENTS))
			return false;
		data = find_record(page, len, tags - 1, &key, &key_len);
		if (!data)
			return false;
		if (le32(page + 36) & IS_LEAF) {
			uint32_t count = le32(data);

			*last = key_len == KEY_LEN ? be32(key) : 0;
			*first = *last - count + 1;
			return count && count <= *last;
		}
		number = le32(data);
	}
	return false;
}

/* Whether one of the pages from number up to end is valid. */
static bool is_page_valid_in(struct view *view, uint32_t len, uint64_t number, uint64_t end)
{
	for (; number < end; number++)
		if (check_page(view, (number + 1) * len, len, (uint32_t)number) == PAGE_VALID)
			return true;
	return false;
}

/* The pages up to the last that is known to be the file's; from `end` on they are free. */
static enum verdict check_counted(
	struct view *view, struct finding *finding, uint32_t len, uint64_t end, uint64_t count)
{
	uint64_t last_valid = 0, size = view_size(view), free_at;

	/* A database that was not closed may own more than its trees say. */
	while (count < UINT32_MAX &&
		check_page(view, (count + 2) * len, len, (uint32_t)count + 1) == PAGE_VALID)
		end = ++count + 1;
	finding->length = (count + 2) * len;
	free_at = (end + 1) * len;
	for (uint64_t number = 1; number < end; number++) {
		enum ese_page page = check_page(view, (number + 1) * len, len, (uint32_t)number);

		if (page == PAGE_CUT)
			return walk_cut(view, finding, finding->length,
				view_ends_with_image(view) ? size : (last_valid + 2) * len);
		if (page == PAGE_BAD && end <= count && finding->length <= size &&
			last_valid >= UNWRITTEN_MAX && number + UNWRITTEN_MAX >= end &&
			!is_page_valid_in(view, len, number + 1, end))
			return verdict_because(CARVE_UNVERIFIED, finding,
				"from %" PRIu64 " on pages that were never written, or overwritten",
				(number + 1) * len);
		if (page == PAGE_BAD) {
			finding->length = (last_valid + 2) * len;
			return verdict_because(CARVE_TRUNCATED, finding,
				"the checksum of page %" PRIu64 " at %" PRIu64 " is wrong", number,
				(number + 1) * len);
		}
		if (page == PAGE_VALID)
			last_valid = number;
	}
	if (finding->length > size)
		return walk_cut(view, finding, finding->length,
			view_ends_with_image(view) ? size : free_at);
	if (last_valid + 1 < end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"zeros from %" PRIu64 " on, in pages that are not free",
			(last_valid + 2) * len);
	if (!walk_zeros(view, free_at, finding->length))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the free pages from %" PRIu64 " on", free_at);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint32_t len = read_header(view, 0), number = 1, last_valid = 0;
	enum ese_page page = PAGE_VALID;
	uint64_t first, count, free_from, free_to;

	if (!len)
		return verdict_because(
			CARVE_REJECT, finding, "no header, or its checksum is wrong");
	if (read_header(view, len) != len)
		return verdict_because(CARVE_REJECT, finding, "no copy of the header after it");
	if (last_extent(view, len, OWNED_ROOT, &first, &count)) {
		if (!last_extent(view, len, FREE_ROOT, &free_from, &free_to) || free_to != count)
			free_from = count + 1;
		return check_counted(view, finding, len, free_from, count);
	}
	while (number - last_valid < UNUSED_MAX) {
		page = check_page(view, ((uint64_t)number + 1) * len, len, number);
		if (page == PAGE_BAD || page == PAGE_CUT)
			break;
		if (page == PAGE_VALID)
			last_valid = number;
		number++;
	}
	finding->length = ((uint64_t)last_valid + 2) * len;
	if (last_valid == 0) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no valid page after the headers");
	}
	/* Foreign bytes are not part of the file, but a page with the right number is. */
	if (page == PAGE_BAD && number == last_valid + 1) {
		const uint8_t *p = view_peek(view, ((uint64_t)number + 1) * len, len);

		if (p && (le32(p + 4) == number || (len > LARGE && le64(p + 64) == number)))
			return verdict_because(CARVE_TRUNCATED, finding,
				"the checksum of page %" PRIu32 " at %" PRIu64 " is wrong", number,
				finding->length);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the number of pages is unknown; %" PRIu32 " are valid", last_valid);
}

const struct carver ese_carver = {
	.name = "ese",
	.summary = "ESE databases (edb, dat), by their pages' checksums",
	.check = check,
};
