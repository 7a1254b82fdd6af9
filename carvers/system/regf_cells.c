/*
 * Whether the cells of a hive refer to each other as they should: a key to its parent, to lists of its subkeys
 * and values, and to its security; a list to keys; a value to its data. Bins of other hives, or of an older
 * version of this one, are valid on their own, but what their cells refer to is elsewhere. As some programs
 * leave cells that nothing refers to any more, a few wrong references are tolerated.
 */
#include "regf.h"

#include <string.h>

#include "bytes.h"

#define NONE UINT32_MAX
#define INLINE_DATA 0x80000000u
#define DATA_MAX 16344u /* in one cell; longer data is in several */
#define KEY_LEN 76      /* of a key's fields */
#define KEY_IS_ROOT 4
#define TOLERANCE 64 /* one wrong reference in as many */

struct cells {
	struct view *view;
	uint64_t end;
	uint64_t good, bad;
	uint64_t first_bad; /* the later one of two cells, in the file */
};

/* Whether a cell in use of at least len bytes is at `offset`, which counts from the first bin; and one of
 * these kinds, two letters each, if they are given. */
static bool is_cell(const struct cells *cells, uint32_t offset, uint32_t len, const char *kinds)
{
	uint64_t at = (uint64_t)offset + REGF_HEADER_LEN;
	const uint8_t *p =
		offset % 8 == 0 && at < cells->end ? view_peek(cells->view, at, 6) : NULL;
	int64_t size = p ? -(int64_t)(int32_t)le32(p) : 0;

	if (size < 8 || size < (int64_t)len + 4)
		return false;
	for (const char *kind = kinds; kind && *kind; kind += 2)
		if (memcmp(kind, p + 4, 2) == 0)
			return true;
	return !kinds;
}

static void refer(
	struct cells *cells, uint64_t from, uint32_t offset, uint32_t len, const char *kinds)
{
	uint64_t to = (uint64_t)offset + REGF_HEADER_LEN;

	if (is_cell(cells, offset, len, kinds)) {
		cells->good++;
		return;
	}
	if (!cells->bad++)
		cells->first_bad = to > from && to < cells->end ? to : from;
}

static void check_key(struct cells *cells, uint64_t at, const uint8_t *key)
{
	uint8_t p[KEY_LEN]; /* looking at other cells ends the peek */

	memcpy(p, key, sizeof(p));
	if (!(le16(p + 2) & KEY_IS_ROOT))
		refer(cells, at, le32(p + 16), KEY_LEN, "nk");
	if (le32(p + 20))
		refer(cells, at, le32(p + 28), 4, "lflhliri");
	if (le32(p + 36) && le32(p + 36) < INT32_MAX / 4)
		refer(cells, at, le32(p + 40), 4 * le32(p + 36), NULL);
	if (le32(p + 44) != NONE)
		refer(cells, at, le32(p + 44), 0, "sk");
}

static void check_list(
	struct cells *cells, uint64_t at, uint32_t len, const char *kinds, uint32_t step)
{
	const uint8_t *p = view_peek(cells->view, at + 4, 4);
	uint32_t count = p ? le16(p + 2) : 0;

	for (uint32_t i = 0; i < count && 8 + (i + 1) * step <= len; i++) {
		p = view_peek(cells->view, at + 8 + (uint64_t)i * step, 4);
		if (!p)
			return;
		refer(cells, at, le32(p), 4, kinds);
	}
}

static void check_value(struct cells *cells, uint64_t at, const uint8_t *p)
{
	uint32_t len = le32(p + 4), data = le32(p + 8);

	if (len && !(len & INLINE_DATA))
		refer(cells, at, data, len < DATA_MAX ? len : 4, NULL);
}

/* Checks the cell in use at `at`. */
static void check_cell(struct cells *cells, uint64_t at, uint32_t len)
{
	size_t look = len - 4 < KEY_LEN ? len - 4 : KEY_LEN;
	const uint8_t *p = view_peek(cells->view, at + 4, look);

	if (!p || look < 4)
		return;
	if (memcmp(p, "nk", 2) == 0 && look == KEY_LEN)
		check_key(cells, at, p);
	else if (memcmp(p, "vk", 2) == 0 && look >= 20)
		check_value(cells, at, p);
	else if (memcmp(p, "lf", 2) == 0 || memcmp(p, "lh", 2) == 0)
		check_list(cells, at, len, "nk", 8);
	else if (memcmp(p, "li", 2) == 0)
		check_list(cells, at, len, "nk", 4);
	else if (memcmp(p, "ri", 2) == 0)
		check_list(cells, at, len, "lflhli", 4);
}

bool regf_cells_fit(struct view *view, uint64_t end, uint64_t *broken)
{
	struct cells cells = { .view = view, .end = end };
	uint64_t at = REGF_HEADER_LEN, bin_end = at;
	const uint8_t *p;

	while (at < end && (p = view_peek(view, at, 12))) {
		int64_t len = (int32_t)le32(p);

		if (at == bin_end) {
			bin_end += le32(p + 8);
			at += REGF_BIN_HEADER_LEN;
			continue;
		}
		if (len < 0)
			check_cell(&cells, at, (uint32_t)-len);
		at += (uint64_t)(len < 0 ? -len : len);
	}
	*broken = cells.first_bad;
	return cells.bad <= 1 + cells.good / TOLERANCE;
}
