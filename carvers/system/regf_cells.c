/*
 * What the cells of a hive refer to: a key to its parent, to lists of its subkeys and values, to its class and its
 * security; a list to keys; a value to its data. Bins of other hives, or of an older version of this one, are valid on their
 * own, but what their cells refer to is elsewhere. As some programs leave cells that nothing refers to any more, a few wrong
 * references are tolerated.
 */
#include "regf.h"

#include <string.h>

#include "bytes.h"

#define NONE UINT32_MAX
#define INLINE_DATA 0x80000000u
#define DATA_MAX 16344u /* in one cell; longer data is in several */
#define KEY_LEN 76      /* of a key's fields */
#define SECURITY_LEN 20 /* of a security descriptor's... */
#define VALUE_LEN 20    /* ...and of a value's */
#define HEADER_ROOT_AT 36
#define FIRM_MIN \
	8 /* right references, of which a page of another hive seldom has as many before a wrong one */
#define TOLERANCE 64 /* one wrong reference in as many */

#define NAME_AT 76     /* of a key... */
#define NAME_MAX 255   /* ...and its length */
#define HASH_FACTOR 37 /* of a name's hash in a list */
#define LETTERS_LEN 4  /* of a name, in older lists */

enum { KEY_IS_ROOT = 4, NAME_IS_LATIN = 32 };

struct cells {
	struct view *view;
	uint64_t end, bins_end; /* of what is known, and of all */
	void (*visit)(void *context, const struct regf_reference *reference);
	void *context;
};

/* ---- references ----------------------------------------------------------------------------- */

static uint8_t upper(uint8_t letter)
{
	return letter >= 'a' && letter <= 'z' ? (uint8_t)(letter - 'a' + 'A') : letter;
}

/* Whether a list has the hash of the key's name, or its first letters. Names of other than ASCII are not compared. */
static bool name_agrees(
	const struct cells *cells, uint64_t key, const uint8_t item[4], bool is_hash)
{
	const uint8_t *p = view_peek(cells->view, key + 4, NAME_AT);
	uint32_t len = p ? le16(p + 72) : 0, hash = 0;

	if (!len || len > NAME_MAX || !(le16(p + 2) & NAME_IS_LATIN))
		return true;
	p = view_peek(cells->view, key + 4 + NAME_AT, len);
	for (uint32_t i = 0; p && i < len; i++) {
		if (p[i] >= 0x80)
			return true;
		hash = hash * HASH_FACTOR + upper(p[i]);
		if (!is_hash && i < LETTERS_LEN && upper(p[i]) != upper(item[i]))
			return false;
	}
	return !p || !is_hash || hash == le32(item);
}

/* at: of the field in the file that refers to `offset`, which counts from the first bin. */
static struct regf_reference reference_of(
	const struct cells *cells, uint64_t at, uint32_t offset, uint32_t len, const char *kinds)
{
	struct regf_reference reference = {
		.from = at, .to = (uint64_t)offset + REGF_HEADER_LEN, .len = len, .kinds = kinds
	};
	const uint8_t *p = offset % 8 == 0 && reference.to < cells->end
				   ? view_peek(cells->view, reference.to, 6)
				   : NULL;

	reference.is_right = p && regf_is_cell(p, len, kinds);
	return reference;
}

static void visit(const struct cells *cells, const struct regf_reference *reference)
{
	if (reference->to < cells->end || reference->to >= cells->bins_end)
		cells->visit(cells->context, reference);
}

static bool refer(
	const struct cells *cells, uint64_t at, uint32_t offset, uint32_t len, const char *kinds)
{
	const struct regf_reference reference = reference_of(cells, at, offset, len, kinds);

	visit(cells, &reference);
	return reference.is_right;
}

/* An item of a list of keys with (parts of) their names. */
static void refer_by_name(
	const struct cells *cells, uint64_t at, const uint8_t item[8], bool is_hash)
{
	uint8_t hash[4];
	struct regf_reference reference;

	memcpy(hash, item + 4, sizeof(hash));
	reference = reference_of(cells, at, le32(item), NAME_AT, "nk");
	if (reference.is_right)
		reference.is_right = name_agrees(cells, reference.to, hash, is_hash);
	visit(cells, &reference);
}

