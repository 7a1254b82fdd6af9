/* The option tables: what is stored where, the messages about mistakes, and the order in which
 * people see the rows. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/suggest.h"
#include "run/carve_options.h"

enum colour { RED, GREEN, BLUE };

struct settings {
	uint64_t guard_before;
	const char *config, *name, *proof;
	uint64_t size, number, free_number, limit;
	enum colour colour;
	unsigned word, small;
	uint32_t set;
	bool both, quiet;
	struct option_list extra;
	uint64_t guard_after;
};

#define AT(member) .offset = offsetof(struct settings, member)

static const struct option_row rows[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		AT(config),
		.group = "Input",
		.help = "A" },
	{ .name = "size",
		.letter = 's',
		.kind = OPTION_SIZE,
		.fallback = "2M",
		.min = 512,
		.max = 1 << 30,
		AT(size),
		.field = "size",
		.field_position = 1,
		.group = "Sizes",
		.help = "B" },
	{ .name = "name",
		.kind = OPTION_STRING,
		.fallback = "nobody",
		AT(name),
		.group = "Input",
		.help = "C" },
	{ .name = "number",
		.letter = 'n',
		.kind = OPTION_NUMBER,
		.min = 1,
		.max = 64,
		AT(number),
		.help = "D" },
	{ .name = "free-number", .kind = OPTION_NUMBER, AT(free_number), .help = "E" },
	{ .name = "at-least",
		.kind = OPTION_NUMBER,
		.min = 7,
		AT(free_number),
		.hidden = true,
		.help = "K" },
	{ .name = "colour",
		.kind = OPTION_CHOICE,
		.choices = "red|green|blue",
		.fallback = "green",
		AT(colour),
		.help = "F" },
	{ .name = "both",
		.letter = 'b',
		.kind = OPTION_FLAG,
		.negatable = true,
		AT(both),
		.field = "both",
		.field_position = 2,
		.help = "G" },
	{ .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "H" },
	{ .name = "extra",
		.letter = 'x',
		.kind = OPTION_LIST,
		.metavar = "WORD",
		AT(extra),
		.help = "I" },
	{ .name = "secret",
		.kind = OPTION_FLAG,
		.hidden = true,
		AT(quiet),
		.help = "J",
		.group = "Secrets" },
	{ .name = "word-a",
		.kind = OPTION_WORD,
		.choices = "neither|a|b",
		.choice = 1,
		AT(word),
		.hidden = true,
		.field = "word",
		.field_position = 3,
		.field_null = true,
		.help = "L" },
	{ .name = "word-b",
		.kind = OPTION_WORD,
		.choices = "neither|a|b",
		.choice = 2,
		AT(word),
		.hidden = true,
		.help = "M" },
	{ .name = "set",
		.kind = OPTION_SET,
		.choices = "md|sha",
		AT(set),
		.hidden = true,
		.field = "set",
		.field_position = 4,
		.help = "N" },
	{ .name = "small",
		.kind = OPTION_NUMBER,
		AT(small),
		.size = sizeof(unsigned),
		.hidden = true,
		.field = "small",
		.field_position = 5,
		.help = "O" },
	{ .name = "proof",
		.kind = OPTION_STRING,
		.fallback = "none",
		.bare = "all",
		AT(proof),
		.hidden = true,
		.help = "J" },
	{ .name = "limit",
		.kind = OPTION_SIZE,
		.choices = "auto",
		AT(limit),
		.hidden = true,
		.help = "P" },
	{ 0 },
};

#define MAX_WORDS 32

static struct settings settings;
static struct error error;
static char line[512];
static char *argv[MAX_WORDS];
static int argc;

/* Parses a command line given as words with single blanks between; "_" means an empty word. */
static int parse(const char *text)
{
	static char empty[1];
	char *rest = line, *word;

	options_release(rows, &settings);
	memset(&settings, 0, sizeof(settings));
	settings.guard_before = settings.guard_after = 0x5a5a5a5a;
	error = (struct error){ 0 };
	snprintf(line, sizeof(line), "%s", text);
	argc = 0;
	while ((word = strsep(&rest, " ")) && argc < MAX_WORDS - 1)
		argv[argc++] = strcmp(word, "_") ? word : empty;
	argv[argc] = NULL;
	return options_parse(rows, "burin test", argc, argv, &settings, &error);
}

