/*
 * getopt_long does the parsing: it knows clusters (-bp), values with and without a blank or an
 * equals sign, unique abbreviations, and options after arguments. Its own messages say too little
 * to help, so it is kept silent and this file words them.
 *
 * getopt_long returns one int per option: a letter for the short form, and for the long form
 * CODE_BASE + twice the row's index, plus 1 when the option was negated. The help option has no row
 * and comes back as 'h'.
 */
#include "base/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "base/strbuf.h"
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
	bool *given; /* by row */
	struct error *error;
};

/* Takes no value. */
static bool is_bare_word(const struct option_row *row)
{
	return row->kind == OPTION_FLAG || row->kind == OPTION_WORD || row->kind == OPTION_FOREIGN;
}

const char *option_value_name(const struct option_row *row)
{
	if (is_bare_word(row))
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

static uint64_t most_of(const struct option_row *row)
{
	return row->max ? row->max : row->choices ? UINT64_MAX - 1 : UINT64_MAX;
}

static int out_of_bounds(const struct parse *parse, const struct option_row *row, const char *text)
{
	if (!row->max && row->min)
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s takes %" PRIu64 " or more, not '%s'", row->name, parse->command,
			row->min, text);
	return error_set(parse->error, EXIT_USAGE, EINVAL,
		"--%s of %s takes %" PRIu64 " to %" PRIu64 ", not '%s'", row->name, parse->command,
		row->min, most_of(row), text);
}

static int store_number(const struct parse *parse, const struct option_row *row, const char *text)
{
	uint64_t number;
	const char *kind = row->kind == OPTION_SIZE ? "size like 4096, 64K or 2G" : "whole number";
	int rc;

	if (row->choices && strcmp(text, row->choices) == 0) {
		*(uint64_t *)(parse->settings + row->offset) = UINT64_MAX;
		return 0;
	}
	rc = size_parse(text, &number);
	if (rc == -EINVAL || (rc == 0 && row->kind == OPTION_NUMBER && has_unit(text)))
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s takes a %s%s%s, not '%s'", row->name, parse->command, kind,
			row->choices ? ", or " : "", row->choices ? row->choices : "", text);
	if (rc < 0 || number < row->min || number > most_of(row))
		return out_of_bounds(parse, row, text);
	if (row->size == sizeof(unsigned))
		*(unsigned *)(parse->settings + row->offset) = (unsigned)number;
	else
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

static bool was_given(const struct parse *parse, const struct option_row *row)
{
	return parse->given[row - parse->rows];
}

/* The index of the word among choices, or -1. */
static int find_choice(const char *choices, const char *word, size_t len)
{
	for (int index = 0;; index++) {
		size_t choice_len = strcspn(choices, "|");

		if (choice_len == len && memcmp(choices, word, len) == 0)
			return index;
		if (!choices[choice_len])
			return -1;
		choices += choice_len + 1;
	}
}

static int store_choice(const struct parse *parse, const struct option_row *row, const char *text)
{
	struct suggestion near = { .word = text };
	char *choices = xstrdup(row->choices), *rest = choices, *choice;
	unsigned index = 0;
	int rc = 0;

	while ((choice = strsep(&rest, "|")) && strcmp(choice, text) != 0) {
		suggestion_offer(&near, choice);
		index++;
	}
	if (choice)
		*(unsigned *)(parse->settings + row->offset) = index;
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

static int store_word(const struct parse *parse, const struct option_row *row)
{
	unsigned *member = (unsigned *)(parse->settings + row->offset);

	for (const struct option_row *other = parse->rows; other->name; other++)
		if (other->kind == OPTION_WORD && other->offset == row->offset && other != row &&
			other->choice == *member)
			return error_set(parse->error, EXIT_USAGE, EINVAL,
				"--%s and --%s of %s exclude each other", other->name, row->name,
				parse->command);
	*member = row->choice;
	return 0;
}

static int store_set(const struct parse *parse, const struct option_row *row, const char *text)
{
	uint32_t *member = (uint32_t *)(parse->settings + row->offset), set = 0;
	size_t len;

	for (const char *at = text; strcmp(text, "none") != 0; at += len + 1) {
		int bit = find_choice(row->choices, at, len = strcspn(at, ","));

		if (bit < 0)
			return error_set(parse->error, EXIT_USAGE, EINVAL,
				"--%s of %s takes none, or some of %s separated by commas, not "
				"'%s'",
				row->name, parse->command, row->choices, text);
		set |= UINT32_C(1) << bit;
		if (!at[len])
			break;
	}
	if (was_given(parse, row))
		set |= *member;
	*member = set;
	return 0;
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
	if (!is_bare_word(row) && !*text)
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
	case OPTION_WORD:
		return store_word(parse, row);
	case OPTION_SET:
		return store_set(parse, row, text);
	case OPTION_LIST:
		store_item(parse, row, text);
		return 0;
	case OPTION_FOREIGN:
		return error_set(parse->error, EXIT_USAGE, EINVAL, "%s has no option -%c: %s",
			parse->command, row->letter, row->help);
	}
	return -EINVAL;
}

/* Giving a flag twice loses nothing, and the kinds that hold several values add up. */
static bool may_repeat(const struct option_row *row)
{
	return is_bare_word(row) || row->kind == OPTION_SET || row->kind == OPTION_LIST;
}

