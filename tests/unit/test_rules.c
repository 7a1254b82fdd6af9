/* Rule sets: burin's format with its errors, includes, selection, writing; forecasts. */
#include "rules_equal.h"
#include "temp.h"

#include <math.h>

#include "carvers/carver.h"
#include "rules/forecast.h"
#include "tier.h"

#define ONE(settings) "types = ( { name = \"a\"; " settings " } );"

/* ---- settings ------------------------------------------------------------------------------ */

Test(rules, reads_every_setting)
{
	struct rules *rules =
		load_text("types = (\n"
			  "  { name = \"wav-1.x\"; extension = \"wav\"; header = ( \"'RIFF' "
			  "????????\", \"i'abc'\" );\n"
			  "    header_offset = 4; footer = [ \"00 00\", \"/a{1,3}/\" ]; pair = "
			  "\"reverse\"; include_footer = false;\n"
			  "    min_size = \"1K\"; max_size = \"2GiB\"; align = 0x200;\n"
			  "    length = { at = 4; type = \"u16be\"; multiply = 3; add = -8; };\n"
			  "    must = ( { at = 8; bytes = \"'WAVE'\"; }, { at = \"1M\"; bytes = "
			  "\"0?\"; } ); },\n"
			  "  { name = \"b\"; header = \"'b'\"; max_size = 1; }\n"
			  ");",
			RULES_AUTO);
	const struct rule *rule = &rules->rules[0];

	cr_assert_eq(rules->format, RULES_BURIN);
	cr_assert_eq(rules->count, 2);
	cr_assert_str_eq(rule->name, "wav-1.x");
	cr_assert_str_eq(rule->extension, "wav");
	cr_assert_eq(rule->header_count, 2);
	cr_assert_str_eq(header(rules, 0, 1)->text, "i'abc'");
	cr_assert_eq(rule->header_offset, 4);
	cr_assert_eq(rule->footer_count, 2);
	cr_assert_not_null(footer(rules, 0, 1)->regex);
	cr_assert_eq(rule->pair, PAIR_REVERSE);
	cr_assert_not(rule->include_footer);
	cr_assert_eq(rule->min_size, 1024);
	cr_assert_eq(rule->max_size, UINT64_C(2) << 30);
	cr_assert_eq(rule->align, 512);
	cr_assert_eq(rule->length.at, 4);
	cr_assert_eq(rule->length.width, 2);
	cr_assert(rule->length.big_endian);
	cr_assert_eq(rule->length.multiply, 3);
	cr_assert_eq(rule->length.add, -8);
	cr_assert_eq(rule->must_count, 2);
	cr_assert_eq(rule->musts[1].at, 1 << 20);
	cr_assert_eq(rule->musts[1].pattern.mask[0], 0xf0);
	cr_assert_eq(rule->line, 2);
	cr_assert_eq(rules->rules[1].line, 7);
	cr_assert_eq(rules->patterns.longest, 8);
	assert_round_trip(rules);
	rules_free(rules);
}

Test(rules, defaults)
{
	struct rules *rules = load_text(
		"types = ( { name = \"a\"; header = \"'a'\"; max_size = 9; },\n"
		"{ name = \"b\"; header = \"'b'\"; footer = \"'x'\"; pair = \"next\"; max_size = "
		"9; extension = \"\"; },\n"
		"{ name = \"c\"; header = (\"'c'\", \"'d'\"); pair = \"next\"; max_size = 9; },\n"
		"{ name = \"d\"; header = \"'e'\"; length = { at = 0; type = \"u8\"; }; } );",
		RULES_AUTO);

	cr_assert_str_eq(rules->rules[0].extension, "a");
	cr_assert(rules->rules[0].include_footer);
	cr_assert_eq(rules->rules[0].footer_count, 0);
	cr_assert_eq(rules->rules[0].pair, PAIR_FORWARD);
	cr_assert_str_eq(rules->rules[1].extension, "");
	cr_assert_not(rules->rules[1].include_footer);
	cr_assert_eq(
		rules->rules[2].footer_count, 2, "without a footer the next header ends the file");
	cr_assert_eq(rules->rules[2].footers[1], rules->rules[2].headers[1]);
	cr_assert_eq(rules->rules[3].max_size, UINT64_C(4) << 30);
	cr_assert_eq(rules->rules[3].length.multiply, 1);
	cr_assert_eq(rules->rules[3].length.add, 0);
	assert_round_trip(rules);
	rules_free(rules);
}

