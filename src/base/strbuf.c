#include "base/strbuf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Makes room for len bytes more and returns where they belong. */
static char *room(struct strbuf *line, size_t len)
{
	if (line->capacity - line->len <= len) {
		line->capacity = (line->len + len + 1) * 2;
		line->bytes = xreallocarray(line->bytes, line->capacity, 1);
	}
	return line->bytes + line->len;
}

void strbuf_bytes(struct strbuf *line, const void *bytes, size_t len)
{
	memcpy(room(line, len), bytes, len);
	line->len += len;
}

/* Writes the digits so that they end before end; returns where they begin. */
static char *digits_before(char *end, uint64_t number)
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

void strbuf_number_padded(struct strbuf *line, uint64_t number, unsigned width)
{
	char digits[24], *end = digits + sizeof(digits), *start = digits_before(end, number);

	for (size_t len = (size_t)(end - start); len < width; len++)
		strbuf_bytes(line, " ", 1);
	strbuf_bytes(line, start, (size_t)(end - start));
}

void strbuf_number(struct strbuf *line, uint64_t number)
{
	strbuf_number_padded(line, number, 0);
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7F;
}

/* The text cleaned: itself where there is nothing to clean, which is nearly always; else *copy, for
 * the caller to free. */
static const char *cleaned(const char *text, char **copy)
{
	const char *end = text;

	*copy = NULL;
	while (is_plain(*end))
		end++;
	if (!*end)
		return text;
	return *copy = text_clean_copy(text);
}

void strbuf_clean(struct strbuf *line, const char *text)
{
	char *copy;

	strbuf_text(line, cleaned(text, &copy));
	free(copy);
}

/* Appends the text cleaned, with what special gives for a character in its place. */
static void escape(struct strbuf *line, const char *text, const char *(*special)(char))
{
	char *copy;
	const char *from = cleaned(text, &copy), *at = from;

	for (; *at; at++) {
		const char *instead = special(*at);

		if (!instead)
			continue;
		strbuf_bytes(line, from, (size_t)(at - from));
		strbuf_text(line, instead);
		from = at + 1;
	}
	strbuf_bytes(line, from, (size_t)(at - from));
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

void strbuf_json(struct strbuf *line, const char *text)
{
	if (!text) {
		strbuf_text(line, "null");
		return;
	}
	strbuf_bytes(line, "\"", 1);
	escape(line, text, json_special);
	strbuf_bytes(line, "\"", 1);
}

void strbuf_xml(struct strbuf *line, const char *text)
{
	escape(line, text, xml_special);
}

void strbuf_write(struct strbuf *line, FILE *stream)
{
	fwrite(line->bytes, 1, line->len, stream);
	line->len = 0;
}

void strbuf_free(struct strbuf *line)
{
	free(line->bytes);
	*line = (struct strbuf){ 0 };
}
