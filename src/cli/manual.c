/*
 * `burin manual`: the man page, in troff's man macros, made from the same tables that parse the
 * options. Text from the tables is escaped so that troff takes nothing in it for a request: a dot
 * or quote at the start of a line, backslashes, and hyphens, which troff would otherwise turn into
 * typographic ones that can't be pasted into a shell.
 */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/command.h"
#include "cli/help.h"

/* Prints len bytes of text as running text; `words` in backticks come out bold. */
static void put_text(const char *text, size_t len)
{
	bool bold = false, line_start = true;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (line_start && (c == '.' || c == '\''))
			fputs("\\&", stdout);
		line_start = c == '\n';
		if (c == '`') {
			bold = !bold;
			fputs(bold ? "\\fB" : "\\fR", stdout);
		} else if (c == '\\') {
			fputs("\\e", stdout);
		} else if (c == '-') {
			fputs("\\-", stdout);
		} else {
			putchar(c);
		}
	}
}

static void put(const char *text)
{
	put_text(text, strlen(text));
}

static void put_bold(const char *text)
{
	fputs("\\fB", stdout);
	put(text);
	fputs("\\fR", stdout);
}

static void put_italic(const char *text)
{
	fputs("\\fI", stdout);
	put(text);
	fputs("\\fR", stdout);
}

static void put_paragraphs(const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		puts(".PP");
		put_text(text, len);
		putchar('\n');
		text += len;
		text += strspn(text, "\n");
	}
}

static void put_group(void *context, const char *name)
{
	(void)context;
	puts(".PP");
	put(name);
	puts(":");
}

static void put_row(void *context, const struct option_row *row)
{
	const char *value = option_value_name(row);

	(void)context;
	puts(".TP");
	if (row->letter)
		printf("\\fB\\-%c\\fR, ", row->letter);
	fputs("\\fB\\-\\-", stdout);
	if (row->negatable)
		fputs("\\fR[\\fBno\\-\\fR]\\fB", stdout);
	put(row->name);
	fputs("\\fR", stdout);
	if (value) {
		fputs(row->bare ? "[=" : " ", stdout);
		put_italic(value);
		fputs(row->bare ? "]" : "", stdout);
	}
	putchar('\n');
	put(row->help);
	if (row->fallback) {
		fputs(" (default: ", stdout);
		put_bold(row->fallback);
		putchar(')');
	}
	puts(".");
}

static void put_usage(const struct command *command)
{
	put_bold("burin ");
	put_bold(command->name);
	if (command->options)
		fputs(" [\\fIOPTION\\fR]...", stdout);
	if (command->arguments) {
		putchar(' ');
		put_italic(command->arguments);
	}
	putchar('\n');
}

static void put_command(const struct command *command)
{
	static const struct option_visitor visitor = { put_group, put_row };

	fputs(".SS ", stdout);
	put_usage(command);
	put(command->summary);
	puts(".");
	if (command->description)
		put_paragraphs(command->description);
	if (command->options)
		options_visit(command->options, &visitor, NULL);
}

static void put_examples(const struct command *command)
{
	for (const struct example *example = command->examples; example && example->command;
		example++) {
		puts(".TP");
		put_bold(example->command);
		putchar('\n');
		put(example->text);
		puts(".");
	}
}

static void put_head(void)
{
	printf(".TH BURIN 1 \"\" \"burin %s\" \"User Commands\"\n", burin_version);
	puts(".SH NAME\n"
	     "burin \\- recover files from disk images by their content\n"
	     ".SH SYNOPSIS");
	for (const struct command *const *command = commands; *command; command++) {
		put_usage(*command);
		puts(".br");
	}
	puts("\\fBburin\\fR [\\fIOPTION\\fR]... \\fIIMAGE\\fR...\n"
	     ".SH DESCRIPTION");
	put("burin reads a disk image, finds every header and footer of a rule set in one pass "
	    "over all byte offsets, verifies each\n"
	    "candidate with a parser for its format, and writes the files.\n"
	    "The same image and rules give the same files and the same report, byte for byte, "
	    "whatever engine, number of threads\n"
	    "or chunk size is used, and nothing that was found is dropped silently.\n"
	    "The evidence is never opened for writing.\n");
	puts(".PP");
	put("If the first word is an option or a file instead of a command, burin acts as `burin "
	    "carve`, so that\n"
	    "`burin -c FILE -o DIR IMAGE` works as with Scalpel.\n"
	    "Output for programs goes to standard output, messages for people to standard error.\n"
	    "Every command explains itself with `-h` or `--help`.\n");
}

static void put_rules(void)
{
	puts(".SH RULES");
	put("A rule file lists types, each a group of settings:");
	puts("\n.PP\n.nf\n"
	     "types = (\n"
	     "  { name = \"wav\"; extension = \"wav\";\n"
	     "    header = \"'RIFF' ???????? 'WAVE'\";\n"
	     "    length = { at = 4; type = \"u32le\"; add = 8; }; },\n"
	     "  { name = \"note\"; header = \"'NOTE' 01\"; footer = \"'END'\"; max_size = \"1M\"; "
	     "}\n"
	     ");\n.fi\n.PP");
	put("A pattern has pairs of hex digits, `??` for any byte, text in single quotes, and "
	    "regular "
	    "expressions between slashes.\n"
	    "Required are `name`, `header` and, without `length` or `carver`, `max_size`; also "
	    "known "
	    "are `extension`, `header_offset`, `footer`, `pair` (forward, reverse, next), "
	    "`include_footer`, `min_size`, `must` (bytes at an offset), `align`, `carver` (a "
	    "parser, "
	    "see `burin list carvers`) and `kinds`.\n"
	    "Sizes are numbers, or texts with a unit: \"50M\".\n"
	    "`@include \"burin.conf\"` on a line of its own takes in another file.\n"
	    "`burin conf check FILE` finds mistakes and forecasts what the rules will find; "
	    "`rules.md`, installed with burin's documents, explains every setting.\n");
}

static void put_tail(void)
{
	puts(".SH EXIT STATUS");
	for (const struct exit_meaning *row = exit_meanings; row->code; row++) {
		puts(".TP");
		put_bold(row->code);
		putchar('\n');
		put(row->meaning);
		puts(".");
	}
	puts(".SH FILES\n.TP");
	put_italic(burin_installed_rules);
	puts("\nThe default rules.");
	puts(".SH ENVIRONMENT\n.TP");
	put_bold("TMPDIR");
	puts("\nWhere selftest, bench and indices of hash lists put temporary files (/tmp).\n.TP");
	put_bold("XDG_CACHE_HOME");
	puts("\nWhere indices of hash lists go if their own folder is not writable (~/.cache).");
}

static int run_manual(void *settings, int argc, char **argv)
{
	(void)settings;
	(void)argc;
	(void)argv;
	put_head();
	puts(".SH COMMANDS");
	for (const struct command *const *command = commands; *command; command++)
		put_command(*command);
	puts(".SH EXAMPLES");
	for (const struct command *const *command = commands; *command; command++)
		put_examples(*command);
	put_rules();
	put_tail();
	return EXIT_CLEAN;
}

static const struct example manual_examples[] = {
	{ "burin manual | man -l -", "shows the manual page where burin is not installed" },
	{ NULL, NULL },
};

const struct command manual_command = {
	.name = "manual",
	.summary = "Write the manual page",
	.description =
		"Writes one page for all commands to standard output, in the format of `man`.",
	.run = run_manual,
	.examples = manual_examples,
};
