/* All of burin but its main function, which may have other things to set up. */
#ifndef BURIN_CLI_DISPATCH_H
#define BURIN_CLI_DISPATCH_H

/* Finds the command that the arguments name, runs it, and makes sure that what it said on stdout
 * has arrived. Returns the exit code. */
int program_run(int argc, char **argv);

#endif
