/*
 * X11's bitmaps, XBM (X Window System, XReadBitmapFile): a piece of C.
 *
 *	#define NAME_width 16
 *	#define NAME_height 7
 *	#define NAME_x_hot 1        and y_hot, perhaps
 *	static unsigned char NAME_bits[] = {
 *	   0x13, 0x00, ... };       a value for 8 pixels of a row; in X10 "short", and 16
 *
 * All values that width and height ask for, and the brace after them, make a file complete.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "lines.h"
#include "title.h"
#include "walk.h"

#define SIDE_MAX 65535
#define NAME_LEN 128
#define REMARK_MAX 4096

struct xbm {
	struct cursor cursor;
	char name[NAME_LEN];
	uint32_t width, height;
};

/* The word at the cursor: letters, digits, '_', and others that file names bring into it. */
static bool read_word(struct cursor *cursor, char *word, size_t room)
{
	size_t len = 0;
	int byte;

	cursor_skip_blanks(cursor);
	while ((byte = cursor_peek(cursor)) > ' ' && byte < 0x7f && !strchr("[]{}(),;", byte)) {
		if (len + 1 == room)
			return false;
		word[len++] = (char)byte;
		cursor->at++;
	}
	word[len] = 0;
	return len > 0;
}

/* A decimal number, or one with 0x. */
static bool read_number(struct cursor *cursor, uint32_t max, uint32_t *number)
{
	char word[16], *end = word;
	uint64_t value = 0;
	bool hex;

	if (!read_word(cursor, word, sizeof(word)))
		return false;
	hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	for (end += hex ? 2 : 0;
		isxdigit((unsigned char)*end) && (hex || isdigit((unsigned char)*end)); end++) {
		unsigned digit = isdigit((unsigned char)*end) ? (unsigned)(*end - '0')
							      : ((unsigned)*end | 32) - 'a' + 10;

		value = value * (hex ? 16 : 10) + digit;
	}
	*number = (uint32_t)value;
	return !*end && end > word + (hex ? 2 : 0) && value <= max;
}

/* A line "#define NAME_what number". */
static bool read_define(struct xbm *xbm, char *what, size_t room, uint32_t *number)
{
	char word[NAME_LEN + 16], *tail, *part;

	if (!read_word(&xbm->cursor, word, sizeof(word)) || strcmp(word, "#define") != 0 ||
		!read_word(&xbm->cursor, word, sizeof(word)))
		return false;
	tail = strrchr(word, '_');
	if (tail && (strcmp(tail, "_hot") == 0) && tail > word + 1)
		tail -= 2;
	if (tail && *tail != '_')
		tail = NULL;
	part = tail ? tail + 1 : word;
	if (strlen(part) >= room)
		return false;
	strcpy(what, part);
	*(tail ? tail : word) = 0;
	if (!xbm->name[0])
		memcpy(xbm->name, word, strnlen(word, NAME_LEN - 1));
	return read_number(&xbm->cursor, SIDE_MAX, number);
}

/* All before the first value. *value_len: bytes of one. */
static bool read_head(struct xbm *xbm, uint32_t *value_len)
{
	struct cursor *cursor = &xbm->cursor;
	char what[16], word[NAME_LEN + 16];
	uint32_t number;

	if (!read_define(xbm, what, sizeof(what), &xbm->width) || strcmp(what, "width") != 0 ||
		!xbm->width || !read_define(xbm, what, sizeof(what), &xbm->height) ||
		strcmp(what, "height") != 0 || !xbm->height)
		return false;
	while (cursor_skip_blanks(cursor) == '#')
		if (!read_define(xbm, what, sizeof(what), &number))
			return false;
	*value_len = 1;
	for (int words = 0;; words++) {
		if (words == 6 || !read_word(cursor, word, sizeof(word)))
			return false;
		if (strcmp(word, "short") == 0)
			*value_len = 2;
		else if (strlen(word) >= 4 && strcmp(word + strlen(word) - 4, "bits") == 0)
			break;
		else if (strcmp(word, "static") != 0 && strcmp(word, "const") != 0 &&
			 strcmp(word, "unsigned") != 0 && strcmp(word, "char") != 0)
			return false;
	}
	if (cursor_skip_blanks(cursor) != '[')
		return false;
	cursor->at++;
	if (cursor_skip_blanks(cursor) != ']' && !read_number(cursor, UINT32_MAX, &number))
		return false;
	if (cursor_skip_blanks(cursor) != ']' ||
		(cursor->at++, cursor_skip_blanks(cursor)) != '=' ||
		(cursor->at++, cursor_skip_blanks(cursor)) != '{')
		return false;
	cursor->at++;
	return true;
}

/* Reads the values. True: all of them, up to the brace. *valid_end: after the last. */
static bool read_values(struct xbm *xbm, uint64_t count, uint32_t max, uint64_t *valid_end)
{
	uint32_t value;

	for (uint64_t i = 0; i < count; i++) {
		if (i && cursor_skip_blanks(&xbm->cursor) != ',')
			return false;
		xbm->cursor.at += i > 0;
		if (!read_number(&xbm->cursor, max, &value))
			return false;
		*valid_end = xbm->cursor.at;
	}
	if (cursor_skip_blanks(&xbm->cursor) == ',')
		xbm->cursor.at++;
	return cursor_skip_blanks(&xbm->cursor) == '}';
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct xbm xbm = { .cursor = { .view = view } };
	struct cursor *cursor = &xbm.cursor;
	uint64_t valid_end = 0, rows, count;
	uint32_t value_len;

	if (cursor_peek(cursor) != '#' || !read_head(&xbm, &value_len))
		return verdict_because(CARVE_REJECT, finding, "no bitmap's lines at 0");
	view_fill_unreadable(view, ' ');
	rows = value_len == 2 ? ((uint64_t)xbm.width + 15) / 16 : ((uint64_t)xbm.width + 7) / 8;
	count = rows * xbm.height;
	if (!read_values(&xbm, count, value_len == 2 ? 0xffff : 0xff, &valid_end)) {
		if (!valid_end)
			return verdict_because(
				CARVE_REJECT, finding, "no value at %" PRIu64, cursor->at);
		finding_set_title(finding, (const uint8_t *)xbm.name, strlen(xbm.name));
		if (cursor->at >= view_size(view))
			return walk_cut(view, finding, view_size(view) + 1, valid_end);
		finding->length = valid_end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"neither a value nor the end at %" PRIu64, cursor->at);
	}
	finding_set_title(finding, (const uint8_t *)xbm.name, strlen(xbm.name));
	finding->length = ++cursor->at;
	if (cursor_skip_blanks(cursor) != ';')
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no semicolon after the brace before %" PRIu64, finding->length);
	finding->length = lines_skip_empty(view, cursor->at + 1);
	return CARVE_COMPLETE;
}

const struct carver xbm_carver = {
	.name = "xbm",
	.summary = "X11's bitmaps, by their values",
	.check = check,
	.quick = true,
};
