/*
 * Apache Parquet (apache/parquet-format).
 *
 *	file: 'PAR1', columns, description, length of the description (4 bytes, little-endian), 'PAR1'
 *
 * The description is a structure in Thrift's compact form: it begins with the version, field 1, a number (15, then
 * 02 or 04), and ends with a zero. It proves the end; nothing verifies the columns, whose pages may be compressed: these are
 * named as embedded.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "walk.h"

#define MARK "PAR1"
#define MARK_LEN 4
#define TAIL_LEN 8
#define DESCRIPTION_MIN 16

/* Whether the mark at `at` ends the file that starts at 0: where its description starts, or 0. */
static uint64_t description(struct view *view, uint64_t at)
{
	const uint8_t *p = at >= MARK_LEN ? view_peek(view, at - MARK_LEN, MARK_LEN) : NULL;
	uint64_t len = p ? le32(p) : 0, start;

	if (len < DESCRIPTION_MIN || len + UINT64_C(2) * MARK_LEN > at)
		return 0;
	start = at - MARK_LEN - len;
	p = view_peek(view, start, 2);
	if (!p || p[0] != 0x15 || (p[1] != 2 && p[1] != 4))
		return 0;
	p = view_peek(view, at - MARK_LEN - 1, 1);
	return p && !*p ? start : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, MARK_LEN + 1);
	uint64_t at = MARK_LEN, size = view_size(view), start;

	/* The first column begins with a page's description: field 1, its kind (0 or 2, doubled). */
	if (!p || memcmp(p, MARK, MARK_LEN) != 0 || p[MARK_LEN] != 0x15)
		return verdict_because(CARVE_REJECT, finding, "no column at 4");
	while (walk_find_word(view, &at, size, MARK)) {
		start = description(view, at);
		at += MARK_LEN;
		if (start) {
			embedded_find_all(view, MARK_LEN, start);
			view_unverified(view, MARK_LEN, start);
			finding->length = at;
			return CARVE_COMPLETE;
		}
	}
	finding->length = MARK_LEN;
	return verdict_because(CARVE_TRUNCATED, finding, "no description before %" PRIu64, at);
}

const struct carver parquet_carver = {
	.name = "parquet",
	.summary = "Apache Parquet, by its description",
	.check = check,
};