static void tear_down(void)
{
	cr_expect_eq(settings.guard_before, 0x5a5a5a5a);
	cr_expect_eq(settings.guard_after, 0x5a5a5a5a);
	options_release(rows, &settings);
}

TestSuite(options, .fini = tear_down);

#define EXPECT_MISTAKE(words, sentence) \
	do { \
		cr_expect_eq(parse(words), -EINVAL, "%s", words); \
		cr_expect_str_eq(error.text, sentence); \
		cr_expect_eq(error.code, EXIT_USAGE); \
	} while (0)

Test(options, nothing_given_leaves_fallbacks_and_zeros)
{
	cr_assert_eq(parse("test"), 1);
	cr_expect_eq(settings.config, NULL);
	cr_expect_str_eq(settings.name, "nobody");
	cr_expect_eq(settings.size, 2 << 20);
	cr_expect_eq(settings.number, 0);
	cr_expect_eq(settings.colour, GREEN);
	cr_expect_not(settings.both);
	cr_expect_eq(settings.extra.count, 0);
	cr_expect_eq(error.code, 0);
}

Test(options, every_kind_is_stored)
{
	cr_assert_eq(parse("test -c a.conf --size=64K --number 64 --free-number 0x10 --colour blue "
			   "-bq --name me"),
		13);
	cr_expect_str_eq(settings.config, "a.conf");
	cr_expect_eq(settings.size, 65536);
	cr_expect_eq(settings.number, 64);
	cr_expect_eq(settings.free_number, 16);
	cr_expect_eq(settings.colour, BLUE);
	cr_expect(settings.both);
	cr_expect(settings.quiet);
	cr_expect_str_eq(settings.name, "me");
}

Test(options, a_value_may_be_left_away_where_the_row_says_so)
{
	cr_assert_eq(parse("test --proof=some more"), 2);
	cr_expect_str_eq(settings.proof, "some");
	cr_assert_eq(parse("test --proof more"), 2);
	cr_expect_str_eq(settings.proof, "all");
	cr_expect_str_eq(argv[2], "more");
}

Test(options, nothing_given_twice_is_lost)
{
	char over[3][8] = { "test", "-cb", "-cb" };

	cr_assert_eq(parse("test -c a --both --no-both"), 5);
	cr_expect_not(settings.both);
	cr_expect_eq(options_parse_over(rows, "burin test", 2, (char *[]){ over[0], over[1], NULL },
			     &settings, &error),
		2);
	cr_expect_str_eq(settings.config, "b", "a second command line replaces values");
	cr_expect_eq(options_parse_over(rows, "burin test", 3,
			     (char *[]){ over[0], over[1], over[2], NULL }, &settings, &error),
		-EINVAL);
	cr_expect_eq(parse("test -c a -c b"), -EINVAL);
	cr_expect_str_eq(error.text,
		"--config of burin test is given twice, the second time as 'b'; give it once");
	cr_expect_eq(parse("test --colour red --colour red"), -EINVAL);
}

Test(options, lists_collect_in_order)
{
	char text[128] = "test";

	for (int i = 0; i < 5; i++)
		sprintf(text + strlen(text), " -x w%d --extra=v%d", i, i);
	cr_assert_eq(parse(text), argc);
	cr_assert_eq(settings.extra.count, 10);
	cr_expect_str_eq(settings.extra.items[0], "w0");
	cr_expect_str_eq(settings.extra.items[1], "v0");
	cr_expect_str_eq(settings.extra.items[9], "v4");
	options_release(rows, &settings);
	cr_expect_eq(settings.extra.items, NULL);
}

Test(options, arguments_move_after_options)
{
	int first = parse("test one -b two -c x -- -q --size");

	cr_assert_eq(argc - first, 4);
	cr_expect_str_eq(argv[first], "one");
	cr_expect_str_eq(argv[first + 1], "two");
	cr_expect_str_eq(argv[first + 2], "-q");
	cr_expect_str_eq(argv[first + 3], "--size");
	cr_expect(settings.both);
	cr_expect_not(settings.quiet);
}

