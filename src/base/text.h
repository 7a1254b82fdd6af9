/* Clean text from hostile bytes, and times as text, for reports; digits; the names in paths. */
#ifndef BURIN_BASE_TEXT_H
#define BURIN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a hexadecimal digit, or -1. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* Copies text into buffer (len bytes with the zero, at least 1) as valid UTF-8: invalid UTF-8,
 * control characters, bidirectional overrides, line separators and characters that XML can't
 * represent become U+FFFD. Never splits a character. Returns buffer. */
char *text_clean(const char *text, char *buffer, size_t len);

/* The same, uncut, in memory that the caller frees. */
char *text_clean_copy(const char *text);

/* What follows the last slash of a path, or all of it: a part of path. */
const char *text_file_name(const char *path);

/* Bytes for text_time, with the zero. */
#define TEXT_TIME_LEN 21

/* Writes "2024-05-01T12:00:00Z". seconds: since 1970-01-01 UTC. False, with buffer "", for years
 * before 1 or after 9999. */
bool text_time(int64_t seconds, char buffer[TEXT_TIME_LEN]);

/* Reads exactly what text_time writes. False for anything else. */
bool text_time_parse(const char *text, int64_t *seconds);

#endif
