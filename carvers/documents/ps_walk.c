/* Walks a PostScript program's lines; ps.c explains what it looks for. */
#include "ps.h"

#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "walk.h"

#define LINE_LEN 256 /* bytes of a line that are looked at */
#define FIRST_LINE 1024
#define LONG_RUN 32
#define SEARCH_MAX ((uint64_t)64 << 20)
#define CONTROL_D 4
#define CHANCE_MAX 64 /* bytes that are text by chance */
#define PAGES_MAX 1000000
#define OPERATOR_LINES \
	200 /* of a program's beginning, without comments, in which operators are counted */

struct ps_walk {
	struct cursor cursor;
	uint64_t limit;
	struct ps *ps;
	unsigned depth; /* nesting of embedded documents */
	bool resource;  /* inside a font or another resource, which may start like a document */
	bool font;
	bool type_42; /* a TrueType font */
	char lines[2][LINE_LEN];
	char *line,
		*before; /* the start of the current line and of the one before it, ended by a zero */
	size_t line_len;
	unsigned line_count; /* without comments, up to OPERATOR_LINES */
	uint64_t page_end;   /* after the last line that shows a page; 0: none */
	bool beyond_ascii;   /* since then */
	uint64_t saved_at;   /* where the state was saved last */
};

/* Text, and the mark that printers take for a file's end. */
static bool is_allowed(int byte)
{
	return byte >= ' ' || byte == '\t' || byte == '\f' || byte == '\b' || byte == CONTROL_D;
}

static int peek_byte(struct ps_walk *walk)
{
	return walk->cursor.at < walk->limit ? cursor_peek(&walk->cursor) : -1;
}

static void skip_line_end(struct ps_walk *walk)
{
	if (peek_byte(walk) == '\r')
		walk->cursor.at++;
	if (peek_byte(walk) == '\n')
		walk->cursor.at++;
}

/* Reads a line's text up to its end. */
static enum ps_end read_text(struct ps_walk *walk)
{
	uint64_t run_start = walk->cursor.at;
	int byte, before = -1;

	while ((byte = peek_byte(walk)) >= 0 && byte != '\r' && byte != '\n') {
		if (byte != before)
			run_start = walk->cursor.at;
		before = byte;
		if (byte >= 0x80 && walk->cursor.at - run_start >= LONG_RUN) {
			walk->cursor.at = run_start;
			return PS_BROKEN;
		}
		if (!is_allowed(byte))
			return PS_BROKEN;
		if (walk->line_len < LINE_LEN - 1)
			walk->line[walk->line_len++] = (char)byte;
		walk->cursor.at++;
	}
	return byte < 0 ? PS_CUT : PS_WHOLE;
}

/* Reads a line with its end. PS_WHOLE: it is text; PS_BROKEN: not, from cursor.at on; PS_CUT. */
static enum ps_end read_line(struct ps_walk *walk)
{
	enum ps_end end;
	char *line = walk->before;

	walk->before = walk->line;
	walk->line = line;
	walk->line_len = 0;
	end = read_text(walk);
	walk->line[walk->line_len] = 0; /* or the previous line would remain after a broken one */
	if (end == PS_WHOLE)
		skip_line_end(walk);
	return end;
}

static bool line_starts(const struct ps_walk *walk, const char *text)
{
	return strncmp(walk->line, text, strlen(text)) == 0;
}

/* Sets the title from the text after a comment's colon, without parentheses. */
static void read_title(struct ps_walk *walk, const char *text)
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
static bool skip_data(struct ps_walk *walk)
{
	uint64_t count = strtoull(strchr(walk->line, ':') + 1, NULL, 10);

	if (strstr(walk->line, "Lines"))
		return true;
	if (count > walk->limit - walk->cursor.at)
		return false;
	view_holds(walk->cursor.view, walk->cursor.at, walk->cursor.at + count);
	view_unverified(walk->cursor.view, walk->cursor.at, walk->cursor.at + count);
	walk->cursor.at += count;
	return true;
}

/* Names other beginnings in the line at `at` as parts: they are this file's text. */
static void name_parts(struct ps_walk *walk, uint64_t at)
{
	const char *found = walk->line + !walk->resource;

	if (!walk->line_len)
		return;
	for (; (found = strchr(found, '%')); found++)
		if (strncmp(found, "%!PS-", 5) == 0 || strncmp(found, "%!FontType1-", 12) == 0)
			view_part(walk->cursor.view, at + (uint64_t)(found - walk->line));
}

