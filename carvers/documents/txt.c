/*
 * Plain text: notes, logs, tables, settings, scripts, programs, dumps of databases.
 *
 *	file: perhaps a byte order mark; characters of one encoding, in lines
 *
 * Nothing in a text shows what it is, so its first part has to look like one: words, line ends, few characters that
 * are neither letters nor digits nor blanks. The encoding is UTF-16 or UTF-8 by its mark, else UTF-8 as long as all
 * bytes agree with it, else one of 8 bits (Latin-1, Windows' and others). The text ends where something else begins:
 *
 *	zeros after the last line, up to the end of the sector or further: the rest of its last cluster
 *	zeros or other bytes within a line, at the start of a sector: it was cut there
 *	a control character, or bytes that the encoding does not have
 *
 * What follows is rarely anything that the text itself would show, so a text is complete only if it says so:
 * programs that dump databases end their dump with a line of its own. Otherwise it is unverified.
 *
 * Each sector of a text looks like the start of one, and is declared as a part; keys and certificates in it as embedded.
 */
#include "txt.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "plain_text.h"
#include "walk.h"

#define HEAD_LEN 4096 /* that must look like text, and shows the kind */
#define MIN_LEN 64
#define MIN_WORDS 8
#define MAX_WORD 40 /* letters; base64 has longer runs */
#define CHANCE_LEN 16
#define LOOK_LEN 64 /* for the first words of a line */

enum encoding { PLAIN, EIGHT_BIT, UTF16_LE, UTF16_BE };

struct text {
	struct view *view;
	enum encoding encoding;
	bool marked;       /* by a byte order mark */
	uint64_t at;       /* the next character */
	uint64_t wide;     /* characters beyond ASCII in UTF-8 so far */
	uint64_t line;     /* where the last line starts */
	uint64_t dump_end; /* after a dump's last line */
	bool dump_ends;    /* the line is that one */
	uint64_t parts;    /* sectors that were declared */
	uint32_t letters, digits, others, blanks, words, run, lines; /* of the head */
	char head[HEAD_LEN + 1];
	size_t head_len;
};

static bool is_text(uint32_t character)
{
	return character == '\n' || line_character(character);
}

/* Reads the character of UTF-16 at p: its length, 0 if it is no text. */
static size_t utf16_len(const struct text *text, const uint8_t *p, size_t len, uint32_t *character)
{
	bool big = text->encoding == UTF16_BE;
	uint32_t unit = len < 2 ? 0 : p[!big] * 256u + p[big], low;

	*character = unit;
	if (unit >= 0xd800 && unit < 0xdc00) {
		low = len < 4 ? 0 : p[2 + !big] * 256u + p[2 + big];
		return low >= 0xdc00 && low < 0xe000 ? 4 : 0;
	}
	if (unit >= 0xdc00 && (unit < 0xf900 || unit >= 0xfff0))
		return 0;
	return is_text(unit) && (unit < 0x80 || unit >= 0xa0) ? 2 : 0;
}

/* Reads the character at p: its length, 0 if it is no text. */
static size_t character_len(struct text *text, const uint8_t *p, size_t len, uint32_t *character)
{
	size_t wide;

	if (text->encoding >= UTF16_LE)
		return utf16_len(text, p, len, character);
	*character = p[0];
	if (p[0] < 0x80)
		return is_text(p[0]);
	if (text->encoding == EIGHT_BIT)
		return 1;
	wide = utf8_len(p, len);
	text->wide += wide > 0;
	if (wide || text->wide || text->marked)
		return wide;
	text->encoding = EIGHT_BIT;
	return 1;
}

/* Counts a character of the head. */
static void count(struct text *text, uint32_t character)
{
	bool letter = (character | 0x20) - 'a' < 26 || character >= 0x80;

	if (text->head_len == HEAD_LEN)
		return;
	text->head[text->head_len++] = (char)(character < 0x80 ? character : '?');
	if (letter) {
		text->letters++;
		text->run++;
		return;
	}
	text->words += text->run > 1 && text->run <= MAX_WORD;
	text->run = 0;
	if (character == ' ' || character == '\n' || character == '\t' || character == '\r')
		text->blanks++;
	else if (character - '0' < 10)
		text->digits++;
	else
		text->others++;
	text->lines += character == '\n';
}

/* Whether what was counted looks like text. */
static bool plausible(const struct text *text)
{
	uint32_t all = text->letters + text->digits + text->others + text->blanks;

	return all >= MIN_LEN && text->words >= MIN_WORDS && text->blanks * 50 >= all &&
	       text->others * 2 <= all && (text->lines > 0 || all < SECTOR);
}

