/*
 * The options of a command as one table. A row gives its parsing (by getopt_long), its lines in
 * --help and in the man page, and its words in the bash completion. -h and --help belong to every
 * command and stand in no table.
 *
 *     struct thing_settings { const char *config; uint64_t align; bool quiet; unsigned io; };
 *
 *     static const struct option_row thing_options[] = {
 *             { .name = "config", .letter = 'c', .kind = OPTION_STRING, .metavar = "FILE",
 *                     .offset = offsetof(struct thing_settings, config), .group = "Input",
 *                     .help = "Read the rules from FILE" },
 *             { .name = "io", .kind = OPTION_CHOICE, .choices = "auto|uring|threads",
 *                     .fallback = "auto", .offset = offsetof(struct thing_settings, io),
 *                     .help = "How the image is read" },
 *             { 0 },
 *     };
 */
#ifndef BURIN_CLI_OPTIONS_H
#define BURIN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What the member at `offset` of the settings is. It starts as the fallback says, else as zero. */
enum option_kind {
	OPTION_FLAG,   /* bool: true when given */
	OPTION_STRING, /* const char *: never "", points into argv or to the fallback; NULL when not
			  given */
	OPTION_SIZE,   /* uint64_t: bytes, as size_parse reads them ("50M") */
	OPTION_NUMBER, /* uint64_t: as OPTION_SIZE, but without units */
	OPTION_SECONDS, /* uint64_t: milliseconds, given as seconds with up to three decimals: "10",
			   "0.25" */
	OPTION_CHOICE, /* unsigned, or an enum without negative values: the word's place in choices,
			  from 0 */
	OPTION_LIST,   /* struct option_list: the option may be given many times */
};

struct option_list {
	const char **items; /* into argv */
	size_t count, capacity;
};

struct option_row {
	const char *name; /* without the dashes; NULL ends the table */
	char letter;      /* the short form; 0 for none; never h */
	enum option_kind kind;
	const char *metavar; /* what the value is called: FILE and IMAGE (completed as files), DIR,
				N, ...; NULL for flags, and for choices that shall be listed in its
				place */
	size_t offset;       /* of the member in the settings */
	const char *choices; /* OPTION_CHOICE: "auto|uring|threads" */
	uint64_t min, max;   /* OPTION_SIZE, _NUMBER and _SECONDS (whole ones), inclusive; max 0: no
				bound */
	const char *fallback; /* the value when the option is not given, as it would be typed; shown
				 in the help. NULL for zero */
	/* OPTION_STRING: the value when only the name is given (--verify), so that one can be given
	 * with = alone (--verify=md5). NULL: one is needed. */
	const char *bare;
	const char *help;  /* a sentence or two without the last full stop */
	const char *group; /* heading under which the help lists it; NULL: "Options" */
	bool negatable;    /* OPTION_FLAG: --no-NAME takes an earlier one back */
	bool hidden;       /* understood, but in no help, manual or completion */
};

/*
 * Fills settings from argv[1 ..) and moves the words that are no options behind the options (argv
 * is permuted; "--" ends the options). rows may be NULL: only --help is known. command: the words
 * in front of the options, for messages ("burin carve"). Returns the index of the first word that
 * is no option; 0 when help was asked for; -EINVAL for a mistake, with the sentence in error.
 * Whatever the result, options_release must follow. Not thread-safe (getopt_long is not).
 */
int options_parse(const struct option_row *rows, const char *command, int argc, char **argv,
	void *settings, struct error *error);
/* Frees the lists in settings. */
void options_release(const struct option_row *rows, void *settings);

/* What walks over a table for people: a call a group, then one a row of it; hidden rows are left
 * out and --help comes last. */
struct option_visitor {
	void (*group)(void *context, const char *name);
	void (*row)(void *context, const struct option_row *row);
};
void options_visit(
	const struct option_row *rows, const struct option_visitor *visitor, void *context);

/* The name of the value: the metavar, the choices, or NULL for flags. */
const char *option_value_name(const struct option_row *row);

#endif
