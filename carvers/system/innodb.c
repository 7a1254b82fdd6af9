/*
 * InnoDB's tablespaces of a table, .ibd (MySQL 5.1 to 9, MariaDB; storage/innobase/include/fil0fil.h, fsp0fsp.h).
 *
 *	file: pages of 4 to 64 KiB, compressed ones of 1 to 16 KiB
 *	page: checksum (4), number (4), ..., kind (2 at 24), ..., the tablespace's number (4 at 34), ..., 8 bytes at the end
 *	first page: at 38 the tablespace's number (4), 0 (4), how many pages there are (4), ..., flags (4 at 54)
 *
 * Integers are big-endian. The flags give the pages' length: in bits 1 to 4 of compressed ones, in bits 6 to 9 of others, or, as MariaDB writes it since 10.5, in bits 0 to 3 with
 * bit 4 set. Each page has its number and the tablespace's, or was never written and is zeros. The last page that was written has a
 * checksum: CRC-32C of two parts, or at its end of all before it. Older ones, compressed and encrypted pages are not verified.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "crc32c.h"
#include "walk.h"

#define HEAD_LEN 120
#define SMALLEST 1024
#define TAIL_LEN 8
#define INITIAL_LEN 65536
#define DATA_AT 38 /* in a page, after its head */

struct innodb {
	struct view *view;
	uint32_t space, page_len, pages;
	bool compressed;
	uint64_t used; /* after the last page that is not zeros */
};

static bool read_head(struct innodb *innodb)
{
	const uint8_t *p = view_peek(innodb->view, 0, HEAD_LEN);
	uint32_t flags, shift, zip;

	if (!p || be32(p + 4) || be16(p + 24) != 8 || be32(p + 34) != be32(p + 38) || be32(p + 42))
		return false;
	flags = be32(p + 54);
	zip = flags & 0x10 && !(flags >> 6 & 15)
		      ? 0
		      : flags >> 1 &
				15; /* of compressed tables, whose pages are shorter in the file */
	innodb->compressed = zip;
	shift = zip ? zip : flags & 0x10 && !(flags >> 6 & 15) ? flags & 15 : flags >> 6 & 15;
	innodb->space = be32(p + 34);
	innodb->pages = be32(p + 46);
	innodb->page_len = shift ? 512u << shift : 16384;
	return innodb->space && innodb->pages && innodb->page_len >= SMALLEST &&
	       innodb->page_len <= 65536 && shift < 8;
}

/* Whether page `number` is one of this tablespace, or zeros. */
static bool check_page(struct innodb *innodb, uint32_t number)
{
	uint64_t at = (uint64_t)number * innodb->page_len;
	const uint8_t *p = view_peek(innodb->view, at, DATA_AT);

	if (!p)
		return false;
	if (be32(p + 4) == number && be32(p + 34) == innodb->space) {
		innodb->used = at + innodb->page_len;
		return true;
	}
	return !be32(p + 4) && walk_zeros(innodb->view, at, at + innodb->page_len);
}

/* Whether a checksum of the page at `at` is right. */
static bool checksum_matches(struct innodb *innodb, uint64_t at)
{
	size_t len = innodb->page_len;
	const uint8_t *p = view_peek(innodb->view, at, len);

	return p && (be32(p + len - 4) == crc32c(0, p, len - 4) ||
			    be32(p) == (crc32c(0, p + 4, 22) ^
					       crc32c(0, p + DATA_AT, len - DATA_AT - TAIL_LEN)));
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct innodb innodb = { .view = view };
	uint64_t size = view_size(view), end, at;
	uint32_t number = 0;

	if (!read_head(&innodb))
		return verdict_because(CARVE_REJECT, finding, "no head of a tablespace at 0");
	end = (uint64_t)innodb.pages * innodb.page_len;
	while (number < innodb.pages && ((uint64_t)number + 1) * innodb.page_len <= size &&
		check_page(&innodb, number))
		number++;
	at = (uint64_t)number * innodb.page_len;
	if (number < 2 && number < innodb.pages)
		return verdict_because(
			CARVE_REJECT, finding, "no page of the tablespace at %" PRIu64, at);
	if (number < innodb.pages && at + innodb.page_len > size)
		return walk_cut(view, finding, end, size);
	finding->length = at;
	if (number < innodb.pages) {
		/* Zeros before bytes that are no page are probably not pages either. */
		finding->length = innodb.used;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no page of the tablespace at %" PRIu64, at);
	}
	view_holds(view, 0, innodb.used);
	/* MariaDB makes a compressed tablespace as large as four pages of another. */
	if (innodb.compressed && end < INITIAL_LEN && walk_zeros(view, end, INITIAL_LEN))
		finding->length = INITIAL_LEN;
	if (innodb.used != end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"only zeros in the pages from %" PRIu64 " on", innodb.used);
	if (!checksum_matches(&innodb, end - innodb.page_len))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no known checksum of the last page, at %" PRIu64, end - innodb.page_len);
	return CARVE_COMPLETE;
}

const struct carver innodb_carver = {
	.name = "innodb",
	.summary = "InnoDB's tablespaces of MySQL and MariaDB, by their pages",
	.check = check,
};