/* libconfig 1.5 would silently cut these to 32 bits. */
Test(rules, integers_are_64_bits_wide)
{
	struct rules *rules =
		load_text(ONE("header = \"'a'\"; min_size = 5000000000; max_size = "
			      "0x7fffffffffffffff; align = 0xffffffff; "
			      "length = { at = 9223372036854775807; type = \"u64le\"; multiply = "
			      "\"18446744073709551615\"; add = -5000000000; };"),
			RULES_AUTO);

	cr_assert_eq(rules->rules[0].min_size, UINT64_C(5000000000));
	cr_assert_eq(rules->rules[0].max_size, INT64_MAX);
	cr_assert_eq(rules->rules[0].align, UINT32_MAX);
	cr_assert_eq(rules->rules[0].length.at, INT64_MAX);
	cr_assert_eq(rules->rules[0].length.multiply, UINT64_MAX);
	cr_assert_eq(rules->rules[0].length.add, -INT64_C(5000000000));
	assert_round_trip(rules);
	rules_free(rules);
	refuse_text(ONE("header = \"'a'\"; max_size = 9223372036854775808;"), RULES_AUTO,
		"9223372036854775808 is too large");
}

Test(rules, carvers_are_resolved)
{
	char text[200];
	struct rules *rules;

	cr_assert_not_null(carvers[0]);
	snprintf(text, sizeof(text), ONE("header = \"'a'\"; carver = \"%s\";"), carvers[0]->name);
	rules = load_text(text, RULES_AUTO);
	cr_assert_eq(rules->rules[0].carver, carvers[0]);
	cr_assert_eq(rules->rules[0].max_size, UINT64_C(4) << 30);
	assert_round_trip(rules);
	rules_free(rules);
	refuse_text(ONE("header = \"'a'\"; carver = \"nonsense\";"), RULES_AUTO,
		"carver: there is no carver 'nonsense'");
	refuse_text(ONE("header = \"'a'\"; carver = \"nonsense\";"), RULES_AUTO, carvers[0]->name);
}

/* ---- errors -------------------------------------------------------------------------------- */

