/* The linter: each finding on a rule that has the fault, and none on one without it. */
#include "rules_equal.h"

#include "carvers/carver.h"
#include "rules/lint.h"

#define GOOD "header = \"'header'\"; footer = \"'footer'\"; max_size = \"1M\";"

static const char *first_carver(void)
{
	cr_assert_not_null(carvers[0]);
	return carvers[0]->name;
}

/* Lints burin's text; %C is replaced by a carver's name. */
static struct lint lint_text(const char *text, struct rules **rules)
{
	struct lint lint = { 0 };
	char *whole = NULL;
	size_t len;
	FILE *out = open_memstream(&whole, &len);

	for (; *text; text++) {
		if (text[0] == '%' && text[1] == 'C') {
			fputs(first_carver(), out);
			text++;
		} else {
			fputc(*text, out);
		}
	}
	fclose(out);
	*rules = load_text(whole, RULES_AUTO);
	lint_rules(&lint, *rules);
	free(whole);
	return lint;
}

static void expect(const char *text, const char *rule, enum lint_level level, const char *part)
{
	struct rules *rules;
	struct lint lint = lint_text(text, &rules);
	bool found = false;

	for (size_t i = 0; i < lint.count; i++)
		found |= lint.messages[i].level == level &&
			 strcmp(lint.messages[i].rule, rule) == 0 &&
			 strstr(lint.messages[i].text, part);
	cr_assert(found, "no %s about %s with '%s' in %zu messages, first: %s",
		lint_level_name(level), rule, part, lint.count,
		lint.count ? lint.messages[0].text : "-");
	lint_free(&lint);
	rules_free(rules);
}

static void expect_silence(const char *text)
{
	struct rules *rules;
	struct lint lint = lint_text(text, &rules);

	cr_assert_eq(lint.count, 0, "%s", lint.count ? lint.messages[0].text : "");
	lint_free(&lint);
	rules_free(rules);
}

static void expect_one(const char *settings, enum lint_level level, const char *part)
{
	char text[500];

	snprintf(text, sizeof(text), "types = ( { name = \"a\"; %s } );", settings);
	expect(text, "a", level, part);
}

Test(lint, a_good_rule_is_left_alone)
{
	expect_silence("types = ( { name = \"a\"; " GOOD " } );");
	expect_silence("types = ( { name = \"a\"; header = \"'header'\"; carver = \"%C\"; } );");
	expect_silence("types = ( { name = \"a\"; " GOOD
		       " }, { name = \"b\"; header = \"'other'\"; max_size = 9; } );");
}

Test(lint, short_and_wild_patterns)
{
	expect_one("header = \"'BM'\"; max_size = 10;", LINT_WARN,
		"header 'BM' has fewer than 24 fixed bits: random data alone gives "
		"16384 hits per GiB");
	expect_one("header = \"'BM' 0?\"; max_size = 10;", LINT_WARN, "fewer than 24 fixed bits");
	expect_one("header = \"'BM'\"; carver = \"%C\";", LINT_NOTE, "fewer than 24 fixed bits");
	expect_one("header = \"'BM'\"; must = ( { at = 6; bytes = \"00 00\"; } ); max_size = 10;",
		LINT_NOTE, "fewer than 24 fixed bits");
	expect_one(
		"header = \"/[a-z]{3}/\"; max_size = 10;", LINT_WARN, "fewer than 24 fixed bits");
	expect_silence("types = ( { name = \"a\"; header = \"/[a-z]{9}/\"; max_size = 10; } );");
}

Test(lint, wild_headers)
{
	expect_one("header = \"?????????? 'moov'\"; max_size = 20;", LINT_NOTE,
		"more than half of header");
	expect_silence(
		"types = ( { name = \"a\"; header = \"???????? 'moov'\"; max_size = 20; } );");
}

Test(lint, headers_that_empty_space_has)
{
	expect_one("header = \"00 00 00 00\"; max_size = 10;", LINT_WARN,
		"is all 00: it matches at every byte of empty space");
	expect_one("header = \"FF FF FF ??\"; max_size = 10;", LINT_WARN, "is all FF");
	expect_one("header = \"'header'\"; footer = \"00 00 00\"; max_size = 10;", LINT_WARN,
		"is all 00, like empty space");
}

Test(lint, footers)
{
	expect_one("header = \"FF D8 FF\"; footer = \"FF D9\"; max_size = \"1M\";", LINT_WARN,
		"thumbnails inside a JPEG");
	expect_one(
		"header = \"FF D8 FF\"; footer = \"FF D9\"; pair = \"reverse\"; max_size = \"1M\";",
		LINT_NOTE, "a later file");
	expect_one(
		"header = (\"00 01 02\", \"'%PDF-'\"); footer = \"'%%EOF' 0A\"; max_size = \"1M\";",
		LINT_WARN, "every update of a PDF adds one");
	expect_one("header = \"'header'\"; footer = \"00 3B\"; max_size = \"1M\";", LINT_WARN,
		"about every 65536 bytes");
	expect_silence("types = ( { name = \"ps\"; header = \"'%!PS'\"; footer = \"'%%EOF'\"; "
		       "max_size = \"1M\"; } );");
	expect_silence("types = ( { name = \"a\"; header = \"'header'\"; footer = \"00 3B\"; "
		       "max_size = \"10K\"; } );");
	expect_one("header = \"'header'\"; footer = \"FF D9\"; carver = \"%C\";", LINT_NOTE,
		"the footer is never used: the carver");
	expect_one("header = \"'header'\"; footer = \"FF D9\"; length = { at = 6; type = "
		   "\"u32le\"; };",
		LINT_NOTE, "the footer is never used: the length");
}