Test(options, help_is_known_everywhere)
{
	cr_expect_eq(parse("test -h"), 0);
	cr_expect_eq(parse("test file --help --unknown"), 0);
	argv[1] = line;
	strcpy(line, "--help");
	cr_expect_eq(options_parse(NULL, "burin none", 2, argv, NULL, &error), 0);
	cr_expect_eq(options_parse(NULL, "burin none", 1, argv, NULL, &error), 1);
}

Test(options, abbreviations_and_hidden_ones_work)
{
	cr_expect_eq(parse("test --conf x --secret"), 4);
	cr_expect_str_eq(settings.config, "x");
	cr_expect(settings.quiet);
}

Test(options, unknown_ones_are_named_with_the_nearest)
{
	EXPECT_MISTAKE(
		"test --confg x", "burin test has no option --confg; did you mean --config?");
	EXPECT_MISTAKE(
		"test --colur=red", "burin test has no option --colur; did you mean --colour?");
	EXPECT_MISTAKE("test --hepl", "burin test has no option --hepl; did you mean --help?");
	EXPECT_MISTAKE("test --wibble", "burin test has no option --wibble; see burin test --help");
	EXPECT_MISTAKE("test --secrat", "burin test has no option --secrat; see burin test --help");
	EXPECT_MISTAKE("test -bz", "burin test has no option -z; see burin test --help");
	EXPECT_MISTAKE("test file -z", "burin test has no option -z; see burin test --help");
	EXPECT_MISTAKE("test --n 3",
		"--n is the beginning of more than one option of burin test; write the whole name");
}

Test(options, values_where_none_belongs_and_none_where_one_does)
{
	EXPECT_MISTAKE("test --both=1", "--both of burin test takes no value");
	EXPECT_MISTAKE("test --no-both=1", "--no-both of burin test takes no value");
	EXPECT_MISTAKE("test --help=all", "--help of burin test takes no value");
	EXPECT_MISTAKE("test --config", "--config of burin test needs a value (FILE)");
	EXPECT_MISTAKE("test -c", "--config of burin test needs a value (FILE)");
	EXPECT_MISTAKE("test --colour", "--colour of burin test needs a value (red|green|blue)");
	EXPECT_MISTAKE("test --size", "--size of burin test needs a value (VALUE)");
	EXPECT_MISTAKE("test -c _",
		"--config of burin test needs a value (FILE), and an empty one was given");
	EXPECT_MISTAKE("test --extra=",
		"--extra of burin test needs a value (WORD), and an empty one was given");
}

Test(options, numbers_are_checked)
{
	EXPECT_MISTAKE("test -n 0", "--number of burin test takes 1 to 64, not '0'");
	EXPECT_MISTAKE("test -n 65", "--number of burin test takes 1 to 64, not '65'");
	EXPECT_MISTAKE("test -n 99999999999999999999",
		"--number of burin test takes 1 to 64, not '99999999999999999999'");
	EXPECT_MISTAKE("test -n 1K", "--number of burin test takes a whole number, not '1K'");
	EXPECT_MISTAKE("test -n 1KB", "--number of burin test takes a whole number, not '1KB'");
	EXPECT_MISTAKE("test -n -1", "--number of burin test takes a whole number, not '-1'");
	EXPECT_MISTAKE("test -n four", "--number of burin test takes a whole number, not 'four'");
	EXPECT_MISTAKE("test -s 1.5M",
		"--size of burin test takes a size like 4096, 64K or 2G, not '1.5M'");
	EXPECT_MISTAKE("test -s 511", "--size of burin test takes 512 to 1073741824, not '511'");
	EXPECT_MISTAKE("test -s 2G", "--size of burin test takes 512 to 1073741824, not '2G'");
	EXPECT_MISTAKE("test --at-least 6", "--at-least of burin test takes 7 or more, not '6'");
	EXPECT_MISTAKE("test --free-number 18446744073709551616",
		"--free-number of burin test takes 0 to 18446744073709551615, not "
		"'18446744073709551616'");
	cr_expect_eq(parse("test -s 1G -n 1 --free-number 18446744073709551615"), 7);
	cr_expect_eq(settings.size, 1 << 30);
	cr_expect_eq(settings.free_number, UINT64_MAX);
}