/* Whether the line has an operator that reads data from the file. */
static bool reads_data(const char *line)
{
	static const char *const operators[] = { "image", "exec", "currentfile", "readstring" };

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (strstr(line, operators[i]))
			return true;
	return false;
}

/* Counts operators that nearly every program has, as far as it matters: at the ends of lines, as most are. Some are
 * words of English, so that long prose has enough of them. */
static void count_operators(struct ps_walk *walk)
{
	static const char *const operators[] = { "def", "show", "showpage", "moveto", "lineto",
		"stroke", "setfont", "restore", "grestore", "exec", "if", "ifelse", "bind", "begin",
		"end", "pop", "for", "repeat", "setgray", "translate", "fill", "rmoveto", "newpath",
		"selectfont" };
	const char *last = walk->line + walk->line_len;

	if (walk->ps->operator_count == PS_OPERATORS_MIN || walk->line[0] == '%' ||
		walk->line_count == OPERATOR_LINES)
		return;
	walk->line_count++;
	while (last > walk->line && last[-1] >= 'a' && last[-1] <= 'z')
		last--;
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (*last == *operators[i] && strcmp(last, operators[i]) == 0) {
			walk->ps->operator_count++;
			return;
		}
}

/* Keeps track of resources: %%BeginFont, %%EndFont and the like. */
static void read_resource(struct ps_walk *walk)
{
	static const char *const kinds[] = { "Font", "Resource", "ProcSet", "File" };
	bool begins = line_starts(walk, "%%Begin");
	const char *kind = walk->line + (begins ? 7 : 5);

	if (!begins && !line_starts(walk, "%%End"))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(kind, kinds[i], strlen(kinds[i])) == 0)
			walk->resource = begins;
}

/* Reads the number of pages, unless the comment says that it comes at the end. */
static void read_pages(struct ps *ps, const char *text)
{
	unsigned long pages = strtoul(text, NULL, 10);

	if (pages)
		ps->pages_stated = pages < PAGES_MAX ? (unsigned)pages : PAGES_MAX;
}

/* Reads a page's label and number: numbers that rise by one from page to page, but for one place, may be those of two
 * documents. */
static void read_page(struct ps *ps, const char *text)
{
	const char *last = strrchr(text, ' ');
	unsigned long number = last ? strtoul(last, NULL, 10) : 0;

	ps->pages++;
	if (number && ps->page_number && number != ps->page_number + 1)
		ps->page_jumps++;
	ps->page_number = number < PAGES_MAX ? (unsigned)number : 0;
}

/* Reads a structuring comment; false if its data extend past the limit. */
static bool read_comment(struct ps_walk *walk)
{
	struct ps *ps = walk->ps;

	ps->comment_count++;
	ps->comment_end = walk->cursor.at;
	read_resource(walk);
	if (line_starts(walk, "%%BeginDocument"))
		walk->depth++;
	else if (line_starts(walk, "%%EndDocument") && walk->depth)
		walk->depth--;
	else if (line_starts(walk, "%%Title:") && !ps->title[0] && !walk->depth)
		read_title(walk, walk->line + 8);
	else if (line_starts(walk, "%%Creator: Adobe Illustrator") &&
		 strcmp(ps->extension, "ps") == 0)
		strcpy(ps->extension, "ai");
	else if (line_starts(walk, "%%Page:") && !walk->depth)
		read_page(ps, walk->line + 7);
	else if (line_starts(walk, "%%Pages:") && !walk->depth)
		read_pages(ps, walk->line + 8);
	else if (line_starts(walk, "%%Trailer") && !walk->depth)
		ps->trailer = true;
	else if (line_starts(walk, "%%BeginBinary:") || line_starts(walk, "%%BeginData:"))
		return skip_data(walk);
	return true;
}

/* Illustrator writes its own data after %%EOF. */
static void read_private_data(struct ps_walk *walk)
{
	if (!cursor_at_text(&walk->cursor, "%AI9_PrintingDataEnd"))
		return;
	while (read_line(walk) == PS_WHOLE)
		if (line_starts(walk, "%AI9_PrivateDataEnd")) {
			walk->ps->end = walk->cursor.at;
			return;
		}
}

