/* Tests for text: bytes, UTF-8, tables of names. */
#ifndef BURIN_CARVERS_COMMON_PLAIN_TEXT_H
#define BURIN_CARVERS_COMMON_PLAIN_TEXT_H

#include <stdbool.h>

#include "carver.h"

/* Whether the byte occurs in plain English text: printable ASCII, tab, CR or LF. */
static inline bool plain_text_byte(uint8_t byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
}

/* Whether a line of text may have the character: no control character but tab, CR, FF and ESC. Those beyond ASCII are
 * for the encoding to judge. */
static inline bool line_character(uint32_t character)
{
	return character >= ' ' ? character != 0x7f
				: character == '\t' || character == '\r' || character == '\f' ||
					  character == 0x1b;
}

/* The length of the character of UTF-8 at p, where len bytes are; 0: it is invalid, or cut. */
size_t utf8_len(const uint8_t *p, size_t len);

/* Whether the bytes are valid UTF-8. */
bool utf8_valid(const uint8_t *bytes, size_t len);

/* Follows UTF-8 byte by byte (RFC 3629; overlong and surrogate characters pass). *missing: how many bytes of a character are
 * still to come, 0 before the first. False: the byte does not belong there; it may begin a character. */
bool utf8_follow(unsigned *missing, uint8_t byte);

/* Whether [at, end) is a table of names: texts, each ended by a zero byte, the last one too. */
bool name_table_valid(struct view *view, uint64_t at, uint64_t end);

#endif
