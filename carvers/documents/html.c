/*
 * HTML (WHATWG, HTML Living Standard, 13.1 and 13.2.5), as far as needed to find the end of a
 * document: the end tag of its root, and the line ends and comments after it.
 *
 * The walk reads tags with their quoted attributes, comments, and elements whose text may look like
 * tags (script, style, ...). Nearly everything is allowed in HTML, so what distinguishes a document
 * from other bytes is that it is text: a control character ends it, and so does a long run of one
 * non-ASCII byte. A second document type, or a second root after the body's start, begins another
 * document.
 *
 * The root's end tag may be missing. If the body's end tag was the last thing before foreign bytes
 * the document may be whole, else it is cut. It counts only if it has a few tags that HTML knows:
 * programs and articles contain beginnings of documents. A literal \n or \" among the first tags
 * shows that they are strings in a program's source, and a mark at the start of each line that they
 * are in its comment; text right after the root's tag, in a document
 * without end, that the tag is only mentioned. Long text without any of those tags is not the
 * document's either, unless it is in an element made for that. Lines of text right after the document type or the root's tag, but
 * for a template's, and a document type of many lines, show that these are only quoted in a text.
 *
 * Where many tags have no counterpart (html_nesting.h), or a second body begins, another text may lie within the document:
 * unverified.
 */
#include "html.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "html_nesting.h"
#include "plain_text.h"
#include "text_gap.h"
#include "text_joint.h"
#include "title.h"
#include "walk.h"

#define LONG_RUN 32
#define MAX_NAME 16
#define MIN_TAGS 3 /* known tags needed to accept HTML */
/* Maximum length of the first tags, so that many false beginnings do not each cost a long walk. */
#define FIRST_TAGS 2048
#define MIN_TAGS_CUT 6 /* the same for a document without end */
#define COMMENT_LINES 3
#define CHANCE_MAX 64    /* bytes after the body that are text by chance */
#define SHORT_LINE 8     /* bytes of a last line that are not accepted as text */
#define MAX_COMMENT 4096 /* before a document, and after it */
#define BLANKS_MAX 8
#define LINE_ENDS_MAX 32 /* bytes, with those blanks */
#define MAX_TEXT 262144  /* without tags that HTML knows */
#define LEAD_LINES 3     /* of text before the first tag */
#define TYPE_LINES 4     /* of a document type */
#define TYPE_LEN 1024

struct html {
	struct cursor cursor;
	struct finding *finding;
	const char *problem;
	uint64_t problem_at;
	unsigned known_tags;
	bool doctype, root, body, ended;
	bool source;         /* a program's */
	bool mentioned;      /* text follows the root's tag */
	bool leading;        /* no known tag was read since the document type or the root's tag */
	unsigned lead_lines; /* of text there */
	int lead_byte;       /* the first of the line that is no blank; 0: none yet */
	bool preformatted;   /* it has <pre>, in which any text may be */
	unsigned bodies;     /* start tags of the body */
	uint64_t body_end;   /* after </body>, while only blanks followed, */
	uint64_t body_last;  /* and while no tag did */
	uint64_t tag_end;    /* after the last known tag */
	uint64_t text;       /* bytes outside of tags since then */
	int run_byte;
	uint64_t run_start;
	struct html_nesting nesting;
	uint64_t seen;     /* the end of what was looked at ahead of the cursor */
	bool saves;        /* states */
	uint64_t saved_at; /* where the state was saved last */
};

#define AHEAD 2 /* bytes that are looked at after a part */

struct saved {
	struct html html;
	char title[sizeof(((struct finding *)0)->title)];
};
_Static_assert(sizeof(struct saved) <= CARVE_STATE_MAX, "a state");

static bool is_space(int byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t' || byte == '\f';
}

static bool is_letter(int byte)
{
	byte |= 0x20;
	return byte >= 'a' && byte <= 'z';
}

static bool set_problem(struct html *html, const char *problem, uint64_t at)
{
	html->problem = problem;
	html->problem_at = at;
	return false;
}

