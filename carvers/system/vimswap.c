/*
 * Vim's swap files (memline.c): the text that was edited, also after a crash.
 *
 *	block 0:  'b0', 'VIM ' and a version (10), page size, time, inode, process (4 each, little-endian but for the name), user (40),
 *	          host (40), file name (900); a page
 *	pointers: 'tp' (pt), number (2), most (2); for each block below its number, lines, first line, and pages
 *	data:     'ad' (da), places of free room and of the text, end (4 each), lines (8); places of the lines
 *
 * Blocks are pages, or several of them. All are walked up to a page that is not one: nothing states their number, and nothing
 * verifies text. The title is the file's name.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 1028
#define PAGE_MIN 1024
#define PAGE_MAX 65536
#define NAME_AT 108
#define NAME_LEN 890
#define POINTERS_HEAD_LEN 8
#define DATA_HEAD_LEN 24

/* The pages of the block at `at`; 0: it is not a block. */
static uint64_t block_pages(struct view *view, uint64_t at, uint32_t page)
{
	const uint8_t *p = view_peek(view, at, DATA_HEAD_LEN);
	uint32_t end;

	if (p && memcmp(p, "tp", 2) == 0)
		return le16(p + 2) <= le16(p + 4) && le16(p + 4) && le16(p + 4) <= page / 16;
	if (!p || memcmp(p, "ad", 2) != 0)
		return 0;
	/* db_free, db_txt_start, db_txt_end: 4 bytes each after 4 of the mark with its padding. */
	end = le32(p + 12);
	if (!end || end % page || end > (1u << 26) || le32(p + 8) > end || le32(p + 4) > end)
		return 0;
	return end / page;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at, size = view_size(view), pages;
	uint32_t page = p ? le32(p + 12) : 0;

	if (!p || memcmp(p, "b0VIM ", 6) != 0 || page < PAGE_MIN || page > PAGE_MAX ||
		(page & (page - 1)))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	finding_set_title(finding, p + NAME_AT, strnlen((const char *)p + NAME_AT, NAME_LEN));
	for (at = page; (pages = at < size ? block_pages(view, at, page) : 0); at += pages * page)
		if (pages * page > size - at)
			return walk_cut(view, finding, at + pages * page,
				view_ends_with_image(view) ? size : at);
	if (at == page && at > size)
		return walk_cut(view, finding, at, size);
	return walk_uncounted(view, finding, 0, at, 0, "block");
}

const struct carver vimswap_carver = {
	.name = "vimswap",
	.summary = "Vim's swap files, by their blocks",
	.check = check,
};