/* The word means a number that cannot be given otherwise. */
Test(options, a_size_may_be_a_word)
{
	const struct option_row *row = rows;
	char *text;

	while (strcmp(row->name, "limit") != 0)
		row++;
	EXPECT_MISTAKE("test --limit Auto",
		"--limit of burin test takes a size like 4096, 64K or 2G, or auto, not 'Auto'");
	EXPECT_MISTAKE("test --limit 18446744073709551615",
		"--limit of burin test takes 0 to 18446744073709551614, not "
		"'18446744073709551615'");
	cr_expect_eq(parse("test --limit 0"), 3);
	cr_expect_eq(settings.limit, 0);
	text = option_text(row, &settings);
	cr_expect_str_eq(text, "0");
	free(text);
	cr_expect_eq(parse("test --limit auto"), 3);
	cr_expect_eq(settings.limit, UINT64_MAX);
	text = option_text(row, &settings);
	cr_expect_str_eq(text, "auto");
	free(text);
}

Test(carve_options, the_default_output_limit_depends_on_the_image)
{
	const uint64_t gib = (uint64_t)1 << 30;
	struct run_options options = { .decide.max_bytes = OUTPUT_LIMIT_AUTO };

	cr_expect_eq(output_limit(&options, 0), gib);
	cr_expect_eq(output_limit(&options, gib / 4), gib);
	cr_expect_eq(output_limit(&options, gib / 4 + 1), gib + 4);
	cr_expect_eq(output_limit(&options, UINT64_MAX / 4), UINT64_MAX - 3);
	cr_expect_eq(output_limit(&options, UINT64_MAX / 4 + 1), 0, "no limit");
	options.scalpel = 1;
	cr_expect_eq(output_limit(&options, gib), 0, "as Scalpel does");
	options.decide.max_bytes = 5;
	cr_expect_eq(output_limit(&options, gib), 5);
	options = (struct run_options){ .decide.max_bytes = 0 };
	cr_expect_eq(output_limit(&options, gib), 0);
}

Test(options, choices_are_listed)
{
	EXPECT_MISTAKE(
		"test --colour pink", "--colour of burin test takes red|green|blue, not 'pink'");
	EXPECT_MISTAKE("test --colour gren",
		"--colour of burin test takes red|green|blue, not 'gren'; did you mean 'green'?");
	EXPECT_MISTAKE("test --colour re",
		"--colour of burin test takes red|green|blue, not 're'; did you mean 'red'?");
	EXPECT_MISTAKE("test --colour red|green",
		"--colour of burin test takes red|green|blue, not 'red|green'");
}

Test(options, a_mistake_after_a_list_leaks_nothing)
{
	EXPECT_MISTAKE("test -x one -x two --wibble",
		"burin test has no option --wibble; see burin test --help");
	cr_expect_eq(settings.extra.count, 2);
}

/* ---- for people ---------------------------------------------------------------------------- */

static void write_group(void *text, const char *name)
{
	char *end = strchr(text, 0);

	sprintf(end, "[%s]", name);
}

static void write_row(void *text, const struct option_row *row)
{
	char *end = strchr(text, 0);

	sprintf(end, "%s ", row->name);
}

static const struct option_visitor writer = { write_group, write_row };

Test(visit, rows_come_by_group_without_the_hidden)
{
	char text[256] = "";

	options_visit(rows, &writer, text);
	cr_expect_str_eq(text, "[Input]config name [Sizes]size [Options]number free-number colour "
			       "both quiet extra help ");
}

Test(visit, without_rows_there_is_help)
{
	char text[256] = "";

	options_visit(NULL, &writer, text);
	cr_expect_str_eq(text, "[Options]help ");
}

Test(visit, values_have_names)
{
	cr_expect_str_eq(option_value_name(&rows[0]), "FILE");
	cr_expect_str_eq(option_value_name(&rows[1]), "VALUE");
	cr_expect_str_eq(option_value_name(&rows[6]), "red|green|blue");
	cr_expect_eq(option_value_name(&rows[7]), NULL);
}

/* ---- suggestions --------------------------------------------------------------------------- */