Test(rules, errors_name_line_setting_and_remedy)
{
	refuse_text("types = (\n {\nname = \"a\";\nheader = \"89 zz\";\nmax_size = 1; });",
		RULES_AUTO,
		"(text):4: header: expected two hex digits, 'text', i'text' or /regex/ at column 4 "
		"of the pattern, found 'zz'");
	refuse_text("types = ( { name = \"a\";\n heade = \"00\"; } );", RULES_AUTO,
		"(text):2: heade: there is no setting 'heade'; did you mean 'header'? Known are "
		"name, extension,");
	refuse_text("typos = ( );", RULES_AUTO,
		"(text):1: typos: there is no setting 'typos'; did you mean 'types'?");
	refuse_text(ONE("header = \"00\"; max_size = 1; length = { att = 1; };"), RULES_AUTO,
		"did you mean 'at'?");
	refuse_text(ONE("header = \"00\"; max_size = \"50X\";"), RULES_AUTO,
		"max_size: expected a size such as 4096 or \"50M\", found '50X'");
	refuse_text(ONE("header = \"00\"; max_size = \"99999999T\";"), RULES_AUTO,
		"does not fit in 64 bits");
	refuse_text(ONE("header = \"00\"; max_size = -1;"), RULES_AUTO, "can't be negative");
	refuse_text(
		ONE("header = \"00\"; max_size = 1.5;"), RULES_AUTO, "max_size: expected a size");
	refuse_text(
		ONE("header = \"00\"; max_size = 1e3;"), RULES_AUTO, "max_size: expected a size");
	refuse_text(
		ONE("header = \"00\"; max_size = 0;"), RULES_AUTO, "would leave nothing to carve");
	refuse_text(ONE("header = \"00\";"), RULES_AUTO, "type 'a' has no max_size");
	refuse_text(ONE("max_size = 1;"), RULES_AUTO, "type 'a' has no header");
	refuse_text("types = ( { header = \"00\"; } );", RULES_AUTO, "a type without a name");
	refuse_text(ONE("header = 5; max_size = 1;"), RULES_AUTO,
		"header: expected a string in double quotes");
	refuse_text(ONE("header = (); max_size = 1;"), RULES_AUTO, "header: the list is empty");
	refuse_text(ONE("header = (\"00\", 1); max_size = 1;"), RULES_AUTO,
		"header: expected a string");
	refuse_text(ONE("header = \"00\"; max_size = 1; pair = \"revers\"; footer = \"00\";"),
		RULES_AUTO, "did you mean 'reverse'?");
	refuse_text(ONE("header = \"00\"; max_size = 1; pair = \"reverse\";"), RULES_AUTO,
		"has no footer");
	refuse_text(ONE("header = \"00\"; max_size = 1; include_footer = true;"), RULES_AUTO,
		"has no footer");
	refuse_text(ONE("header = \"00\"; footer = \"00\"; max_size = 1; include_footer = 1;"),
		RULES_AUTO, "expected true or false");
	refuse_text(ONE("header = \"00\"; max_size = 1; pair = \"next\"; header_offset = 1;"),
		RULES_AUTO, "needs a footer");
	refuse_text(ONE("header = \"00\"; max_size = 1; must = ( { at = 1; bytes = \"/a/\"; } );"),
		RULES_AUTO, "must takes only bytes");
	refuse_text(ONE("header = \"00\"; max_size = 1; must = ( { at = 1; } );"), RULES_AUTO,
		"must: both at and bytes are required");
	refuse_text(ONE("header = \"00\"; max_size = 1; must = ( 5 );"), RULES_AUTO,
		"must: expected a group");
	refuse_text(ONE("header = \"00\"; length = { at = 1; };"), RULES_AUTO,
		"length: both at and type are required");
	refuse_text(ONE("header = \"00\"; length = { at = 1; type = \"u32\"; };"), RULES_AUTO,
		"there is no integer type 'u32'");
	refuse_text(ONE("header = \"00\"; length = { at = 1; type = \"u8\"; multiply = 0; };"),
		RULES_AUTO, "0 bytes long");
	refuse_text("types = 5;", RULES_AUTO, "types: expected a list of groups");
	refuse_text("types = ( 5 );", RULES_AUTO, "types: expected a group");
	refuse_text("types = ( );", RULES_AUTO, "there are no rules in this file");
}

Test(rules, names_are_fit_for_folders)
{
	refuse_text("types = ( { name = \"../x\"; } );", RULES_AUTO, "can't name a folder");
	refuse_text("types = ( { name = \"a/b\"; } );", RULES_AUTO, "can't name a folder");
	refuse_text("types = ( { name = \".x\"; } );", RULES_AUTO, "can't name a folder");
	refuse_text("types = ( { name = \"\"; } );", RULES_AUTO, "can't name a folder");
	refuse_text(ONE("extension = \"../x\";"), RULES_AUTO, "can't be an extension");
}

Test(rules, syntax_errors_name_the_line)
{
	refuse_text("types = (\n{ name = \"a\";\n header = = 1; } );", RULES_AUTO,
		"(text):3: syntax error");
	refuse_text("types = (\n{ name = \"a; }\n);\n", RULES_AUTO,
		"(text):2: the string that starts here is never closed");
	refuse_text("\n/* types = (", RULES_BURIN,
		"(text):2: the comment that starts here is never closed");
	refuse_text("types = ((((((((((((((((((((((((((((((((((((((((", RULES_AUTO,
		"more than 32 nested brackets");
	refuse_text("@include \"x\"\n", RULES_AUTO, "only a file can include");
	refuse_text("@inclue \"x\"\n", RULES_AUTO, "expected @include");
}

Test(rules, binary_files_are_refused)
{
	struct rules *rules;
	struct error error = { 0 };

	cr_assert_eq(rules_load_text(&rules, NULL, "a\n\0b", 4, RULES_AUTO, NULL, &error), -EINVAL);
	cr_assert_not_null(strstr(error.text, "(text):2: a zero byte"), "%s", error.text);
}

Test(rules, commas_may_end_lists_and_comments_may_be_anywhere)
{
	struct rules *rules = load_text("\xef\xbb\xbf# one, two )\n// types\n/* types = ( */\n"
					"types = ( { name = \"a\"; header = (\"'a)'\", \"'#b'\", "
					"/* c */ ); max_size = 5; /* , */ }, // last\n );",
		RULES_AUTO);

	cr_assert_eq(rules->count, 1);
	cr_assert_str_eq(header(rules, 0, 1)->text, "'#b'");
	rules_free(rules);
}

