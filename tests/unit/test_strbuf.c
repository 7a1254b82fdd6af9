#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/strbuf.h"

static void expect(struct strbuf *line, const char *text)
{
	strbuf_bytes(line, "", 1);
	cr_expect_str_eq(line->bytes, text);
	line->len = 0;
}

Test(line, numbers)
{
	struct strbuf line = { 0 };

	strbuf_number(&line, 0);
	strbuf_text(&line, ",");
	strbuf_number(&line, UINT64_MAX);
	expect(&line, "0,18446744073709551615");
	strbuf_number_padded(&line, 42, 5);
	strbuf_number_padded(&line, 123456, 5);
	expect(&line, "   42123456");
	for (uint64_t number = 1; number < UINT64_MAX / 11; number = number * 11 - number % 3) {
		char text[32];

		snprintf(text, sizeof(text), "%" PRIu64, number);
		strbuf_number(&line, number);
		expect(&line, text);
	}
	strbuf_free(&line);
}

Test(line, json_escapes_and_cleans)
{
	struct strbuf line = { 0 };

	strbuf_json(&line, NULL);
	strbuf_json(&line, "");
	strbuf_json(&line, "a\"b\\c/<&>");
	expect(&line, "null\"\"\"a\\\"b\\\\c/<&>\"");
	strbuf_json(&line, "\xC3\xA9\x01\xFF\"");
	expect(&line, "\"\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\\\"\"");
	strbuf_free(&line);
}

Test(line, xml_escapes_and_cleans)
{
	struct strbuf line = { 0 };

	strbuf_xml(&line, "<a b=\"c\">&'\r\n\xC3\xA9");
	expect(&line, "&lt;a b=&quot;c&quot;&gt;&amp;'\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA9");
	strbuf_clean(&line, "<\"\x7F");
	expect(&line, "<\"\xEF\xBF\xBD");
	strbuf_free(&line);
}

/* Every byte, and what a JSON library reads back, is what went in cleaned. */
Test(line, json_of_any_byte_can_be_read)
{
	struct strbuf line = { 0 };

	for (int byte = 1; byte < 256; byte++) {
		char text[] = { 'x', (char)byte, 'y', '\0' };
		json_t *value;

		strbuf_json(&line, text);
		value = json_loadb(line.bytes, line.len, JSON_DECODE_ANY, NULL);
		cr_assert(json_is_string(value), "byte %d", byte);
		if (byte >= 0x20 && byte < 0x7F)
			cr_expect_str_eq(json_string_value(value), text);
		else
			cr_expect_str_eq(json_string_value(value), "x\xEF\xBF\xBDy");
		json_decref(value);
		line.len = 0;
	}
	strbuf_free(&line);
}

Test(line, is_written_whole_and_emptied)
{
	struct strbuf line = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	for (int i = 0; i < 5000; i++)
		strbuf_text(&line, "0123456789");
	strbuf_write(&line, stream);
	cr_expect_eq(line.len, 0);
	strbuf_write(&line, stream);
	fclose(stream);
	cr_expect_eq(len, 50000);
	cr_expect_eq(memcmp(text + 49990, "0123456789", 10), 0);
	free(text);
	strbuf_free(&line);
}

/* The text of a JSON string or an XML element that holds just this byte. */
static char *escaped(void (*add)(struct strbuf *, const char *), char byte)
{
	const char text[] = { byte, '\0' };
	struct strbuf line = { 0 };
	size_t quotes = add == strbuf_json;
	char *inner;

	add(&line, text);
	inner = strndup(line.bytes + quotes, line.len - 2 * quotes);
	strbuf_free(&line);
	return inner;
}

static void expect_escaped(void (*add)(struct strbuf *, const char *), const char *around)
{
	char text[26], *expected;

	for (unsigned byte = 1; byte < 256; byte++) {
		char *inner = escaped(add, (char)byte);

		for (int len = 1; len < 25; len++) {
			for (int at = 0; at < len; at++) {
				struct strbuf line = { 0 };

				memset(text, 'x', (size_t)len);
				text[at] = (char)byte;
				text[len] = '\0';
				expected = xasprintf("%s%.*s%s%.*s%s", around, at,
					"xxxxxxxxxxxxxxxxxxxxxxxx", inner, len - at - 1,
					"xxxxxxxxxxxxxxxxxxxxxxxx", around);
				add(&line, text);
				cr_assert_str_eq(line.bytes, expected);
				free(expected);
				strbuf_free(&line);
			}
		}
		free(inner);
	}
}

/* Texts are searched eight bytes at a time. */
Test(line, a_special_byte_at_any_place)
{
	expect_escaped(strbuf_json, "\"");
	expect_escaped(strbuf_xml, "");
}
