/* The walk through a PostScript program's lines; ps.c tells what it looks for. */
#include "ps.h"

#include <stdlib.h>
#include <string.h>

#include "cursor.h"

#define LINE_LEN 256 /* longest that is looked at */
#define FIRST_LINE 1024
#define LONG_RUN 32
#define SEARCH_MAX ((uint64_t)64 << 20)
#define CONTROL_D 4

struct walk {
	struct cursor cursor;
	uint64_t limit;
	struct ps *ps;
	unsigned depth; /* documents that are embedded */
	bool font;
	char line[LINE_LEN]; /* the last one's start, ended by a zero */
	size_t line_len;
};

/* Bytes of text, and the mark that printers take for a file's end. */
static bool possible(int byte)
{
	return byte >= ' ' || byte == '\t' || byte == '\f' || byte == '\b' || byte == CONTROL_D;
}

static int peek(struct walk *walk)
{
	return walk->cursor.at < walk->limit ? cursor_peek(&walk->cursor) : -1;
}

static void skip_line_end(struct walk *walk)
{
	if (peek(walk) == '\r')
		walk->cursor.at++;
	if (peek(walk) == '\n')
		walk->cursor.at++;
}

/* Reads a line's text up to its end. */
static enum ps_end read_text(struct walk *walk)
{
	uint64_t run_start = walk->cursor.at;
	int byte, before = -1;

	while ((byte = peek(walk)) >= 0 && byte != '\r' && byte != '\n') {
		if (byte != before)
			run_start = walk->cursor.at;
		before = byte;
		if (byte >= 0x80 && walk->cursor.at - run_start >= LONG_RUN) {
			walk->cursor.at = run_start;
			return PS_BROKEN;
		}
		if (!possible(byte))
			return PS_BROKEN;
		if (walk->line_len < LINE_LEN - 1)
			walk->line[walk->line_len++] = (char)byte;
		walk->cursor.at++;
	}
	return byte < 0 ? PS_CUT : PS_WHOLE;
}

/* Reads a line with its end. PS_WHOLE: it is text; PS_BROKEN: not, from cursor.at on; PS_CUT. */
static enum ps_end read_line(struct walk *walk)
{
	enum ps_end end;

	walk->line_len = 0;
	end = read_text(walk);
	walk->line[walk->line_len] = 0; /* else the line before would show behind a broken one */
	if (end == PS_WHOLE)
		skip_line_end(walk);
	return end;
}

static bool starts(const struct walk *walk, const char *text)
{
	return strncmp(walk->line, text, strlen(text)) == 0;
}

/* The text behind a comment's colon, without parentheses. */
static void read_title(struct walk *walk, const char *text)
{
	size_t len;

	text += strspn(text, " \t(");
	len = strlen(text);
	while (len && strchr(" \t)", text[len - 1]))
		len--;
	if (len >= sizeof(walk->ps->title))
		len = sizeof(walk->ps->title) - 1;
	memcpy(walk->ps->title, text, len);
	walk->ps->title[len] = 0;
}

/* %%BeginBinary: bytes; %%BeginData: number type Bytes or Lines. False: too many. */
static bool skip_data(struct walk *walk)
{
	uint64_t count = strtoull(strchr(walk->line, ':') + 1, NULL, 10);

	if (strstr(walk->line, "Lines"))
		return true;
	if (count > walk->limit - walk->cursor.at)
		return false;
	walk->cursor.at += count;
	return true;
}

/* Names other beginnings in the line at `at`: they are this file's text. */
static void name_parts(struct walk *walk, uint64_t at)
{
	const char *found = walk->line + 1;

	while (walk->line_len && (found = strstr(found, "%!PS-Adobe"))) {
		view_part(walk->cursor.view, at + (uint64_t)(found - walk->line));
		found++;
	}
}

/* Takes a structuring comment; false where data go on behind the limit. */
static bool take_comment(struct walk *walk)
{
	struct ps *ps = walk->ps;

	ps->comment_count++;
	if (starts(walk, "%%BeginDocument"))
		walk->depth++;
	else if (starts(walk, "%%EndDocument") && walk->depth)
		walk->depth--;
	else if (starts(walk, "%%Title:") && !ps->title[0] && !walk->depth)
		read_title(walk, walk->line + 8);
	else if (starts(walk, "%%Creator: Adobe Illustrator") && strcmp(ps->extension, "ps") == 0)
		ps->extension = "ai";
	else if (starts(walk, "%%Trailer") && !walk->depth)
		ps->trailer = true;
	else if (starts(walk, "%%BeginBinary:") || starts(walk, "%%BeginData:"))
		return skip_data(walk);
	return true;
}

