/*
 * The options of a command as one table. From a row come its parsing (by getopt_long), its lines in
 * --help and in the man page, its words in the bash completion and, if it changes the result of a
 * run, its line in a checkpoint and its field in the report. Every command has -h and --help, which
 * are in no table.
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
#ifndef BURIN_BASE_OPTIONS_H
#define BURIN_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_value.h"

/* What the member at `offset` of the settings is. It starts as the fallback says, else as zero. */
enum option_kind {
	OPTION_FLAG,   /* bool: true when given */
	OPTION_STRING, /* const char *: never "", points into argv or to the fallback; NULL when not
			  given */
	OPTION_SIZE,   /* uint64_t: bytes, as size_parse reads them ("50M"); or UINT64_MAX for the
			  word in choices, if any */
	OPTION_NUMBER, /* uint64_t, or unsigned: like OPTION_SIZE, but without units */
	OPTION_SECONDS, /* uint64_t: milliseconds, given as seconds with up to three decimals: "10",
			   "0.25" */
	OPTION_CHOICE, /* unsigned, or an enum without negative values: the word's index in choices */
	OPTION_WORD,   /* the same, for an option that is itself one of the choices (`choice` is its
			  index) and takes no value. Options that share a member exclude each other */
	OPTION_SET,    /* uint32_t: words of choices, separated by commas, or "none"; the first word
			  is bit 0 */
	OPTION_LIST,   /* struct option_list: the option may be given many times */
	OPTION_FOREIGN, /* no member: a letter (name: "", hidden) that other programs know; help is the
			   sentence that says what burin has instead */
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
				N, ...; NULL for flags, and where the choices are to be listed
				instead */
	size_t offset;       /* of the member in the settings */
	size_t size;         /* of the member; needed only for OPTION_NUMBER in an unsigned */
	const char *choices; /* OPTION_CHOICE, _WORD and _SET: "auto|uring|threads"; _SIZE: a
				word that is understood as well */
	unsigned choice;     /* OPTION_WORD */
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
	bool command_only; /* not for libburin: of a command line, of several images, or for people */
	/* Changes the result: a run is only resumed, or shared with other processes, with the same
	 * value. Of options that share a member, one says so. */
	bool result;
	/* The option's name in the report's `options` object, and its position there, from 1. A new
	 * option takes the next position; reports of the same run must not change. NULL: not there. */
	const char *field;
	unsigned field_position;
	bool field_null; /* 0, "no limit" for a number, is written as null */
};

/*
 * Options given twice add up (OPTION_SET, OPTION_LIST) or are refused: what was given first must not
 * be lost without a word.
 *
 * Fills settings from argv[1 ..) and moves the words that are not options after the options (argv
 * is permuted; "--" ends the options). rows may be NULL: only --help is known. command: the words
 * before the options, for messages ("burin carve"). Returns the index of the first word that is not
 * an option; 0 when help was asked for; -EINVAL for a mistake, with the sentence in error. Whatever
 * the result, options_release must follow. Not thread-safe (getopt_long is not).
 */
int options_parse(const struct option_row *rows, const char *command, int argc, char **argv,
	void *settings, struct error *error);
/* The same for a second command line over the first: what it gives takes the place of what settings
 * hold; lists add up. */
int options_parse_over(const struct option_row *rows, const char *command, int argc, char **argv,
	void *settings, struct error *error);
/* All items with commas between; NULL for none. The caller frees it. */
char *option_list_join(const struct option_list *list);
/* The value of an option in settings, as a person would write it: "yes", "512", "md5,sha1"; "none"
 * for a string that was not given. The caller frees it. Not for OPTION_LIST. */
char *option_text(const struct option_row *row, const void *settings);
/* The object of all rows that have a field, in the order of their positions. */
json_t *options_json(const struct option_row *rows, const void *settings);

/* Frees the lists in settings. */
void options_release(const struct option_row *rows, void *settings);

/* Walks a table for people: one call per group, followed by one for each of its rows; hidden rows
 * are left out and --help comes last. */
struct option_visitor {
	void (*group)(void *context, const char *name);
	void (*row)(void *context, const struct option_row *row);
};
void options_visit(
	const struct option_row *rows, const struct option_visitor *visitor, void *context);

/* The name of the value: the metavar, the choices, or NULL for flags. */
const char *option_value_name(const struct option_row *row);

#endif
