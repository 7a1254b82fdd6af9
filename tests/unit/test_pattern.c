/* Patterns: syntax, errors, text made from bytes, sets. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/pattern_set.h"
#include "tier.h"

static void expect_bytes(const char *text, const char *bytes, const char *mask, size_t len)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_parse(&pattern, text, &error), 0, "%s: %s", text, error.text);
	cr_assert_eq(pattern.len, len, "%s: length %u", text, pattern.len);
	cr_assert_eq(pattern.min_len, len);
	cr_assert_null(pattern.regex);
	cr_assert_eq(memcmp(pattern.bytes, bytes, len), 0, "%s: bytes", text);
	cr_assert_eq(memcmp(pattern.mask, mask, len), 0, "%s: mask", text);
	cr_assert_str_eq(pattern.text, text);
	pattern_free(&pattern);
}

static void expect_error(const char *text, const char *part)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_parse(&pattern, text, &error), -EINVAL, "%s was taken", text);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_not_null(strstr(error.text, part), "%s: '%s' lacks '%s'", text, error.text, part);
}

Test(pattern, reads_hex_text_and_wild_nibbles)
{
	expect_bytes("89 'PNG' 0D0a", "\x89PNG\r\n", "\xff\xff\xff\xff\xff\xff", 6);
	expect_bytes("'RIFF' ???????? 'WAVE'", "RIFF\0\0\0\0WAVE",
		"\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff", 12);
	expect_bytes("4? ?f", "\x40\x0f", "\xf0\x0f", 2);
	expect_bytes("\t00\n", "\0", "\xff", 1);
	expect_bytes("'it''s'", "it's", "\xff\xff\xff\xff", 4);
	expect_bytes("''''", "'", "\xff", 1);
	expect_bytes("?? 'moov'", "\0moov", "\0\xff\xff\xff\xff", 5);
}

Test(pattern, ignores_case_of_ascii_letters_only)
{
	expect_bytes("i'<aZ1@['", "<AZ1@[", "\xff\xdf\xdf\xff\xff\xff", 6);
	expect_bytes("i'\xe4''x'", "\xe4'X", "\xff\xff\xdf", 3);
}

Test(pattern, errors_name_the_column_and_what_was_found)
{
	expect_error("89 50 zz", "expected two hex digits, 'text', i'text' or /regex/ at column 7 "
				 "of the pattern, found 'zz'");
	expect_error("PK\x03\x04 zz", "at column 1 of the pattern: a backslash's escapes are "
				      "libconfig's; write 'PK' 03 04");
	expect_error("zz\t03", "found 'zz'");
	expect_error("89 5", "at column 4 of the pattern, found '5'");
	expect_error("8 9", "expected two hex digits (or ? for a nibble) at column 1");
	expect_error("00 \x01", "found '.'");
	expect_error("00 'abc", "starts at column 4");
	expect_error("''", "at least one character");
	expect_error("i", "found 'i'");
	expect_error("", "empty");
	expect_error("  ", "empty");
	expect_error("????", "all bits of the pattern are wild");
	expect_error("00 /a/", "must be the whole pattern");
	expect_error("/a/ 00", "at column 5");
	expect_error("/abc", "has no closing slash");
	expect_error("/abc\\/", "has no closing slash");
	expect_error(" /ab*/", "at column 5 of the pattern: * repeats without bound");
}

Test(pattern, reads_regexes)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_parse(&pattern, "/a\\/[bc]{1,3}/i ", &error), 0, "%s", error.text);
	cr_assert_not_null(pattern.regex);
	cr_assert_null(pattern.bytes);
	cr_assert_eq(pattern.min_len, 3);
	cr_assert_eq(pattern.len, 5);
	cr_assert_eq(pattern_match_len(&pattern, (const uint8_t *)"A/BcbX", 6), 5);
	cr_assert_eq(pattern_match_len(&pattern, (const uint8_t *)"A/BcbX", 3), 3);
	cr_assert_eq(pattern_match_len(&pattern, (const uint8_t *)"xa/b", 4), 0);
	pattern_free(&pattern);
}

Test(pattern, fixed_patterns_match_under_their_mask)
{
	struct pattern pattern;

	cr_assert_eq(pattern_parse(&pattern, "i'ab' ?1", NULL), 0);
	cr_assert_eq(pattern_match_len(&pattern, (const uint8_t *)"aB\xf1", 3), 3);
	cr_assert_eq(pattern_match_len(&pattern, (const uint8_t *)"aB\xf1", 2), 0,
		"beyond the text's end");
	cr_assert_eq(pattern_match_len(&pattern, (const uint8_t *)"aB\xf2", 3), 0);
	pattern_free(&pattern);
}

static void expect_text(const char *bytes, const char *mask, size_t len, const char *text)
{
	struct pattern pattern;

	cr_assert_eq(pattern_from_bytes(
			     &pattern, (const uint8_t *)bytes, (const uint8_t *)mask, len, NULL),
		0);
	cr_assert_str_eq(pattern.text, text);
	pattern_free(&pattern);
}