static void declare_sectors(struct text *text, uint64_t end)
{
	for (; text->parts < end; text->parts += SECTOR)
		if (text->parts)
			view_part(text->view, text->parts);
}

static bool begins(const uint8_t *p, size_t len, const char *text)
{
	return len >= strlen(text) && memcmp(p, text, strlen(text)) == 0;
}

/* Whether the line at p is the last one that a program writes which dumps databases, or a comment after that. */
static bool ends_dump(const struct text *text, const uint8_t *p, size_t len, uint64_t at)
{
	return begins(p, len, "-- Dump completed") ||
	       begins(p, len, "-- PostgreSQL database dump complete") ||
	       begins(p, len, "-- PostgreSQL database cluster dump complete") ||
	       begins(p, len, "COMMIT;\n") ||
	       (text->dump_end == at && (begins(p, len, "--\n") || begins(p, len, "\n")));
}

/* At the start of a line: keys and the like are the text's own. */
static void note_line(struct text *text, const uint8_t *p, size_t len, uint64_t at)
{
	text->line = at;
	if (text->dump_ends && plausible(text))
		text->dump_end = at;
	text->dump_ends = ends_dump(text, p, len, at);
	if (begins(p, len, "-----BEGIN "))
		view_embedded(text->view, at);
}

/* Walks over the text's characters in len bytes at text->at. False: it ends among them. */
static bool walk_bytes(struct text *text, const uint8_t *p, size_t len, bool last)
{
	size_t i = 0;

	while (i < len) {
		uint32_t character;
		size_t used;

		if (!last && len - i < LOOK_LEN)
			break;
		used = character_len(text, p + i, len - i, &character);
		if (!used) {
			text->at += i;
			return false;
		}
		count(text, character);
		i += used;
		if (character == '\n')
			note_line(text, p + i, len - i, text->at + i);
	}
	text->at += i;
	return true;
}

static void read_mark(struct text *text)
{
	const uint8_t *p = view_peek(text->view, 0, 4);

	if (!p)
		return;
	if (p[0] == 0xff && p[1] == 0xfe)
		text->encoding = UTF16_LE;
	else if (p[0] == 0xfe && p[1] == 0xff)
		text->encoding = UTF16_BE;
	else if (p[0] != 0xef || p[1] != 0xbb || p[2] != 0xbf)
		return;
	text->marked = true;
	text->at = text->encoding == PLAIN ? 3 : 2;
}

/* Walks to the text's end. False: it does not start like text. */
static bool walk(struct text *text)
{
	uint64_t size = view_size(text->view);
	bool more = true;

	read_mark(text);
	while (more && text->at < size) {
		size_t len = size - text->at < HEAD_LEN ? (size_t)(size - text->at) : HEAD_LEN;
		const uint8_t *p = view_peek(text->view, text->at, len);
		bool head = text->at <= 3;

		if (!p)
			break;
		more = walk_bytes(text, p, len, text->at + len == size);
		if (head && !plausible(text))
			return false;
	}
	return plausible(text);
}

static enum verdict judge(struct text *text, struct finding *finding)
{
	uint64_t sector = text->at / SECTOR * SECTOR;
	const uint8_t *p;
	bool zero;

	finding->length = text->at;
	if (text->dump_end && text->dump_end == text->line &&
		strcmp(finding->extension, "sql") == 0) {
		finding->length = text->dump_end;
		return CARVE_COMPLETE;
	}
	if (text->at >= view_size(text->view))
		return verdict_because(
			CARVE_UNVERIFIED, finding, "text up to the end of what was read");
	p = view_peek(text->view, text->at, 1);
	zero = p && *p == 0;
	if (!zero && text->at - sector < CHANCE_LEN && sector)
		finding->length = sector;
	if (text->line < finding->length && (!zero || text->at == sector) &&
		text->encoding < UTF16_LE)
		return verdict_because(
			CARVE_TRUNCATED, finding, "a line breaks off at %" PRIu64, finding->length);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing but the end of text shows its end at %" PRIu64, finding->length);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct text text = { .view = view };

	view_fill_unreadable(view, ' ');
	if (!walk(&text))
		return verdict_because(CARVE_REJECT, finding, "no text with words and lines at 0");
	finding->extension = text_kind(text.head, text.head_len);
	declare_sectors(&text, text.at);
	return judge(&text, finding);
}

const struct carver text_carver = {
	.name = "text",
	.summary = "plain text, by its encoding, lines and words",
	.check = check,
};
