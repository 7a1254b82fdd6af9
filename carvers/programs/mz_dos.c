/* What linkers put after a program's image: overlays and tables for debuggers. See mz.c. */
#include <string.h>

#include "bytes.h"
#include "mz.h"

#define OVERLAYS_MAX 4096

/* Microsoft's overlays are DOS images with numbers, from 1 on, each at a page. */
static void skip_numbered(struct view *view, struct mz_extent *extent)
{
	for (uint32_t number = 1; number < OVERLAYS_MAX; number++) {
		uint64_t at = (extent->end + 511) / 512 * 512;
		const uint8_t *p = view_peek(view, at, 28);

		if (!p || p[0] != 'M' || p[1] != 'Z' || le16(p + 26) != number ||
			le16(p + 2) > 511 || le16(p + 4) == 0)
			return;
		extent->end =
			at + (uint64_t)le16(p + 4) * 512 - (le16(p + 2) ? 512 - le16(p + 2) : 0);
	}
}

/* Borland's overlays: 'FBOV' with the length of what follows its 16 bytes. */
static void skip_borland(struct view *view, struct mz_extent *extent)
{
	uint64_t at = (extent->end + 15) / 16 * 16;
	const uint8_t *p = view_peek(view, at, 16);

	if (p && memcmp(p, "FBOV", 4) == 0 && le32(p + 4) < INT32_MAX)
		extent->end = at + 16 + le32(p + 4);
}

/* Whether CodeView's trailer is at `at`: the tables' mark again, and their length. */
static bool is_trailer(struct view *view, uint64_t at, const uint8_t *mark, uint64_t start)
{
	const uint8_t *p = view_peek(view, at, 8);

	return p && memcmp(p, mark, 4) == 0 && le32(p + 4) == at + 8 - start;
}

/* CodeView: mark and the directory's offset from the mark; a directory, which is the last of the
 * tables; the trailer. Older directories have a count and entries of 10 bytes, later ones a header
 * of their own. */
static void skip_codeview(struct view *view, struct mz_extent *extent)
{
	uint64_t start = extent->end, directory;
	const uint8_t *p = view_peek(view, start, 8);
	uint8_t mark[4];

	if (!p || memcmp(p, "NB", 2) != 0 || p[2] < '0' || p[2] > '1' || p[3] < '0' || p[3] > '9')
		return;
	memcpy(mark, p, sizeof(mark));
	directory = start + le32(p + 4);
	p = view_peek(view, directory, 8);
	if (!p)
		return;
	for (int form = 0; form < 3; form++) {
		uint64_t count = form < 2 ? le16(p) : le32(p + 4);
		uint64_t head_len = form < 2 ? 2 : le16(p), entry_len = form == 0 ? 10 : 12;
		uint64_t end = directory + head_len + count * entry_len;

		if (is_trailer(view, end, mark, start)) {
			mz_prove(extent, end + 8);
			return;
		}
		p = view_peek(view, directory, 8);
		if (!p)
			return;
	}
}

void mz_skip_overlays(struct view *view, struct mz_extent *extent)
{
	skip_numbered(view, extent);
	skip_borland(view, extent);
	skip_codeview(view, extent);
}
