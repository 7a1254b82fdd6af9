/*
 * `burin completion`: a bash completion made from the option tables. The script is one function
 * with two `case` statements: the first completes the value of an option, the second the options
 * and arguments of a command.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const char head[] = //
	"# bash completion for burin, written by `burin completion`.\n"
	"_burin_words()\n"
	"{\n"
	"\tCOMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
	"}\n"
	"_burin_files()\n"
	"{\n"
	"\tlocal IFS=$'\\n'\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tCOMPREPLY=($(compgen \"$1\" -- \"$cur\"))\n"
	"}\n"
	"_burin()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal command=${COMP_WORDS[1]}\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = && $COMP_CWORD -gt 2 ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n";

/* Calls print once for each first word of a command. */
static void for_each_family(void (*print)(const char *word, size_t len))
{
	for (size_t i = 0; commands[i]; i++) {
		size_t len = strcspn(commands[i]->name, " ");

		if (i && strncmp(commands[i - 1]->name, commands[i]->name, len) == 0 &&
			strcspn(commands[i - 1]->name, " ") == len)
			continue;
		print(commands[i]->name, len);
	}
}

static void print_word(const char *word, size_t len)
{
	printf("%.*s ", (int)len, word);
}

static void print_spaced(const char *words)
{
	for (; *words && *words != ' '; words++)
		putchar(*words == '|' ? ' ' : *words);
}

/* The second word of a command such as `conf check` becomes part of its name. */
static void print_family(const char *word, size_t len)
{
	bool any = false;

	for (const struct command *const *command = commands; *command; command++) {
		const char *name = (*command)->name;

		if (strncmp(name, word, len) != 0 || name[len] != ' ')
			continue;
		if (!any)
			printf("\t%.*s)\n"
			       "\t\tif [[ $COMP_CWORD -eq 2 ]]; then\n"
			       "\t\t\t_burin_words \"",
				(int)len, word);
		printf("%s ", name + len + 1);
		any = true;
	}
	if (any)
		puts("\"\n\t\t\treturn\n\t\tfi\n\t\tcommand+=\" ${COMP_WORDS[2]}\"\n\t\t;;");
}

static void print_command_choice(void)
{
	fputs("\tif [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then\n\t\t_burin_words \"", stdout);
	for_each_family(print_word);
	puts("\"\n"
	     "\t\tCOMPREPLY+=($(compgen -f -- \"$cur\"))\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tcase $command in\n"
	     "\t-*)\n"
	     "\t\tcommand=carve\n"
	     "\t\t;;");
	for_each_family(print_family);
	puts("\tesac");
}

static bool means_file(const char *value)
{
	return strcmp(value, "FILE") == 0 || strncmp(value, "IMAGE", 5) == 0;
}

static bool means_folder(const char *value)
{
	return strcmp(value, "DIR") == 0 || strcmp(value, "OUT") == 0;
}

/* "a|b|c", all of it literal: words in upper case are placeholders. What follows a blank is another argument. */
static bool means_words(const char *value)
{
	for (const char *c = value; *c && *c != ' '; c++)
		if (isupper((unsigned char)*c))
			return false;
	return strchr(value, '|') != NULL;
}

/* The shell command that completes a value or argument of that name. */
static void print_action(const char *value)
{
	if (strncmp(value, "[COMMAND]", 9) == 0) {
		fputs("_burin_words \"", stdout);
		for_each_family(print_word);
		putchar('"');
	} else if (means_words(value)) {
		fputs("_burin_words \"", stdout);
		print_spaced(value);
		putchar('"');
	} else if (means_folder(value)) {
		fputs("_burin_files -d", stdout);
	} else if (means_file(value) || strchr(value, ' ')) {
		fputs("_burin_files -f", stdout);
	} else {
		putchar(':');
	}
}

static void print_value_case(void *context, const struct option_row *row)
{
	const struct command *command = context;
	const char *value = option_value_name(row);

	if (!value || row->bare) /* its value never is the next word */
		return;
	printf("\t'%s --%s'", command->name, row->name);
	if (row->letter)
		printf(" | '%s -%c'", command->name, row->letter);
	fputs(")\n\t\t", stdout);
	print_action(row->choices ? row->choices : value);
	puts("\n\t\treturn\n\t\t;;");
}

static void print_option(void *context, const struct option_row *row)
{
	(void)context;
	printf("--%s ", row->name);
	if (row->negatable)
		printf("--no-%s ", row->name);
	if (row->letter)
		printf("-%c ", row->letter);
}

static void skip_group(void *context, const char *name)
{
	(void)context;
	(void)name;
}

static void print_command_case(const struct command *command)
{
	static const struct option_visitor visitor = { skip_group, print_option };

	printf("\t'%s')\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_burin_words \"", command->name);
	options_visit(command->options, &visitor, NULL);
	puts("\"\n\t\t\treturn\n\t\tfi");
	if (command->arguments) {
		fputs("\t\t", stdout);
		print_action(command->arguments);
		putchar('\n');
	}
	puts("\t\t;;");
}

static int run_completion(void *settings, int argc, char **argv)
{
	static const struct option_visitor visitor = { skip_group, print_value_case };

	(void)settings;
	(void)argc;
	(void)argv;
	fputs(head, stdout);
	print_command_choice();
	puts("\tcase \"$command $prev\" in");
	for (const struct command *const *command = commands; *command; command++)
		options_visit((*command)->options, &visitor, (void *)(uintptr_t)*command);
	puts("\tesac\n\tcase $command in");
	for (const struct command *const *command = commands; *command; command++)
		print_command_case(*command);
	puts("\t*)\n\t\t_burin_files -f\n\t\t;;\n\tesac\n}\ncomplete -F _burin burin");
	return EXIT_CLEAN;
}

static const struct example completion_examples[] = {
	{ "source <(burin completion)", "enables completion in this shell" },
	{ NULL, NULL },
};

const struct command completion_command = {
	.name = "completion",
	.summary = "Write the completion script for bash",
	.run = run_completion,
	.examples = completion_examples,
};
