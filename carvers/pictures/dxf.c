/*
 * Drawings in AutoCAD's exchange form (Autodesk, DXF Reference): text, or binary.
 *
 *	file:    lines in pairs: a code (a number, perhaps after blanks), and its value
 *	section: 0 SECTION, 2 and its name, ..., 0 ENDSEC
 *	the end: 0 EOF
 *
 *	binary:  'AutoCAD Binary DXF', CR LF, 1A 00, then the same pairs: the code in two bytes (one in versions before R13),
 *	         little-endian; the value a number whose length the code gives, or text up to a zero
 *
 * Comments (999) may precede the first section. Each pair is checked; 0 EOF proves the end.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "lines.h"
#include "walk.h"

#define COMMENTS_MAX 64
#define BINARY "AutoCAD Binary DXF\r\n\x1a\0"
#define BINARY_LEN 22
#define TEXT_MAX 65536 /* bytes of a text in binary form */

/* The code in a line; -1: it is not a code. */
static int code_of(const struct line *line)
{
	size_t at = 0;
	int code = 0;

	if (line->broken || !line->len)
		return -1;
	while (at < line->len && line->bytes[at] == ' ')
		at++;
	if (at == line->len || line->len - at > 5)
		return -1;
	if (line->bytes[at] == '-' && line->len - at == 2)
		return 0x10000;
	for (; at < line->len && line->bytes[at] != ' '; at++) {
		if (line->bytes[at] < '0' || line->bytes[at] > '9')
			return -1;
		code = code * 10 + (line->bytes[at] - '0');
	}
	return code;
}

struct pair {
	int code;
	struct line value; /* its bytes are valid until the next peek */
};

/* Reads the pair at `at`. False: *at is where it is not one. */
static bool read_pair(struct view *view, uint64_t *at, struct pair *pair)
{
	struct line line;

	if (!line_read(view, *at, &line))
		return false;
	pair->code = code_of(&line);
	if (pair->code < 0 || !line.ended)
		return false;
	if (!line_read(view, line.next, &pair->value) || pair->value.broken)
		return false;
	*at = pair->value.ended ? pair->value.next : pair->value.text_end;
	return true;
}

/* Whether the file begins with comments and a section. */
static bool starts_well(struct view *view)
{
	static const char *const names[] = { "HEADER", "CLASSES", "TABLES", "BLOCKS", "ENTITIES",
		"OBJECTS" };
	struct pair pair = { .code = 999 };
	uint64_t at = 0;

	for (int i = 0; i < COMMENTS_MAX && pair.code == 999; i++)
		if (!read_pair(view, &at, &pair) || !pair.value.ended)
			return false;
	if (pair.code || !line_is(&pair.value, "SECTION") || !read_pair(view, &at, &pair) ||
		pair.code != 2)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (line_is(&pair.value, names[i]))
			return true;
	return false;
}

/* Names the section whose code is in the line at `at` as a part, with and without the blanks before it. */
static void name_section(struct view *view, uint64_t at)
{
	struct line line;

	if (!at || !line_read(view, at, &line))
		return;
	view_part(view, at);
	for (size_t i = 0; i + 1 < line.len && line.bytes[i] == ' '; i++)
		if (line.bytes[i + 1] != ' ')
			view_part(view, at + i + 1);
}

/* Where the pair 0 EOF at `at` ends if the last line has no end, whatever follows; else 0. */
static uint64_t open_end(struct view *view, uint64_t at)
{
	struct line code;
	const uint8_t *p;

	if (!line_read(view, at, &code) || !code.ended || code_of(&code) != 0)
		return 0;
	p = view_peek(view, code.next, 3);
	return p && memcmp(p, "EOF", 3) == 0 ? code.next + 3 : 0;
}

/* ---- binary -------------------------------------------------------------------------------- */

enum value { TEXT, CHUNK, NUMBER_1, NUMBER_2, NUMBER_4, NUMBER_8, NO_VALUE };

/* What a code's value is. */
static enum value value_of(uint32_t code)
{
	static const struct {
		uint16_t first, last;
		uint8_t value;
	} ranges[] = { { 0, 9, TEXT }, { 10, 59, NUMBER_8 }, { 60, 79, NUMBER_2 },
		{ 90, 99, NUMBER_4 }, { 100, 105, TEXT }, { 110, 149, NUMBER_8 },
		{ 160, 169, NUMBER_8 }, { 170, 179, NUMBER_2 }, { 210, 239, NUMBER_8 },
		{ 270, 289, NUMBER_2 }, { 290, 299, NUMBER_1 }, { 300, 309, TEXT },
		{ 310, 319, CHUNK }, { 320, 369, TEXT }, { 370, 389, NUMBER_2 }, { 390, 399, TEXT },
		{ 400, 409, NUMBER_2 }, { 410, 419, TEXT }, { 420, 429, NUMBER_4 },
		{ 430, 439, TEXT }, { 440, 459, NUMBER_4 }, { 460, 469, NUMBER_8 },
		{ 470, 481, TEXT }, { 999, 1003, TEXT }, { 1004, 1004, CHUNK },
		{ 1005, 1009, TEXT }, { 1010, 1059, NUMBER_8 }, { 1060, 1070, NUMBER_2 },
		{ 1071, 1071, NUMBER_4 } };

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return (enum value)ranges[i].value;
	return NO_VALUE;
}

