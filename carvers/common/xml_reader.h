/* The characters of an XML document, one by one, in any encoding, and the tokens of its markup; for
 * xml_walk.c. */
#ifndef BURIN_CARVERS_COMMON_XML_READER_H
#define BURIN_CARVERS_COMMON_XML_READER_H

#include <stdbool.h>

#include "carver.h"

struct xml_reader {
	struct view *view;
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	unsigned unit;   /* bytes of a code unit: 2 for UTF-16 */
	bool big_endian; /* of UTF-16 */
	bool utf8;       /* bytes that are not UTF-8 are odd */

	int c;         /* the current character, or a byte of an 8-bit encoding; -1: none */
	uint64_t at;   /* its offset */
	uint64_t next; /* the next character's */
	bool cut;      /* c is -1 because the view ends there, not because it is not a character */
	const char *problem; /* why c is -1, or what xml_fail noted; the offset is `at` */

	unsigned pending;             /* bytes still missing from a UTF-8 character */
	uint64_t first_odd;           /* 0: none */
	uint64_t first_bracket;       /* first '<' in a value that does not start markup; 0: none */
	uint64_t odd_start, odd_last; /* the latest run of odd characters close to each other */
};

/* Detects the encoding from a BOM or the first characters, and reads the first one. */
void xml_reader_open(struct xml_reader *reader, struct view *view);

/* Reads the character at `at`, and forgets what was wrong. */
void xml_reader_seek(struct xml_reader *reader, uint64_t at);

/* Reads the next character. */
void xml_reader_advance(struct xml_reader *reader);

/* After a walk that failed at `at`: where the odd characters before it began, if they are close;
 * else at. */
uint64_t xml_reader_valid_end(const struct xml_reader *reader, uint64_t at);

/* A text that is collected as UTF-8 (from an 8-bit encoding: unchanged) and cut to its room. */
struct xml_text {
	char *bytes;
	size_t room, len;
};

/* Adds a character that the reader has read, and a zero after it, if there is room. text may be NULL. */
void xml_collect(const struct xml_reader *reader, struct xml_text *text, int c);

static inline bool xml_is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool xml_starts_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
	       c >= 0x80;
}

static inline bool xml_in_name(int c)
{
	return xml_starts_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* Notes what is wrong at the current character, unless there is none, which has a reason of its
 * own. Returns false. */
bool xml_fail(struct xml_reader *reader, const char *problem);

/* These skip what they name. False when something else is there. A text may be NULL. */
void xml_skip_space(struct xml_reader *reader);
bool xml_expect(struct xml_reader *reader, const char *token, const char *problem);
/* Skips past the next `token`: "?>", "-->" or "]]>". Everything up to its end goes to text. */
bool xml_skip_past(struct xml_reader *reader, const char *token, struct xml_text *text);
/* Reads a name; *hash (may be NULL) identifies it. */
bool xml_read_name(struct xml_reader *reader, struct xml_text *text, uint32_t *hash);
/* Reads a value in quotes; an attribute's must not contain '<'. */
bool xml_read_quoted(struct xml_reader *reader, bool attribute, struct xml_text *text);

#endif
