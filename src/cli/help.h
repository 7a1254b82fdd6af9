/* --help, for the whole program and for a command. */
#ifndef BURIN_CLI_HELP_H
#define BURIN_CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* Usage, commands, exit codes. */
void help_print(FILE *stream);
void help_print_command(FILE *stream, const struct command *command);
/* The commands whose first word is family ("conf"). False, with nothing printed, when there are
 * none. */
bool help_print_family(FILE *stream, const char *family);

/* The exit codes, for the help and the manual. Ended by a row without a meaning. */
struct exit_meaning {
	const char *code, *meaning;
};
extern const struct exit_meaning exit_meanings[];

#endif
