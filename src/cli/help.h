/* --help, for the whole program and for a command. */
#ifndef BURIN_CLI_HELP_H
#define BURIN_CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* What burin is, its commands, and where to read on. */
void help_print(FILE *stream);
void help_print_command(FILE *stream, const struct command *command);
/* The commands of a family ("conf"). False, with nothing printed, when there is no such family. */
bool help_print_family(FILE *stream, const char *family);

/* What the exit codes mean: a line each, for the help and the manual. Ended by a row without a
 * meaning. */
struct exit_meaning {
	const char *code, *meaning;
};
extern const struct exit_meaning exit_meanings[];

#endif