/* The next byte if it is text; -1 if it is not, or there is none. */
static int next_byte(struct html *html)
{
	uint64_t at = html->cursor.at;
	int byte = cursor_next(&html->cursor);

	if (byte >= 0 && byte < ' ' && !is_space(byte)) {
		set_problem(html, "a control character", at);
		return -1;
	}
	if (byte != html->run_byte) {
		html->run_byte = byte;
		html->run_start = at;
	} else if (byte >= 0x80 && at - html->run_start >= LONG_RUN) {
		set_problem(html, "a long run of one byte", html->run_start);
		return -1;
	}
	return byte;
}

/* Moves past `end`. */
static bool skip_past(struct html *html, const char *end)
{
	for (;;) {
		if (cursor_peek(&html->cursor) == end[0] && cursor_at_text(&html->cursor, end)) {
			html->cursor.at += strlen(end);
			return true;
		}
		if (next_byte(html) < 0)
			return false;
	}
}

/* Reads a name, in lower case, cut to MAX_NAME. */
static void read_name(struct html *html, char *name)
{
	size_t len = 0;
	int byte;

	while (is_letter(byte = cursor_peek(&html->cursor)) || (byte >= '0' && byte <= '9')) {
		if (len < MAX_NAME)
			name[len++] = (char)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
		html->cursor.at++;
	}
	name[len] = 0;
}

/* Skips attributes and the end of a tag. *last: the byte before that, blanks aside. */
static bool skip_attributes(struct html *html, int *last)
{
	uint64_t start = html->cursor.at;
	int quote = 0, before = 0;

	for (;;) {
		int byte = next_byte(html);

		if (byte < 0)
			return false;
		if (html->known_tags < MIN_TAGS && html->cursor.at - start > FIRST_TAGS)
			return set_problem(html, "a first tag too long", start);
		if ((byte == '"' || byte == '\'') && before == '\\')
			html->source |= html->known_tags <= MIN_TAGS_CUT;
		if (quote) {
			if (byte == quote)
				quote = 0;
		} else if (byte == '>') {
			if (html->known_tags <= MIN_TAGS_CUT &&
				cursor_at_text(&html->cursor, "\\n"))
				html->source = true;
			*last = before;
			return true;
		} else if ((byte == '"' || byte == '\'') && before == '=') {
			quote = byte;
		}
		if (!is_space(byte))
			before = byte;
	}
}

/* Whether </name is at the cursor. */
static bool at_end_tag(struct html *html, const char *name)
{
	size_t len = strlen(name);
	const uint8_t *p = cursor_bytes(&html->cursor, len + 2);

	if (!p || p[0] != '<' || p[1] != '/')
		return false;
	for (size_t i = 0; i < len; i++)
		if ((p[2 + i] | 0x20) != name[i])
			return false;
	return true;
}

/* Skips the text of an element in which tags do not count, up to its end tag. */
static bool skip_raw(struct html *html, const char *name, uint8_t *text, size_t *text_len)
{
	size_t room = *text_len;

	*text_len = 0;
	while (cursor_peek(&html->cursor) != '<' || !at_end_tag(html, name)) {
		int byte = next_byte(html);

		if (byte < 0)
			return false;
		if (*text_len < room)
			text[(*text_len)++] = (uint8_t)(is_space(byte) ? ' ' : byte);
	}
	html->seen = html->cursor.at + strlen(name) + 2;
	return true;
}

static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *found = list; len && (found = strstr(found, name)); found += len)
		if ((found == list || found[-1] == ' ') && (found[len] == ' ' || !found[len]))
			return true;
	return false;
}

static bool is_known_tag(const char *name)
{
	return is_listed(
		"html head title body meta link script style div p a span table tr td th br "
		"hr ul ol li h1 h2 h3 h4 img form input frameset frame noframes center font "
		"b i strong em pre code section nav header footer main article base",
		name);
}

static void note_tag(struct html *html, const char *name)
{
	html->preformatted |= strcmp(name, "pre") == 0;
	if (!is_known_tag(name))
		return;
	html->known_tags++;
	html->leading = strcmp(name, "html") == 0;
	html->lead_byte = 0;
	html->tag_end = html->cursor.at;
	html->text = 0;
}

static bool has_raw_text(const char *name)
{
	return is_listed("script style textarea xmp iframe noembed noframes", name);
}