/* Reads what may follow %%EOF: comments that some programs write there; a control-D or nothing, and a line end. */
static void read_end(struct ps_walk *walk)
{
	uint64_t end = walk->cursor.at;

	while (cursor_at_text(&walk->cursor, "%%") && read_line(walk) == PS_WHOLE)
		end = walk->cursor.at;
	walk->cursor.at = end;
	if (peek_byte(walk) == CONTROL_D)
		walk->cursor.at++;
	skip_line_end(walk);
	walk->ps->end = walk->cursor.at;
	read_private_data(walk);
}

/* Reads a font's end: cleartomark, the end of a conditional that precedes it, and comments. */
static void read_font_end(struct ps_walk *walk)
{
	static const char *const lines[] = { "{restore}if", "%%EndFont", "%%EndResource", "%%EOF" };

	walk->ps->end = walk->cursor.at;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (cursor_at_text(&walk->cursor, lines[i])) {
			walk->cursor.at += strlen(lines[i]);
			skip_line_end(walk);
			walk->ps->end = walk->cursor.at;
		}
}

/* The bytes at the cursor are not text: searches the program's end after them. */
static enum ps_end search_end(struct ps_walk *walk)
{
	struct ps *ps = walk->ps;
	uint64_t at = walk->cursor.at, end = at + SEARCH_MAX;
	struct cursor other = { .view = walk->cursor.view, .at = at };

	ps->broken_at = at;
	ps->reads_data = reads_data(walk->before);
	/* A program by hand announces nothing, and its text may be part of something else. Data without a line before
	 * them that reads them are another file's. */
	if (ps->comment_count < PS_COMMENTS_MIN || (!ps->reads_data && !ps->trailer))
		return PS_BROKEN;
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

/* Keeps where the last page was shown, and whether only ASCII followed. */
static void note_page(struct ps_walk *walk)
{
	size_t len = strlen(walk->line);

	if (len >= 8 && strcmp(walk->line + len - 8, "showpage") == 0) {
		walk->page_end = walk->cursor.at;
		walk->beyond_ascii = false;
	}
	for (size_t i = 0; walk->page_end && i < len; i++)
		walk->beyond_ascii |= (walk->line[i] & 0x80) != 0;
}

/* Determines how the walk ended, in the line that begins at `at`. */
static enum ps_end end_walk(struct ps_walk *walk, enum ps_end end, uint64_t at)
{
	struct ps *ps = walk->ps;