/* Moves past a text up to a zero. */
static bool skip_text(struct cursor *cursor)
{
	uint64_t end = cursor->at + TEXT_MAX;

	for (int byte; cursor->at < end && (byte = cursor_next(cursor)) > 0;)
		if (byte < ' ' && byte != '\t')
			return false;
	return cursor->at < end && view_size(cursor->view) >= cursor->at;
}

/* Reads the pair at the cursor. False: there is none. *code: its code. */
static bool skip_binary_pair(struct cursor *cursor, bool wide, uint32_t *code)
{
	int low = cursor_next(cursor), high = 0;
	uint64_t len = 0;

	/* In old versions 255 precedes codes of two bytes. */
	if (!wide && low == 255) {
		low = cursor_next(cursor);
		high = cursor_next(cursor);
	} else if (wide) {
		high = cursor_next(cursor);
	}
	if (low < 0 || high < 0)
		return false;
	*code = (uint32_t)(high << 8 | low);
	switch (value_of(*code)) {
	case TEXT:
		/* 0 precedes a name. */
		return (*code || cursor_peek(cursor) > 0) && skip_text(cursor);
	case CHUNK:
		low = cursor_next(cursor);
		len = low < 0 ? UINT32_MAX : (uint64_t)low;
		break;
	case NUMBER_1:
		len = 1;
		break;
	case NUMBER_2:
		len = 2;
		break;
	case NUMBER_4:
		len = 4;
		break;
	case NUMBER_8:
		len = 8;
		break;
	case NO_VALUE:
		return false;
	}
	if (len > view_size(cursor->view) - cursor->at)
		return false;
	cursor->at += len;
	return true;
}

static enum verdict check_binary(struct view *view, struct finding *finding)
{
	struct cursor cursor = { .view = view, .at = BINARY_LEN };
	const uint8_t *p = view_peek(view, BINARY_LEN, 2);
	bool wide = p && !p[1];
	uint64_t start = BINARY_LEN, size = view_size(view);
	uint32_t code;

	cursor.at += wide ? 2 : 1;
	if (!p || p[0] || !cursor_at_text(&cursor, "SECTION"))
		return verdict_because(CARVE_REJECT, finding, "no section at %d", BINARY_LEN);
	cursor.at = start;
	for (;;) {
		bool valid = skip_binary_pair(&cursor, wide, &code);
		uint64_t next = cursor.at;

		if (!valid)
			break;
		cursor.at = start + (wide ? 2 : 1);
		if (!code && cursor_at_text(&cursor, "EOF") && next == cursor.at + 4) {
			finding->length = next;
			return CARVE_COMPLETE;
		}
		cursor.at = start = next;
	}
	finding->length = start;
	if (cursor.at >= size || size - cursor.at < 8)
		return walk_cut(view, finding, size + 1, start);
	return verdict_because(CARVE_TRUNCATED, finding, "no pair at %" PRIu64, start);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, start = 0;
	struct pair pair;

	const uint8_t *p = view_peek(view, 0, BINARY_LEN);

	if (p && memcmp(p, BINARY, BINARY_LEN) == 0)
		return check_binary(view, finding);
	if (!starts_well(view))
		return verdict_because(CARVE_REJECT, finding, "no section at 0");
	while (read_pair(view, &at, &pair)) {
		if (!pair.code && line_is(&pair.value, "EOF")) {
			finding->length = at;
			return CARVE_COMPLETE;
		}
		if (!pair.value.ended || (!pair.code && line_starts(&pair.value, "EOF"))) {
			at = start;
			break;
		}
		if (!pair.code && line_is(&pair.value, "SECTION"))
			name_section(view, start);
		start = at;
	}
	finding->length = open_end(view, at);
	if (finding->length)
		return CARVE_COMPLETE;
	if (at >= view_size(view))
		return walk_cut(view, finding, at + 1, at);
	finding->length = start;
	return verdict_because(CARVE_TRUNCATED, finding, "no pair of lines at %" PRIu64, start);
}

const struct carver dxf_carver = {
	.name = "dxf",
	.summary = "drawings in AutoCAD's exchange form, by their pairs of codes and values",
	.check = check,
	.quick = true,
};
