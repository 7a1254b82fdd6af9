/* scalpel.conf and foremost.conf: the grammar's traps, what the reader notes, and that converted
 * files keep their meaning. */
#include "rules_equal.h"

#include <unistd.h>
#include "tier.h"

static struct rules *scalpel(const char *text)
{
	return load_text(text, RULES_SCALPEL);
}

/* There must be a note about that line whose text contains part. */
static void expect_note(
	const struct rules *rules, unsigned line, enum lint_level level, const char *part)
{
	for (size_t i = 0; i < rules->notes->count; i++) {
		const struct lint_message *message = &rules->notes->messages[i];

		if (message->line == line && message->level == level && strstr(message->text, part))
			return;
	}
	cr_assert_fail("no note on line %u with '%s'", line, part);
}

static void expect_pattern(
	const struct pattern *pattern, const char *bytes, const char *mask, size_t len)
{
	cr_assert_eq(pattern->len, len, "%s", pattern->text);
	cr_assert_eq(memcmp(pattern->bytes, bytes, len), 0, "%s", pattern->text);
	cr_assert_eq(memcmp(pattern->mask, mask, len), 0, "%s", pattern->text);
}

Test(scalpel_conf, is_distinguished_from_libconfig)
{
	struct rules *rules =
		load_text("# types = ( comment )\n\n\tjpg y 100 \\xff\\xd8\r\n", RULES_AUTO);

	cr_assert_eq(rules->format, RULES_SCALPEL);
	cr_assert_eq(rules->count, 1);
	expect_pattern(header(rules, 0, 0), "\xff\xd8", "\xff\xff", 2);
	cr_assert_str_eq(rules->rules[0].name, "jpg");
	cr_assert_eq(rules->rules[0].line, 3);
	rules_free(rules);
	rules = load_text("wildcard *\na y 1 x\n", RULES_AUTO);
	cr_assert_eq(rules->format, RULES_SCALPEL);
	rules_free(rules);
	refuse_text("# all\n#jpg y 100 \\xff\n", RULES_AUTO, "remove the # before");
	refuse_text("types\n: (", RULES_AUTO, "syntax error");
	refuse_text("/* jpg y 1 a */ types", RULES_SCALPEL, "expected digits, found 'y'");
}

Test(scalpel_conf, columns)
{
	struct rules *rules = scalpel("gif Yes 5000000 GIF8 \\x00\\x3b\n"
				      "jpg\tn\t0100 a b reverse_or_so junk more\n"
				      "doc y 10 a b NEXT # comment\n"
				      "pdf y 10 a b forward\n");

	cr_assert_eq(rules->count, 4);
	cr_assert_eq(rules->rules[0].max_size, 5000000);
	cr_assert_eq(rules->rules[0].min_size, 0);
	cr_assert_eq(rules->rules[0].pair, PAIR_FORWARD);
	cr_assert(rules->rules[0].include_footer);
	cr_assert_eq(rules->rules[1].pair, PAIR_REVERSE);
	cr_assert_eq(rules->rules[1].max_size, 100);
	expect_pattern(header(rules, 1, 0), "A", "\xdf", 1);
	expect_note(rules, 2, LINT_WARN, "'junk' and what follows are ignored");
	cr_assert_eq(rules->rules[2].pair, PAIR_NEXT);
	cr_assert_not(rules->rules[2].include_footer);
	cr_assert_eq(rules->notes->count, 1);
	assert_round_trip(rules);
	rules_free(rules);
}