bool regf_is_cell(const uint8_t *bytes, uint32_t len, const char *kinds)
{
	int64_t size = -(int64_t)(int32_t)le32(bytes);

	if (size < 8 || size < (int64_t)len + 4)
		return false;
	for (const char *kind = kinds; kind && *kind; kind += 2)
		if (memcmp(kind, bytes + 4, 2) == 0)
			return true;
	return !kinds;
}

/* The offsets that a cell without letters has, which may be shorter than it. */
static void visit_offsets(
	const struct cells *cells, uint32_t offset, uint32_t count, uint32_t len, const char *kinds)
{
	uint64_t at = (uint64_t)offset + REGF_HEADER_LEN + 4;
	const uint8_t *p;

	for (uint32_t i = 0; i < count && (p = view_peek(cells->view, at + 4 * (uint64_t)i, 4));
		i++)
		refer(cells, at + 4 * (uint64_t)i, le32(p), len, kinds);
}

static void visit_key(const struct cells *cells, uint64_t at, const uint8_t *key)
{
	uint8_t p[KEY_LEN]; /* looking at other cells ends the peek */
	uint32_t values;

	memcpy(p, key, sizeof(p));
	at += 4;
	values = le32(p + 36);
	if (!(le16(p + 2) & KEY_IS_ROOT))
		refer(cells, at + 16, le32(p + 16), KEY_LEN, "nk");
	if (le32(p + 20))
		refer(cells, at + 28, le32(p + 28), 4, "lflhliri");
	if (values && values < INT32_MAX / 4 &&
		refer(cells, at + 40, le32(p + 40), 4 * values, NULL))
		visit_offsets(cells, le32(p + 40), values, VALUE_LEN, "vk");
	if (le32(p + 44) != NONE)
		refer(cells, at + 44, le32(p + 44), 0, "sk");
	if (le16(p + 74) && le32(p + 48) != NONE)
		refer(cells, at + 48, le32(p + 48), le16(p + 74), NULL);
}

static void visit_list(
	const struct cells *cells, uint64_t at, uint32_t len, const char *kinds, uint32_t step)
{
	const uint8_t *p = view_peek(cells->view, at + 4, 4);
	uint32_t count = p ? le16(p + 2) : 0;
	bool is_hash = p && p[1] == 'h';

	for (uint32_t i = 0; i < count && 8 + (i + 1) * step <= len; i++) {
		uint64_t item = at + 8 + (uint64_t)i * step;

		p = view_peek(cells->view, item, step);
		if (!p)
			return;
		if (step == 8)
			refer_by_name(cells, item, p, is_hash);
		else
			refer(cells, item, le32(p), 4, kinds);
	}
}

static void visit_value(const struct cells *cells, uint64_t at, const uint8_t *p)
{
	uint32_t len = le32(p + 4), data = le32(p + 8);

	if (len && !(len & INLINE_DATA))
		refer(cells, at + 12, data, len < DATA_MAX ? len : 4, NULL);
}

/* Each has the one before it and the one after it. */
static void visit_security(const struct cells *cells, uint64_t at, const uint8_t *p)
{
	uint32_t next = le32(p + 4), before = le32(p + 8);

	refer(cells, at + 8, next, SECURITY_LEN, "sk");
	refer(cells, at + 12, before, SECURITY_LEN, "sk");
}

/* Data that is longer than a cell's has a list of its parts. */
static void visit_parts(const struct cells *cells, uint64_t at, const uint8_t *p)
{
	uint32_t count = le16(p + 2), list = le32(p + 4);

	if (refer(cells, at + 8, list, 4 * count, NULL))
		visit_offsets(cells, list, count, 4, NULL);
}

