/*
 * Strings that grow. Reports are put together with these, byte by byte: rule sets as noisy as
 * Scalpel's find hundreds of thousands of files a gigabyte, and building a tree of JSON values or
 * going through an XML writer for each took most of the time of a whole run.
 */
#ifndef BURIN_BASE_STRBUF_H
#define BURIN_BASE_STRBUF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Zero-initialise; strbuf_free when done, or free bytes. Once anything was added, bytes[len] is a
 * zero, which len does not count. */
struct strbuf {
	char *bytes;
	size_t len, capacity;
};

/* Makes room for len more bytes and the zero after them. */
void strbuf_grow(struct strbuf *buf, size_t len);

/* This and the next are inline, so that the compiler knows the length of a literal. */
static inline void strbuf_bytes(struct strbuf *buf, const void *bytes, size_t len)
{
	if (buf->capacity - buf->len <= len)
		strbuf_grow(buf, len);
	memcpy(buf->bytes + buf->len, bytes, len);
	buf->len += len;
	buf->bytes[buf->len] = '\0';
}

/* Adds the text as it is. */
static inline void strbuf_text(struct strbuf *buf, const char *text)
{
	strbuf_bytes(buf, text, strlen(text));
}

/* Adds what printf would print. */
void strbuf_print(struct strbuf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The most digits that a number has. */
#define DIGITS_MAX 20
/* Writes the number's digits so that the last one is at end[-1]; returns where they begin. */
char *digits_before(char *end, uint64_t number);

/* Adds the number in decimal digits. */
void strbuf_number(struct strbuf *buf, uint64_t number);
/* Padded with blanks on the left. */
void strbuf_number_padded(struct strbuf *buf, uint64_t number, unsigned width);

/* These three take untrusted text and clean it (base/text.h). */
void strbuf_clean(struct strbuf *buf, const char *text);
void strbuf_json(struct strbuf *buf, const char *text); /* a JSON string, quoted; NULL is null */
void strbuf_xml(struct strbuf *buf, const char *text);  /* text of an XML element */

/* Writes everything to the stream and empties the buffer. */
void strbuf_write(struct strbuf *buf, FILE *stream);
void strbuf_free(struct strbuf *buf);

#endif
