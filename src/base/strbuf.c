#include "base/strbuf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

void strbuf_grow(struct strbuf *buf, size_t len)
{
	buf->capacity = (buf->len + len + 1) * 2;
	buf->bytes = xreallocarray(buf->bytes, buf->capacity, 1);
}

void strbuf_print(struct strbuf *buf, const char *format, ...)
{
	char small[128], *text = small;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (len >= (int)sizeof(small)) {
		text = xmalloc((size_t)len + 1);
		va_start(args, format);
		vsnprintf(text, (size_t)len + 1, format, args);
		va_end(args);
	}
	if (len > 0)
		strbuf_bytes(buf, text, (size_t)len);
	if (text != small)
		free(text);
}

char *digits_before(char *end, uint64_t number)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

	for (; number >= 100; number /= 100)
		memcpy(end -= 2, pairs + number % 100 * 2, 2);
	if (number >= 10)
		memcpy(end -= 2, pairs + number * 2, 2);
	else
		*--end = (char)('0' + number);
	return end;
}

static inline void add_number(struct strbuf *buf, uint64_t number, unsigned width)
{
	/* Copying always as many bytes is faster than copying those that are needed. */
	char digits[2 * DIGITS_MAX] = { 0 }, *end = digits + DIGITS_MAX;
	char *start = digits_before(end, number);

	for (size_t len = (size_t)(end - start); len < width; len++)
		strbuf_bytes(buf, " ", 1);
	if (buf->capacity - buf->len <= DIGITS_MAX)
		strbuf_grow(buf, DIGITS_MAX);
	memcpy(buf->bytes + buf->len, start, DIGITS_MAX);
	buf->len += (size_t)(end - start);
	buf->bytes[buf->len] = '\0';
}

void strbuf_number(struct strbuf *buf, uint64_t number)
{
	add_number(buf, number, 0);
}

void strbuf_number_padded(struct strbuf *buf, uint64_t number, unsigned width)
{
	add_number(buf, number, width);
}

/* What has to be done about a byte of a text. */
enum { CLEAN = 1, ESCAPE_JSON = 2, ESCAPE_XML = 4 };

static const uint8_t kinds[256] = {
	[0 ... 0x1f] = CLEAN,
	[0x7f ... 0xff] = CLEAN,
	['"'] = ESCAPE_JSON | ESCAPE_XML,
	['\\'] = ESCAPE_JSON,
	['<'] = ESCAPE_XML,
	['>'] = ESCAPE_XML,
	['&'] = ESCAPE_XML,
};

/* A bit in each byte of the word. */
#define EACH(byte) ((byte)*UINT64_C(0x0101010101010101))

/* Not zero where a byte of the word is the character; exact for the first of them. */
static inline uint64_t bytes_like(uint64_t word, char c)
{
	uint64_t rest = word ^ EACH((uint64_t)c);

	return (rest - EACH(1)) & ~rest & EACH(0x80);
}

/* Whether one of the eight bytes is of these kinds, or may be. */
static inline bool may_have(const char *text, unsigned kind)
{
	uint64_t word, found;

	memcpy(&word, text, sizeof(word));
	found = ((word - EACH(0x20)) & ~word & EACH(0x80)) | ((word + EACH(1)) & EACH(0x80)) |
		(word & EACH(0x80));
	if (kind & ESCAPE_JSON)
		found |= bytes_like(word, '"') | bytes_like(word, '\\');
	if (kind & ESCAPE_XML)
		found |= bytes_like(word, '<') | bytes_like(word, '>') | bytes_like(word, '&') |
			 bytes_like(word, '"');
	return found;
}

/* Bytes before the first of these kinds, of which CLEAN is one; len: there is none. */
static inline size_t count_before(const char *text, size_t len, unsigned kind)
{
	size_t count = 0;

	while (len - count >= sizeof(uint64_t) && !may_have(text + count, kind))
		count += sizeof(uint64_t);
	while (count < len && !(kinds[(uint8_t)text[count]] & kind))
		count++;
	return count;
}

/* Returns the cleaned text: text itself where there is nothing to clean; else *copy, which the
 * caller frees. */
static const char *cleaned(const char *text, char **copy)
{
	*copy = NULL;
	if (!text[count_before(text, strlen(text), CLEAN)])
		return text;
	return *copy = text_clean_copy(text);
}

void strbuf_clean(struct strbuf *buf, const char *text)
{
	char *copy;

	strbuf_text(buf, cleaned(text, &copy));
	free(copy);
}

/* Appends the cleaned text; where special returns a string for a character, that string replaces it. */
static void escape(struct strbuf *buf, const char *text, const char *(*special)(char))
{
	char *copy;
	const char *from = cleaned(text, &copy), *at;

	for (at = from; *at; at++) {
		const char *instead = special(*at);

		if (!instead)
			continue;
		strbuf_bytes(buf, from, (size_t)(at - from));
		strbuf_text(buf, instead);
		from = at + 1;
	}
	strbuf_bytes(buf, from, (size_t)(at - from));
	free(copy);
}

/* Clean text holds no control characters, so these are all. */
static const char *json_special(char c)
{
	return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
}

static const char *xml_special(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

void strbuf_json(struct strbuf *buf, const char *text)
{
	size_t len;
	char *at;

	if (!text) {
		strbuf_text(buf, "null");
		return;
	}
	len = strlen(text);
	if (count_before(text, len, CLEAN | ESCAPE_JSON) < len) {
		strbuf_bytes(buf, "\"", 1);
		escape(buf, text, json_special);
		strbuf_bytes(buf, "\"", 1);
		return;
	}
	if (buf->capacity - buf->len <= len + 2) /* nearly always it is plain */
		strbuf_grow(buf, len + 2);
	at = buf->bytes + buf->len;
	*at++ = '"';
	memcpy(at, text, len);
	at[len] = '"';
	at[len + 1] = '\0';
	buf->len += len + 2;
}

void strbuf_xml(struct strbuf *buf, const char *text)
{
	size_t len = strlen(text);

	if (count_before(text, len, CLEAN | ESCAPE_XML) < len)
		escape(buf, text, xml_special);
	else
		strbuf_bytes(buf, text, len);
}

void strbuf_write(struct strbuf *buf, FILE *stream)
{
	fwrite(buf->bytes, 1, buf->len, stream);
	buf->len = 0;
}

void strbuf_free(struct strbuf *buf)
{
	free(buf->bytes);
	*buf = (struct strbuf){ 0 };
}