/* ---- files --------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
	temp_write(name, text, strlen(text));
}

static int load_file(struct rules **rules, const char *name, const char *only, struct error *error)
{
	return rules_load(rules, temp_at(name), RULES_AUTO, only, error);
}

TestSuite(rules_files, .init = temp_make, .fini = temp_remove);

Test(rules_files, includes_are_relative_to_the_including_file)
{
	struct rules *rules = NULL;
	struct error error = { 0 };

	cr_assert_eq(mkdir(temp_at("sub"), 0755), 0);
	write_file("main.conf", "# head\n@include \"sub/one.conf\"\ntypes_mine = ( { name = \"c\"; "
				"header = \"'c'\"; max_size = 1; } );\n");
	write_file("sub/one.conf", "types = (\n  @include \"two.conf\"\n  { name = \"b\"; header = "
				   "\"'b'\"; max_size = 1; }\n);\n");
	write_file("sub/two.conf", "\n{ name = \"a\"; header = \"'a'\"; max_size = 1; },");
	cr_assert_eq(load_file(&rules, "main.conf", NULL, &error), 0, "%s", error.text);
	cr_assert_eq(rules->count, 3);
	cr_assert_eq(rules->file_count, 3);
	cr_assert_str_eq(rules->files[0], rules->path);
	cr_assert_str_eq(rules->files[2], temp_at("sub/two.conf"));
	cr_assert_str_eq(rules->rules[0].file, temp_at("sub/two.conf"));
	cr_assert_eq(rules->rules[0].line, 2);
	cr_assert_eq(rules->rules[1].line, 3);
	cr_assert_str_eq(rules->rules[2].file, temp_at("main.conf"));
	cr_assert_eq(rules->rules[2].line, 3);
	rules_free(rules);
}

Test(rules_files, errors_in_included_files_name_them)
{
	struct rules *rules = NULL;
	struct error error = { 0 };
	char expected[5000];

	write_file("main.conf", "@include \"one.conf\"\n");
	write_file("one.conf", "\ntypes = ( { nam = \"\"; } );\n");
	cr_assert_eq(load_file(&rules, "main.conf", NULL, &error), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:2: nam: there is no setting", temp_at("one.conf"));
	cr_assert_not_null(strstr(error.text, expected), "%s", error.text);
	write_file("one.conf", "# only this\n@include \"main.conf\"\n");
	cr_assert_eq(load_file(&rules, "main.conf", NULL, &error), -EINVAL);
	cr_assert_not_null(strstr(error.text, "one.conf:2: @include: "), "%s", error.text);
	cr_assert_not_null(strstr(error.text, "includes itself"), "%s", error.text);
	write_file("one.conf", "@include \"gone.conf\"\n");
	cr_assert_eq(load_file(&rules, "main.conf", NULL, &error), -EINVAL);
	cr_assert_not_null(strstr(error.text, "gone.conf: No such file"), "%s", error.text);
	cr_assert_eq(load_file(&rules, "none.conf", NULL, &error), -ENOENT);
	cr_assert_not_null(strstr(error.text, "can't read the rule file"), "%s", error.text);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_lt(rules_load(&rules, temp_path, RULES_AUTO, NULL, &error), 0);
	cr_assert_not_null(strstr(error.text, "directory"), "%s", error.text);
}

Test(rules_files, digest_is_that_of_all_text_read)
{
	struct rules *rules = NULL;

	/* sha256sum of the two files' contents, concatenated */
	write_file("a.conf", "@include \"b.conf\"\n");
	write_file("b.conf", ONE("header = \"'a'\"; max_size = 1;"));
	cr_assert_eq(load_file(&rules, "a.conf", NULL, NULL), 0);
	cr_assert_str_eq(
		rules->sha256, "b49e85470e3fd1bf3c15b9b2c936dd68b28a6ef4cac6471b1223e7773d95cd77");
	rules_free(rules);
}

/* ---- selection ----------------------------------------------------------------------------- */

