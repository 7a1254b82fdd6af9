/*
 * Each box has its length, so where the chain of boxes breaks off one that all files have is to be found:
 * mostly the directory of the samples, 'moov', at the end of a film.
 */
#include "bmff.h"

#include <string.h>

#include "bytes.h"

#define BOXES_MAX 65536

/* A box of any length, which begins with this box. */
static bool expect_box(struct carve_table *table, uint64_t at, uint8_t word, const char *first)
{
	static const char *const types[] = { "moov", "moof", "mdat" };
	struct carve_anchor anchor = {
		.offset = at, .any = 15, .len = 8, .word = word, .word_at = 4
	};

	memcpy(anchor.bytes + 4, types[word], 4);
	if (first) {
		memcpy(anchor.bytes + 8, first, 8);
		anchor.len = 16;
	}
	return table->add(table, &anchor);
}

static bool read_boxes(struct view *view, struct carve_table *table)
{
	struct bmff_box box;
	uint64_t at = 0;

	for (unsigned i = 0; i < BOXES_MAX; i++) {
		enum bmff_state state = bmff_read(view, at, view_size(view), &box);

		if ((state != BMFF_BOX && state != BMFF_CUT) || box.open ||
			!bmff_is_outermost(box.type))
			break;
		/* The image may end before the box does where the file goes on before its beginning. */
		at = box.end;
		if (state == BMFF_CUT)
			break;
	}
	return at && expect_box(table, at, 0, "\0\0\0\x6cmvhd") &&
	       expect_box(table, at, 0, "\0\0\0\x78mvhd") &&
	       expect_box(table, at, 1, "\0\0\0\x10mfhd") && expect_box(table, at, 2, NULL);
}

const struct carve_map bmff_map = {
	.words = { { 4, false, "moov" }, { 4, false, "moof" }, { 4, false, "mdat" } },
	.common = true,
	.head = read_boxes,
};
