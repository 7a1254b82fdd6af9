/*
 * A command is one file cmd_NAME.c with one `const struct command`, and one row in the table in
 * commands.c. The parsing, the help, the man page and the bash completion are made from these.
 */
#ifndef BURIN_CLI_COMMAND_H
#define BURIN_CLI_COMMAND_H

#include "base/options.h"

struct example {
	const char *command; /* "burin carve -o out disk.dd"; NULL ends the array */
	const char *text;    /* what it does, a sentence without the full stop */
};

struct command {
	const char *name;      /* "carve"; two words for one of a family: "conf check" */
	const char *summary;   /* one line without the full stop */
	const char *arguments; /* what follows the options in the usage: "IMAGE..."; alternatives as
				* "engines|types" are completed as words; NULL: takes none */
	unsigned min_arguments, max_arguments; /* how many, checked before run; max 0: no limit */
	const char *description; /* for the man page and --help: paragraphs with an empty line
				    between, `literals` in backticks */
	const struct option_row *options; /* NULL for none but --help */
	size_t settings_size; /* bytes of the struct that the options fill; zeroed before */
	/* settings: filled by options_parse. argv: the argc words that are not options, ended by
	 * NULL. Returns the exit code. dispatch.c flushes and checks stdout. */
	int (*run)(void *settings, int argc, char **argv);
	const struct example *examples; /* NULL for none */
	bool shared; /* in a cluster (run/cluster.h) every process runs it; false: only the
		      * first one does */
};

/* THE TABLE (commands.c), ended by NULL, in the order of the help. */
extern const struct command *const commands[];

extern const struct command carve_command, extract_command, verify_command, report_command,
	export_command, seal_command, mount_command, why_command, compare_command, selftest_command,
	conf_check_command, conf_convert_command, conf_list_command, list_command, bench_command,
	manual_command, completion_command, help_command, version_command;

/* Finds the command that the words name; *used: how many words its name has. NULL, with error set
 * (EXIT_USAGE) and suggesting the nearest name, when there is none. */
const struct command *command_find(int argc, char **argv, int *used, struct error *error);

/* Whether the word is the first of commands with names of two words, as conf is. */
bool command_is_family(const char *word);

/* Parses the options of a command and runs it: argv[0] is ignored, argv[1 ..) are options and
 * arguments. Returns the exit code. */
int command_run(const struct command *command, int argc, char **argv);

/* `burin carve --html`: writes the page of a run that ended with this exit code, unless it failed or
 * was interrupted (cmd_report.c). Returns the worse of both codes. */
int page_after_run(const char *folder, int code);
/* Writes that of a batch, from its summary. Returns the exit code. */
int page_of_batch(const char *folder);

/* The whole command line as typed, ended by NULL, for reports. Set once, by dispatch.c. */
extern char **command_line;

#endif