static const char three[] =
	"types = ( { name = \"a\"; header = \"'x'\"; footer = \"'shared'\"; max_size = 1; },\n"
	"{ name = \"b\"; header = \"'y'\"; max_size = 1; },\n"
	"{ name = \"a\"; header = \"'z'\"; max_size = 1; },\n"
	"{ name = \"c\"; header = \"'w'\"; footer = \"'shared'\"; max_size = 1; } );";

static void expect_selection(const char *text, const char *only, const char *names)
{
	struct rules *rules = NULL;
	struct error error = { 0 };
	char found[100] = "";

	cr_assert_eq(rules_load_text(&rules, NULL, text, strlen(text), RULES_AUTO, only, &error), 0,
		"%s", error.text);
	for (uint32_t i = 0; i < rules->count; i++)
		strcat(found, rules->rules[i].name);
	cr_assert_str_eq(found, names, "only %s", only);
	assert_round_trip(rules); /* patterns are numbered as if the rest had never existed */
	rules_free(rules);
}

Test(rules, types_are_selected_by_name)
{
	expect_selection(three, NULL, "abac");
	expect_selection(three, "a", "aa");
	expect_selection(three, "c, b", "bc");
	expect_selection(three, "-a", "bc");
	expect_selection(three, "a,c,-c", "aa");
}

Test(rules, unknown_selections_list_the_known)
{
	struct rules *rules;
	struct error error = { 0 };

	cr_assert_eq(rules_load_text(&rules, NULL, three, strlen(three), RULES_AUTO, "d", &error),
		-EINVAL);
	cr_assert_not_null(strstr(error.text, "there is no type 'd' in (text); known are a, b, c"),
		"%s", error.text);
	cr_assert_eq(
		rules_load_text(&rules, NULL, three, strlen(three), RULES_AUTO, "-a,-b,-c", &error),
		-EINVAL);
	cr_assert_not_null(strstr(error.text, "this leaves no rule of (text)"), "%s", error.text);
	cr_assert_eq(rules_load_text(&rules, NULL, three, strlen(three), RULES_AUTO, " ,", &error),
		-EINVAL);
	cr_assert_not_null(strstr(error.text, "empty"), "%s", error.text);
}

Test(rules, a_file_can_select_from_what_it_includes)
{
	char text[1000];

	snprintf(text, sizeof(text), "%s\nonly = ( \"a\", \"c\" );", three);
	expect_selection(text, NULL, "aac");
	expect_selection(text, "c", "c");
	snprintf(text, sizeof(text), "%s\nonly = \"-b\";", three);
	expect_selection(text, NULL, "aac");
	snprintf(text, sizeof(text), "%s\nonly = ( \"q\" );", three);
	refuse_text(text, RULES_AUTO, "(text): only: there is no type 'q'");
}

