/*
 * Drawings in AutoCAD's text form (Autodesk, DXF Reference).
 *
 *	file:    lines in pairs: a code (a number, perhaps after blanks), and its value
 *	section: 0 SECTION, 2 and its name, ..., 0 ENDSEC
 *	the end: 0 EOF
 *
 * Comments (999) may precede the first section. Each pair is checked; 0 EOF proves the end.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "carver.h"
#include "lines.h"
#include "walk.h"

#define COMMENTS_MAX 64

/* The code in a line; -1: it is none. */
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

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, start = 0;
	struct pair pair;

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
	.summary = "drawings in AutoCAD's text form, by their pairs of lines",
	.check = check,
	.quick = true,
};
