/*
 * getopt_long does the parsing: it knows clusters (-bp), values with and without a blank or an
 * equals sign, unique abbreviations, and options behind arguments. What it says about mistakes is
 * too little to help, so it is kept silent and this file words them.
 *
 * getopt_long hands back one int an option: a letter for the short form, and for the long form
 * CODE_BASE + twice the row's index, plus 1 when the option was negated. The help option has no row
 * and comes back as 'h'.
 */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/suggest.h"

#define CODE_BASE 256

static const struct option_row no_rows[] = { { 0 } };
static const struct option_row help_row = {
	.name = "help",
	.letter = 'h',
	.help = "Print this help and exit",
};

struct parse {
	const struct option_row *rows;
	const char *command;
	char *settings;
	struct option *long_options; /* for getopt_long */
	char *letters;
	struct error *error;
};

const char *option_value_name(const struct option_row *row)
{
	if (row->kind == OPTION_FLAG)
		return NULL;
	return row->metavar ? row->metavar : row->choices ? row->choices : "VALUE";
}

static size_t count_rows(const struct option_row *rows)
{
	size_t count = 0;

	while (rows[count].name)
		count++;
	return count;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool has_unit(const char *text)
{
	return text[strspn(text, "0123456789abcdefABCDEFxX")] != '\0';
}

static int out_of_bounds(const struct parse *parse, const struct option_row *row, const char *text)
{
	if (!row->max && row->min)
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s takes %" PRIu64 " or more, not '%s'", row->name, parse->command,
			row->min, text);
	return error_set(parse->error, EXIT_USAGE, EINVAL,
		"--%s of %s takes %" PRIu64 " to %" PRIu64 ", not '%s'", row->name, parse->command,
		row->min, row->max ? row->max : UINT64_MAX, text);
}

static int store_number(const struct parse *parse, const struct option_row *row, const char *text)
{
	uint64_t number, most = row->max ? row->max : UINT64_MAX;
	const char *kind = row->kind == OPTION_SIZE ? "size like 4096, 64K or 2G" : "whole number";
	int rc = size_parse(text, &number);

	if (rc == -EINVAL || (rc == 0 && row->kind == OPTION_NUMBER && has_unit(text)))
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s takes a %s, not '%s'", row->name, parse->command, kind, text);
	if (rc < 0 || number < row->min || number > most)
		return out_of_bounds(parse, row, text);
	*(uint64_t *)(parse->settings + row->offset) = number;
	return 0;
}

/* Reads "10" or "0.25" as milliseconds. Returns 0, -EINVAL or -ERANGE. */
static int parse_seconds(const char *text, uint64_t *milliseconds)
{
	size_t whole = strspn(text, "0123456789");
	const char *decimals = text[whole] == '.' ? text + whole + 1 : text + whole;
	size_t decimal_count = strspn(decimals, "0123456789");

	if (!whole || decimals[decimal_count] || decimal_count > 3 ||
		(text[whole] && !decimal_count))
		return -EINVAL;
	if (whole > 12)
		return -ERANGE;
	*milliseconds = strtoull(text, NULL, 10) * 1000;
	for (uint64_t unit = 100; *decimals; unit /= 10)
		*milliseconds += (uint64_t)(*decimals++ - '0') * unit;
	return 0;
}

static int store_seconds(const struct parse *parse, const struct option_row *row, const char *text)
{
	uint64_t milliseconds, most = row->max ? row->max : UINT64_MAX / 1000;
	int rc = parse_seconds(text, &milliseconds);

	if (rc == -EINVAL)
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s takes seconds like 10 or 0.25, not '%s'", row->name,
			parse->command, text);
	if (rc < 0 || milliseconds < row->min * 1000 || milliseconds > most * 1000)
		return out_of_bounds(parse, row, text);
	*(uint64_t *)(parse->settings + row->offset) = milliseconds;
	return 0;
}

