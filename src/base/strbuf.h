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

/* Zero-initialise; strbuf_free when done. */
struct strbuf {
	char *bytes;
	size_t len, capacity;
};

void strbuf_bytes(struct strbuf *line, const void *bytes, size_t len);
/* As it is. Here, so that the length of a literal is known when it is compiled. */
static inline void strbuf_text(struct strbuf *line, const char *text)
{
	strbuf_bytes(line, text, strlen(text));
}

void strbuf_number(struct strbuf *line, uint64_t number);
void strbuf_number_padded(
	struct strbuf *line, uint64_t number, unsigned width); /* blanks in front */

/* These three take text that nobody vouches for and clean it (base/text.h). */
void strbuf_clean(struct strbuf *line, const char *text);
void strbuf_json(
	struct strbuf *line, const char *text); /* a JSON string, with its quotes; NULL is null */
void strbuf_xml(struct strbuf *line, const char *text); /* text of an XML element */

/* Writes the line to the stream, as a whole, and empties it. */
void strbuf_write(struct strbuf *line, FILE *stream);
void strbuf_free(struct strbuf *line);

#endif