/* The cell in use at `at`. */
static void visit_cell(const struct cells *cells, uint64_t at, uint32_t len)
{
	size_t look = len - 4 < KEY_LEN ? len - 4 : KEY_LEN;
	const uint8_t *p = view_peek(cells->view, at + 4, look);

	if (!p || look < 4)
		return;
	if (memcmp(p, "nk", 2) == 0 && look == KEY_LEN)
		visit_key(cells, at, p);
	else if (memcmp(p, "vk", 2) == 0 && look >= VALUE_LEN)
		visit_value(cells, at, p);
	else if (memcmp(p, "lf", 2) == 0 || memcmp(p, "lh", 2) == 0)
		visit_list(cells, at, len, "nk", 8);
	else if (memcmp(p, "li", 2) == 0)
		visit_list(cells, at, len, "nk", 4);
	else if (memcmp(p, "ri", 2) == 0)
		visit_list(cells, at, len, "lflhli", 4);
	else if (memcmp(p, "sk", 2) == 0 && look >= SECURITY_LEN)
		visit_security(cells, at, p);
	else if (memcmp(p, "db", 2) == 0 && look >= 8)
		visit_parts(cells, at, p);
}

bool regf_each_cell(struct view *view, uint64_t end,
	bool (*cell)(void *context, uint64_t at, int64_t len), void *context)
{
	uint64_t at = REGF_HEADER_LEN, bin_end = at;
	const uint8_t *p;

	while (at < end) {
		int64_t len;

		p = view_peek(view, at, 12);
		if (!p)
			return false;
		if (at == bin_end) {
			bin_end += le32(p + 8);
			at += REGF_BIN_HEADER_LEN;
			continue;
		}
		len = (int32_t)le32(p);
		if (!len || !cell(context, at, len))
			return false;
		at += (uint64_t)(len < 0 ? -len : len);
	}
	return at == end;
}

static bool visit_if_used(void *context, uint64_t at, int64_t len)
{
	const struct cells *cells = context;

	if (len < -4)
		visit_cell(cells, at, (uint32_t)-len);
	return true;
}

bool regf_each_reference(struct view *view, uint64_t end, uint64_t bins_end,
	void (*give)(void *context, const struct regf_reference *reference), void *context)
{
	struct cells cells = {
		.view = view, .end = end, .bins_end = bins_end, .visit = give, .context = context
	};
	const uint8_t *p = view_peek(view, HEADER_ROOT_AT, 4);

	if (!p)
		return false;
	refer(&cells, HEADER_ROOT_AT, le32(p), KEY_LEN, "nk");
	return regf_each_cell(view, end, visit_if_used, &cells);
}

/* ---- whether they fit ------------------------------------------------------------------------ */

struct tally {
	uint64_t end, good, bad;
	uint64_t first_bad; /* the least of wrong references' places */
	uint64_t from,
		firm; /* right references from one page to another whose places are from there to the first wrong one */
};

/* The later one of a reference's two cells. */
static uint64_t place_of(const struct tally *tally, const struct regf_reference *reference)
{
	return reference->to > reference->from && reference->to < tally->end ? reference->to
									     : reference->from;
}

static void count_reference(void *context, const struct regf_reference *reference)
{
	struct tally *tally = context;
	uint64_t place = place_of(tally, reference);

	if (reference->is_right)
		tally->good++;
	else if (!tally->bad++ || place < tally->first_bad)
		tally->first_bad = place;
}

static void count_firm(void *context, const struct regf_reference *reference)
{
	struct tally *tally = context;
	uint64_t place = place_of(tally, reference);

	tally->firm += reference->is_right && place >= tally->from && place < tally->first_bad &&
		       reference->to / REGF_PAGE_LEN != reference->from / REGF_PAGE_LEN;
}

bool regf_cells_fit(struct view *view, uint64_t end, uint64_t bins_end, uint64_t *broken)
{
	struct tally tally = { .end = end };

	regf_each_reference(view, end, bins_end, count_reference, &tally);
	if (tally.bad <= 1 + tally.good / TOLERANCE)
		return true;
	tally.from = tally.first_bad / REGF_PAGE_LEN * REGF_PAGE_LEN;
	regf_each_reference(view, end, bins_end, count_firm, &tally);
	*broken = tally.firm < FIRM_MIN ? tally.from : tally.first_bad;
	return false;
}