static int store_choice(const struct parse *parse, const struct option_row *row, const char *text)
{
	struct suggestion near = { .word = text };
	char *choices = xstrdup(row->choices), *rest = choices, *choice;
	unsigned place = 0;
	int rc = 0;

	while ((choice = strsep(&rest, "|")) && strcmp(choice, text) != 0) {
		suggestion_offer(&near, choice);
		place++;
	}
	if (choice)
		*(unsigned *)(parse->settings + row->offset) = place;
	else if (near.best)
		rc = error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s takes %s, not '%s'; did you mean '%s'?", row->name,
			parse->command, row->choices, text, near.best);
	else
		rc = error_set(parse->error, EXIT_USAGE, EINVAL, "--%s of %s takes %s, not '%s'",
			row->name, parse->command, row->choices, text);
	free(choices);
	return rc;
}

static void store_item(const struct parse *parse, const struct option_row *row, const char *text)
{
	struct option_list *list = (void *)(parse->settings + row->offset);

	list->items = xgrow(list->items, &list->capacity, list->count, sizeof(*list->items));
	list->items[list->count++] = text;
}

static int store(const struct parse *parse, const struct option_row *row, const char *text)
{
	/* An unset variable in a script (-o "$out") must not pass for a value. */
	if (row->kind != OPTION_FLAG && !*text)
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s needs a value (%s), and an empty one was given", row->name,
			parse->command, option_value_name(row));
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)(parse->settings + row->offset) = true;
		return 0;
	case OPTION_STRING:
		*(const char **)(parse->settings + row->offset) = text;
		return 0;
	case OPTION_SIZE:
	case OPTION_NUMBER:
		return store_number(parse, row, text);
	case OPTION_SECONDS:
		return store_seconds(parse, row, text);
	case OPTION_CHOICE:
		return store_choice(parse, row, text);
	case OPTION_LIST:
		store_item(parse, row, text);
		return 0;
	}
	return -EINVAL;
}

