/*
 * Berkeley DB (dbinc/db_page.h): Bitcoin's wallets, RPM's databases and others.
 *
 *	page:      log position (8 bytes), the page's number, two more numbers, entries, offset,
 *		level, type; the rest depends on the type
 *	meta page: log position, number 0, magic, version, page size, encryption, type, flags; at 32
 *	           the last page's number
 *
 * Integers have the byte order of the machine that wrote the file; the magic shows which. The meta
 * page gives the number of pages. Each has its own number, a known type and an offset within it, or
 * is all zeros because it was never written. The items of a B-tree's page fill it from that offset
 * to its end, one after the other, and those of a hash in the order of its index. So they confirm
 * the page, except for the content of the last item. Leaves of a B-tree lead to the next one and to that before; where those are
 * neighbours, burin checks it. The pages of encrypted databases cannot be
 * checked.
 *
 * A B-tree with Bitcoin's keys in it is a wallet.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 72
#define PAGE_HEAD 26
#define CHECKSUM_LEN 6 /* and its padding, after a page's head */
/* The most bytes at a file's end, in its last item, that may be unconfirmed. */
#define LOOSE_MAX 64

struct bdb {
	struct view *view;
	struct finding *finding;
	bool big;
	uint32_t page_len, last_page;
	bool btree, encrypted, wallet, summed;
	uint64_t used;      /* after the last page that is not all zeros */
	uint64_t broken_at; /* where items of the page checked last become invalid; or 0 */
	uint64_t loose;     /* bytes at its end that nothing confirms */
	bool leads_on;     /* the last page is a B-tree's, and the next leaf comes right after it */
	uint64_t unlinked; /* a page that does not lead back to such a one, or 0 */
};

enum { TREE_INNER = 3, RECORDS_INNER = 4, TREE_LEAF = 5, RECORDS = 6, TWINS = 12, HASHED = 13 };
enum { ITEM_DATA = 1, ITEM_TWINS = 2, ITEM_OVERFLOW = 3, ITEM_DELETED = 0x80 };

enum { BTREE = 0x053162, HASH = 0x061561, QUEUE = 0x042253, HEAP = 0x074582 };

static uint32_t read32(const struct bdb *bdb, const uint8_t *p)
{
	return bdb->big ? be32(p) : le32(p);
}

static bool is_magic(uint32_t magic)
{
	return magic == BTREE || magic == HASH || magic == QUEUE || magic == HEAP;
}

static bool read_meta(struct bdb *bdb)
{
	const uint8_t *p = view_peek(bdb->view, 0, HEAD_LEN);
	uint32_t magic, version;
	uint8_t type;

	if (!p)
		return false;
	bdb->big = p[12] == 0;
	magic = read32(bdb, p + 12);
	version = read32(bdb, p + 16);
	bdb->page_len = read32(bdb, p + 20);
	bdb->encrypted = p[24] != 0;
	bdb->summed = p[26] & 1;
	type = p[25];
	bdb->last_page = read32(bdb, p + 32);
	bdb->btree = magic == BTREE;
	return read32(bdb, p + 8) == 0 && version >= 1 && version <= 12 && p[24] < 3 &&
	       (type == 0 || type == 7 || type == 8 || type == 9 || type == 10 || type == 15) &&
	       is_magic(magic) && bdb->page_len >= 512 && bdb->page_len <= 65536 &&
	       !(bdb->page_len & (bdb->page_len - 1));
}

static bool all_zeros(const uint8_t *p, size_t len)
{
	return !p[0] && memcmp(p, p + 1, len - 1) == 0;
}

/* Whether Bitcoin's keys are on the page. */
static bool has_wallet_keys(const uint8_t *p, size_t len)
{
	static const char *const keys[] = { "\x0a"
					    "minversion",
		"\x07version",
		"\x0a"
		"defaultkey",
		"\x09"
		"bestblock",
		"\x04mkey",
		"\x04"
		"ckey",
		"\x07keymeta" };
	int found = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		found += memmem(p, len, keys[i], strlen(keys[i])) != NULL;
	return found >= 2;
}

static uint16_t read16(const struct bdb *bdb, const uint8_t *p)
{
	return bdb->big ? be16(p) : le16(p);
}

