#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "cli/help.h"
#include "run/cluster.h"

const struct command *const commands[] = {
	&carve_command,
	&extract_command,
	&mount_command,
	&verify_command,
	&seal_command,
	&report_command,
	&export_command,
	&why_command,
	&compare_command,
	&selftest_command,
	&conf_check_command,
	&conf_convert_command,
	&conf_list_command,
	&list_command,
	&bench_command,
	&manual_command,
	&completion_command,
	&help_command,
	&version_command,
	NULL,
};

char **command_line;

/* ---- finding ------------------------------------------------------------------------------- */

/* How many of the words spell the command's name, 0 when they don't. Sets *family when the first
 * word is the first of a two-word name. */
static int match_words(const char *name, int argc, char **argv, bool *family)
{
	const char *blank = strchr(name, ' ');
	size_t len = blank ? (size_t)(blank - name) : strlen(name);

	if (strncmp(argv[0], name, len) != 0 || argv[0][len])
		return 0;
	if (!blank)
		return 1;
	*family = true;
	return argc > 1 && strcmp(argv[1], blank + 1) == 0 ? 2 : 0;
}

/* The second word of a two-word name that begins with that word; NULL: it is no such name. */
static const char *second_word(const struct command *command, const char *word)
{
	bool family = false;

	match_words(command->name, 1, (char *[]){ (char *)word }, &family);
	return family ? strchr(command->name, ' ') + 1 : NULL;
}

bool command_is_family(const char *word)
{
	for (const struct command *const *command = commands; *command; command++)
		if (second_word(*command, word))
			return true;
	return false;
}

/* Words the error for the first word of two-word names that stands alone, with the second ones. */
static void refuse_family(const char *word, struct error *error)
{
	struct strbuf words = { 0 };

	for (const struct command *const *command = commands; *command; command++) {
		const char *second = second_word(*command, word);

		if (second)
			strbuf_print(&words, "%s%s", words.len ? ", " : "", second);
	}
	error_set(error, EXIT_USAGE, ENOENT, "burin %s needs another word (%s); see burin help %s",
		word, words.bytes, word);
	strbuf_free(&words);
}

/* Words the error for an unknown command, with the nearest name. */
static const struct command *unknown_command(
	int argc, char **argv, bool family, struct error *error)
{
	char *typed = family && argc > 1 ? xasprintf("%s %s", argv[0], argv[1]) : xstrdup(argv[0]);
	struct suggestion near = { .word = typed };

	for (const struct command *const *command = commands; *command; command++)
		suggestion_offer(&near, (*command)->name);
	if (near.best)
		error_set(error, EXIT_USAGE, ENOENT,
			"burin has no command '%s'; did you mean '%s'?", typed, near.best);
	else if (family && argc < 2)
		refuse_family(argv[0], error);
	else if (family)
		error_set(error, EXIT_USAGE, ENOENT, "burin has no command '%s'; see burin help %s",
			typed, argv[0]);
	else
		error_set(error, EXIT_USAGE, ENOENT, "burin has no command '%s'; see burin --help",
			typed);
	free(typed);
	return NULL;
}

const struct command *command_find(int argc, char **argv, int *used, struct error *error)
{
	bool family = false;

	for (const struct command *const *command = commands; *command; command++) {
		*used = match_words((*command)->name, argc, argv, &family);
		if (*used)
			return *command;
	}
	return unknown_command(argc, argv, family, error);
}

/* ---- running ------------------------------------------------------------------------------- */

static int check_arguments(const struct command *command, const char *called, int count,
	char **argv, struct error *error)
{
	unsigned most = command->max_arguments;

	if (!command->arguments && count)
		return error_set(error, EXIT_USAGE, EINVAL,
			"%s takes no arguments, but '%s' was given; see %s --help", called, argv[0],
			called);
	if ((unsigned)count < command->min_arguments)
		return error_set(error, EXIT_USAGE, EINVAL,
			"%s needs more arguments (%s); see %s --help", called, command->arguments,
			called);
	if (most && (unsigned)count > most)
		return error_set(error, EXIT_USAGE, EINVAL,
			"'%s' is one argument too many for %s, which takes %s", argv[most], called,
			command->arguments);
	return 0;
}

/* Parses the options, checks the arguments and calls the command. */
static int parse_and_run(
	const struct command *command, const char *called, int argc, char **argv, void *settings)
{
	struct error error = { 0 };
	int first = options_parse(command->options, called, argc, argv, settings, &error);

	if (first == 0) {
		help_print_command(stdout, command);
		return EXIT_CLEAN;
	}
	if (first < 0 || check_arguments(command, called, argc - first, argv + first, &error) < 0) {
		log_error("%s", error.text);
		return error.code;
	}
	if (the_cluster && the_cluster->rank && !command->shared)
		return EXIT_CLEAN;
	return command->run(settings, argc - first, argv + first);
}

int command_run(const struct command *command, int argc, char **argv)
{
	void *settings = xcalloc(1, command->settings_size);
	char *called = xasprintf("burin %s", command->name);
	int code = parse_and_run(command, called, argc, argv, settings);

	options_release(command->options, settings);
	free(called);
	free(settings);
	return code;
}