Test(suggest, distances)
{
	char word[80];

	cr_expect_eq(edit_distance("", ""), 0);
	cr_expect_eq(edit_distance("", "abc"), 3);
	cr_expect_eq(edit_distance("carve", "carve"), 0);
	cr_expect_eq(edit_distance("crave", "carve"), 1);
	cr_expect_eq(edit_distance("kitten", "sitting"), 3);
	cr_expect_eq(edit_distance("list", "lists"), 1);
	cr_expect_eq(edit_distance("abcd", "badc"), 2);
	memset(word, 'a', sizeof(word));
	word[63] = '\0';
	cr_expect_eq(edit_distance(word, "a"), 62);
	word[63] = 'a';
	word[64] = '\0';
	cr_expect_eq(edit_distance(word, "a"), SIZE_MAX);
}

static const char *nearest(const char *word)
{
	struct suggestion near = { .word = word };

	suggestion_offer(&near, "extract");
	suggestion_offer(&near, "carve");
	suggestion_offer(&near, "curve");
	suggestion_offer(&near, "ls");
	return near.best ? near.best : "none";
}

Test(suggest, only_what_is_near_is_offered)
{
	cr_expect_str_eq(nearest("crave"), "carve");
	cr_expect_str_eq(nearest("curv"), "curve");
	cr_expect_str_eq(nearest("cxrve"), "carve", "the first of equals");
	cr_expect_str_eq(nearest("extrct"), "extract");
	cr_expect_str_eq(nearest("lx"), "ls");
	cr_expect_str_eq(nearest("x"), "none");
	cr_expect_str_eq(nearest(""), "none");
	cr_expect_str_eq(nearest("verify"), "none");
}

/* ---- values of a run ----------------------------------------------------------------------- */

static void expect_text(const char *name, const char *text)
{
	const struct option_row *row = rows;
	char *shown;

	while (strcmp(row->name, name) != 0)
		row++;
	shown = option_text(row, &settings);
	cr_expect_str_eq(shown, text);
	free(shown);
}

Test(options, values_as_text)
{
	cr_assert_gt(parse("test -b -s 1K --colour=blue --word-b --set=sha,md"), 0);
	expect_text("both", "yes");
	expect_text("quiet", "no");
	expect_text("size", "1024");
	expect_text("small", "0");
	expect_text("config", "none");
	expect_text("name", "nobody");
	expect_text("colour", "blue");
	expect_text("word-a", "b");
	expect_text("set", "md,sha");
	cr_assert_gt(parse("test --small=7 --set=none"), 0);
	expect_text("small", "7");
	expect_text("word-a", "neither");
	expect_text("set", "none");
}

Test(options, values_as_json)
{
	json_t *object;
	char *text;

	cr_assert_gt(parse("test --size 1K --set=sha,md"), 0);
	object = options_json(rows, &settings);
	text = json_dumps(object, JSON_COMPACT);
	cr_expect_str_eq(text,
		"{\"size\":1024,\"both\":false,\"word\":null,\"set\":[\"md\",\"sha\"],"
		"\"small\":0}");
	free(text);
	json_decref(object);
}

Test(options, words_exclude_each_other)
{
	cr_assert_gt(parse("test --word-b --word-b"), 0);
	cr_expect_eq(settings.word, 2);
	cr_expect_eq(parse("test --word-a --word-b"), -EINVAL);
	cr_expect_str_eq(error.text, "--word-a and --word-b of burin test exclude each other");
}

Test(options, sets_take_known_words)
{
	cr_expect_eq(settings.set, 0);
	cr_expect_eq(parse("test --set=md,crc"), -EINVAL);
	cr_expect_str_eq(error.text,
		"--set of burin test takes none, or some of md|sha separated by "
		"commas, not 'md,crc'");
	cr_expect_eq(parse("test --set=md,"), -EINVAL);
	cr_expect_eq(parse("test --set=md,none"), -EINVAL);
}

Test(carve_options, rows_are_consistent)
{
	unsigned fields = 0;
	uint64_t positions = 0;

	for (const struct option_row *row = carve_option_rows; row->name; row++) {
		if (row->result)
			cr_expect_lt(row->offset, sizeof(struct run_options), "%s", row->name);
		if (!row->field)
			continue;
		cr_expect(row->result, "%s", row->name);
		cr_expect(!(positions >> row->field_position & 1), "%s", row->name);
		positions |= UINT64_C(1) << row->field_position;
		fields++;
	}
	cr_expect_eq(positions, (UINT64_C(2) << fields) - 2);
}