/* Whether the next thing that is not blank is a tag, or not near. */
static bool tag_follows(struct html *html)
{
	struct cursor *cursor = &html->cursor;
	uint64_t at = cursor->at;
	int byte = ' ';

	while (cursor->at - at < MAX_COMMENT && is_space(byte))
		byte = cursor_next(cursor);
	html->seen = cursor->at;
	cursor->at = at;
	return byte < 0 || byte == '<' || is_space(byte);
}

static bool read_start_tag(struct html *html, uint64_t at)
{
	uint8_t text[256];
	char name[MAX_NAME + 1];
	size_t text_len = sizeof(text);
	int last;

	read_name(html, name);
	note_tag(html, name);
	if (strcmp(name, "html") == 0) {
		if (html->root && html->body)
			return set_problem(html, "another document starts", at);
		html->root = true;
		if (at)
			view_part(html->cursor.view, at);
	}
	html->bodies += strcmp(name, "body") == 0;
	if (html->bodies || strcmp(name, "frameset") == 0)
		html->body = true;
	if (!skip_attributes(html, &last))
		return false;
	if (last != '/')
		html_nesting_start(&html->nesting, name);
	if (strcmp(name, "html") == 0)
		html->mentioned = !tag_follows(html);
	if (strcmp(name, "title") == 0 && !html->body) {
		if (!skip_raw(html, name, text, &text_len))
			return false;
		if (!html->finding->title[0])
			finding_set_title_latin1(html->finding, text, text_len);
		return true;
	}
	text_len = 0;
	return !has_raw_text(name) || skip_raw(html, name, NULL, &text_len);
}

static bool read_end_tag(struct html *html)
{
	char name[MAX_NAME + 1];
	int last;

	read_name(html, name);
	note_tag(html, name);
	if (!skip_attributes(html, &last))
		return false;
	html_nesting_end(&html->nesting, name);
	html->ended = strcmp(name, "html") == 0;
	if (strcmp(name, "body") == 0 || strcmp(name, "frameset") == 0)
		html->body_end = html->body_last = html->cursor.at;
	return true;
}

/* Skips the rest of a document type, which is short, but for declarations of its own in brackets. */
static bool skip_type(struct html *html, uint64_t at)
{
	unsigned lines = 0;

	for (;;) {
		int byte = next_byte(html);

		if (byte < 0 || byte == '>')
			return byte >= 0;
		if (byte == '[')
			return skip_past(html, ">");
		lines += byte == '\n';
		if (lines > TYPE_LINES || html->cursor.at - at > TYPE_LEN) {
			html->mentioned = true;
			return set_problem(html, "no document type", at);
		}
	}
}

/* Counts the lines of text before the first tag: false when they are too many. A template's begin with such marks. */
static bool count_lead(struct html *html, int byte)
{
	if (byte != '\n') {
		if (!html->lead_byte && !is_space(byte))
			html->lead_byte = byte;
		return true;
	}
	if (html->lead_byte && !strchr("{%@<$", html->lead_byte))
		html->lead_lines++;
	html->lead_byte = 0;
	if (html->lead_lines < LEAD_LINES)
		return true;
	html->mentioned = true;
	return set_problem(html, "text instead of a document", html->tag_end);
}

/* <!-- -->, <!DOCTYPE >, <![ ]>; the cursor is at the exclamation mark. */
static bool read_declaration(struct html *html, uint64_t at)
{
	char name[MAX_NAME + 1];

	if (cursor_at_text(&html->cursor, "!--")) {
		/* <!--> is a whole one. */
		html->cursor.at += 1;
		return skip_past(html, "-->");
	}
	html->cursor.at++;
	read_name(html, name);
	if (strcmp(name, "doctype") == 0) {
		if (html->doctype || html->root)
			return set_problem(html, "another document starts", at);
		html->doctype = html->leading = true;
		if (at)
			view_part(html->cursor.view, at);
		return skip_type(html, at);
	}
	return skip_past(html, ">");
}