	if (end == PS_CUT) {
		ps->end = walk->cursor.at;
		ps->line_at = at;
		return PS_CUT;
	}
	/* A last control-D may be followed by anything. */
	if (cursor_at_text(&walk->cursor, "\4"))
		ps->end = walk->cursor.at + 1;
	else
		ps->end = memchr(walk->line, CONTROL_D, walk->line_len) == walk->line ? at + 1 : at;
	/* A few bytes after the page that are not ASCII, before what is no text, are text by chance. */
	if (walk->page_end && walk->beyond_ascii && at - walk->page_end <= CHANCE_MAX) {
		ps->end = walk->page_end;
		ps->trailer = true;
	}
	/* Some writers end with the page. */
	if (strcmp(walk->before, "showpage") == 0)
		ps->trailer = true;
	return search_end(walk);
}

/* Whether the first line is quoted in the text of a program in another language: no version or kind has a quotation
 * mark or a backslash, but fonts' names may. */
static bool is_quoted(const struct ps_walk *walk)
{
	return !walk->font && line_starts(walk, "%!PS-Adobe") && strpbrk(walk->line, "\"'\\");
}

/* Whether the line is the first of a font or the like, which a program may have inside without announcing it. */
static bool is_resource(const struct ps_walk *walk)
{
	return strstr(walk->line, " Resource-") != NULL;
}

static void read_first_line(struct ps_walk *walk)
{
	struct ps *ps = walk->ps;

	strcpy(ps->extension, strstr(walk->line, "EPSF") ? "eps" : "ps");
	walk->font = line_starts(walk, "%!PS-AdobeFont") || line_starts(walk, "%!FontType1");
	walk->type_42 = line_starts(walk, "%!PS-TrueTypeFont");
	if (walk->font || walk->type_42)
		strcpy(ps->extension, walk->font ? "pfa" : "t42");
}

/* Whether another document starts in the line at `at`, with a sector: sets where. */
static bool starts_in_line(struct ps_walk *walk, uint64_t at)
{
	const char *found = strstr(walk->line, "%!PS-");
	uint64_t place = found ? at + (uint64_t)(found - walk->line) : at;

	if (place == at || place % SECTOR)
		return false;
	walk->ps->end = place;
	return true;
}

/* A state after a line, of which the two that are known are the last ones. */
struct saved {
	struct ps_walk walk;
	struct ps ps;
};
_Static_assert(sizeof(struct saved) <= CARVE_STATE_MAX, "a state");

/* Of the byte after the line's end the walk saw whether it is a line feed. */
static void save_state(struct ps_walk *walk)
{
	struct saved saved;
	struct carve_state state = { walk->cursor.at + 1, sizeof(saved), &saved };

	if (!walk_saves(walk->cursor.view, walk->cursor.at, &walk->saved_at))
		return;
	saved.walk = *walk;
	strcpy(saved.walk.lines[0], walk->line);
	strcpy(saved.walk.lines[1], walk->before);
	saved.ps = *walk->ps;
	view_save(walk->cursor.view, &state);
}

static void load_state(struct ps_walk *walk, const struct carve_state *state)
{
	struct cursor cursor = { .view = walk->cursor.view };
	uint64_t limit = walk->limit;
	struct ps *ps = walk->ps;
	struct saved saved;

	memcpy(&saved, state->data, sizeof(saved));
	*walk = saved.walk;
	*ps = saved.ps;
	cursor.at = walk->cursor.at;
	walk->cursor = cursor;
	walk->limit = limit;
	walk->ps = ps;
}

/* Reads the first line, before walk->limit. False: it is none. */
static bool read_start(struct ps_walk *walk)
{
	uint64_t limit = walk->limit, start = walk->cursor.at;

	if (!cursor_at_text(&walk->cursor, "%!"))
		return false;
	walk->limit = limit - start < FIRST_LINE ? limit : start + FIRST_LINE;
	if (read_line(walk) != PS_WHOLE)
		return false;
	walk->limit = limit;
	read_first_line(walk);
	if (is_quoted(walk))
		return false;
	walk->line[0] = 0; /* nothing in it reads data */
	return true;
}

enum ps_end ps_walk(struct view *view, const struct carve_state *from, uint64_t start,
	uint64_t limit, struct ps *ps)
{
	struct ps_walk walk = { .cursor.view = view, .cursor.at = start, .limit = limit, .ps = ps };
	enum ps_end end;

	if (from)
		load_state(&walk, from);
	walk.line = walk.lines[0];
	walk.before = walk.lines[1];
	view_fill_unreadable(view, ' ');
	if (!from && !read_start(&walk))
		return PS_NONE;
	for (;;) {
		uint64_t at = walk.cursor.at;

		end = read_line(&walk);
		if (line_starts(&walk, "%%EOF") && walk.depth == 0) {
			/* The last line needs no end: another file may follow at once. */
			if (end != PS_WHOLE || walk.line[5 + strspn(walk.line + 5, " \t")])
				walk.cursor.at = at + 5;
			read_end(&walk);
			return PS_WHOLE;
		}
		if (end != PS_WHOLE)
			return end_walk(&walk, end, at);
		if (walk.depth == 0 && line_starts(&walk, "%!PS-Adobe") && !walk.font &&
			!walk.resource && !is_resource(&walk)) {
			ps->end = ps->broken_at = at;
			return ps->trailer ? PS_MISSING : PS_BROKEN;
		}
		if (walk.depth == 0 && !walk.resource && starts_in_line(&walk, at)) {
			ps->broken_at = ps->end;
			return PS_BROKEN;
		}
		name_parts(&walk, at);
		count_operators(&walk);
		note_page(&walk);
		if ((walk.font && line_starts(&walk, "cleartomark")) ||
			(walk.type_42 && strstr(walk.line, "definefont"))) {
			read_font_end(&walk);
			return PS_WHOLE;
		}
		if (line_starts(&walk, "%%") && !read_comment(&walk)) {
			ps->end = walk.cursor.at;
			return PS_CUT;
		}
		save_state(&walk);
	}
}
