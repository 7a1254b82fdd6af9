/*
 * Rich Text Format (Microsoft, Rich Text Format Specification 1.9.1).
 *
 *	file: one group
 *	group: {, text, control words, control symbols, groups, }
 *	control word: \, letters, perhaps a number, perhaps a blank
 *
 * The file ends with the brace that closes the first, and the line ends after it; WordPad adds a
 * zero. Backslashes escape braces, and any N bytes follow \binN, which nothing verifies. The checks:
 * the control words' form, and that all else is text: the valid part ends at control characters, at
 * a long run of one non-ASCII byte, and at a second file's beginning. A program writes line ends of one
 * kind: where another kind begins, the rest may be of another file, whose braces close this one's. So may text without any of the
 * usual control words over a sector's start, up to the end: a little, if it has bytes of 8 bits, as random ones do.
 * The specification allows 7 bits; programs that write 8 name their character set before.
 *
 * The title is a group of its own in the information group; so are the dates of the last change and
 * of the creation.
 */
#include <inttypes.h>
#include <string.h>

#include "cursor.h"
#include "dates.h"
#include "hex.h"
#include "text_gap.h"
#include "text_joint.h"
#include "title.h"
#include "walk.h"

#define MAX_WORD 32
#define LONG_RUN 32
#define MIN_WORDS 2 /* control words needed to accept RTF */
#define MAX_DEPTH 10000
#define LOOSE_MAX \
	64 /* bytes of text after the last usual control word that a sector's start may divide */

/* What the group in which the cursor is (or an enclosing one) describes. */
enum about {
	ABOUT_ELSE,
	ABOUT_TITLE,
	ABOUT_CREATED,
	ABOUT_CHANGED,
};

struct rtf_date {
	int year, month, day, hour, minute, second;
};

struct rtf {
	struct cursor cursor;
	struct finding *finding;
	const char *problem;
	unsigned depth, words;
	enum about about;
	unsigned about_depth; /* depth of the group that describes it */
	struct rtf_date created, changed;
	uint8_t title[256]; /* UTF-16, little-endian */
	size_t title_len;
	unsigned fallbacks; /* characters to skip after one in Unicode: \ucN */
	unsigned to_skip;
	int run_byte;
	uint64_t run_start;
	int line_ends[2];        /* the bytes of the first line end, 0 for none */
	uint64_t other_line_end; /* where one of another kind is; 0: nowhere */
	uint64_t usual_end;      /* after the last usual control word */
	uint64_t loose;          /* bytes of text since then, but for hexadecimal digits */
	uint64_t beyond_ascii;   /* after the last byte of 8 bits */
	uint64_t bare, bare_end; /* the first clusters without such a word; 0: there are none */
	bool names_char_set;
	bool has_view_kind, has_styles; /* WordPad writes the first and not the second */
	uint64_t
		unnamed; /* where a byte of 8 bits is before a character set is named; 0: nowhere */
	uint64_t saved_at; /* where the state was saved last */
};