/* Reads a tag, comment or byte of text; false if the walk ends there. */
static bool read_part(struct html *html)
{
	uint64_t at = html->cursor.at;
	int byte = next_byte(html), next;

	if (byte < 0)
		return false;
	if (byte != '<') {
		if (!is_space(byte))
			html->body_end = 0;
		if (html->leading && !count_lead(html, byte))
			return false;
		return html->preformatted || ++html->text < MAX_TEXT ||
		       set_problem(html, "text without tags", html->tag_end);
	}
	next = cursor_peek(&html->cursor);
	if (next == '!')
		return read_declaration(html, at);
	html->body_end = html->body_last = 0;
	if (next == '?')
		return skip_past(html, ">");
	if (is_letter(next))
		return read_start_tag(html, at);
	if (next != '/')
		return true;
	html->cursor.at++;
	return !is_letter(cursor_peek(&html->cursor)) || read_end_tag(html);
}

static bool at_root(struct cursor *cursor)
{
	return cursor_at_text(cursor, "<html") || cursor_at_text(cursor, "<HTML") ||
	       cursor_at_text(cursor, "<!DOCTYPE") || cursor_at_text(cursor, "<!doctype");
}

/* Skips comments with blanks between them, up to `end`. Returns the end of the last one, or where
 * it started. */
static uint64_t skip_comments(struct cursor *cursor, uint64_t end)
{
	uint64_t at = cursor->at;

	for (;;) {
		while (cursor->at < end && is_space(cursor_peek(cursor)))
			cursor->at++;
		if (!cursor_at_text(cursor, "<!--") || !cursor_find(cursor, end, "-->"))
			return at;
		at = cursor->at += 3;
	}
}

/* The end of the line ends after `at`, the first perhaps after blanks. */
static uint64_t skip_line_ends(struct cursor *cursor, uint64_t at)
{
	uint64_t end = at;

	cursor->at = at;
	while (cursor->at < at + BLANKS_MAX &&
		(cursor_peek(cursor) == ' ' || cursor_peek(cursor) == '\t'))
		cursor->at++;
	while (cursor->at < at + LINE_ENDS_MAX &&
		(cursor_peek(cursor) == '\n' || cursor_peek(cursor) == '\r'))
		end = ++cursor->at;
	return end;
}

/* The document's end, after line ends that follow the root, and comments that servers add, unless
 * those belong to another document that follows: its root opening at a sector boundary, nothing before it
 * does. */
static uint64_t read_end(struct cursor *cursor)
{
	uint64_t root_end = cursor->at;
	uint64_t end = skip_comments(cursor, root_end + MAX_COMMENT);

	if (at_root(cursor) && cursor->at % SECTOR)
		end = root_end;
	return skip_line_ends(cursor, end);
}

/* Where the last whole line ends, if that is a few bytes before `at`: the bytes after it may be
 * text by chance. Else at. */
static uint64_t whole_lines_end(struct view *view, uint64_t at)
{
	size_t len = at < CHANCE_MAX ? (size_t)at : CHANCE_MAX, left;
	const uint8_t *p = len ? view_peek(view, at - len, len) : NULL, *last = NULL;

	if (p)
		last = memrchr(p, '\n', len);
	if (!last)
		return at;
	left = len - (size_t)(last + 1 - p);
	return left <= SHORT_LINE || !utf8_valid(last + 1, left) ? at - left : at;
}

static enum verdict judge_end(struct html *html)
{
	struct finding *finding = html->finding;
	uint64_t at = html->problem ? html->problem_at : html->cursor.at;
	const char *problem = html->problem ? html->problem : "no end tag of the root";
	const char *foreign =
		html->source ? "strings of a program"
		: html->known_tags < (html->ended ? MIN_TAGS : MIN_TAGS_CUT) ? "too few HTML tags"
		: html->mentioned && !html->ended ? "text that mentions the root's tag"
						  : NULL;

	if (foreign) {
		memset(finding->title, 0, sizeof(finding->title));
		return verdict_because(CARVE_REJECT, finding, "%s up to %" PRIu64, foreign, at);
	}
	if (html->ended) {
		finding->length = read_end(&html->cursor);
		if (html->bodies > 1)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"%u bodies begin before %" PRIu64, html->bodies, finding->length);
		if (html_nesting_holds(&html->nesting))
			return text_gap_verdict(html->cursor.view, true, finding);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"many tags without a counterpart up to %" PRIu64, finding->length);
	}
	/* What is no text ends the file; a few bytes before it are text by chance. */
	if (html->problem && html->body_last && at - html->body_last <= CHANCE_MAX)
		html->body_end = html->body_last;
	finding->length = html->body_end ? html->body_end : at;
	if (html->body_end) {
		finding->length = skip_line_ends(&html->cursor, html->body_end);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the body ends, but not the root, before %" PRIu64, at);
	}
	if (!html->problem)
		return walk_cut(html->cursor.view, finding, view_size(html->cursor.view) + 1,
			walk_before_fill(html->cursor.view, 1, at));
	finding->length = whole_lines_end(html->cursor.view, at);
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, at);
}

