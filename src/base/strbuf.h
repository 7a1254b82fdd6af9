/*
 * Records of carved files, put together byte by byte. Rule sets as noisy as Scalpel's find hundreds
 * of thousands of files a gigabyte; building a tree of JSON values or going through an XML writer
 * for each took most of the time of a whole run.
 */
#ifndef BURIN_BASE_STRBUF_H
#define BURIN_BASE_STRBUF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Zero-initialise; line_free when done. */
struct line {
	char *bytes;
	size_t len, capacity;
};

void line_bytes(struct line *line, const void *bytes, size_t len);
/* As it is. Here, so that the length of a literal is known when it is compiled. */
static inline void line_text(struct line *line, const char *text)
{
	line_bytes(line, text, strlen(text));
}

void line_number(struct line *line, uint64_t number);
void line_number_padded(struct line *line, uint64_t number, unsigned width); /* blanks in front */

/* These three take text that nobody vouches for and clean it (base/text.h). */
void line_clean(struct line *line, const char *text);
void line_json(
	struct line *line, const char *text); /* a JSON string, with its quotes; NULL is null */
void line_xml(struct line *line, const char *text); /* text of an XML element */

/* Writes the line to the stream, as a whole, and empties it. */
void line_write(struct line *line, FILE *stream);
void line_free(struct line *line);

#endif