static bool is_letter(int byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static void add_text(struct rtf *rtf, unsigned unit)
{
	if (rtf->about != ABOUT_TITLE || rtf->title_len + 2 > sizeof(rtf->title))
		return;
	rtf->title[rtf->title_len++] = (uint8_t)unit;
	rtf->title[rtf->title_len++] = (uint8_t)(unit >> 8);
}

/* Adds a character of text, unless it is a fallback for one in Unicode. */
static void add_text_byte(struct rtf *rtf, int byte)
{
	if (rtf->to_skip)
		rtf->to_skip--;
	else if (byte != '\r' && byte != '\n')
		add_text(rtf, (unsigned)byte);
}

static void begin_about(struct rtf *rtf, enum about about)
{
	rtf->about = about;
	rtf->about_depth = rtf->depth;
}

static void set_date_part(struct rtf_date *date, const char *word, int number)
{
	static const char *const words[] = { "yr", "mo", "dy", "hr", "min", "sec" };
	int *const parts[] = { &date->year, &date->month, &date->day, &date->hour, &date->minute,
		&date->second };

	for (int i = 0; i < 6; i++)
		if (strcmp(word, words[i]) == 0)
			*parts[i] = number;
}

/* Whether texts and programs hardly have the word after a backslash. */
static bool is_usual(const char *word)
{
	static const char *const words[] = { "ansi", "par", "pard", "plain", "fs", "cf", "lang",
		"langnp", "langfe", "rtlch", "ltrch", "cell", "row", "sect", "sectd", "trowd",
		"itap", "rquote", "lquote", "ldblquote", "rdblquote", "bullet", "pict", "fldrslt",
		"fldinst", "insrsid", "charrsid", "pararsid", "loch", "hich", "dbch", "af", "afs",
		"lsdlocked", "lsdpriority", "fonttbl", "colortbl", "stylesheet", "ql", "qj", "qc",
		"li", "ri", "fi", "sa", "sb", "ulnone", "nowidctlpar", "widctlpar", "cellx",
		"intbl", "fcharset", "viewkind", "uc", "froman", "fswiss", "datastore", "themedata",
		"objdata" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (*words[i] == *word && strcmp(words[i], word) == 0)
			return true;
	return false;
}

/* A cluster of text without any of these words, as hardly a paragraph has, may be another file's. */
static void note_bare_cluster(struct rtf *rtf)
{
	uint64_t from = (rtf->usual_end + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER;

	if (!rtf->bare_end && rtf->loose >= USUAL_CLUSTER / 2 &&
		rtf->cursor.at >= from + USUAL_CLUSTER) {
		rtf->bare = from;
		rtf->bare_end = rtf->cursor.at / USUAL_CLUSTER * USUAL_CLUSTER;
	}
}

/* Acts on a control word. */
static void apply_word(struct rtf *rtf, const char *word, int number)
{
	if (is_usual(word)) {
		note_bare_cluster(rtf);
		rtf->usual_end = rtf->cursor.at;
		rtf->loose = 0;
	}
	if (number > 0 && (strcmp(word, "ansicpg") == 0 || strcmp(word, "fcharset") == 0))
		rtf->names_char_set = true;
	rtf->has_view_kind |= strcmp(word, "viewkind") == 0;
	rtf->has_styles |= strcmp(word, "stylesheet") == 0;
	if (strcmp(word, "title") == 0)
		begin_about(rtf, ABOUT_TITLE);
	else if (strcmp(word, "creatim") == 0)
		begin_about(rtf, ABOUT_CREATED);
	else if (strcmp(word, "revtim") == 0)
		begin_about(rtf, ABOUT_CHANGED);
	else if (strcmp(word, "uc") == 0)
		rtf->fallbacks = number > 0 && number < 16 ? (unsigned)number : 0;
	else if (rtf->about == ABOUT_CREATED)
		set_date_part(&rtf->created, word, number);
	else if (rtf->about == ABOUT_CHANGED)
		set_date_part(&rtf->changed, word, number);
	if (strcmp(word, "u") == 0) {
		add_text(rtf, (unsigned)number & 0xffff);
		rtf->to_skip = rtf->fallbacks;
	}
}

static bool read_word(struct rtf *rtf)
{
	struct cursor *cursor = &rtf->cursor;
	char word[MAX_WORD + 1];
	size_t len = 0;
	bool negative = false;
	int64_t number = 0;

	while (is_letter(cursor_peek(cursor)) && len < MAX_WORD)
		word[len++] = (char)cursor_next(cursor);
	word[len] = 0;
	if (is_letter(cursor_peek(cursor)))
		return false;
	if (cursor_peek(cursor) == '-') {
		negative = true;
		cursor->at++;
	}
	while (is_digit(cursor_peek(cursor)) && number < INT32_MAX)
		number = number * 10 + cursor_next(cursor) - '0';
	if (cursor_peek(cursor) == ' ')
		cursor->at++;
	rtf->words++;
	if (strcmp(word, "bin") == 0 && !negative) {
		if ((uint64_t)number > view_size(cursor->view) - cursor->at)
			return false;
		view_unverified(cursor->view, cursor->at, cursor->at + (uint64_t)number);
		cursor->at += (uint64_t)number;
	} else {
		apply_word(rtf, word, (int)(negative ? -number : number));
	}
	return true;
}

/* Compares a line end, whose first byte is the one before the cursor, with the file's first one. */
static void note_line_end(struct rtf *rtf, int byte)
{
	bool pair = byte == '\r' && cursor_peek(&rtf->cursor) == '\n';

	if (!rtf->line_ends[0]) {
		rtf->line_ends[0] = byte;
		rtf->line_ends[1] = pair ? '\n' : 0;
	} else if (!rtf->other_line_end &&
		   (rtf->line_ends[0] != byte || (rtf->line_ends[1] != 0) != pair)) {
		rtf->other_line_end = rtf->cursor.at - 1;
	}
	rtf->cursor.at += pair;
}

/* Reads what follows a backslash: NULL, or what is wrong. */
static const char *read_control(struct rtf *rtf)
{
	struct cursor *cursor = &rtf->cursor;
	int byte = cursor_peek(cursor), high, low;

	if (byte < 0)
		return NULL;
	if (is_letter(byte))
		return read_word(rtf) ? NULL : "an impossible control word";
	cursor->at++;
	if (byte == '\'') {
		high = hex_digit(cursor_next(cursor));
		low = hex_digit(cursor_next(cursor));
		if (high < 0 || low < 0)
			return "no hexadecimal digits after \\'";
		add_text_byte(rtf, high * 16 + low);
	} else if (byte == '\r' || byte == '\n') {
		note_line_end(rtf, byte);
	} else if (byte < ' ' && byte != '\t') {
		return "an impossible control symbol";
	} else if (strchr("\\{}", byte)) {
		add_text_byte(rtf, byte);
	}
	return NULL;
}

/* A byte that is neither brace nor backslash. */
static const char *read_text(struct rtf *rtf, int byte)
{
	if (byte == '\r' || byte == '\n')
		note_line_end(rtf, byte);
	else if (byte < ' ' && byte != '\t' && byte != '\f')
		return "a control character";
	else
		rtf->loose += byte != ' ' && hex_digit(byte) < 0;
	if (byte >= 0x80)
		rtf->beyond_ascii = rtf->cursor.at;
	if (byte >= 0x80 && !rtf->names_char_set && !rtf->unnamed)
		rtf->unnamed = rtf->cursor.at - 1;
	if (byte != rtf->run_byte) {
		rtf->run_byte = byte;
		rtf->run_start = rtf->cursor.at - 1;
	} else if (byte >= 0x80 && rtf->cursor.at - rtf->run_start >= LONG_RUN) {
		rtf->cursor.at = rtf->run_start + 1;
		return "a long run of one byte";
	}
	add_text_byte(rtf, byte);
	return NULL;
}

/* Reads the next item: what is wrong with it, or NULL. The cursor moves past at least one byte. */
static const char *read_part(struct rtf *rtf, int byte)
{
	if (byte == '{') {
		if (++rtf->depth > MAX_DEPTH)
			return "groups nested too deep";
		if (rtf->depth > 1 && cursor_at_text(&rtf->cursor, "\\rtf1"))
			return "another file starts";
		return NULL;
	}
	if (byte == '}') {
		if (rtf->depth-- == rtf->about_depth)
			rtf->about = ABOUT_ELSE;
		rtf->to_skip = 0;
		return NULL;
	}
	return byte == '\\' ? read_control(rtf) : read_text(rtf, byte);
}

/* Reads what may follow the last brace: line ends; and a zero, which WordPad writes after \r\n, and
 * Outlook after the brace. There it must be single, not part of a wiped area; so it must after \r\n if another program wrote the file. */
static void read_end(struct rtf *rtf)
{
	struct cursor *cursor = &rtf->cursor;
	bool is_wordpads = rtf->has_view_kind && !rtf->has_styles;
	uint64_t brace_end = cursor->at, zero_at;
	bool wordpad = cursor_at_text(cursor, "\r\n");
	int byte;

	while (cursor->at < brace_end + 4 && ((byte = cursor_peek(cursor)) == '\n' || byte == '\r'))
		cursor->at++;
	zero_at = cursor->at;
	if (zero_at != brace_end + (wordpad ? 2 : 0) || cursor_next(cursor) != 0 ||
		(!(wordpad && is_wordpads) && cursor_peek(cursor) == 0))
		cursor->at = zero_at;
}

static void set_details(struct rtf *rtf)
{
	const struct rtf_date *date = rtf->changed.year ? &rtf->changed : &rtf->created;

	finding_set_title_utf16(rtf->finding, rtf->title, rtf->title_len, false);
	rtf->finding->time = utc_seconds(
		date->year, date->month, date->day, date->hour, date->minute, date->second);
}

static enum verdict judge_broken(struct rtf *rtf, uint64_t at)
{
	struct finding *finding = rtf->finding;

	if (rtf->words < MIN_WORDS)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			rtf->problem ? rtf->problem : "truncated", at);
	set_details(rtf);
	if (!rtf->problem)
		return walk_cut(rtf->cursor.view, finding, view_size(rtf->cursor.view) + 1,
			walk_before_fill(rtf->cursor.view, 6, at));
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, rtf->problem, at);
}

/* Whether {\rtf and a version are at 0, and what may follow those. */
static bool read_header(struct cursor *cursor)
{
	int byte;

	if (!cursor_at_text(cursor, "{\\rtf"))
		return false;
	cursor->at = 5;
	while (is_digit(byte = cursor_peek(cursor)) && cursor->at < 8)
		cursor->at++;
	cursor->at = 0;
	return byte == '\\' || byte == '{' || byte == ' ' || byte == '\r' || byte == '\n';
}

/* Whether the last group was closed too early, because the start of another can't be read. It is open
 * again then. */
static bool continues(struct rtf *rtf)
{
	struct cursor *cursor = &rtf->cursor;
	int byte = cursor_peek(cursor);

	if (!view_met_unreadable(cursor->view) || (byte != '\\' && byte != '{' && byte != '}'))
		return false;
	rtf->depth = 1;
	return true;
}

/* Saves the state after an item other than a brace, which saw at most one byte more. */
static void save_state(struct rtf *rtf)
{
	struct carve_state state = { rtf->cursor.at + 1, sizeof(*rtf), rtf };

	if (walk_saves(rtf->cursor.view, rtf->cursor.at, &rtf->saved_at))
		view_save(rtf->cursor.view, &state);
}

static void load_state(struct rtf *rtf, const struct carve_state *state)
{
	struct cursor cursor = { .view = rtf->cursor.view };
	struct finding *finding = rtf->finding;

	memcpy(rtf, state->data, sizeof(*rtf));
	cursor.at = rtf->cursor.at;
	rtf->cursor = cursor;
	rtf->finding = finding;
}

/* state: from where the walk goes on, or NULL. */
static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct rtf rtf = { .cursor.view = view, .finding = finding, .fallbacks = 1 };
	uint64_t end;

	view_fill_unreadable(view, ' ');
	if (state)
		load_state(&rtf, state);
	else if (!read_header(&rtf.cursor))
		return verdict_because(CARVE_REJECT, finding, "no {\\rtf with a version at 0");
	do {
		uint64_t at = rtf.cursor.at;
		int byte = cursor_next(&rtf.cursor);

		if (byte >= 0)
			rtf.problem = read_part(&rtf, byte);
		if (byte >= 0 && rtf.problem && rtf.cursor.at == rtf.run_start + 1)
			at = rtf.run_start;
		if (byte < 0 || rtf.problem)
			return judge_broken(&rtf, at);
		if (byte != '{' && byte != '}')
			save_state(&rtf);
	} while (rtf.depth || continues(&rtf));
	if (rtf.words < MIN_WORDS)
		return verdict_because(
			CARVE_REJECT, finding, "no control words up to %" PRIu64, rtf.cursor.at);
	set_details(&rtf);
	end = rtf.cursor.at;
	read_end(&rtf);
	finding->length = rtf.cursor.at;
	if ((rtf.loose >= LOOSE_MAX || rtf.beyond_ascii > rtf.usual_end) &&
		rtf.usual_end / SECTOR != end / SECTOR)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"text without control words from %" PRIu64 " to the end", rtf.usual_end);
	if (rtf.other_line_end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"line ends of another kind from %" PRIu64 " on", rtf.other_line_end);
	if (rtf.unnamed)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"a byte of 8 bits at %" PRIu64 ", and no character set named before it",
			rtf.unnamed);
	if (rtf.bare_end)
		return text_gap_found(view, finding, rtf.bare, rtf.bare_end);
	/* Text after fonts and styles is unlike them. */
	return text_gap_verdict(view, false, finding);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

const struct carver rtf_carver = {
	.name = "rtf",
	.summary = "Rich Text Format, by its groups",
	.check = check,
	.resume = resume,
	.joint = text_joint,
	.lasts = true,
	.is_text = true,
};