/* The length of the item at p, of which `left` bytes are on the page; 0 if it is not one. *loose:
 * the length of its content. */
static uint32_t item_len(
	const struct bdb *bdb, uint8_t type, const uint8_t *p, uint32_t left, uint32_t *loose)
{
	uint32_t len, head = type == TREE_INNER ? 12 : 3;

	*loose = 0;
	if (type == RECORDS_INNER)
		return left >= 8 ? 8 : 0;
	if (left < head)
		return 0;
	len = read16(bdb, p);
	switch (p[2] & ~ITEM_DELETED) {
	case ITEM_DATA:
		*loose = len;
		break;
	case ITEM_TWINS:
	case ITEM_OVERFLOW:
		len = 12;
		head = type == TREE_INNER ? 12 : 0;
		break;
	default:
		return 0;
	}
	len = (head + len + 3) & ~3u;
	return len <= left ? len : 0;
}

/* Where in a B-tree's page the items stop filling it from `offset` on: page_len if they fill it. */
static uint32_t tree_items(struct bdb *bdb, const uint8_t *p, uint32_t offset)
{
	uint32_t at = offset & ~3u, len = 1, loose = 0;

	while (at < bdb->page_len && len) {
		len = item_len(bdb, p[25], p + at, bdb->page_len - at, &loose);
		at += len;
	}
	bdb->loose = loose;
	return at;
}

/* The same for a hash's page, whose items have no length: each ends where the previous one
 * begins. */
static uint32_t hash_items(struct bdb *bdb, const uint8_t *p, uint32_t offset, uint32_t entries)
{
	uint32_t head = PAGE_HEAD + (bdb->summed ? CHECKSUM_LEN : 0), end = bdb->page_len, at = end;

	if (head + entries * 2 > bdb->page_len)
		return offset;
	for (uint32_t i = 0; i < entries; i++, end = at) {
		at = read16(bdb, p + head + i * 2);
		if (at >= end || at < offset || !p[at] || p[at] > 4)
			return offset;
		if (i == 0)
			bdb->loose = end - at - 1;
	}
	return at == offset || !entries ? bdb->page_len : offset;
}

/* Checks the items of the page: sets broken_at and loose. */
static void check_items(struct bdb *bdb, const uint8_t *p, uint64_t start)
{
	uint16_t entries = read16(bdb, p + 20), offset = read16(bdb, p + 22);
	uint32_t stop = bdb->page_len;

	bdb->broken_at = bdb->loose = 0;
	switch (p[25]) {
	case TREE_INNER:
	case RECORDS_INNER:
	case TREE_LEAF:
	case RECORDS:
	case TWINS:
		if (entries)
			stop = tree_items(bdb, p, offset);
		break;
	case HASHED:
		stop = hash_items(bdb, p, offset, entries);
		break;
	case 7: /* overflow: offset is the length of its content */
		bdb->loose = offset;
		break;
	}
	if (stop != bdb->page_len)
		bdb->broken_at = start + stop;
}

/* Notes whether a leaf of a B-tree leads to the page after it, and, if the one before page `index` led to it, whether it leads
 * back. */
static void check_links(struct bdb *bdb, const uint8_t *p, uint64_t index, bool led)
{
	bool leaf = p[25] == TREE_LEAF || p[25] == RECORDS;

	if (led && !bdb->unlinked && (!leaf || read32(bdb, p + 12) != index - 1))
		bdb->unlinked = index * bdb->page_len;
	bdb->leads_on = leaf && read32(bdb, p + 16) == index + 1;
}