static int store_given(const struct parse *parse, const struct option_row *row, const char *text)
{
	int rc;

	if (was_given(parse, row) && !may_repeat(row))
		return error_set(parse->error, EXIT_USAGE, EINVAL,
			"--%s of %s is given twice, the second time as '%s'; give it once",
			row->name, parse->command, text);
	rc = store(parse, row, text);
	parse->given[row - parse->rows] = true;
	return rc;
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

/* The long name of a code that getopt_long returned. */
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
	if (is_bare_word(row))
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
	parse->given = xcalloc(count + 1, sizeof(*parse->given));
	*letters++ = ':';
	*letters++ = 'h';
	for (size_t i = 0; i < count; i++) {
		const struct option_row *row = &parse->rows[i];
		int code = CODE_BASE + 2 * (int)i;

		if (*row->name)
			add_long(&options[used++], row->name, has_value(row), code);
		if (row->negatable)
			add_long(&options[used++], xasprintf("no-%s", row->name), no_argument,
				code + 1);
		if (row->letter) {
			*letters++ = row->letter;
			if (!is_bare_word(row))
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
	free(parse->given);
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

static int handle_option(const struct parse *parse, int code, char **argv)
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
	return store_given(parse, row, optarg || !row->bare ? optarg : row->bare);
}

static int parse_words(struct parse *parse, int argc, char **argv, bool over)
{
	int code, rc;

	build_tables(parse);
	rc = over ? 0 : store_fallbacks(parse);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	while (rc == 0 &&
		(code = getopt_long(argc, argv, parse->letters, parse->long_options, NULL)) != -1) {
		if (code == 'h') {
			free_tables(parse);
			return 0;
		}
		rc = handle_option(parse, code, argv);
	}
	free_tables(parse);
	return rc < 0 ? rc : optind;
}

int options_parse(const struct option_row *rows, const char *command, int argc, char **argv,
	void *settings, struct error *error)
{
	struct parse parse = { rows ? rows : no_rows, command, settings, .error = error };

	return parse_words(&parse, argc, argv, false);
}

int options_parse_over(const struct option_row *rows, const char *command, int argc, char **argv,
	void *settings, struct error *error)
{
	struct parse parse = { rows ? rows : no_rows, command, settings, .error = error };

	return parse_words(&parse, argc, argv, true);
}

char *option_list_join(const struct option_list *list)
{
	struct strbuf out = { 0 };

	for (size_t i = 0; i < list->count; i++)
		strbuf_print(&out, "%s%s", i ? "," : "", list->items[i]);
	return out.bytes;
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

/* ---- values of a run ----------------------------------------------------------------------- */

static uint64_t number_of(const struct option_row *row, const void *member)
{
	switch (row->kind) {
	case OPTION_FLAG:
		return *(const bool *)member;
	case OPTION_CHOICE:
	case OPTION_WORD:
		return *(const unsigned *)member;
	case OPTION_SET:
		return *(const uint32_t *)member;
	default:
		return row->size == sizeof(unsigned) ? *(const unsigned *)member
						     : *(const uint64_t *)member;
	}
}

static char *choice_word(const char *choices, uint64_t index)
{
	while (index-- && strchr(choices, '|'))
		choices = strchr(choices, '|') + 1;
	return strndup(choices, strcspn(choices, "|"));
}

/* Calls add with each word of a set. */
static void for_each_word(const struct option_row *row, uint64_t set,
	void (*add)(void *context, const char *word), void *context)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		char *word = set >> bit & 1 ? choice_word(row->choices, bit) : NULL;

		if (word)
			add(context, word);
		free(word);
	}
}

static void add_to_text(void *context, const char *word)
{
	struct strbuf *out = context;

	strbuf_print(out, "%s%s", out->len ? "," : "", word);
}

static void add_to_array(void *context, const char *word)
{
	json_array_append_new(context, json_text(word));
}

char *option_text(const struct option_row *row, const void *settings)
{
	const void *member = (const char *)settings + row->offset;
	const char *string = row->kind == OPTION_STRING ? *(const char *const *)member : NULL;
	struct strbuf out = { 0 };
	uint64_t number;

	assert(row->kind != OPTION_LIST);
	if (row->kind == OPTION_STRING)
		return xstrdup(string ? string : "none");
	number = number_of(row, member);
	switch (row->kind) {
	case OPTION_FLAG:
		return xstrdup(number ? "yes" : "no");
	case OPTION_CHOICE:
	case OPTION_WORD:
		return choice_word(row->choices, number);
	case OPTION_SET:
		for_each_word(row, number, add_to_text, &out);
		return out.bytes ? out.bytes : xstrdup("none");
	default:
		if (row->choices && number == UINT64_MAX)
			return xstrdup(row->choices);
		return xasprintf("%" PRIu64, number);
	}
}

static json_t *option_json(const struct option_row *row, const void *settings)
{
	const void *member = (const char *)settings + row->offset;
	uint64_t number;
	json_t *value;
	char *word;

	if (row->kind == OPTION_STRING)
		return json_text(*(const char *const *)member);
	number = number_of(row, member);
	if (row->field_null && !number)
		return json_null();
	switch (row->kind) {
	case OPTION_FLAG:
		return json_boolean(number);
	case OPTION_CHOICE:
	case OPTION_WORD:
		value = json_text(word = choice_word(row->choices, number));
		free(word);
		return value;
	case OPTION_SET:
		value = json_array();
		for_each_word(row, number, add_to_array, value);
		return value;
	default:
		return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number);
	}
}

json_t *options_json(const struct option_row *rows, const void *settings)
{
	json_t *object = json_object();
	bool found = true;

	for (unsigned position = 1; found; position++) {
		found = false;
		for (const struct option_row *row = rows; row->name; row++)
			if (row->field && row->field_position == position) {
				json_object_set_new(object, row->field, option_json(row, settings));
				found = true;
			}
	}
	return object;
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
