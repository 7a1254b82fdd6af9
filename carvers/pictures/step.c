/*
 * STEP models (ISO 10303-21, 5 to 9).
 *
 *	file:      'ISO-10303-21;' sections 'END-ISO-10303-21;'
 *	section:   'HEADER;' or 'DATA;', ...; statements; 'ENDSEC;'
 *	statement: up to a semicolon; in it, texts between quotes (a quote in them is doubled), and comments between
 *	           slash and asterisk
 *
 * A statement of a section begins with '#' and a number, or with a name, and closes its brackets. The last one proves the end;
 * line ends after it belong to the file. Text that breaks off is valid up to the last statement. A number occurs once: where
 * they rise by one, a smaller one is another file's.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "walk.h"

#define FIRST "ISO-10303-21;"
#define LAST "END-ISO-10303-21;"
#define STATEMENT_MAX (1u << 26)

static bool is_text(int byte)
{
	return byte >= ' ' ? byte != 0x7f
			   : byte == '\n' || byte == '\r' || byte == '\t' || byte == '\f';
}

/* Reads past what ends with `end`. False: it does not, or other bytes than text come first. */
static bool skip_to(struct cursor *cursor, const char *end)
{
	for (uint64_t start = cursor->at; cursor->at - start < STATEMENT_MAX; cursor->at++) {
		if (!is_text(cursor_peek(cursor)))
			return false;
		if (cursor_at_text(cursor, end)) {
			cursor->at += strlen(end);
			return true;
		}
	}
	return false;
}

/* Reads past blanks and comments. */
static bool skip_blanks(struct cursor *cursor)
{
	for (;;) {
		int byte = cursor_peek(cursor);

		if (byte == '/' && cursor_at_text(cursor, "/*")) {
			if (!skip_to(cursor, "*/"))
				return false;
		} else if (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t' ||
			   byte == '\f') {
			cursor->at++;
		} else {
			return true;
		}
	}
}

/* The numbers of the statements so far, if they rise by one. */
struct numbers {
	uint64_t first, last; /* 0: none so far */
	bool gaps;            /* they do not */
};

/* Notes the number of the statement at the cursor, which begins with '#'. False: it came before. */
static bool add_number(struct cursor *cursor, struct numbers *numbers)
{
	uint64_t start = cursor->at, number = 0;
	int byte;

	cursor->at++;
	while ((byte = cursor_next(cursor)) >= '0' && byte <= '9' && number < UINT32_MAX)
		number = number * 10 + (uint64_t)(byte - '0');
	cursor->at = start;
	if (numbers->gaps || !number)
		return true;
	if (numbers->last && number >= numbers->first && number <= numbers->last)
		return false;
	numbers->gaps = numbers->last && number != numbers->last + 1;
	if (!numbers->first)
		numbers->first = number;
	numbers->last = number;
	return true;
}

/* Reads past a statement. */
static bool skip_statement(struct cursor *cursor, struct numbers *numbers)
{
	int byte = cursor_peek(cursor);
	uint64_t start = cursor->at;
	int64_t depth = 0;
	unsigned values = 0;

	if (byte != '#' && !isupper(byte) && byte != '!' && byte != '&')
		return false;
	if (byte == '#' && !add_number(cursor, numbers))
		return false;
	while (cursor->at - start < STATEMENT_MAX) {
		byte = cursor_next(cursor);
		depth += byte == '(' ? 1 : byte == ')' ? -1 : 0;
		values += byte == '=';
		if (byte == ';')
			return !depth && values <= 1;
		if (depth < 0 || values > 1)
			return false;
		if (byte == '\'' ? !skip_to(cursor, "'")
				 : byte == '/' && cursor_peek(cursor) == '*' &&
					   !skip_to(cursor, "*/"))
			return false;
		if (!is_text(byte))
			return false;
	}
	return false;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct cursor cursor = { .view = view };
	struct numbers numbers = { 0 };
	unsigned statements = 0;

	if (!cursor_at_text(&cursor, FIRST))
		return verdict_because(CARVE_REJECT, finding, "no first statement at 0");
	cursor.at = strlen(FIRST);
	view_fill_unreadable(view, ' ');
	do {
		finding->length = cursor.at;
		if (!skip_blanks(&cursor))
			break;
		if (cursor_at_text(&cursor, LAST)) {
			cursor.at += strlen(LAST);
			while (cursor_peek(&cursor) == '\r' || cursor_peek(&cursor) == '\n')
				cursor.at++;
			finding->length = cursor.at;
			return CARVE_COMPLETE;
		}
	} while (skip_statement(&cursor, &numbers) && ++statements);
	if (statements < 2) {
		finding->length = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no statements at %zu", strlen(FIRST));
	}
	if (cursor.at >= view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, finding->length);
	return verdict_because(
		CARVE_TRUNCATED, finding, "no statement at %" PRIu64, finding->length);
}

const struct carver step_carver = {
	.name = "step",
	.summary = "STEP models, by their statements",
	.check = check,
};
