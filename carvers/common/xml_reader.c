/*
 * UTF-8, or any other encoding that extends ASCII, byte by byte; UTF-16 by code points. A character
 * that XML forbids ends the reading. One that is only unlikely (not UTF-8; in UTF-16 half a
 * surrogate, a private use or unassigned code point) is noted.
 */
#include "xml_reader.h"

#include <string.h>

#include "bytes.h"
#include "plain_text.h"
#include "walk.h"

#define FIRST_WINDOW 1024
#define WORK 1 /* units that reading a byte takes beside peeking at it */
/* Odd characters at most this far from each other, and from the failure, belong to the same foreign
 * data. */
#define ODD_GAP 64

/* The bytes [at, at + len), at most 4; NULL when they are not readable. */
static const uint8_t *bytes_at(struct xml_reader *reader, uint64_t at, size_t len)
{
	uint64_t from = at - reader->window_at;
	size_t want;

	if (reader->window && from < reader->window_len && len <= reader->window_len - from)
		return reader->window + from;
	want = reader->window ? walk_ahead(reader->view) : FIRST_WINDOW;
	reader->window = walk_window(reader->view, at, at + want, &reader->window_len);
	reader->window_at = at;
	if (reader->window && !view_work(reader->view, WORK * reader->window_len))
		reader->window = NULL;
	return reader->window && len <= reader->window_len ? reader->window : NULL;
}

static void note_odd(struct xml_reader *reader)
{
	if (!reader->first_odd)
		reader->first_odd = reader->at;
	if (!reader->odd_last || reader->at - reader->odd_last > ODD_GAP)
		reader->odd_start = reader->at;
	reader->odd_last = reader->at;
}

static void stop(struct xml_reader *reader, bool cut)
{
	reader->c = -1;
	reader->cut = cut;
	reader->problem = cut ? "it is cut off" : "a character that XML does not have";
}

/* Counts a byte outside ASCII, or an ASCII byte that comes too early. */
static void follow_utf8(struct xml_reader *reader, uint8_t byte)
{
	if (!utf8_follow(&reader->pending, byte))
		note_odd(reader);
}

static uint16_t unit16(const struct xml_reader *reader, const uint8_t *p)
{
	return reader->big_endian ? be16(p) : le16(p);
}

static void advance16(struct xml_reader *reader)
{
	const uint8_t *p = bytes_at(reader, reader->at, 2);
	uint16_t unit = p ? unit16(reader, p) : 0;

	if (!p) {
		stop(reader, true);
		return;
	}
	reader->next = reader->at + 2;
	reader->c = unit;
	if (unit >= 0xd800 && unit < 0xdc00) {
		p = bytes_at(reader, reader->at + 2, 2);
		if (p && (unit16(reader, p) & 0xfc00) == 0xdc00) {
			reader->c = 0x10000 + ((unit & 0x3ff) << 10) + (unit16(reader, p) & 0x3ff);
			reader->next += 2;
			return;
		}
	}
	if (unit >= 0xfffe || (unit < 0x20 && unit != '\t' && unit != '\n' && unit != '\r'))
		stop(reader, false);
	else if (unit >= 0xd800 && unit < 0xf900)
		note_odd(reader);
}

