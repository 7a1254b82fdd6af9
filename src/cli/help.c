#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A fixed width keeps the text the same everywhere; every terminal has 80 columns. */
#define WIDTH 80
#define INDENT 2
#define TEXT_COLUMN 28

const struct exit_meaning exit_meanings[] = {
	{ "0", "finished, without problems" },
	{ "1", "finished, with problems that the report lists" },
	{ "2", "invalid arguments or rules" },
	{ "3", "the evidence can't be read, or the output can't be written" },
	{ "4", "the requested engine is not available on this machine" },
	{ "128+N", "interrupted by signal N; the report is complete up to there" },
	{ NULL, NULL },
};

/* Prints text in lines of WIDTH, starting in column `at`, where the cursor is; further lines are
 * indented to `column`. Ends the line. */
static void wrap(FILE *stream, const char *text, size_t at, size_t column)
{
	bool first = true;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (!first && at + 1 + len > WIDTH) {
			fprintf(stream, "\n%*s", (int)column, "");
			at = column;
			first = true;
		}
		fprintf(stream, "%s%.*s", first ? "" : " ", (int)len, text);
		at += len + !first;
		first = false;
		text += len;
		text += strspn(text, " \n");
	}
	fputc('\n', stream);
}

/* A term and its explanation in two columns. */
static void print_pair(FILE *stream, const char *term, const char *text)
{
	size_t at = INDENT + strlen(term);

	fprintf(stream, "%*s%s", INDENT, "", term);
	if (at + 2 > TEXT_COLUMN)
		fprintf(stream, "\n%*s", TEXT_COLUMN, "");
	else
		fprintf(stream, "%*s", (int)(TEXT_COLUMN - at), "");
	wrap(stream, text, TEXT_COLUMN, TEXT_COLUMN);
}

static void print_paragraphs(FILE *stream, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);
		char *paragraph = xasprintf("%.*s", (int)len, text);

		fputc('\n', stream);
		wrap(stream, paragraph, 0, 0);
		free(paragraph);
		text += len;
		text += strspn(text, "\n");
	}
}

static void print_group(void *stream, const char *name)
{
	fprintf(stream, "\n%s:\n", name);
}

static void print_row(void *stream, const struct option_row *row)
{
	const char *value = option_value_name(row);
	char letter[5] = "    ";
	char *term, *text;

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	if (!value)
		value = "";
	term = xasprintf("%s--%s%s", letter, row->negatable ? "[no-]" : "", row->name);
	if (row->bare || *value) {
		char *with_value = xasprintf(row->bare ? "%s[=%s]" : "%s %s", term, value);

		free(term);
		term = with_value;
	}
	text = row->fallback ? xasprintf("%s (default: %s)", row->help, row->fallback)
			     : xstrdup(row->help);
	print_pair(stream, term, text);
	free(text);
	free(term);
}

static void print_usage(FILE *stream, const struct command *command)
{
	fprintf(stream, "Usage: burin %s%s%s%s\n", command->name,
		command->options ? " [OPTION]..." : "", command->arguments ? " " : "",
		command->arguments ? command->arguments : "");
}

void help_print_command(FILE *stream, const struct command *command)
{
	static const struct option_visitor visitor = { print_group, print_row };

	print_usage(stream, command);
	wrap(stream, command->summary, 0, 0);
	if (command->description)
		print_paragraphs(stream, command->description);
	options_visit(command->options, &visitor, stream);
	if (!command->examples)
		return;
	fputs("\nExamples:\n", stream);
	for (const struct example *example = command->examples; example->command; example++) {
		fprintf(stream, "%*s%s\n%*s", INDENT, "", example->command, 3 * INDENT, "");
		wrap(stream, example->text, 3 * INDENT, 3 * INDENT);
	}
}

static bool in_family(const struct command *command, const char *family)
{
	size_t len = strlen(family);

	return strncmp(command->name, family, len) == 0 && command->name[len] == ' ';
}

bool help_print_family(FILE *stream, const char *family)
{
	bool any = false;

	for (const struct command *const *command = commands; *command; command++) {
		if (!in_family(*command, family))
			continue;
		if (!any)
			fprintf(stream,
				"Usage: burin %s COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n",
				family);
		any = true;
		print_pair(stream, (*command)->name, (*command)->summary);
	}
	if (any)
		fprintf(stream, "\nRun `burin %s COMMAND --help` for the options of a command.\n",
			family);
	return any;
}

void help_print(FILE *stream)
{
	fputs("Usage: burin COMMAND [OPTION]... [ARGUMENT]...\n"
	      "       burin [OPTION]... IMAGE...          (same as `burin carve`)\n"
	      "Recovers files from disk images by their content.\n\n"
	      "Commands:\n",
		stream);
	for (const struct command *const *command = commands; *command; command++)
		print_pair(stream, (*command)->name, (*command)->summary);
	fputs("\nOptions:\n", stream);
	print_pair(stream, "-h, --help", "Print this help and exit");
	print_pair(stream, "-V, --version", "Print the version and exit");
	fputs("\nExit codes:\n", stream);
	for (const struct exit_meaning *row = exit_meanings; row->code; row++)
		print_pair(stream, row->code, row->meaning);
	fputs("\nRun `burin COMMAND --help` for the options of a command.\n", stream);
}