/* Behind %%EOF: a control-D with its line end; comments that some programs write there. */
static void read_end(struct walk *walk)
{
	uint64_t end = walk->cursor.at;

	while (cursor_at_text(&walk->cursor, "%%") && read_line(walk) == PS_WHOLE)
		end = walk->cursor.at;
	walk->cursor.at = end;
	if (peek(walk) == CONTROL_D) {
		walk->cursor.at++;
		skip_line_end(walk);
	}
	walk->ps->end = walk->cursor.at;
}

/* A font's end: cleartomark, and what undoes a conditional in front of it. */
static void read_font_end(struct walk *walk)
{
	walk->ps->end = walk->cursor.at;
	if (cursor_at_text(&walk->cursor, "{restore}if")) {
		walk->cursor.at += 11;
		skip_line_end(walk);
		walk->ps->end = walk->cursor.at;
	}
}

/* Something that is no text stands at the cursor: is the program's end behind it? */
static enum ps_end search_end(struct walk *walk)
{
	struct ps *ps = walk->ps;
	uint64_t at = walk->cursor.at, end = at + SEARCH_MAX;
	struct cursor other = { .view = walk->cursor.view, .at = at };

	ps->broken_at = at;
	if (end > walk->limit)
		end = walk->limit;
	if (ps->trailer || !cursor_find(&walk->cursor, end, "\n%%EOF"))
		return ps->trailer ? PS_MISSING : PS_BROKEN;
	end = walk->cursor.at;
	if (cursor_find(&other, end, "%!PS-Adobe"))
		return PS_BROKEN;
	other.at = at;
	cursor_forget(&other);
	if (cursor_find(&other, end, "%PDF-"))
		return PS_BROKEN;
	walk->cursor.at = end + 6;
	cursor_forget(&walk->cursor);
	skip_line_end(walk);
	read_end(walk);
	return PS_BINARY;
}

/* What the walk stopped at, in the line that begins at `at`. */
static enum ps_end judge(struct walk *walk, enum ps_end end, uint64_t at)
{
	struct ps *ps = walk->ps;

	if (end == PS_CUT) {
		ps->end = walk->cursor.at;
		return PS_CUT;
	}
	/* A last control-D may be followed by anything. */
	if (cursor_at_text(&walk->cursor, "\4"))
		ps->end = walk->cursor.at + 1;
	else
		ps->end = memchr(walk->line, CONTROL_D, walk->line_len) == walk->line ? at + 1 : at;
	return search_end(walk);
}

static void read_first_line(struct walk *walk)
{
	struct ps *ps = walk->ps;

	ps->extension = strstr(walk->line, "EPSF") ? "eps" : "ps";
	walk->font = starts(walk, "%!PS-AdobeFont") || starts(walk, "%!FontType1");
	if (walk->font)
		ps->extension = "pfa";
}

enum ps_end ps_walk(struct view *view, uint64_t start, uint64_t limit, struct ps *ps)
{
	struct walk walk = { .cursor.view = view, .cursor.at = start, .limit = limit, .ps = ps };
	enum ps_end end;

	if (!cursor_at_text(&walk.cursor, "%!"))
		return PS_NONE;
	walk.limit = limit - start < FIRST_LINE ? limit : start + FIRST_LINE;
	if (read_line(&walk) != PS_WHOLE)
		return PS_NONE;
	walk.limit = limit;
	read_first_line(&walk);
	for (;;) {
		uint64_t at = walk.cursor.at;

		end = read_line(&walk);
		if (starts(&walk, "%%EOF") && walk.depth == 0) {
			/* The last line needs no end: what stands there may be another file. */
			if (end != PS_WHOLE || walk.line[5 + strspn(walk.line + 5, " \t")])
				walk.cursor.at = at + 5;
			read_end(&walk);
			return PS_WHOLE;
		}
		if (end != PS_WHOLE)
			return judge(&walk, end, at);
		if (walk.depth == 0 && starts(&walk, "%!PS-Adobe") && !walk.font) {
			ps->end = ps->broken_at = at;
			return ps->trailer ? PS_MISSING : PS_BROKEN;
		}
		name_parts(&walk, at);
		if (walk.font && starts(&walk, "cleartomark")) {
			read_font_end(&walk);
			return PS_WHOLE;
		}
		if (starts(&walk, "%%") && !take_comment(&walk)) {
			ps->end = walk.cursor.at;
			return PS_CUT;
		}
	}
}