void xml_reader_advance(struct xml_reader *reader)
{
	const uint8_t *p;

	if (reader->c < 0)
		return;
	reader->at = reader->next;
	if (reader->unit == 2) {
		advance16(reader);
		return;
	}
	p = bytes_at(reader, reader->at, 1);
	if (!p) {
		stop(reader, true);
		return;
	}
	reader->c = *p;
	reader->next = reader->at + 1;
	if (reader->utf8 && (reader->pending || *p >= 0x80))
		follow_utf8(reader, *p);
	if (*p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r')
		stop(reader, false);
}

void xml_reader_open(struct xml_reader *reader, struct view *view)
{
	const uint8_t *p = view_peek(view, 0, 4);

	memset(reader, 0, sizeof(*reader));
	reader->view = view;
	reader->unit = 1;
	reader->utf8 = true;
	if (p && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
		reader->next = 3;
	} else if (p && (memcmp(p, "\xff\xfe", 2) == 0 || memcmp(p, "\xfe\xff", 2) == 0)) {
		reader->next = 2;
		reader->unit = 2;
		reader->big_endian = p[0] == 0xfe;
	} else if (p && (memcmp(p, "<\0", 2) == 0 || memcmp(p, "\0<", 2) == 0)) {
		reader->unit = 2;
		reader->big_endian = p[0] == 0;
	}
	xml_reader_advance(reader);
}

void xml_reader_seek(struct xml_reader *reader, uint64_t at)
{
	reader->window = NULL;
	reader->window_at = 0;
	reader->window_len = 0;
	reader->pending = 0;
	reader->problem = NULL;
	reader->c = 0;
	reader->next = at;
	xml_reader_advance(reader);
}

uint64_t xml_reader_valid_end(const struct xml_reader *reader, uint64_t at)
{
	return reader->odd_last && at - reader->odd_last <= ODD_GAP ? reader->odd_start : at;
}

/* Encodes a character as UTF-8, up to 4 bytes; a byte of an 8-bit encoding unchanged. Returns the
 * number of bytes. */
static size_t encode(const struct xml_reader *reader, int c, char *utf8)
{
	if (reader->unit == 1 || c < 0x80) {
		utf8[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		utf8[0] = (char)(0xc0 | c >> 6);
		utf8[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		utf8[0] = (char)(0xe0 | c >> 12);
		utf8[1] = (char)(0x80 | (c >> 6 & 0x3f));
		utf8[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	utf8[0] = (char)(0xf0 | c >> 18);
	utf8[1] = (char)(0x80 | (c >> 12 & 0x3f));
	utf8[2] = (char)(0x80 | (c >> 6 & 0x3f));
	utf8[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void xml_collect(const struct xml_reader *reader, struct xml_text *text, int c)
{
	char utf8[4];
	size_t len = encode(reader, c, utf8);

	if (text && text->len + len < text->room) {
		memcpy(text->bytes + text->len, utf8, len);
		text->len += len;
		text->bytes[text->len] = 0;
	}
}

bool xml_fail(struct xml_reader *reader, const char *problem)
{
	if (reader->c >= 0)
		reader->problem = problem;
	return false;
}

void xml_skip_space(struct xml_reader *reader)
{
	while (xml_is_space(reader->c))
		xml_reader_advance(reader);
}

bool xml_expect(struct xml_reader *reader, const char *token, const char *problem)
{
	for (; *token; token++) {
		if (reader->c != *token)
			return xml_fail(reader, problem);
		xml_reader_advance(reader);
	}
	return true;
}

bool xml_skip_past(struct xml_reader *reader, const char *token, struct xml_text *text)
{
	size_t len = strlen(token), matched = 0;

	while (matched < len) {
		if (reader->c < 0)
			return false;
		if (reader->c == token[matched])
			matched++;
		else if (reader->c != token[0])
			matched = 0;
		else if (matched != len - 1 || token[0] != token[len - 2])
			matched = 1; /* else one more of the token's repeated characters */
		xml_collect(reader, text, reader->c);
		xml_reader_advance(reader);
	}
	return true;
}

bool xml_read_name(struct xml_reader *reader, struct xml_text *text, uint32_t *hash)
{
	uint32_t value = 2166136261u;

	if (!xml_starts_name(reader->c))
		return xml_fail(reader, "a name is missing");
	do {
		value = (value ^ (uint32_t)reader->c) * 16777619u;
		xml_collect(reader, text, reader->c);
		xml_reader_advance(reader);
	} while (xml_in_name(reader->c));
	if (hash)
		*hash = value;
	return true;
}

/* Whether '<' followed by this byte is markup. */
static bool leads_markup(int byte)
{
	return xml_starts_name(byte) || byte == '/' || byte == '!' || byte == '?' || byte == '<';
}

bool xml_read_quoted(struct xml_reader *reader, bool attribute, struct xml_text *text)
{
	int quote = reader->c;

	if (quote != '"' && quote != '\'')
		return xml_fail(reader, "a value without quotes");
	for (xml_reader_advance(reader); reader->c != quote; xml_reader_advance(reader)) {
		uint64_t at = reader->at;
		bool bracket = attribute && reader->c == '<';

		if (reader->c < 0)
			return xml_fail(reader, "a value without an end");
		xml_collect(reader, text, reader->c);
		if (!bracket)
			continue;
		/* Markup after a missing quote, or a comparison in a script? */
		xml_reader_advance(reader);
		if (reader->c < 0 || reader->c == quote || leads_markup(reader->c)) {
			reader->at = at;
			return xml_fail(reader, "'<' in an attribute's value");
		}
		xml_collect(reader, text, reader->c);
		if (!reader->first_bracket)
			reader->first_bracket = at;
	}
	xml_reader_advance(reader);
	return true;
}