/* Whether a document starts at the cursor, possibly after comments. */
static bool starts_document(struct cursor *cursor)
{
	if (!cursor_at_text(cursor, "<!--"))
		return cursor_peek(cursor) == '<';
	skip_comments(cursor, cursor->at + MAX_COMMENT);
	return at_root(cursor);
}

/* Whether each of the first lines after the document's first one begins as the lines of a program's comment do. A document
 * may begin with a comment of its own, whose lines look like that. */
static bool is_in_comment(struct view *view)
{
	static const char *const marks[] = { "*", "//", "#", "--" };
	struct cursor cursor = { .view = view };
	const char *found = NULL;
	unsigned lines = 0;
	int byte;

	if (cursor_at_text(&cursor, "<!--"))
		return false;
	while (lines < COMMENT_LINES && cursor.at < FIRST_TAGS &&
		(byte = cursor_next(&cursor)) >= 0) {
		const char *mark = NULL;

		if (byte != '\n')
			continue;
		while (cursor_peek(&cursor) == ' ' || cursor_peek(&cursor) == '\t')
			cursor.at++;
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && !mark; i++)
			mark = cursor_at_text(&cursor, marks[i]) ? marks[i] : NULL;
		if (!mark || (found && mark != found))
			return false;
		found = mark;
		lines++;
	}
	return lines >= COMMENT_LINES;
}

static void save_state(struct html *html)
{
	uint64_t at = html->cursor.at;
	struct saved saved;
	struct carve_state state = { at + AHEAD, sizeof(saved), &saved };

	if (!html->saves || !walk_saves(html->cursor.view, at, &html->saved_at))
		return;
	if (state.offset < html->seen)
		state.offset = html->seen;
	saved.html = *html;
	memcpy(saved.title, html->finding->title, sizeof(saved.title));
	view_save(html->cursor.view, &state);
}

static void load_state(struct html *html, const struct carve_state *state)
{
	struct cursor cursor = { .view = html->cursor.view };
	struct finding *finding = html->finding;
	struct saved saved;

	memcpy(&saved, state->data, sizeof(saved));
	*html = saved.html;
	cursor.at = html->cursor.at;
	html->cursor = cursor;
	html->finding = finding;
	memcpy(finding->title, saved.title, sizeof(saved.title));
}

static enum verdict walk(struct html *html)
{
	while (!html->ended && read_part(html))
		save_state(html);
	return judge_end(html);
}

static enum verdict read_document(struct html *html)
{
	struct cursor *cursor = &html->cursor;
	bool commented = is_in_comment(cursor->view);

	if (cursor_at_text(cursor, "\xef\xbb\xbf"))
		cursor->at = 3;
	if (!starts_document(cursor))
		return verdict_because(CARVE_REJECT, html->finding, "no HTML document at 0");
	if (commented)
		return verdict_because(
			CARVE_REJECT, html->finding, "a document in a program's comment");
	return walk(html);
}

enum verdict html_check(struct view *view, struct finding *finding)
{
	struct html html = { .cursor.view = view, .finding = finding };

	view_fill_unreadable(view, ' ');
	return read_document(&html);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct html html = { .cursor.view = view, .finding = finding, .saves = true };

	view_fill_unreadable(view, ' ');
	return read_document(&html);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct html html = { .cursor.view = view, .finding = finding };

	view_fill_unreadable(view, ' ');
	load_state(&html, state);
	return walk(&html);
}

const struct carver html_carver = {
	.name = "html",
	.summary = "HTML documents, by their tags and by being text",
	.check = check,
	.resume = resume,
	.joint = text_joint,
	.lasts = true,
	.is_text = true,
};