Test(rules, only_what_is_used_is_searched_for)
{
	struct rules *rules;

	cr_assert_eq(rules_load_text(&rules, NULL, three, strlen(three), RULES_AUTO, "c", NULL), 0);
	cr_assert_eq(rules->patterns.count, 2);
	cr_assert_str_eq(header(rules, 0, 0)->text, "'w'");
	cr_assert_str_eq(footer(rules, 0, 0)->text, "'shared'");
	cr_assert_eq(rules->patterns.longest, 6);
	rules_free(rules);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void random_pattern(char *out, size_t len)
{
	static const char *const parts[] = { "00", "F?", "?1", "'x\\\\y'", "i'Ab\\\"c'", "''''",
		"'\xc3\xa4'", "??", "'a  b'" };
	size_t used = (size_t)snprintf(out, len, "%02X", (unsigned)rand() % 256);

	for (int i = rand() % 4; i > 0; i--)
		used += (size_t)snprintf(out + used, len - used, " %s", parts[rand() % 9]);
	if (rand() % 8 == 0)
		snprintf(out, len, "/a[^\\\\x%02x]{1,%d}(b|\\\\/)/%s", (unsigned)rand() % 256,
			1 + rand() % 9, rand() % 2 ? "i" : "");
}

static void random_rule(FILE *out, int number)
{
	char pattern[100];
	bool next = rand() % 3 == 0;

	fprintf(out, "{ name = \"t%d\"; max_size = \"%d%c\";", number % 7, 1 + rand() % 3000,
		"BKMG"[rand() % 4] == 'B' ? 'K' : 'M');
	fputs("header = ( ", out);
	for (int i = rand() % 3; i >= 0; i--) {
		random_pattern(pattern, sizeof(pattern));
		fprintf(out, "\"%s\"%s", pattern, i ? ", " : " );");
	}
	if (rand() % 2) {
		random_pattern(pattern, sizeof(pattern));
		fprintf(out, "footer = \"%s\"; pair = \"%s\";", pattern,
			next         ? "next"
			: rand() % 2 ? "reverse"
				     : "forward");
		if (rand() % 2)
			fprintf(out, "include_footer = %s;", rand() % 2 ? "true" : "false");
	}
	if (rand() % 3 == 0)
		fprintf(out, "header_offset = %d; min_size = %d; align = %d;", rand() % 9, rand(),
			rand() % 5);
	if (rand() % 3 == 0)
		fprintf(out, "length = { at = %d; type = \"%s\"; add = %d; multiply = %d; };",
			rand(), rand() % 2 ? "u64be" : "u8", rand() - RAND_MAX / 2, 1 + rand() % 3);
	if (rand() % 3 == 0)
		fprintf(out, "must = ( { at = %d; bytes = \"'x' 4?\"; } );", rand());
	fputs(rand() % 4 ? "" : "extension = \"\";", out);
	fputs(" },\n", out);
}

Test(rules, random_sets_survive_writing)
{
	unsigned seed = (unsigned)test_seed();

	printf("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 100; round++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);
		struct rules *rules;

		fputs("types = (\n", out);
		for (int i = 0; i <= round % 20; i++)
			random_rule(out, i);
		fputs(");\n", out);
		fclose(out);
		rules = load_text(text, RULES_AUTO);
		assert_round_trip(rules);
		rules_free(rules);
		free(text);
	}
}

Test(rules, writing_reports_a_full_disk)
{
	struct rules *rules = load_text(three, RULES_AUTO);
	FILE *full = fopen("/dev/full", "w");

	cr_assert_not_null(full);
	cr_assert_eq(rules_write(rules, full), -ENOSPC);
	fclose(full);
	rules_free(rules);
}

/* ---- forecasts ----------------------------------------------------------------------------- */

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

static struct forecast forecast_one(
	const char *settings, const struct forecast_sample *sample, uint64_t image_size)
{
	char text[400];
	struct rules *rules;
	struct forecast forecast;

	snprintf(text, sizeof(text), ONE("%s"), settings);
	rules = load_text(text, RULES_AUTO);
	forecast_rule(rules, 0, sample, image_size, &forecast);
	rules_free(rules);
	return forecast;
}

static const char kinds_text[] =
	"types = ("
	"{ name = \"zip\"; header = \"'PK'\"; carver = \"zip\"; kinds = \"docx jar\"; },"
	"{ name = \"jpeg\"; extension = \"jpg\"; header = \"FF D8 FF\"; carver = \"jpeg\"; },"
	"{ name = \"jar\"; header = \"'JAR'\"; max_size = 9; } );";

/* The kinds that remain of the first rule: docx, jar, its own. */
static void expect_choice(const char *only, const char *names, const char *taken)
{
	struct error error;
	struct rules *rules;
	char left[64] = "", first[4] = "---";

	cr_assert_eq(rules_load_text(&rules, NULL, kinds_text, strlen(kinds_text), RULES_AUTO, only,
			     &error),
		0, "%s: %s", only, error.text);
	for (uint32_t i = 0; i < rules->count; i++) {
		strcat(strcat(left, rules->rules[i].name), " ");
		if (strcmp(rules->rules[i].name, "zip") != 0)
			continue;
		first[0] = rule_takes(&rules->rules[i], "docx") ? 'd' : '-';
		first[1] = rule_takes(&rules->rules[i], "jar") ? 'j' : '-';
		first[2] = rule_takes(&rules->rules[i], NULL) ? 'z' : '-';
	}
	cr_expect_str_eq(left, names, "%s: %s", only, left);
	cr_expect_str_eq(first, taken, "%s: %s", only, first);
	rules_free(rules);
}

Test(rules, types_extensions_and_kinds_are_chosen_in_any_case)
{
	expect_choice("ZIP", "zip ", "djz");
	expect_choice("docx", "zip ", "d--");
	expect_choice("DocX,JPG", "zip jpeg ", "d--");
	expect_choice("docx,zip", "zip ", "djz");
	expect_choice("-docx", "zip jpeg jar ", "-jz");
	expect_choice("zip,-docx", "zip ", "-jz");
	/* A type's name comes before a kind's. */
	expect_choice("jar", "jar ", "---");
	expect_choice("-jpg", "zip jar ", "djz");
	expect_choice("docx,-docx,jpeg", "jpeg ", "---");
}

Test(forecast, random_hits_follow_from_the_fixed_bits)
{
	struct forecast f =
		forecast_one("header = (\"'ab'\", \"00 0? ??\"); max_size = 1000;", NULL, 0);

	cr_assert(near(f.hits, 16384 + 262144), "%g", f.hits);
	cr_assert(near(f.length, 1000));
	cr_assert(near(f.bytes, f.hits * 1000));
	f = forecast_one("header = \"'ab'\"; max_size = 1000; align = 512; must = ( { at = 9; "
			 "bytes = \"0?\"; } );",
		NULL, 100);
	cr_assert(near(f.hits, 16384.0 / 16 / 512), "%g", f.hits);
	cr_assert(near(f.length, 100), "no longer than the image");
	f = forecast_one("header = \"i'a'\"; max_size = 1;", NULL, 0);
	cr_assert(near(f.hits, 1073741824.0 / 128), "%g", f.hits);
	f = forecast_one("header = \"/a[bc]/\"; max_size = 1;", NULL, 0);
	cr_assert(near(f.hits, 32768), "%g", f.hits);
}

Test(forecast, footers_end_files_as_the_pair_mode_says)
{
	/* 'ab' occurs every 65,536 bytes: within 1 MiB almost surely */
	struct forecast f =
		forecast_one("header = \"'x'\"; footer = \"'ab'\"; max_size = \"1M\";", NULL, 0);

	cr_assert(fabs(f.length - 65536) < 10, "%g", f.length);
	f = forecast_one(
		"header = \"'x'\"; footer = \"'ab'\"; pair = \"reverse\"; max_size = \"1M\";", NULL,
		0);
	cr_assert(fabs(f.length - (1048576 - 65536)) < 10, "%g", f.length);
	f = forecast_one(
		"header = \"'x'\"; footer = \"'ab'\"; pair = \"next\"; max_size = \"64K\";", NULL,
		0);
	cr_assert(near(f.length, 65536 * (1 - exp(-1))), "%g", f.length);
	/* a footer that never occurs: forward carves nothing, next everything */
	f = forecast_one(
		"header = \"'x'\"; footer = \"'abcdefghijklmnopqrst'\"; max_size = \"1M\";", NULL,
		0);
	cr_assert_lt(f.length, 1e-9);
	f = forecast_one("header = \"'x'\"; footer = \"'abcdefghijklmnopqrst'\"; pair = \"next\"; "
			 "max_size = \"1M\";",
		NULL, 0);
	cr_assert(near(f.length, 1048576), "%g", f.length);
}

Test(forecast, samples_replace_chance)
{
	uint64_t counts[2] = { 10, 1024 };
	struct forecast_sample sample = { counts, 1 << 20, NULL };
	struct forecast f = forecast_one("header = \"'x'\"; max_size = 100;", &sample, 0);

	cr_assert(near(f.hits, 10240), "%g", f.hits);
	cr_assert(near(f.bytes, 1024000), "%g", f.bytes);
	f = forecast_one("header = \"'x'\"; footer = \"'y'\"; max_size = \"1M\";", &sample, 0);
	cr_assert(near(f.length, 1024), "%g", f.length);
}

Test(forecast, length_fields_are_taken_as_random)
{
	struct forecast f =
		forecast_one("header = \"'x'\"; length = { at = 0; type = \"u16le\"; };", NULL, 0);

	cr_assert(near(f.length, 32768), "%g", f.length);
	f = forecast_one(
		"header = \"'x'\"; length = { at = 0; type = \"u16le\"; }; max_size = \"32K\";",
		NULL, 0);
	cr_assert(near(f.length, 8192), "half of them are too long: %g", f.length);
}

Test(forecast, a_carver_decides)
{
	char settings[100];
	struct forecast f;

	snprintf(
		settings, sizeof(settings), "header = \"'x'\"; carver = \"%s\";", carvers[0]->name);
	f = forecast_one(settings, NULL, 0);
	cr_assert(near(f.hits, 4194304));
	cr_assert_eq(f.bytes, 0);
}