/* Whether page `index` can belong to this file. */
static bool check_page(struct bdb *bdb, uint64_t index)
{
	const uint8_t *p = view_peek(bdb->view, index * bdb->page_len, bdb->page_len);
	uint16_t entries, offset;
	bool led = bdb->leads_on;

	bdb->leads_on = false;
	bdb->broken_at = bdb->loose = 0;
	if (!p)
		return false;
	if (bdb->encrypted) {
		bdb->used = (index + 1) * bdb->page_len;
		return true;
	}
	if (all_zeros(p, bdb->page_len))
		return true;
	entries = read16(bdb, p + 20);
	offset = read16(bdb, p + 22);
	if (bdb->btree && !bdb->wallet)
		bdb->wallet = has_wallet_keys(p, bdb->page_len);
	/* A database in this one has a meta page of its own. */
	if (p[25] >= 8 && p[25] <= 10 && read32(bdb, p + 8) == index &&
		is_magic(read32(bdb, p + 12)) && read32(bdb, p + 20) == bdb->page_len) {
		bdb->used = (index + 1) * bdb->page_len;
		return true;
	}
	/* Extents of a queue have pages without such heads. */
	if (read32(bdb, p + 8) != index || p[25] > 18 || (uint32_t)offset > bdb->page_len ||
		(p[25] != 7 && (uint32_t)entries * 2 > bdb->page_len))
		return false;
	bdb->used = (index + 1) * bdb->page_len;
	check_links(bdb, p, index, led);
	check_items(bdb, p, index * bdb->page_len);
	return true;
}

/* The verdict on a file whose pages are all there. */
static enum verdict judge_last_page(struct bdb *bdb, uint64_t end)
{
	bdb->finding->length = end;
	if (bdb->used != end)
		return verdict_because(CARVE_UNVERIFIED, bdb->finding,
			"only zeros in the pages from %" PRIu64 " on", bdb->used);
	if (bdb->broken_at) {
		bdb->finding->length = bdb->broken_at;
		return verdict_because(CARVE_TRUNCATED, bdb->finding,
			"invalid items in the last page at %" PRIu64, bdb->broken_at);
	}
	if (bdb->encrypted)
		return verdict_because(CARVE_UNVERIFIED, bdb->finding,
			"encrypted: the pages before %" PRIu64 " cannot be verified", end);
	if (bdb->unlinked)
		return verdict_because(CARVE_UNVERIFIED, bdb->finding,
			"the page at %" PRIu64 " does not lead back to the one before it",
			bdb->unlinked);
	if (bdb->loose > LOOSE_MAX)
		return verdict_because(CARVE_UNVERIFIED, bdb->finding,
			"the last %" PRIu64 " bytes cannot be verified", bdb->loose);
	return CARVE_COMPLETE;
}

/* Before version 3.1 the meta page does not give the number of pages. */
static enum verdict check_uncounted(struct bdb *bdb)
{
	uint64_t index = 1, size = view_size(bdb->view);

	while ((index + 1) * bdb->page_len <= size && check_page(bdb, index) &&
		bdb->used == (index + 1) * bdb->page_len)
		index++;
	if (bdb->page_len > size)
		return verdict_because(CARVE_REJECT, bdb->finding, "no whole page at 0");
	bdb->finding->extension = bdb->wallet ? "dat" : NULL;
	bdb->finding->length = index * bdb->page_len;
	if (index == 1)
		return verdict_because(CARVE_TRUNCATED, bdb->finding,
			"no page of this file at %" PRIu64
			", and the first alone is not a database",
			(uint64_t)bdb->page_len);
	return verdict_because(CARVE_UNVERIFIED, bdb->finding,
		"no page of this file at %" PRIu64 ", and the number of pages is not stored",
		bdb->finding->length);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct bdb bdb = { .view = view, .finding = finding };
	uint64_t size = view_size(view), count, index = 1, end;

	if (!read_meta(&bdb))
		return verdict_because(CARVE_REJECT, finding, "no meta page at 0");
	if (!bdb.last_page)
		return check_uncounted(&bdb);
	count = (uint64_t)bdb.last_page + 1;
	end = count * bdb.page_len;
	bdb.used = bdb.page_len;
	while (index < count && (index + 1) * bdb.page_len <= size && check_page(&bdb, index))
		index++;
	finding->extension = bdb.wallet ? "dat" : NULL;
	finding->length = index * bdb.page_len;
	if (index == count && size >= end)
		return judge_last_page(&bdb, end);
	if (finding->length > size) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no whole page at 0");
	}
	if ((index + 1) * bdb.page_len > size && end > size)
		return walk_cut(view, finding, end, size);
	/* Zeros before bytes that are not a page are probably not pages either. */
	finding->length = bdb.used;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no page of this file at %" PRIu64, index * bdb.page_len);
}

const struct carver bdb_carver = {
	.name = "bdb",
	.summary = "Berkeley DB files, Bitcoin's wallets among them, by their pages",
	.check = check,
};