static int store_fallbacks(const struct parse *parse)
{
	for (const struct option_row *row = parse->rows; row->name; row++) {
		int rc = row->fallback ? store(parse, row, row->fallback) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- mistakes ------------------------------------------------------------------------------ */

static int unknown_option(const struct parse *parse, const char *word)
{
	size_t len = strcspn(word + 2, "=");
	char *name = strndup(word + 2, len);
	struct suggestion near = { .word = name ? name : "" };
	unsigned beginning = 0;
	int rc;

	suggestion_offer(&near, help_row.name);
	for (const struct option *option = parse->long_options; option->name; option++)
		beginning += strncmp(option->name, near.word, len) == 0;
	for (const struct option_row *row = parse->rows; row->name; row++)
		if (!row->hidden)
			suggestion_offer(&near, row->name);
	if (beginning > 1)
		rc = error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s is the beginning of more than one option of %s; write the whole name",
			near.word, parse->command);
	else if (near.best)
		rc = error_set(parse->error, EXIT_USAGE, EINVAL,
			"%s has no option --%s; did you mean --%s?", parse->command, near.word,
			near.best);
	else
		rc = error_set(parse->error, EXIT_USAGE, EINVAL,
			"%s has no option --%s; see %s --help", parse->command, near.word,
			parse->command);
	free(name);
	return rc;
}

/* The long name that a code of getopt_long stands for. */
static const char *code_name(const struct parse *parse, int code)
{
	if (code == 'h')
		return help_row.name;
	for (const struct option *option = parse->long_options; option->name; option++)
		if (option->val == code)
			return option->name;
	return "";
}

/* getopt_long answered '?'. word: what it had just looked at. */
static int bad_option(const struct parse *parse, const char *word)
{
	if (optopt == 0)
		return unknown_option(parse, word);
	if (optopt >= CODE_BASE || optopt == 'h')
		return error_set(parse->error, EXIT_USAGE, EINVAL, "--%s of %s takes no value",
			code_name(parse, optopt), parse->command);
	return error_set(parse->error, EXIT_USAGE, EINVAL, "%s has no option -%c; see %s --help",
		parse->command, optopt, parse->command);
}

/* ---- parsing ------------------------------------------------------------------------------- */

static void add_long(struct option *option, const char *name, int has_value, int code)
{
	*option = (struct option){ name, has_value, NULL, code };
}

static int has_value(const struct option_row *row)
{
	if (row->kind == OPTION_FLAG)
		return no_argument;
	return row->bare ? optional_argument : required_argument;
}

/* Makes getopt_long's two tables. The names of negations are allocated. */
static void build_tables(struct parse *parse)
{
	size_t count = count_rows(parse->rows), used = 0;
	char *letters = xmalloc(2 * count + 3);
	struct option *options = xcalloc(2 * count + 2, sizeof(*options));

	parse->letters = letters;
	parse->long_options = options;
	*letters++ = ':';
	*letters++ = 'h';
	for (size_t i = 0; i < count; i++) {
		const struct option_row *row = &parse->rows[i];
		int code = CODE_BASE + 2 * (int)i;

		add_long(&options[used++], row->name, has_value(row), code);
		if (row->negatable)
			add_long(&options[used++], xasprintf("no-%s", row->name), no_argument,
				code + 1);
		if (row->letter) {
			*letters++ = row->letter;
			if (row->kind != OPTION_FLAG)
				*letters++ = ':';
		}
	}
	*letters = '\0';
	add_long(&options[used], help_row.name, no_argument, 'h');
}

static void free_tables(struct parse *parse)
{
	for (struct option *option = parse->long_options; option->name; option++)
		if (option->val >= CODE_BASE && (option->val - CODE_BASE) % 2)
			free((char *)option->name);
	free(parse->long_options);
	free(parse->letters);
}

static const struct option_row *row_of(const struct parse *parse, int code)
{
	const struct option_row *row = parse->rows;

	if (code >= CODE_BASE)
		return &parse->rows[(code - CODE_BASE) / 2];
	while (row->letter != code)
		row++;
	return row;
}

static int take(const struct parse *parse, int code, char **argv)
{
	const struct option_row *row;

	if (code == '?')
		return bad_option(parse, argv[optind - 1]);
	row = row_of(parse, code == ':' ? optopt : code);
	if (code == ':')
		return error_set(parse->error, EXIT_USAGE, EINVAL, "--%s of %s needs a value (%s)",
			row->name, parse->command, option_value_name(row));
	if (code >= CODE_BASE && (code - CODE_BASE) % 2) {
		*(bool *)(parse->settings + row->offset) = false;
		return 0;
	}
	return store(parse, row, optarg || !row->bare ? optarg : row->bare);
}

int options_parse(const struct option_row *rows, const char *command, int argc, char **argv,
	void *settings, struct error *error)
{
	struct parse parse = {
		.rows = rows ? rows : no_rows,
		.command = command,
		.settings = settings,
		.error = error,
	};
	int code, rc;

	build_tables(&parse);
	rc = store_fallbacks(&parse);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while (rc == 0 &&
		(code = getopt_long(argc, argv, parse.letters, parse.long_options, NULL)) != -1) {
		if (code == 'h') {
			free_tables(&parse);
			return 0;
		}
		rc = take(&parse, code, argv);
	}
	free_tables(&parse);
	return rc < 0 ? rc : optind;
}

void options_release(const struct option_row *rows, void *settings)
{
	for (const struct option_row *row = rows ? rows : no_rows; row->name; row++) {
		struct option_list *list = (void *)((char *)settings + row->offset);

		if (row->kind == OPTION_LIST) {
			free(list->items);
			*list = (struct option_list){ 0 };
		}
	}
}

/* ---- for people ---------------------------------------------------------------------------- */

static const char *group_of(const struct option_row *row)
{
	return row->group ? row->group : "Options";
}

static bool starts_group(const struct option_row *rows, const struct option_row *row)
{
	for (const struct option_row *before = rows; before < row; before++)
		if (!before->hidden && strcmp(group_of(before), group_of(row)) == 0)
			return false;
	return !row->hidden;
}

void options_visit(
	const struct option_row *rows, const struct option_visitor *visitor, void *context)
{
	bool any = false;

	if (!rows)
		rows = no_rows;
	for (const struct option_row *first = rows; first->name; first++) {
		if (!starts_group(rows, first))
			continue;
		any = true;
		visitor->group(context, group_of(first));
		for (const struct option_row *row = first; row->name; row++)
			if (!row->hidden && strcmp(group_of(row), group_of(first)) == 0)
				visitor->row(context, row);
	}
	if (!any)
		visitor->group(context, group_of(&help_row));
	visitor->row(context, &help_row);
}
