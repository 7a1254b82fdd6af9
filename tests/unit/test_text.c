#include <criterion/criterion.h>

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BAD "\xEF\xBF\xBD"

static const struct {
	const char *from, *to;
} cases[] = {
	{ "", "" },
	{ "plain text, 100%", "plain text, 100%" },
	{ "Gr\xC3\xBC\xC3\x9F"
	  "e \xE2\x82\xAC \xF0\x9F\x98\x80",
		"Gr\xC3\xBC\xC3\x9F"
		"e \xE2\x82\xAC \xF0\x9F\x98\x80" },
	{ "a\nb\tc\x01"
	  "d\x7F",
		"a" BAD "b" BAD "c" BAD "d" BAD },
	{ "\x1B[2J", BAD "[2J" },
	{ "\xC2\x80\xC2\x9F\xC2\xA0",
		BAD BAD "\xC2\xA0" }, /* C1 controls; not the blank after them */
	{ "\xE2\x80\xAE"
	  "gpj.exe",
		BAD "gpj.exe" }, /* right-to-left override */
	{ "\xE2\x80\x8D\xE2\x80\x8E\xE2\x80\x8F\xE2\x80\x90",
		"\xE2\x80\x8D" BAD BAD "\xE2\x80\x90" },
	{ "\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAF",
		"\xE2\x80\xA7" BAD BAD BAD "\xE2\x80\xAF" },
	{ "\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xAA",
		"\xE2\x81\xA5" BAD BAD "\xE2\x81\xAA" },
	{ "\xD8\x9C", BAD }, /* Arabic letter mark */
	{ "\xEF\xBB\xBF"
	  "x",
		BAD "x" }, /* byte order mark */
	{ "\xEF\xBF\xBE\xEF\xBF\xBF\xEF\xBF\xBD",
		BAD BAD BAD },                      /* U+FFFE and U+FFFF: XML can't hold them */
	{ "\xF0\x9F\xBF\xBE", BAD },                /* U+1FFFE */
	{ "\xC0\x80", BAD BAD },                    /* overlong zero */
	{ "\xC1\xBF", BAD BAD },                    /* overlong */
	{ "\xE0\x9F\xBF", BAD BAD BAD },            /* overlong */
	{ "\xF0\x8F\xBF\xBF", BAD BAD BAD BAD },    /* overlong */
	{ "\xED\xA0\x80", BAD BAD BAD },            /* surrogate */
	{ "\xED\x9F\xBF", "\xED\x9F\xBF" },         /* the last before them */
	{ "\xF4\x8F\xBF\xBD", "\xF4\x8F\xBF\xBD" }, /* nearly the last of all */
	{ "\xF4\x90\x80\x80", BAD BAD BAD BAD },    /* past U+10FFFF */
	{ "\xF8\x88\x80\x80\x80", BAD BAD BAD BAD BAD }, /* five bytes */
	{ "\xFF\xFE", BAD BAD },
	{ "\x80", BAD },
	{ "\xC3", BAD }, /* cut short by the end */
	{ "\xE2\x82", BAD BAD },
	{ "\xE2\x82"
	  "A",
		BAD BAD "A" },
	{ "\xC3\xC3\xBC", BAD "\xC3\xBC" },
};

Test(text, clean)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buffer[64];
		char *copy = text_clean_copy(cases[i].from);

		cr_expect_eq(text_clean(cases[i].from, buffer, sizeof(buffer)), buffer);
		cr_expect_str_eq(buffer, cases[i].to, "case %zu", i);
		cr_expect_str_eq(copy, cases[i].to, "case %zu", i);
		free(copy);
	}
}

Test(text, clean_is_stable)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *once = text_clean_copy(cases[i].from), *twice = text_clean_copy(once);

		cr_expect_str_eq(once, twice);
		free(once);
		free(twice);
	}
}

Test(text, every_short_buffer_holds_whole_characters)
{
	const char *text = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80\x01z";
	const char *whole = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80" BAD "z";
	const size_t ends[] = { 0, 1, 3, 6, 10, 13, 14 };

	for (size_t len = 1; len < 20; len++) {
		char *buffer = malloc(len); /* exactly, for the sanitizer */
		size_t expected = 0;

		text_clean(text, buffer, len);
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (ends[i] < len)
				expected = ends[i];
		cr_expect_eq(strlen(buffer), expected, "length %zu", len);
		cr_expect_eq(strncmp(buffer, whole, expected), 0);
		free(buffer);
	}
}

Test(text, times)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} times[] = {
		{ 0, "1970-01-01T00:00:00Z" },
		{ 1714564800, "2024-05-01T12:00:00Z" },
		{ 951782400, "2000-02-29T00:00:00Z" },
		{ -1, "1969-12-31T23:59:59Z" },
		{ -62135596800, "0001-01-01T00:00:00Z" },
		{ 253402300799, "9999-12-31T23:59:59Z" },
	};
	char buffer[TEXT_TIME_LEN];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int64_t seconds = 42;

		cr_expect(text_time(times[i].seconds, buffer));
		cr_expect_str_eq(buffer, times[i].text);
		cr_expect(text_time_parse(times[i].text, &seconds), "%s", times[i].text);
		cr_expect_eq(seconds, times[i].seconds);
	}
	cr_expect_not(text_time(253402300800, buffer));
	cr_expect_str_eq(buffer, "");
	cr_expect_not(text_time(-62135596801, buffer));
	cr_expect_not(text_time(INT64_MAX, buffer));
	cr_expect_not(text_time(INT64_MIN, buffer));
}

Test(text, no_times)
{
	static const char *const bad[] = { "", "2024-05-01", "2024-05-01T12:00:00",
		"2024-05-01 12:00:00Z", "2024-05-01T12:00:00z", "2024-13-01T12:00:00Z",
		"2024-02-30T12:00:00Z", "2023-02-29T00:00:00Z", "2024-05-01T24:00:00Z",
		"2024-05-01T12:60:00Z", "2024-05-01T12:00:60Z", "2024-5 -01T12:00:00Z",
		"2024-05-01T12:00:00Z ", "+024-05-01T12:00:00Z", "-024-05-01T12:00:00Z",
		"0000-01-01T00:00:00Z", "2024-05-01T12:00:-1Z" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t seconds = 42;

		cr_expect_not(text_time_parse(bad[i], &seconds), "'%s'", bad[i]);
		cr_expect_eq(seconds, 42);
	}
}

Test(text, file_name)
{
	cr_expect_str_eq(text_file_name("/a/b.dd"), "b.dd");
	cr_expect_str_eq(text_file_name("b.dd"), "b.dd");
	cr_expect_str_eq(text_file_name("a/"), "");
}
