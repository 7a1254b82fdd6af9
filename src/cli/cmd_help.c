#include <stdio.h>

#include "base/log.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/help.h"

static int run_help(void *settings, int argc, char **argv)
{
	const struct command *command;
	struct error error = { 0 };
	int used;

	(void)settings;
	if (argc == 0) {
		help_print(stdout);
		return EXIT_CLEAN;
	}
	if (argc == 1 && help_print_family(stdout, argv[0]))
		return EXIT_CLEAN;
	command = command_find(argc, argv, &used, &error);
	if (!command) {
		log_error("%s", error.text);
		return error.code;
	}
	help_print_command(stdout, command);
	return EXIT_CLEAN;
}

const struct command help_command = {
	.name = "help",
	.summary = "Print help for burin or a command",
	.arguments = "[COMMAND]",
	.max_arguments = 2,
	.run = run_help,
};

static int run_version(void *settings, int argc, char **argv)
{
	(void)settings;
	(void)argc;
	(void)argv;
	printf("burin %s%s%s\n", burin_version, *burin_commit ? ", commit " : "", burin_commit);
	printf("built with %s\n", burin_libraries);
	return EXIT_CLEAN;
}

const struct command version_command = {
	.name = "version",
	.summary = "Print the version",
	.run = run_version,
};