Test(pattern, text_from_bytes_is_readable)
{
	expect_text(
		"\x89PNG\r\n\x1a\n", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "89 'PNG' 0D 0A 1A 0A");
	expect_text(
		"RIFFxxxxAVI", "\xff\xff\xff\xff\0\0\0\0\xff\xff\xff", 11, "'RIFF' ???????? 'AVI'");
	expect_text("<HTML", "\xff\xdf\xdf\xdf\xdf", 5, "i'<html'");
	expect_text("abHT", "\xff\xff\xdf\xdf", 4, "'ab' i'ht'");
	expect_text("it's", "\xff\xff\xff\xff", 4, "'it''s'");
	expect_text("\0;", "\xff\xff", 2, "00 3B");
	expect_text("----", "\xff\xff\xff\xff", 4, "'----'");
	expect_text("\x4f\xf1", "\xf0\x0f", 2, "4? ?1");
	expect_text("\x41\x42", "\x7f\xff", 2, "41&7F 42");
	expect_text("A\x5f", "\xff\xdf", 2, "41 5F&DF");
}

Test(pattern, wild_bits_are_zero)
{
	struct pattern pattern;
	const uint8_t bytes[] = { 0xff, 0xff }, mask[] = { 0x0f, 0x00 };

	cr_assert_eq(pattern_from_bytes(&pattern, bytes, mask, 2, NULL), 0);
	cr_assert_eq(pattern.bytes[0], 0x0f);
	cr_assert_eq(pattern.bytes[1], 0x00);
	pattern_free(&pattern);
}

Test(pattern, bytes_that_match_everywhere_are_refused)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_from_bytes(
			     &pattern, (const uint8_t *)"ab", (const uint8_t *)"\0\0", 2, &error),
		-EINVAL);
	cr_assert_not_null(strstr(error.text, "wild"));
	cr_assert_eq(
		pattern_from_bytes(&pattern, (const uint8_t *)"", (const uint8_t *)"", 0, &error),
		-EINVAL);
	cr_assert_not_null(strstr(error.text, "empty"));
}

/* Masks that the syntax can express: text made from bytes reads back as the same bytes. */
Test(pattern, random_bytes_survive_text)
{
	static const uint8_t masks[] = { 0xff, 0xff, 0xff, 0xf0, 0x0f, 0x00 };
	unsigned seed = (unsigned)test_seed();

	printf("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 3000; round++) {
		uint8_t bytes[24], mask[24];
		size_t len = 1 + (size_t)rand() % sizeof(bytes);
		struct pattern a, b;
		struct error error = { 0 };

		for (size_t i = 0; i < len; i++) {
			bytes[i] = (uint8_t)(rand() % 3 ? 32 + rand() % 95 : rand());
			mask[i] = masks[rand() % 6];
			if (rand() % 2 && (uint8_t)((bytes[i] | 0x20) - 'a') < 26)
				mask[i] = 0xdf;
		}
		mask[0] = 0xff;
		cr_assert_eq(pattern_from_bytes(&a, bytes, mask, len, NULL), 0);
		cr_assert_eq(pattern_parse(&b, a.text, &error), 0, "seed %u: %s: %s", seed, a.text,
			error.text);
		cr_assert(a.len == b.len && !memcmp(a.bytes, b.bytes, len) &&
				  !memcmp(a.mask, b.mask, len),
			"seed %u: %s", seed, a.text);
		pattern_free(&a);
		pattern_free(&b);
	}
}

static uint32_t add(struct pattern_set *set, const char *text)
{
	struct pattern pattern;
	struct error error = { 0 };

	cr_assert_eq(pattern_parse(&pattern, text, &error), 0, "%s", error.text);
	return pattern_set_add(set, &pattern);
}

Test(pattern_set, identical_patterns_share_an_index)
{
	struct pattern_set set = { 0 };

	cr_assert_eq(add(&set, "'ab'"), 0);
	cr_assert_eq(add(&set, "'abc'"), 1);
	cr_assert_eq(add(&set, "61 62"), 0, "the same bytes in other words");
	cr_assert_eq(add(&set, "i'ab'"), 2);
	cr_assert_eq(add(&set, "61 6?"), 3);
	cr_assert_eq(add(&set, "/ab/"), 4, "a regex is not a fixed pattern");
	cr_assert_eq(add(&set, "/[a]b/"), 4);
	cr_assert_eq(add(&set, "/ab/i"), 5);
	cr_assert_eq(add(&set, "/[Aa][bB]/"), 5);
	cr_assert_eq(set.count, 6);
	cr_assert_eq(set.longest, 3);
	cr_assert_str_eq(set.patterns[0].text, "'ab'");
	pattern_set_free(&set);
	cr_assert_eq(set.count, 0);
}

Test(pattern_set, holds_many)
{
	struct pattern_set set = { 0 };

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 20000; i++) {
			char text[16];

			snprintf(text, sizeof(text), "%02X%02X%02X", i & 255, i >> 8 & 255, 0x55);
			cr_assert_eq(add(&set, text), i);
		}
	}
	cr_assert_eq(set.count, 20000);
	pattern_set_free(&set);
}