Test(scalpel_conf, escapes)
{
	struct rules *rules = scalpel("a y 1 \\\\\\a\\s\\n\\r\\t\\v\\x4F\\123\\377\n"
				      "b y 1 \\x4F\\123\\I\\sCCI\n"
				      "c y 1 a\\x4g\\x5\n"
				      "d y 1 \\089\\07z\\400\\12\n"
				      "e y 1 \\xFF\\ end\\\n");

	expect_pattern(header(rules, 0, 0), "\\\a \n\r\t\vOS\xff",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10);
	expect_pattern(header(rules, 1, 0), "OS\\I CCI", "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	expect_note(rules, 2, LINT_WARN, "header: \\I is not an escape");
	expect_pattern(header(rules, 2, 0), "ax4gx5", "\xff\xff\xff\xff\xff\xff", 6);
	expect_note(rules, 3, LINT_WARN, "header: \\x is not followed by enough digits");
	expect_pattern(header(rules, 3, 0), "08907z\\40012",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	expect_note(rules, 4, LINT_WARN, "\\0 is not followed");
	expect_note(rules, 4, LINT_WARN, "\\4 is not an escape");
	expect_pattern(header(rules, 4, 0), "\xff\\", "\xff\xff", 2);
	expect_pattern(footer(rules, 4, 0), "end\\", "\xff\xff\xff\xff", 4);
	expect_note(rules, 5, LINT_WARN, "footer: a backslash at the end");
	assert_round_trip(rules);
	rules_free(rules);
}

Test(scalpel_conf, wildcards)
{
	struct rules *rules = scalpel("a y 1 ab?\\x3f\\077c\n");

	expect_pattern(header(rules, 0, 0), "ab\0\0\0c", "\xff\xff\0\0\0\xff", 6);
	rules_free(rules);
	rules = scalpel("WildCard \\x2ax\na n 1 ?*b ***c\n");
	expect_pattern(header(rules, 0, 0), "?\0B", "\xff\0\xdf", 3);
	expect_pattern(footer(rules, 0, 0), "\0\0\0C", "\0\0\0\xdf", 4);
	expect_note(rules, 1, LINT_WARN, "only the first of the wildcard's 2 characters");
	rules_free(rules);
	refuse_text(
		"a y 1 ???\n", RULES_SCALPEL, "(text):1: header: all bits of the pattern are wild");
}

/* Scalpel has one wildcard, which it reads while matching. */
Test(scalpel_conf, the_last_wildcard_holds_for_all_rules)
{
	struct rules *rules = scalpel("a y 1 x?*\nwildcard *\n");

	expect_pattern(header(rules, 0, 0), "x?\0", "\xff\xff\0", 3);
	expect_note(rules, 2, LINT_WARN, "below the first rule");
	rules_free(rules);
	rules = scalpel("wildcard !\nwildcard *\na y 1 x!*\nwildcard\n");
	expect_pattern(header(rules, 0, 0), "x!\0", "\xff\xff\0", 3);
	expect_note(rules, 2, LINT_WARN, "a second wildcard");
	expect_note(rules, 4, LINT_WARN, "has no effect");
	rules_free(rules);
}

Test(scalpel_conf, traps_are_noted)
{
	struct rules *rules = scalpel("a y 10K abcd\n"
				      "b y 10 abcd # a comment?\n"
				      "c y 10 abcd NEXT\n"
				      "d y 10 abcd efgh FORWARD_NEXT\n"
				      "e y 10 abcd efgh BACKWARD\n"
				      "longsuffix y 10 abcd\n"
				      "f y 5:10 abcd\n"
				      "NONEsuch y 10 abcd\n"
				      "g y 99999999999999999999999 abcd\n");

	cr_assert_eq(rules->rules[0].max_size, 10);
	expect_note(
		rules, 1, LINT_WARN, "size 10K: only the digits count, so the maximum is 10 bytes");
	expect_pattern(footer(rules, 1, 0), "#", "\xff", 1);
	expect_note(
		rules, 2, LINT_WARN, "'#' is read as the footer: a comment must start its line");
	expect_pattern(footer(rules, 2, 0), "NEXT", "\xff\xff\xff\xff", 4);
	cr_assert_eq(rules->rules[2].pair, PAIR_FORWARD);
	expect_note(rules, 3, LINT_WARN,
		"'NEXT' is read as the footer: a rule without a footer can't have a type");
	cr_assert_eq(rules->rules[3].pair, PAIR_FORWARD);
	expect_note(rules, 4, LINT_WARN, "FORWARD_NEXT is FORWARD");
	cr_assert_eq(rules->rules[4].pair, PAIR_FORWARD);
	expect_note(rules, 5, LINT_WARN, "'BACKWARD' is not a type");
	cr_assert_str_eq(rules->rules[5].extension, "longsuffix");
	expect_note(rules, 6, LINT_WARN, "Scalpel 1.60 keeps only 7 bytes of an extension");
	cr_assert_eq(rules->rules[6].min_size, 5);
	cr_assert_eq(rules->rules[6].max_size, 10);
	expect_note(rules, 7, LINT_NOTE, "minimum:maximum");
	cr_assert_str_eq(rules->rules[7].name, "none");
	cr_assert_str_eq(rules->rules[7].extension, "");
	expect_note(rules, 8, LINT_WARN, "begins with NONE");
	cr_assert_eq(rules->rules[8].max_size, UINT64_MAX);
	assert_round_trip(rules);
	rules_free(rules);
}

Test(scalpel_conf, hostile_extensions_become_harmless)
{
	struct rules *rules = scalpel("../../etc/x y 1 a\n..hid y 1 a\nc++ y 1 a\na\xff y 1 b\n");

	cr_assert_str_eq(rules->rules[0].name, "_._.._etc_x");
	cr_assert_str_eq(rules->rules[0].extension, "_._.._etc_x");
	cr_assert_str_eq(rules->rules[1].name, "_.hid");
	cr_assert_str_eq(rules->rules[2].name, "c__");
	cr_assert_str_eq(rules->rules[3].name, "a_");
	expect_note(
		rules, 1, LINT_WARN, "is not a valid folder name and was changed to '_._.._etc_x'");
	for (uint32_t i = 0; i < rules->count; i++)
		cr_assert(rule_name_valid(rules->rules[i].name));
	assert_round_trip(rules);
	rules_free(rules);
}

Test(scalpel_conf, regexes_of_scalpel_2)
{
	struct rules *rules = scalpel("x n 100 /GG[^G]a/b/ /[0-9]\\/H{5}/\ny y 1 / //x\n");
	const struct pattern *pattern = header(rules, 0, 0);

	cr_assert_not_null(pattern->regex);
	cr_assert_str_eq(pattern->text, "/GG[^G]a\\/b/i");
	cr_assert_eq(pattern_match_len(pattern, (const uint8_t *)"gGxA/b", 6), 6);
	cr_assert_eq(footer(rules, 0, 0)->len, 7);
	expect_note(rules, 1, LINT_NOTE, "header: a regex as in Scalpel 2");
	expect_pattern(header(rules, 1, 0), "/", "\xff", 1);
	expect_pattern(footer(rules, 1, 0), "//x", "\xff\xff\xff", 3);
	assert_round_trip(rules);
	rules_free(rules);
	refuse_text("\nx y 1 /ab*/\n", RULES_SCALPEL,
		"(text):2: header: at column 4 of the pattern: * repeats without bound");
	refuse_text("x y 1 //\n", RULES_SCALPEL, "header: at column 2");
}

Test(scalpel_conf, errors_name_the_line)
{
	refuse_text("# c\njpg y 100\n", RULES_SCALPEL,
		"(text):2: expected at least 4 columns (extension, case, size, header), found 3");
	refuse_text("jpg y abc x\n", RULES_SCALPEL, "size: expected digits, found 'abc'");
	refuse_text("jpg y -5 x\n", RULES_SCALPEL, "size: expected digits, found '-5'");
	refuse_text("jpg y 5: x\n", RULES_SCALPEL, "size: expected digits");
	refuse_text("jpg y 0 x\n", RULES_SCALPEL, "size: 0 would leave nothing to carve");
}

Test(scalpel_conf, selection_drops_notes_of_dropped_rules)
{
	static const char text[] = "a y 10K abcd\nb y 10K abcd\n";
	struct rules *rules;

	cr_assert_eq(
		rules_load_text(&rules, NULL, text, strlen(text), RULES_SCALPEL, "b", NULL), 0);
	cr_assert_eq(rules->notes->count, 1);
	cr_assert_eq(rules->notes->messages[0].line, 2);
	rules_free(rules);
}

Test(foremost_conf, is_warned_of_where_it_is_read_as_scalpels)
{
	static const char own[] = "# Foremost configuration file\na y 10 abcd\n";
	struct rules *rules = load_text(own, RULES_AUTO);

	cr_assert_eq(rules->format, RULES_SCALPEL);
	expect_note(rules, 0, LINT_WARN, "the file calls itself Foremost's");
	rules_free(rules);
	rules = load_text(own, RULES_SCALPEL);
	cr_assert_eq(rules->notes->count, 0, "whose it is was said");
	rules_free(rules);
	rules = load_text("a y 10 abcd\n# Foremost configuration file\n", RULES_AUTO);
	cr_assert_eq(rules->notes->count, 0, "not at the top");
	rules_free(rules);
}

Test(foremost_conf, reads_the_manuals_meaning)
{
	struct rules *rules = load_text(
		"a y 5:9 ab cd\nb y 3000000000 ab cd REVERSE\nc y 9 ab cd NEXT\nd y 9 /ab/\n",
		RULES_FOREMOST);

	cr_assert_eq(rules->format, RULES_FOREMOST);
	cr_assert_eq(rules->rules[0].max_size, 5, "Foremost knows no least:most");
	cr_assert_eq(rules->rules[0].min_size, 0);
	expect_note(rules, 1, LINT_WARN, "size 5:9: only the digits count");
	cr_assert_eq(rules->rules[1].pair, PAIR_REVERSE);
	expect_note(rules, 2, LINT_WARN, "Foremost 1.5.7 finds nothing with REVERSE");
	expect_note(rules, 2, LINT_WARN, "32 bits");
	cr_assert_eq(rules->rules[2].pair, PAIR_NEXT);
	expect_note(rules, 3, LINT_WARN, "looks for the header again");
	expect_note(rules, 0, LINT_NOTE, "rules that end at the first footer: 1");
	expect_pattern(header(rules, 3, 0), "/ab/", "\xff\xff\xff\xff", 4);
	assert_round_trip(rules);
	rules_free(rules);
}

Test(foremost_conf, ascii_is_refused)
{
	refuse_text("a y 5 ab\ncpp y 20000 #include #include ASCII\n", RULES_FOREMOST,
		"(text):2: type ASCII");
}

/* ---- whole files --------------------------------------------------------------------------- */

/* Takes the # from lines that are rules: a word, y or n, a number. */
static char *switch_on(FILE *in)
{
	char line[4096], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	while (fgets(line, sizeof(line), in)) {
		char *at = line + strspn(line, "# \t"), first[100], second[10], third[20];

		if (sscanf(at, "%99s %9s %19[0-9]", first, second, third) == 3 &&
			strlen(second) == 1 && !strstr(at, "ASCII"))
			fputs(at, out);
	}
	fclose(out);
	return text;
}

static void try_installed(const char *path, enum rules_format format, uint32_t least)
{
	FILE *in = fopen(path, "r");
	struct rules *rules;
	char *text;

	if (!in)
		cr_skip("%s is not installed", path);
	text = switch_on(in);
	fclose(in);
	rules = load_text(text, format);
	cr_assert_geq(rules->count, least);
	assert_round_trip(rules);
	rules_free(rules);
	free(text);
}

Test(scalpel_conf, the_installed_file_survives_conversion)
{
	try_installed("/etc/scalpel/scalpel.conf", RULES_AUTO, 40);
}

Test(foremost_conf, the_installed_file_survives_conversion)
{
	try_installed("/etc/foremost.conf", RULES_FOREMOST, 40);
}

static void random_token(FILE *out)
{
	static const char *const parts[] = { "ab", "?", "\\x3f", "\\xff", "\\x0", "\\\\", "\\s",
		"\\I", "\\012", "'", "\"", "\\x00", "<H", "#", "/", ";" };

	fputs("k", out);
	for (int i = rand() % 6; i > 0; i--)
		fputs(parts[rand() % 16], out);
}

Test(scalpel_conf, random_files_survive_conversion)
{
	static const char *const types[] = { "", " NEXT", " REVERSE", " FORWARD", " FORWARD_NEXT",
		" x y z" };
	unsigned seed = (unsigned)test_seed();

	printf("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 200; round++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);
		struct rules *rules;

		for (int i = 0; i <= round % 20; i++) {
			fprintf(out, "%s %c %d ", i % 3 ? "jpg" : "NONE", rand() % 2 ? 'y' : 'n',
				1 + rand());
			random_token(out);
			if (rand() % 2) {
				fputc('\t', out);
				random_token(out);
				fputs(types[rand() % 6], out);
			}
			fputs(rand() % 2 ? "\n" : "\r\n\n# x\n", out);
		}
		fclose(out);
		rules = scalpel(text);
		assert_round_trip(rules);
		rules_free(rules);
		free(text);
	}
}
