/*
 * Firefox's sessions, bookmarks and search engines (jsonlz4, mozlz4; Mozilla's lz4.js).
 *
 *	file:     'mozLz40' 00, length of the content (4, little-endian), a block of LZ4
 *	sequence: a byte: how many bytes follow as they are, and how many are copied (4 bits each, 15: more bytes,
 *	          FF: yet more); bytes; how far back to copy from (2), unless it is the last sequence
 *
 * The block ends with the sequence whose bytes complete the content; it is JSON, mostly.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "walk.h"

#define HEAD_LEN 12
#define CONTENT_MAX (1u << 30)
#define COPY_MIN 4
#define WIDE 15

struct block {
	struct cursor cursor;
	uint64_t left, done; /* bytes of content */
};

/* Reads what follows a length of 4 bits. False: the view ends. */
static bool read_rest(struct block *block, uint64_t *len)
{
	int byte = 0xff;

	while (*len >= WIDE && byte == 0xff) {
		byte = cursor_next(&block->cursor);
		if (byte < 0)
			return false;
		*len += (uint64_t)byte;
	}
	return true;
}

/* Reads a sequence: NULL, or what is wrong with it. */
static const char *read_sequence(struct block *block)
{
	int token = cursor_next(&block->cursor), low, high;
	uint64_t plain = (uint64_t)(token >> 4), copied = (uint64_t)(token & 15);

	if (token < 0 || !read_rest(block, &plain))
		return "no sequence";
	if (plain > block->left)
		return "too many bytes";
	block->cursor.at += plain;
	block->left -= plain;
	block->done += plain;
	if (!block->left)
		return NULL;
	low = cursor_next(&block->cursor);
	high = cursor_next(&block->cursor);
	if (high < 0 || !read_rest(block, &copied))
		return "no copy";
	copied += COPY_MIN;
	if (!(low | high) || (uint64_t)(low | high << 8) > block->done || copied >= block->left)
		return "an impossible copy";
	block->left -= copied;
	block->done += copied;
	return NULL;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct block block = { .cursor = { .view = view, .at = HEAD_LEN } };
	const char *problem = NULL;

	if (!p || memcmp(p, "mozLz40", 8) != 0 || le32(p + 8) < 2 || le32(p + 8) > CONTENT_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	block.left = le32(p + 8);
	while (block.left && !problem) {
		finding->length = block.cursor.at;
		problem = read_sequence(&block);
	}
	if (block.cursor.at > view_size(view) || (problem && block.cursor.at + 2 > view_size(view)))
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	if (problem)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, finding->length);
	view_unverified(view, HEAD_LEN, block.cursor.at);
	finding->length = block.cursor.at;
	return CARVE_COMPLETE;
}

const struct carver mozlz4_carver = {
	.name = "mozlz4",
	.summary = "Firefox's compressed sessions and bookmarks, by their content's length",
	.check = check,
};