Test(lint, sizes)
{
	expect_one(GOOD "min_size = \"2M\";", LINT_WARN,
		"max_size (1048576) is below min_size (2097152)");
	expect_one("header = \"'header'\"; max_size = 5;", LINT_WARN,
		"max_size (5) ends before the header does");
	expect_one("header = \"'header'\"; max_size = 10; header_offset = 5;", LINT_WARN,
		"ends before the header does");
	expect_silence("types = ( { name = \"a\"; header = \"'header'\"; max_size = 11; "
		       "header_offset = 5; } );");
	expect_one(
		"header = \"'header'\"; max_size = 10; must = ( { at = 9; bytes = \"'ab'\"; } );",
		LINT_WARN, "must at 9 lies beyond");
	expect_one("header = \"'header'\"; max_size = 10; length = { at = 7; type = \"u32le\"; };",
		LINT_WARN, "length field is beyond");
	expect_one(
		"header = \"'header'\"; carver = \"%C\"; length = { at = 7; type = \"u32le\"; };",
		LINT_NOTE, "length is never used");
	expect_one(
		"header = \"'header'\"; max_size = \"1G\";", LINT_NOTE, "every hit writes 1.0 GiB");
}

#define TWO(a, b) "types = ( { name = \"a\"; " a " }, { name = \"b\"; " b " } );"

Test(lint, rules_that_repeat_others)
{
	expect(TWO(GOOD, GOOD), "b", LINT_WARN,
		"does the same as 'a' ((text):1): every file is carved twice");
	expect_silence(
		TWO(GOOD, "header = \"'header'\"; footer = \"'footer'\"; max_size = \"2M\";"));
	expect_silence(TWO(GOOD, "header = \"'header'\"; footer = \"'tail'\"; max_size = \"1M\";"));
	expect_silence(TWO(GOOD, GOOD "header_offset = 1;"));
}

Test(lint, rules_that_never_win)
{
	expect(TWO("header = \"'head'\"; carver = \"%C\";",
		       "header = \"'header'\"; carver = \"%C\";"),
		"b", LINT_WARN,
		"never carves anything: 'a' ((text):1) has the same carver, comes first");
	expect(TWO("header = (\"'x234'\", \"'?234'\", \"i'head'\"); carver = \"%C\";",
		       "header = (\"'HEAD'\", \"'x234'\"); must = ( { at = 5; bytes = \"01\"; } ); "
		       "carver = \"%C\";"),
		"b", LINT_WARN, "never carves anything");
	expect_silence(TWO("header = \"'header'\"; carver = \"%C\";",
		"header = \"'head'\"; carver = \"%C\";"));
	expect_silence(
		TWO("header = \"'head'\"; must = ( { at = 5; bytes = \"01\"; } ); carver = \"%C\";",
			"header = \"'head'\"; carver = \"%C\";"));
	expect_silence(TWO("header = \"'head'\"; align = 512; carver = \"%C\";",
		"header = \"'head'\"; carver = \"%C\";"));
	expect_silence(TWO("header = \"'head'\"; max_size = 9; carver = \"%C\";",
		"header = \"'head'\"; carver = \"%C\";"));
}

Test(lint, rules_after_a_carver)
{
	expect(TWO("header = \"'head'\"; max_size = 100;", "header = \"'head'\"; carver = \"%C\";"),
		"a", LINT_NOTE,
		"carves only where the carver of 'b' ((text):1) finds no complete file");
}

/* The reader's notes are sorted among the rest, by line. */
Test(lint, notes_of_the_reader_are_in_order)
{
	struct rules *rules =
		load_text("b y 10 BM\na y 10K abcd\nc y 10 BX FORWARD_NEXT\n", RULES_SCALPEL);
	struct lint lint = { 0 };

	lint_rules(&lint, rules);
	cr_assert_eq(lint.count, 4);
	cr_assert_eq(lint.messages[0].line, 1);
	cr_assert_eq(lint.messages[1].line, 2);
	cr_assert_not_null(strstr(lint.messages[1].text, "10K"));
	cr_assert_str_eq(lint.messages[1].rule, "a");
	cr_assert_eq(lint.messages[2].line, 3);
	cr_assert_eq(lint.messages[3].line, 3);
	lint_free(&lint);
	lint_free(&lint);
	rules_free(rules);
}
